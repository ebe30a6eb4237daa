// Gated subscriptions, against a scripted sidecar and the real one.
import assert from 'node:assert/strict';
import test from 'node:test';
import { serveStore } from 'ttl-sidecar';
import { MemoryStore, Sidecar, now, waitUntil } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

test('a gate arrives as given', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const seen = [];
  script.answer = (call, callback) => {
    seen.push(call.request.subscription);
    callback(null, { subscription: call.request.subscription });
  };
  const client = script.newClient();
  await client.createSubscription('c', 'archive');
  await client.createSubscription('c', 'archive', { gate: true });
  const options = { gate: true, giveUpAfterMs: 604_800_000, kinds: ['EVENT_KIND_EXPIRED'] };
  const made = await client.createSubscription('c', 'archive', options);
  assert.deepEqual(
    seen.map(({ container, name, gate, giveUpAfter, kinds }) => [
      `${container}/${name}`,
      gate,
      giveUpAfter,
      kinds,
    ]),
    [
      ['c/archive', false, undefined, []],
      ['c/archive', true, undefined, []],
      ['c/archive', true, 604_800_000, ['EVENT_KIND_EXPIRED']],
    ],
  );
  assert.deepEqual(made, seen[2]);
});

test('values of the wrong type send nothing', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  for (const options of [{ gate: 'yes' }, { giveUpAfterMs: '7d' }, { giveUpAfter: 5 }]) {
    await assert.rejects(client.createSubscription('c', 'a', options), TypeError);
  }
  assert.deepEqual(script.calls, {});
});

test('a purge names who was given up', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const givenUpSubscriptions = ['archive', 'mail'];
  script.answer = (call) =>
    call.write({ token: 't', events: [{ kind: 'EVENT_KIND_PURGED', givenUpSubscriptions }] });
  const watch = script.newClient().watchEvents(['c']);
  const { value } = await watch.next();
  assert.deepEqual(value.events[0].givenUpSubscriptions, givenUpSubscriptions);
  await watch.return();
});

// A sidecar with a container that has a feed, and its store.
async function startReal(t) {
  const sidecar = await Sidecar.start(t);
  const { client } = sidecar;
  const store = new MemoryStore();
  const server = await serveStore(store, sidecar.storeAddress);
  t.after(() => server.close());
  await client.createContainer('c', { defaultTtl: -1, feed: {} });
  const write = async (id) => {
    const item = { id, ts: now(), ttl: 1 };
    await store.write('c', item);
    await client.track('c', [item]);
  };
  const status = async () => (await client.status('c')).container;
  const waits = () => waitUntil(async () => (await status()).feed.gatedItems === 1, 'it waits');
  return { client, store, write, status, waits };
}

// The next event of that kind, and the epoch of its log.
async function nextEvent(watch, kind) {
  for (;;) {
    const { value } = await watch.next();
    const event = value.events.find((one) => one.kind === kind);
    if (event !== undefined) return { event, epoch: value.epoch };
  }
}

test('an item is deleted only after its acknowledgement', async (t) => {
  const { client, store, write, status, waits } = await startReal(t);
  assert.equal((await client.createSubscription('c', 'archive', { gate: true })).gate, true);
  await write('a');
  const watch = client.watchSubscription('c', 'archive');
  const { event: expired, epoch } = await nextEvent(watch, 'EVENT_KIND_EXPIRED');
  await waits();
  const { feed, holds } = await status();
  assert.deepEqual(feed.waitingFor, ['archive']);
  assert.ok(holds.includes('DELETE_HOLD_GATE'), holds.join());
  assert.deepEqual((await client.explainItem('c', 'a')).waitingFor, ['archive']);
  assert.deepEqual(store.ids(), ['a']);
  await client.acknowledge('c', 'archive', epoch, expired.sequence);
  const { event: purged } = await nextEvent(watch, 'EVENT_KIND_PURGED');
  await watch.return();
  assert.deepEqual(
    [purged.expiredSequence, purged.givenUpSubscriptions],
    [expired.sequence, []],
  );
  assert.deepEqual(store.ids(), []);
});

test('a gate that gives up is named in the purge', async (t) => {
  const { client, store, write } = await startReal(t);
  await client.createSubscription('c', 'archive', { gate: true, giveUpAfterMs: 1000 });
  const watch = client.watchEvents(['c']);
  await watch.next();
  await write('a');
  const { event } = await nextEvent(watch, 'EVENT_KIND_PURGED');
  await watch.return();
  assert.deepEqual(event.givenUpSubscriptions, ['archive']);
  await waitUntil(() => store.ids().length === 0, 'it is deleted');
  const { givenUpSequence } = await client.getSubscription('c', 'archive');
  assert.ok(givenUpSequence >= event.expiredSequence, `${givenUpSequence}`);
});

test('nothing waits for a gate that is deleted', async (t) => {
  const { client, store, write, waits } = await startReal(t);
  await client.createSubscription('c', 'archive', { gate: true });
  await write('a');
  await waits();
  await client.deleteSubscription('c', 'archive');
  await waitUntil(() => store.ids().length === 0, 'it is deleted');
});
