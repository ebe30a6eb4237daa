// Streams as async iterators, against the real sidecar.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Client } from 'ttl-sidecar';
import { PATIENCE_MS, Sidecar, assertRefused, now, toArray } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

async function start(t) {
  const sidecar = await Sidecar.start(t);
  await sidecar.client.createContainer('c', { defaultTtl: 3600 });
  return sidecar;
}

test('replies come in the order of the batches', async (t) => {
  const { client } = await start(t);
  const sizes = Array.from({ length: 50 }, () => [1, 7, 1000, 3]).flat();
  async function* batches() {
    for (const size of sizes)
      yield Array.from({ length: size }, (_, n) => ({ id: `${n}`, ts: now() }));
  }
  const replies = await toArray(client.trackStream('c', batches()));
  assert.deepEqual(
    replies.map(({ results }) => results.length),
    sizes,
  );
});

test('a refused message has its own error, and the stream goes on', async (t) => {
  const { client } = await start(t);
  const item = (id, fields) => ({ id, ts: now(), ...fields });
  const [first, refused, last] = await toArray(
    client.trackStream('c', [[item('1')], [item('2'), item('3', { ttl: 0 })], [item('4')]]),
  );
  assert.deepEqual([first.results, last.results], [['tracked'], ['tracked']]);
  await assertRefused(Promise.reject(refused.error), 'INVALID_ARGUMENT', 'items[1]', 'ttl');
  const ids = (await toArray(client.listItems('c'))).map((view) => view.item.id.toString());
  assert.deepEqual(ids, ['1', '4']);
});

test('checks over a stream are judged like calls', async (t) => {
  const { client } = await start(t);
  await client.track('c', [
    { id: '1', ts: now() },
    { id: '2', ts: now() - 60, ttl: 60 },
  ]);
  const [known, refused, unknown] = await toArray(
    client.checkStream('c', [[{ id: '1' }, { id: '2' }], [], [{ id: '3' }]]),
  );
  assert.deepEqual(
    [...known.results, ...unknown.results].map(({ visibility }) => visibility),
    ['visible', 'expired', 'untracked'],
  );
  assert.equal(refused.error.codeName, 'INVALID_ARGUMENT');
});

test('a stream that is left early is closed', async (t) => {
  const { client } = await start(t);
  let ended = false;
  function* endless() {
    try {
      for (;;) yield [{ id: '1' }];
    } finally {
      ended = true;
    }
  }
  for await (const reply of client.checkStream('c', endless())) {
    assert.equal(reply.results.length, 1);
    break;
  }
  await client.status();
  assert.ok(ended);
});

test('what the source of batches throws reaches the reader', async (t) => {
  const { client } = await start(t);
  function* broken() {
    yield [{ id: '1' }];
    throw new RangeError('no more');
  }
  await assert.rejects(toArray(client.checkStream('c', broken())), /no more/);
  await assert.rejects(toArray(client.trackStream('c', [[{ id: '1', ts: 1.5 }]])), TypeError);
});

test('calls and streams end at their deadline when nothing answers', async (t) => {
  const sidecar = await start(t);
  await sidecar.suspend();
  const client = new Client({
    address: sidecar.address,
    checkTimeoutMs: 300,
    reportTimeoutMs: 300,
    adminTimeoutMs: 300,
  });
  t.after(() => client.close());
  for (const call of [
    () => client.check('c', [{ id: '1' }]),
    () => client.track('c', [{ id: '1', ts: now() }]),
    () => client.status(),
    () => toArray(client.checkStream('c', [[{ id: '1' }]])),
    () => toArray(client.trackStream('c', [[{ id: '1', ts: now() }]])),
    () => toArray(client.watchContainers({ heartbeatMs: 100 })),
  ]) {
    const begin = performance.now();
    const error = await assertRefused(call(), 'DEADLINE_EXCEEDED', sidecar.address);
    assert.ok(performance.now() - begin < PATIENCE_MS / 2, error.message);
  }
});

test('a slow reader is not taken for a silent sidecar', async (t) => {
  const { address } = await start(t);
  // The sidecar has answered long before; a machine may stand still for a part of that.
  const client = new Client({ address, checkTimeoutMs: 4000 });
  t.after(() => client.close());
  let replies = 0;
  for await (const reply of client.checkStream('c', [
    [{ id: '1' }],
    [{ id: '1' }],
    [{ id: '1' }],
  ])) {
    const end = performance.now() + 4500; // the reader is busy for longer than the deadline
    while (replies === 0 && performance.now() < end);
    replies += reply.results.length;
  }
  assert.equal(replies, 3);
});

test('streams end with an error when the sidecar dies', async (t) => {
  const sidecar = await start(t);
  async function* batches() {
    yield [{ id: '1' }];
    await sidecar.kill();
    yield [{ id: '1' }];
  }
  await assertRefused(
    toArray(sidecar.client.checkStream('c', batches())),
    'UNAVAILABLE',
    sidecar.address,
  );
});

test('an answer without a message is an error', async (t) => {
  const script = await ScriptedSidecar.start(t);
  script.answer = (call) => {
    call.once('data', () => {
      const response = { visibilities: [1], expireTimes: [0] };
      for (let n = 0; n < 2; n += 1) call.write({ response });
    });
  };
  const stream = script.newClient().checkStream('c', [[{ id: '1' }]]);
  assert.equal((await stream.next()).value.results.length, 1);
  await assertRefused(stream.next(), 'INTERNAL', 'more answers than messages');
});
