// Holds, against a scripted sidecar.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { assertRefused, toArray } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const UNTIL = new Date('2030-01-01T00:00:00Z');

// A client whose sidecar holds every key, and the requests that it has seen.
async function start(t) {
  const script = await ScriptedSidecar.start(t);
  const seen = [];
  const place = (call, callback) => {
    const { container, holdId, keys } = call.request;
    seen.push(call.request);
    callback(null, {
      hold: { container, holdId, keyCount: seen.length },
      results: (keys?.keys ?? []).map(() => 'PLACE_HOLD_RESULT_HELD'),
    });
  };
  script.answer = place;
  const answerWith = (response) => {
    script.answer = (call, callback) => {
      seen.push(call.request);
      callback(null, response);
    };
  };
  return { script, client: script.newClient(), seen, place, answerWith };
}

const reason = 'why';

test('each scope arrives as given', async (t) => {
  const { client, seen } = await start(t);
  const keys = [{ partitionKey: 'p', id: 'a' }, { id: Buffer.from([0]) }];
  await client.placeHold('c', 'h', { reason, until: UNTIL, keys });
  await client.placeHold('c', 'h', { reason, partitionKey: '' });
  await client.placeHold('c', 'h', { reason, allItems: true });
  const bytes = (text) => Buffer.from(text);
  const held = [
    { partitionKey: bytes('p'), id: bytes('a') },
    { partitionKey: bytes(''), id: Buffer.from([0]) },
  ];
  const [withKeys, withPartition, withAll] = seen;
  assert.deepEqual(withKeys.keys.keys, held);
  assert.deepEqual(withKeys.until, UNTIL);
  assert.deepEqual([withKeys.container, withKeys.holdId, withKeys.reason], ['c', 'h', 'why']);
  assert.deepEqual(withPartition.partitionKey, bytes(''));
  assert.equal(withPartition.allItems, undefined);
  assert.equal(withAll.allItems, true);
  assert.equal(withAll.until, undefined);
});

test('a hold has one scope', async (t) => {
  const { client, script } = await start(t);
  for (const scope of [
    {},
    { allItems: false },
    { keys: [{ id: 'a' }], allItems: true },
    { partitionKey: 'p', allItems: true },
    { keys: [{ id: 'a' }], allItems: false },
  ])
    await assert.rejects(client.placeHold('c', 'h', { reason, ...scope }), /one of keys/);
  await assert.rejects(client.placeHold('c', 'h', { reason, keys: [] }), RangeError);
  for (const hold of [
    { reason, keys: [{ partitionKey: 'p' }] },
    { reason, all: true },
    { reason, allItems: true, until: 5 },
    undefined,
  ])
    await assert.rejects(client.placeHold('c', 'h', hold), TypeError);
  assert.deepEqual(script.calls, {});
});

test('many keys are sent a thousand at a time', async (t) => {
  const { client, seen } = await start(t);
  const keys = Array.from({ length: 2500 }, (_, i) => ({ id: `${i}` }));
  const { hold, results } = await client.placeHold('c', 'h', { reason, keys: new Set(keys) });
  assert.deepEqual(seen.map((request) => request.keys.keys.length), [1000, 1000, 500]);
  assert.equal(seen[2].keys.keys[0].id.toString(), '2000');
  assert.deepEqual(results, Array(2500).fill('held'));
  assert.equal(hold.keyCount, 3);
});

test('a wrong key after many holds nothing', async (t) => {
  const { client, script } = await start(t);
  const keys = Array.from({ length: 1500 }, (_, i) => ({ id: `${i}` }));
  keys.push({ partitionKey: 'p' });
  await assert.rejects(client.placeHold('c', 'h', { reason, keys }), TypeError);
  assert.deepEqual(script.calls, {});
});

test('a wrong entry after many sends nothing', async (t) => {
  const { client, script } = await start(t);
  const entries = Array.from({ length: 1500 }, (_, i) => ({ id: `${i}`, ts: 5 }));
  entries.push({ ts: 5 });
  await assert.rejects(client.track('c', entries), TypeError);
  await assert.rejects(client.untrack('c', entries), TypeError);
  await assert.rejects(client.check('c', entries), TypeError);
  assert.deepEqual(script.calls, {});
});

test('each key has its result, and a new one is unknown', async (t) => {
  const { client, answerWith } = await start(t);
  answerWith({
    results: [
      'PLACE_HOLD_RESULT_HELD',
      'PLACE_HOLD_RESULT_NOT_TRACKED',
      'PLACE_HOLD_RESULT_ALREADY_DELETED',
      99,
    ],
  });
  const keys = [1, 2, 3, 4].map((i) => ({ id: `${i}` }));
  const { results } = await client.placeHold('c', 'h', { reason, keys });
  assert.deepEqual(results, ['held', 'notTracked', 'alreadyDeleted', 'unknown']);
  const short = client.placeHold('c', 'h', { reason, keys: keys.slice(1) });
  await assertRefused(short, 'INTERNAL', '4');
});

test('a hold is sent again until it is answered', async (t) => {
  const { client, script, place } = await start(t);
  script.answer = (call, callback) => {
    if (script.calls.PlaceHold < 6) callback({ code: grpc.status.UNAVAILABLE });
    else place(call, callback);
  };
  await client.placeHold('c', 'h', { reason, allItems: true });
  assert.deepEqual(script.calls, { PlaceHold: 6 });
});

test('what is refused, or ends a hold, is sent once', async (t) => {
  const { client, script } = await start(t);
  script.failWith(grpc.status.RESOURCE_EXHAUSTED);
  const placed = client.placeHold('c', 'h', { reason, allItems: true });
  await assertRefused(placed, 'RESOURCE_EXHAUSTED');
  script.failWith(grpc.status.UNAVAILABLE);
  await assertRefused(client.releaseHold('c', 'h'), 'UNAVAILABLE');
  await assertRefused(client.acceptHolds('c'), 'UNAVAILABLE');
  assert.deepEqual(script.calls, { PlaceHold: 1, ReleaseHold: 1, AcceptHolds: 1 });
});

test('holds end and are accepted by name', async (t) => {
  const { client, seen, answerWith } = await start(t);
  answerWith({});
  assert.equal(await client.releaseHold('c', 'h'), undefined);
  assert.equal(await client.acceptHolds('c'), undefined);
  assert.deepEqual(seen, [{ container: 'c', holdId: 'h' }, { container: 'c' }]);
});

test('holds and their keys are listed page by page', async (t) => {
  const { client, script, seen } = await start(t);
  const pages = { '': ['a', 'next'], next: ['b', ''] };
  script.answer = (call, callback) => {
    seen.push(call.request);
    const [id, nextPageToken] = pages[call.request.pageToken];
    const page = call.request.holdId === undefined ? { holds: [{ holdId: id }] } : { keys: [{ id }] };
    callback(null, { ...page, nextPageToken });
  };
  assert.deepEqual((await toArray(client.listHolds('c'))).map(({ holdId }) => holdId), ['a', 'b']);
  const keys = await toArray(client.listHeldKeys('c', 'h'));
  assert.deepEqual(keys.map(({ id }) => id.toString()), ['a', 'b']);
  assert.deepEqual(seen.map(({ container }) => container), ['c', 'c', 'c', 'c']);
  assert.equal(seen[3].holdId, 'h');
  await toArray(client.listHolds());
  assert.equal(seen.at(-1).container, '');
});

test('containers have settings for holds, and only force overrides them', async (t) => {
  const { client, seen, answerWith } = await start(t);
  answerWith({});
  await client.createContainer('c', { showHeld: true, requiresHolds: true });
  assert.deepEqual([seen[0].container.showHeld, seen[0].container.requiresHolds], [true, true]);
  await client.updateContainer({ id: 'c' }, ['indexing_mode']);
  await client.updateContainer({ id: 'c' }, ['indexing_mode'], { force: true });
  await client.previewUpdate({ id: 'c' }, ['indexing_mode']);
  await client.previewUpdate({ id: 'c' }, ['indexing_mode'], { force: true });
  await client.deleteContainer('c', 'etag');
  await client.deleteContainer('c', '', { force: true });
  assert.deepEqual(seen.slice(1).map(({ force }) => force), [false, true, false, true, false, true]);
  await assert.rejects(client.deleteContainer('c', '', true), TypeError);
  await assert.rejects(client.updateContainer({ id: 'c' }, [], { forced: true }), TypeError);
  await assert.rejects(client.previewUpdate({ id: 'c' }, [], { forced: true }), TypeError);
});

test('a watcher names the rules that it knows', async (t) => {
  const { client, script, seen } = await start(t);
  script.answer = (call) => {
    seen.push(call.request.rules);
    call.write({ revision: 7n });
  };
  const all = { expireAt: true, showHeld: true, touch: true };
  for (const options of [
    {},
    { expireAt: true },
    { showHeld: true, touch: false },
    { touch: true },
    all,
  ]) {
    const messages = client.watchContainers(options);
    assert.equal((await messages.next()).value.revision, 7n);
    await messages.return();
  }
  const rules = ['EXPIRE_AT', 'SHOW_HELD', 'TOUCH'].map((name) => `JUDGING_RULE_${name}`);
  const [expireAt, showHeld, touch] = rules;
  assert.deepEqual(seen, [[], [expireAt], [showHeld], [touch], rules]);
  await assert.rejects(client.watchContainers({ touches: true }).next(), TypeError);
});
