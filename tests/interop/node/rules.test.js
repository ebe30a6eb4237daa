// The rules of TTL, as a caller in Node sees them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { PATIENCE_MS, Sidecar, assertRefused, now, toArray, waitUntil } from './harness.js';

// default_ttl of the container, ttl of the item, the ttl that counts. Long enough that a machine
// which stands still for seconds sees items live, too.
const TABLE = [
  [undefined, undefined, undefined],
  [-1, undefined, undefined],
  [6, undefined, 6],
  [undefined, -1, undefined],
  [-1, -1, undefined],
  [6, -1, undefined],
  [undefined, 5, undefined],
  [-1, 5, 5],
  [6, 5, 5],
];

test('every answer is right to the second', async (t) => {
  const { client } = await Sidecar.start(t);
  const ts = now();
  for (const defaultTtl of [undefined, -1, 6]) {
    await client.createContainer(`c/${defaultTtl}`, { defaultTtl });
    await client.track(
      `c/${defaultTtl}`,
      [undefined, -1, 5].map((ttl) => ({ id: `${ttl}`, ts, ttl })),
    );
  }
  let judgedAt = 0;
  const seen = new Set();
  for (let rounds = 0; judgedAt < ts + 7 || rounds <= 50; rounds += 1) {
    for (const [defaultTtl, ttl, effectiveTtl] of TABLE) {
      const expireTime = effectiveTtl === undefined ? undefined : ts + effectiveTtl;
      const checks = [{ id: `${ttl}` }, { id: `${ttl}`, ts, ttl }];
      for (const answer of await client.check(`c/${defaultTtl}`, checks)) {
        judgedAt = answer.judgedAt.getTime() / 1000;
        const expired = expireTime !== undefined && judgedAt >= expireTime;
        assert.deepEqual(
          [answer.expired, answer.expireTime],
          [expired, expireTime],
          `default_ttl ${defaultTtl}, ttl ${ttl}, at ${judgedAt - ts} s`,
        );
        seen.add(`${effectiveTtl} ${expired}`);
      }
    }
  }
  assert.deepEqual([...seen].sort(), [
    '5 false',
    '5 true',
    '6 false',
    '6 true',
    'undefined false',
  ]);
});

// The cases that the tests of all languages share.
function expiryRules() {
  const text = readFileSync(process.env.EXPIRY_RULES_FILE, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !/^(#|default_ttl)/.test(line));
  return lines.map((line) => {
    const fields = line.split(',');
    const numbers = fields.slice(0, 4).map((field) => (field === '' ? undefined : Number(field)));
    return [...numbers, `TTL_SOURCE_${fields[4].toUpperCase()}`];
  });
}

test('all combinations of defaultTtl, ttl and expireAt', async (t) => {
  const { client } = await Sidecar.start(t);
  const ts = 1600000000;
  for (const defaultTtl of [undefined, -1, 60]) {
    await client.createContainer(`c/${defaultTtl}`, { defaultTtl });
  }
  const rules = expiryRules();
  assert.equal(rules.length, 252);
  for (const [i, [defaultTtl, ttl, expireAt, expireTime, source]] of rules.entries()) {
    const container = `c/${defaultTtl}`;
    const item = { id: `${i}`, ts, ttl, expireAt };
    const name = `${container}, ttl ${ttl}, expireAt ${expireAt}`;
    const [answer] = await client.check(container, [item]);
    assert.equal(answer.expireTime, expireTime, name);
    const hasNoEnd = expireAt === undefined && (ttl === undefined || ttl === -1);
    const isLegal = hasNoEnd || expireTime !== undefined;
    if (defaultTtl !== undefined && !isLegal) {
      await assertRefused(client.track(container, [item]), 'INVALID_ARGUMENT', 'must be');
      continue;
    }
    await client.track(container, [item]);
    const { item: view } = await client.explainItem(container, `${i}`);
    assert.deepEqual(
      [view.item.expireAt, view.ttlSource, view.expireTime],
      [expireAt, source, expireTime],
      name,
    );
  }
});

test('a watcher is told of containers with an end only if it knows the rule', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 60 });
  await client.track('c', [{ id: 'a', ts: 1600000000, expireAt: 1600000005 }]);
  await client.createContainer('d', { defaultTtl: 60 });
  for (const [expireAt, expected] of [[false, ['d']], [true, ['c', 'd']]]) {
    for await (const { containers } of client.watchContainers({ expireAt })) {
      assert.deepEqual(
        containers.map(({ id }) => id),
        expected,
      );
      break;
    }
  }
});

test('switching ttl off shows all items again, and -1 is not off', async (t) => {
  const { client } = await Sidecar.start(t);
  const ts = now() - 100;
  await client.createContainer('c', { defaultTtl: 10 });
  await client.track('c', [
    { id: 'own', ts, ttl: 20 },
    { id: 'inherits', ts },
  ]);
  for (const [defaultTtl, expected] of [
    [10, [true, true]],
    [undefined, [false, false]],
    [-1, [true, false]],
    [1000n, [true, false]],
  ]) {
    await client.setDefaultTtl('c', defaultTtl);
    const answers = await client.check('c', [{ id: 'own' }, { id: 'inherits' }]);
    assert.deepEqual(
      answers.map(({ expired }) => expired),
      expected,
      `default_ttl ${defaultTtl}`,
    );
  }
});

test('what was never reported is untracked unless the check carries state', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 3600 });
  const answers = await client.check('c', [
    { id: 'x' },
    { id: 'x', ts: now() },
    { id: 'x', ts: now() - 60, ttl: 60 },
  ]);
  assert.deepEqual(
    answers.map(({ visibility }) => visibility),
    ['untracked', 'visible', 'expired'],
  );
  assert.equal(answers[0].expired, false);
});

test('older reports are stale, and deletes go by version', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c');
  const ts = now();
  const track = (fields) => client.track('c', [{ id: 'a', ...fields }]);
  assert.deepEqual(await track({ ts, sequence: 7 }), ['tracked']);
  assert.deepEqual(await track({ ts, sequence: 6n }), ['stale']);
  assert.deepEqual(await track({ ts: ts - 1 }), ['stale']);
  assert.deepEqual(await track({ ts, sequence: 2n ** 63n }), ['tracked']);
  const untrack = (sequence) => client.untrack('c', [{ id: 'a', ts, sequence }]);
  assert.deepEqual(await untrack(8n), ['stale']);
  assert.deepEqual(await untrack(2n ** 64n - 1n), ['untracked']);
  assert.deepEqual(await untrack(2n ** 64n - 1n), ['notTracked']);
});

test('keys and etags are bytes of any kind, and text is its UTF-8', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c');
  const partitionKey = Buffer.from([0, 0xff, 0x2f, 0xc3, 0x28]);
  const id = Buffer.from([0xfe, 0, 10]);
  const etag = Buffer.from([0x80, 0x81]);
  await client.track('c', [
    { partitionKey, id, ts: now(), etag, sizeBytes: 9 },
    { id: 'é', ts: now() },
  ]);
  const [text, bytes] = await toArray(client.listItems('c'));
  assert.deepEqual(
    [bytes.item.partitionKey, bytes.item.id, bytes.item.etag, bytes.item.sizeBytes],
    [partitionKey, id, etag, 9],
  );
  assert.deepEqual(text.item.id, Buffer.from([0xc3, 0xa9]));
  assert.equal((await client.check('c', [{ partitionKey, id }]))[0].visibility, 'visible');
});

test('64-bit values are exact, and what is none is refused before it is sent', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: -1 });
  const ts = now();
  await client.track('c', [
    { id: 'a', ts: BigInt(ts), ttl: 2147483647n, sequence: 2n ** 64n - 1n },
  ]);
  const { item, expireTime } = await client.getItem('c', 'a');
  assert.deepEqual(
    [item.ts, item.ttl, item.sequence, expireTime],
    [ts, 2147483647, 2n ** 64n - 1n, ts + 2147483647],
  );
  const inText = { id: 'text', ts: `${ts}`, ttl: '2147483647', sequence: '18446744073709551615' };
  await client.track('c', [inText]);
  const text = (await client.getItem('c', 'text')).item;
  assert.deepEqual([text.ts, text.ttl, text.sequence], [ts, 2147483647, 2n ** 64n - 1n]);
  const absent = await client
    .track('c', [{ id: 'b', ts, ttl: null, sequence: 2 ** 53 - 1 }])
    .then(() => client.getItem('c', 'b'));
  assert.deepEqual([absent.item.ttl, absent.item.sequence], [undefined, 2n ** 53n - 1n]);
  // A check never refuses what it carries.
  const impossible = [-(2n ** 63n), 0, 2n ** 63n - 1n].flatMap((value) =>
    [undefined, 0, 2n ** 63n - 1n, -(2n ** 63n)].map((ttl) => ({ id: 'x', ts: value, ttl })),
  );
  for (const answer of await client.check('c', impossible))
    assert.equal(answer.visibility, 'visible');
  for (const [fields, error] of [
    [{ ts: 2n ** 63n }, RangeError],
    [{ ts, sequence: -1 }, RangeError],
    [{ ts, sequence: 2n ** 64n }, RangeError],
    [{ ts: 1.5 }, TypeError],
    [{ ts: 2 ** 53 }, TypeError],
    [{ ts: NaN }, TypeError],
  ]) {
    await assert.rejects(client.track('c', [{ id: 'x', ...fields }]), error);
  }
});

test('values out of range are refused by name, and nothing is applied', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 3600 });
  const ts = now();
  for (const [field, value] of [
    ['ttl', 0],
    ['ttl', -2],
    ['ttl', 2147483648],
    ['ttl', 2n ** 63n - 1n],
    ['ttl', -(2n ** 63n)],
    ['ts', 0],
    ['ts', -1],
    ['ts', ts * 1000],
  ]) {
    const items = [
      { id: 'good', ts },
      { id: 'bad', ts, [field]: value },
    ];
    await assertRefused(
      client.track('c', items),
      'INVALID_ARGUMENT',
      'items[1]',
      field,
      `${value}`,
    );
  }
  assert.deepEqual(await toArray(client.listItems('c')), []);
  await assertRefused(
    client.setDefaultTtl('c', 2147483648),
    'INVALID_ARGUMENT',
    'default_ttl',
    '2147483648',
  );
});

test('an unknown container is not found by every method', async (t) => {
  const { client } = await Sidecar.start(t);
  const item = { id: 'a', ts: now() };
  for (const call of [
    () => client.track('no/such', [item]),
    () => client.untrack('no/such', [item]),
    () => client.check('no/such', [{ id: 'a' }]),
    () => client.getItem('no/such', 'a'),
    () => toArray(client.listItems('no/such')),
    () => client.getContainer('no/such'),
    () => client.setDefaultTtl('no/such', 5),
    () => client.deleteContainer('no/such'),
    () => client.status('no/such'),
    () => client.pauseDeletes('test', 'no/such'),
    async () => {
      throw (await toArray(client.checkStream('no/such', [[{ id: 'a' }]])))[0].error;
    },
    async () => {
      throw (await toArray(client.trackStream('no/such', [[item]])))[0].error;
    },
  ]) {
    await assertRefused(call(), 'NOT_FOUND', 'no/such');
  }
});

test('lists are longer than a call and a page, and an error says in which part it was', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 3600 });
  const items = Array.from({ length: 2500 }, (_, n) => ({
    id: String(n).padStart(5, '0'),
    ts: now(),
  }));
  assert.equal((await client.track('c', items)).length, 2500);
  const views = await toArray(client.listItems('c'));
  assert.deepEqual(
    views.map(({ item }) => item.id.toString()),
    items.map(({ id }) => id),
  );
  items[1200] = { id: 'bad', ts: now(), ttl: 0 };
  await assertRefused(
    client.track('c', items),
    'INVALID_ARGUMENT',
    'entries 1000 to 1999',
    'items[200]',
  );
});

test('containers are created, changed, listed, watched and deleted', async (t) => {
  const { client } = await Sidecar.start(t);
  const created = await client.createContainer('salesdb/orders', { defaultTtl: 60 });
  await client.createContainer('salesdb/carts', {
    deletePolicy: { delay: 1500 * 1000, maxDeletesPerSecond: 0.5 },
  });
  assert.equal(created.defaultTtl, 60);
  assert.ok(created.createTime instanceof Date);
  // Silence for five of them would be an error.
  const watch = client.watchContainers({ heartbeatMs: PATIENCE_MS / 5 });
  assert.equal((await watch.next()).value.containers.length, 2);
  const changed = await client.setDefaultTtl('salesdb/orders', undefined);
  assert.equal(changed.defaultTtl, undefined);
  for await (const { event, containers, revision } of watch) {
    assert.equal(typeof revision, 'bigint');
    if (event === 'WATCH_EVENT_CHANGE' && containers[0].defaultTtl === undefined) break;
  }
  await assertRefused(client.deleteContainer('salesdb/orders', created.etag), 'ABORTED');
  await client.deleteContainer('salesdb/orders', changed.etag);
  const [left] = await toArray(client.listContainers());
  assert.deepEqual(
    [left.id, left.deletePolicy.delay, left.deletePolicy.maxDeletesPerSecond],
    ['salesdb/carts', 1500 * 1000, 0.5],
  );
  await assertRefused(client.createContainer('salesdb/carts'), 'ALREADY_EXISTS', 'salesdb/carts');
});

test('windows hold deletes back until they open', async (t) => {
  const { client } = await Sidecar.start(t);
  const window = {
    days: ['DAY_OF_WEEK_MONDAY', 'DAY_OF_WEEK_SUNDAY'],
    start: '22:00',
    end: '06:00',
    maxDeletesPerSecond: 0,
  };
  await client.createContainer('c', {
    defaultTtl: 60,
    deletePolicy: { windows: { windows: [window], timeZone: 'Europe/Berlin' } },
  });
  const { windows } = (await client.getContainer('c')).deletePolicy;
  assert.deepEqual([windows.windows[0].days, windows.timeZone], [window.days, 'Europe/Berlin']);
  const { container } = await client.status('c');
  assert.ok(container.holds.includes('DELETE_HOLD_WINDOW'));
  assert.equal(container.windows.nextStart, undefined);
  await assertRefused(
    client.createContainer('d', {
      deletePolicy: { windows: { windows: [window], timeZone: 'Europe/Atlantis' } },
    }),
    'INVALID_ARGUMENT',
    'Europe/Atlantis',
  );
});

test('pauses and usage show in the status', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', {
    defaultTtl: 60,
    deletePolicy: { requestUnitsPerSecond: 100 },
  });
  await client.pauseDeletes('one', 'c');
  await client.pauseDeletes('all of them', { all: true });
  const { container, sidecar } = await client.status('c');
  assert.deepEqual([container.pause.reason, sidecar.pause.reason], ['one', 'all of them']);
  await client.resumeDeletes('c');
  await client.resumeDeletes({ all: true });
  await client.reportUsage('c', 30, { periodMs: 2000, reporter: 'test' });
  await waitUntil(async () => {
    const [status] = await toArray(client.listStatuses());
    return status.pause === undefined && status.budget.usedByRequests === 15;
  }, 'no pause, and 15 request units per second in use');
  await client.track('c', [{ id: 'a', ts: now() - 60, ttl: 60 }]);
  assert.equal((await client.explainItem('c', 'a')).item.expired, true);
  assert.deepEqual(await client.call('ListStuckItems', { container: 'c' }), {
    items: [],
    nextPageToken: '',
  });
  await assertRefused(client.call('AcceptClock'), 'FAILED_PRECONDITION');
  await assert.rejects(client.call('StreamTrackItems'), TypeError);
  await assert.rejects(client.call('NoSuchMethod'), TypeError);
});
