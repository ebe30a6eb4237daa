// Touches, against a scripted sidecar and the real one.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { serveStore } from 'ttl-sidecar';
import { MemoryStore, Sidecar, assertRefused, now, waitUntil } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const { status } = grpc;

// A client whose sidecar touches every item, and the requests that it has seen.
async function start(t) {
  const script = await ScriptedSidecar.start(t);
  const seen = [];
  const touch = (call, callback) => {
    const { keys } = call.request;
    seen.push(call.request);
    callback(null, {
      results: keys.map(() => 'TOUCH_RESULT_TOUCHED'),
      expireTimes: keys.map(() => 160),
      touchTime: 100,
    });
  };
  script.answer = touch;
  return { script, client: script.newClient(), seen, touch };
}

const TOUCHED = { result: 'touched', expireTime: 160, touchTime: 100 };

test('what is touched arrives as given', async (t) => {
  const { client, seen } = await start(t);
  const keys = [{ partitionKey: 'p', id: 'a' }, { id: Buffer.from([0]) }];
  await client.touch('c', keys);
  await client.touch('c', new Set(keys), { unlessTouchedWithinMs: 300_000 });
  const request = {
    container: 'c',
    keys: [
      { partitionKey: Buffer.from('p'), id: Buffer.from('a') },
      { partitionKey: Buffer.alloc(0), id: Buffer.from([0]) },
    ],
  };
  assert.deepEqual(seen, [request, { ...request, unlessTouchedWithin: 300_000 }]);
});

test('each key has its result, and a new one is unknown', async (t) => {
  const { client, script } = await start(t);
  const names = ['TOUCHED', 'RECENT', 'EXPIRED', 'NOT_TRACKED'];
  script.answerWith({
    results: [...names.map((name) => `TOUCH_RESULT_${name}`), 99],
    expireTimes: [160, 150, 90, 0, 0],
    touchTime: 100,
  });
  const keys = [1, 2, 3, 4, 5].map((i) => ({ id: `${i}` }));
  const touched = await client.touch('c', keys);
  assert.deepEqual(
    touched.map(({ result, expireTime }) => [result, expireTime]),
    [
      ['touched', 160],
      ['recent', 150],
      ['expired', 90],
      ['notTracked', undefined],
      ['unknown', undefined],
    ],
  );
  assert.ok(touched.every(({ touchTime }) => touchTime === 100));
  await assertRefused(client.touch('c', keys.slice(1)), 'INTERNAL', '4');
});

test('an answer with too few times is refused', async (t) => {
  const { client, script } = await start(t);
  script.answerWith({ results: ['TOUCH_RESULT_TOUCHED'], expireTimes: [] });
  await assertRefused(client.touch('c', [{ id: 'a' }]), 'INTERNAL');
});

test('many keys are sent a thousand at a time', async (t) => {
  const { client, seen } = await start(t);
  const keys = Array.from({ length: 2500 }, (_, i) => ({ id: `${i}` }));
  const touched = await client.touch('c', keys, { unlessTouchedWithinMs: 60_000 });
  assert.deepEqual(
    seen.map((request) => [request.keys.length, request.unlessTouchedWithin]),
    [1000, 1000, 500].map((count) => [count, 60_000]),
  );
  assert.equal(String(seen[2].keys[0].id), '2000');
  assert.deepEqual(touched, Array(2500).fill(TOUCHED));
  assert.deepEqual(await client.touch('c', []), []);
});

test('values of the wrong type send nothing', async (t) => {
  const { client, seen } = await start(t);
  const many = Array.from({ length: 1500 }, (_, i) => ({ id: `${i}` }));
  for (const call of [
    () => client.touch('c', ['a']),
    () => client.touch('c', [{ partitionKey: 'p' }]),
    () => client.touch('c', [...many, { id: 5 }]),
    () => client.touch('c', many, { unlessTouchedWithinMs: '5' }),
    () => client.touch('c', many, { unlessTouchedWithin: 5 }),
    () => client.touch('c', many, 5),
  ]) {
    await assert.rejects(call, TypeError);
  }
  assert.deepEqual(seen, []);
});

test('a touch is sent again until it is answered', async (t) => {
  const { client, script, touch } = await start(t);
  script.answer = (call, callback) => {
    if (script.calls.TouchItems < 6) callback({ code: status.UNAVAILABLE });
    else touch(call, callback);
  };
  assert.deepEqual(await client.touch('c', [{ id: 'a' }]), [TOUCHED]);
  assert.deepEqual(script.calls, { TouchItems: 6 });
});

test('a full queue is tried four times, and a refusal once', async (t) => {
  for (const [code, attempts] of [
    [status.RESOURCE_EXHAUSTED, 4],
    [status.FAILED_PRECONDITION, 1],
  ]) {
    const { client, script } = await start(t);
    script.failWith(code);
    await assertRefused(client.touch('c', [{ id: 'a' }]), status[code]);
    assert.deepEqual(script.calls, { TouchItems: attempts });
  }
});

test('a touched item lives on, and is deleted at its new second', async (t) => {
  const sidecar = await Sidecar.start(t);
  const { client } = sidecar;
  const store = new MemoryStore();
  const server = await serveStore(store, sidecar.storeAddress);
  t.after(() => server.close());
  await client.createContainer('c', { defaultTtl: -1, allowTouch: true });
  const ts = now();
  const items = [
    { id: 'left', ts, ttl: 4 },
    { id: 'touched', ts, ttl: 7 },
  ];
  for (const item of items) await store.write('c', item);
  await client.track('c', items);
  const judgedAt = async () => (await client.check('c', [{ id: 'left' }]))[0].judgedAt / 1000;
  await waitUntil(async () => (await judgedAt()) >= ts + 2, 'two seconds have passed');
  const [touched, missing] = await client.touch('c', [{ id: 'touched' }, { id: 'missing' }]);
  assert.equal(touched.result, 'touched');
  assert.ok(touched.touchTime >= ts + 2, `${touched.touchTime - ts} s`);
  assert.equal(touched.expireTime, touched.touchTime + 7);
  assert.deepEqual([missing.result, missing.expireTime], ['notTracked', undefined]);
  const options = { unlessTouchedWithinMs: 3_600_000 };
  const [recent] = await client.touch('c', [{ id: 'touched' }], options);
  assert.deepEqual([recent.result, recent.expireTime], ['recent', touched.expireTime]);

  await waitUntil(() => !store.ids().includes('left'), 'the other one is deleted');
  await waitUntil(async () => (await judgedAt()) >= ts + 7, 'it would be expired');
  const [answer] = await client.check('c', [{ id: 'touched', ts, ttl: 7 }]);
  const isOver = answer.judgedAt.getTime() / 1000 >= touched.expireTime;
  assert.ok(isOver || answer.visibility === 'visible', answer.visibility);
  await waitUntil(() => store.ids().length === 0, 'it is deleted, too');
  assert.ok(Date.now() / 1000 >= touched.expireTime);
});

test('an expired item stays expired, and carried state alone hides nothing', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: -1, allowTouch: true });
  const ts = now() - 100;
  await client.track('c', [{ id: 'a', ts, ttl: 5 }]);
  const [touched] = await client.touch('c', [{ id: 'a' }]);
  assert.deepEqual([touched.result, touched.expireTime], ['expired', ts + 5]);
  const answers = await client.check('c', [{ id: 'a' }, { id: 'b', ts, ttl: 5 }]);
  assert.deepEqual(
    answers.map(({ visibility }) => visibility),
    ['expired', 'untracked'],
  );
});

test('a container that does not allow it refuses', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 60 });
  const refused = client.touch('c', [{ id: 'a' }]);
  await assertRefused(refused, 'FAILED_PRECONDITION', 'allow_touch');
  await client.updateContainer({ id: 'c', allowTouch: true }, ['allow_touch']);
  const [{ result }] = await client.touch('c', [{ id: 'a' }]);
  assert.equal(result, 'notTracked');
});
