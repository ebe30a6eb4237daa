// What operators do, against the real sidecar, and against a scripted one where the real one never
// answers so.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { Client, serveStore } from 'ttl-sidecar';
import { MemoryStore, Sidecar, assertRefused, now, toArray, waitUntil } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

async function serve(t, { client, storeAddress }, store) {
  const server = await serveStore(store, storeAddress);
  t.after(() => server.close());
  const isKnown = async () => (await client.status()).sidecar.store.reachable;
  await waitUntil(isKnown, 'the store is known');
}

test('health is that of the service that is named, and waits for no sidecar', async (t) => {
  const sidecar = await Sidecar.start(t);
  assert.equal(await sidecar.client.isServing('liveness'), true);
  assert.equal(typeof (await sidecar.client.isServing()), 'boolean');
  await assertRefused(sidecar.client.isServing('no such service'), 'NOT_FOUND');
  await sidecar.kill();
  const client = new Client({ address: sidecar.address, adminTimeoutMs: 1e9 });
  t.after(() => client.close());
  await assertRefused(client.isServing(), 'UNAVAILABLE');
});

test('the limit of deletes is set, lifted and reset', async (t) => {
  const { client } = await Sidecar.start(t);
  assert.equal(await client.setMaxDeletesPerSecond(2.5), 2.5);
  assert.equal(await client.setMaxDeletesPerSecond(0), 0);
  assert.equal(await client.setMaxDeletesPerSecond(null), undefined);
  const limit = await client.resetMaxDeletesPerSecond();
  assert.equal(limit, (await client.status()).sidecar.maxDeletesPerSecond);
});

test('a preview changes nothing', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 60 });
  const { container, preview } = await client.previewUpdate({ id: 'c', defaultTtl: 5 }, [
    'default_ttl',
  ]);
  assert.deepEqual([container.defaultTtl, preview.newlyDueItems], [5, 0]);
  assert.equal((await client.getContainer('c')).defaultTtl, 60);
});

test('a container is previewed over the items of the store, and reconciled', async (t) => {
  const sidecar = await Sidecar.start(t);
  const store = new MemoryStore();
  for (const n of [0, 1, 2]) await store.write('c', { id: `${n}`, ts: now() - 100 * n });
  await serve(t, sidecar, store);
  const { client } = sidecar;
  const messages = await toArray(client.previewContainer({ id: 'c', defaultTtl: 50 }));
  const { finished, scannedItems, expiredItems } = messages.at(-1);
  assert.deepEqual([finished, scannedItems, expiredItems], [true, 3, 2]);
  await client.createContainer('c', { defaultTtl: -1 });
  const { container, dryRun } = await client.startReconciliation('c', { dryRun: true });
  assert.deepEqual([container, dryRun], ['c', true]);
  const isDone = async () => (await client.getReconciliation()).state === 'RECONCILIATION_STATE_DONE';
  await waitUntil(isDone, 'the reconciliation is done');
});

test('data are verified and backed up', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 60 });
  const { finished, problems } = (await toArray(client.verifyData())).at(-1);
  assert.deepEqual([finished, problems], [true, 0]);
  const pieces = await toArray(client.backUpData());
  assert.ok(pieces.reduce((sum, { data }) => sum + data.length, 0) > 0);
});

test('what needs no confirmation is refused, and nothing is stuck at first', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 60 });
  for (const call of [
    () => client.confirmPolicy('c'),
    () => client.confirmStore('other'),
    () => client.trustData(),
  ])
    await assertRefused(call(), 'FAILED_PRECONDITION');
  assert.deepEqual(await toArray(client.listStuckItems('c')), []);
});

test('requests carry what was given, and answers are unwrapped', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  const seen = [];
  const answerWith = (response) => {
    script.answer = (call, callback) => {
      seen.push(call.request);
      callback(null, response);
    };
  };
  answerWith({ container: { id: 'c', etag: '7' } });
  assert.equal((await client.confirmPolicy('c', '6')).etag, '7');
  assert.deepEqual(seen.at(-1), { container: 'c', etag: '6' });
  answerWith({ clock: { state: 'CLOCK_STATE_SOUND' } });
  assert.equal((await client.acceptClock()).state, 'CLOCK_STATE_SOUND');
  answerWith({});
  assert.equal(await client.confirmStore('s'), undefined);
  assert.equal(seen.at(-1).storeId, 's');
  answerWith({ reconciliation: { container: 'c' } });
  assert.equal((await client.cancelReconciliation()).container, 'c');
  answerWith({});
  await client.previewUpdate({ id: 'c' }, ['default_ttl']);
  await client.updateContainer({ id: 'c' }, ['default_ttl']);
  assert.deepEqual(seen.slice(-2).map(({ validateOnly }) => validateOnly), [true, false]);
});

test('what ends before it is finished, or is refused, is an error', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  script.answer = (call) => {
    call.write({ records: 1 });
    call.end();
  };
  const messages = client.verifyData();
  assert.equal((await messages.next()).value.records, 1);
  await assertRefused(messages.next(), 'INTERNAL', 'verification', 'before it was finished');
  script.answer = (call) => call.end();
  await assertRefused(toArray(client.previewContainer({ id: 'c' })), 'INTERNAL', 'preview');
  script.calls = {};
  script.answer = (call) =>
    call.emit('error', { code: grpc.status.UNAVAILABLE, details: 'told so' });
  await assertRefused(toArray(client.backUpData()), 'UNAVAILABLE', 'told so');
  assert.deepEqual(script.calls, { BackUpData: 1 });
});
