// Lists with filters, answers as of an instant and forecasts, against the real sidecar.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Sidecar, assertRefused, now, toArray } from './harness.js';

const HOUR = 3600;
const at = (seconds) => new Date(seconds * 1000);

async function start(t) {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: HOUR });
  return client;
}

async function idsOf(client, filters) {
  const views = await toArray(client.listItems('c', filters));
  return views.map(({ item }) => item.id.toString());
}

test('containers are filtered by id and ttl', async (t) => {
  const client = await start(t);
  await client.createContainer('sales/carts', { defaultTtl: -1 });
  await client.createContainer('sales/orders');
  for (const [filters, expected] of [
    [undefined, ['c', 'sales/carts', 'sales/orders']],
    [{ idPrefix: 'sales/' }, ['sales/carts', 'sales/orders']],
    [{ ttlOnOnly: true }, ['c', 'sales/carts']],
    [{ idPrefix: 's', ttlOnOnly: true }, ['sales/carts']],
  ]) {
    const containers = await toArray(client.listContainers(filters));
    assert.deepEqual(
      containers.map(({ id }) => id),
      expected,
    );
  }
  assert.throws(() => client.listContainers({ prefix: 's' }), /no option prefix: idPrefix/);
});

test('items are filtered by partition, of which one is the empty one', async (t) => {
  const client = await start(t);
  await client.track('c', [
    { id: 'none', ts: now() },
    { id: 'other', ts: now(), partitionKey: 'p' },
  ]);
  assert.deepEqual(await idsOf(client, {}), ['none', 'other']);
  assert.deepEqual(await idsOf(client, { partitionKey: undefined }), ['none', 'other']);
  assert.deepEqual(await idsOf(client, { partitionKey: '' }), ['none']);
  assert.deepEqual(await idsOf(client, { partitionKey: Buffer.from('p') }), ['other']);
  await assert.rejects(idsOf(client, { partitionKey: 5 }), /partitionKey = 5: a string or/);
});

test('items are filtered by expiry', async (t) => {
  const client = await start(t);
  const ts = now();
  await client.track('c', [
    { id: 'a', ts: ts - 5 * HOUR },
    { id: 'b', ts },
    { id: 'c', ts, ttl: 2 * HOUR },
    { id: 'never', ts, ttl: -1 },
  ]);
  const end = ts + HOUR;
  for (const [filters, expected] of [
    [undefined, ['b', 'c', 'never']],
    [{ showExpired: true }, ['a', 'b', 'c', 'never']],
    [{ expiredOnly: true }, ['a']],
    [{ expireTimeFrom: end }, ['b', 'c']],
    [{ expireTimeFrom: end + 1 }, ['c']],
    [{ expireTimeTo: end }, []],
    [{ expireTimeTo: end + 1 }, ['b']],
    [{ expireTimeTo: end + 1, showExpired: true }, ['a', 'b']],
  ]) {
    assert.deepEqual(await idsOf(client, filters), expected, JSON.stringify(filters));
  }
  const empty = idsOf(client, { expireTimeFrom: end, expireTimeTo: end });
  const { fieldViolations } = await assertRefused(empty, 'INVALID_ARGUMENT', 'expire_time_to');
  assert.deepEqual(
    fieldViolations.map(({ field }) => field),
    ['expire_time_to'],
  );
});

test('all pages have the filters', async (t) => {
  const client = await start(t);
  const ids = Array.from({ length: 250 }, (_, n) => String(n).padStart(4, '0'));
  const items = ids.map((id) => ({ id, ts: now(), partitionKey: 'p' }));
  await client.track('c', [...items, { id: 'later', ts: now(), partitionKey: 'pp' }]);
  assert.deepEqual(await idsOf(client, { partitionKey: 'p' }), ids);
});

test('items are judged as of an instant', async (t) => {
  const client = await start(t);
  const ts = now();
  await client.track('c', [{ id: 'a', ts: ts - 70, ttl: 60 }]); // expired 10 seconds ago
  const checks = [{ id: 'a' }];
  let answer;
  for (const [asOf, expired] of [
    [undefined, true],
    [at(ts - 9), true],
    [at(ts - 11), false],
  ]) {
    [answer] = await client.check('c', checks, { asOf });
    const [reply] = await toArray(client.checkStream('c', [checks], { asOf }));
    assert.deepEqual([answer.expired, reply.results[0].expired], [expired, expired], `${asOf}`);
    assert.deepEqual(await idsOf(client, { asOf }), expired ? [] : ['a'], `${asOf}`);
    assert.deepEqual(asOf ?? answer.judgedAt, answer.judgedAt);
  }
  const [now_] = await client.check('c', checks);
  const [again] = await client.check('c', checks, { asOf: now_.judgedAt });
  assert.deepEqual([again.expired, again.judgedAt], [true, now_.judgedAt]);
  for (const asOf of [at(ts - 2 * HOUR), at(ts + HOUR)]) {
    await assertRefused(client.check('c', checks, { asOf }), 'INVALID_ARGUMENT', 'as_of');
  }
  await assert.rejects(client.check('c', checks, { asOf: ts }), /a valid Date is required/);
  await assert.rejects(client.check('c', checks, { asof: at(ts) }), /no option asof: asOf/);
  assert.throws(() => client.checkStream('c', [], at(ts).getTime()), /is not an object like/);
});

const itemsOf = ({ steps }) => steps.reduce((sum, { items }) => sum + items, 0);

test('a forecast is of one container or of all', async (t) => {
  const client = await start(t);
  await client.createContainer('d', { defaultTtl: HOUR });
  await client.track('c', [{ id: 'a', ts: now() }]);
  await client.track('d', [
    { id: 'a', ts: now() },
    { id: 'b', ts: now() },
  ]);
  const forecast = await client.forecast('c');
  assert.deepEqual([forecast.steps.length, forecast.backlogEnd], [24, 'BACKLOG_END_NO_BACKLOG']);
  assert.deepEqual([itemsOf(forecast), itemsOf(await client.forecast())], [1, 3]);
  assert.equal(itemsOf(await client.forecast('c', { defaultTtl: -1 })), 0);
  assert.equal((await client.getContainer('c')).defaultTtl, HOUR);
  await assertRefused(client.forecast('no/such'), 'NOT_FOUND', 'no/such');
});

test('a forecast goes until a time, in steps', async (t) => {
  const client = await start(t);
  const until = at(now() + HOUR / 2);
  const { steps } = await client.forecast('c', { until, stepMs: 60000 });
  assert.ok([29, 30].includes(steps.length), `${steps.length}: as the seconds pass`);
  assert.deepEqual(steps.at(-1).endTime, until);
  for (const [options, field] of [
    [{ defaultTtl: 0 }, 'default_ttl'],
    [{ stepMs: 500 }, 'step'],
    [{ until: at(1) }, 'until'],
  ]) {
    const error = await assertRefused(client.forecast('c', options), 'INVALID_ARGUMENT', field);
    assert.equal(error.fieldViolations[0].field, field);
  }
});
