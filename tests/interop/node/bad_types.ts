// Compiled by types.test.js, never run: every line that says "refused" must not compile, and no other
// may fail.
import { Client, PrimaryStore, SidecarError, v1 } from 'ttl-sidecar';

export async function misuse(client: Client, error: SidecarError): Promise<void> {
  new Client('unix:/run/ttl-sidecar/sidecar.sock'); // refused
  new Client({ checkTimeout: 5 }); // refused
  new Client({ interceptors: [5] }); // refused
  await client.trak('c', []); // refused
  await client.track('c', [{ id: 'a' }]); // refused
  await client.track('c', [{ ts: 1 }]); // refused
  await client.track('c', [{ id: 'a', ts: 1, tll: 5 }]); // refused
  await client.track('c', [{ id: 5, ts: 1 }]); // refused
  await client.track('c', [], true); // refused
  await client.check('c', [{ id: 'a', expiresAt: 5 }]); // refused
  (await client.check('c', [{ id: 'a' }]))[0].expires; // refused
  await client.getItem('c', 5); // refused
  (await client.getItem('c', 'a')).item.sequense; // refused
  client.listItems('c', true); // refused
  client.listItems('c', { partitionKey: 5 }); // refused
  client.listContainers('c'); // refused
  await client.check('c', [], { asOf: 5 }); // refused
  client.checkStream('c', [], { asOff: new Date() }); // refused
  await client.touch('c', [{ partitionKey: 'p' }]); // refused
  await client.touch('c', ['a']); // refused
  await client.touch('c', [{ id: 'a' }], { unlessTouchedWithin: 5 }); // refused
  (await client.touch('c', [{ id: 'a' }]))[0].result === 'toched'; // refused
  await client.createContainer('a', { allowTouches: true }); // refused
  await client.createSubscription('c', 'a', { gated: true }); // refused
  await client.createSubscription('c', 'a', { gate: true, giveUpAfterMs: '7d' }); // refused
  await client.forecast('c', { until: 5 }); // refused
  await client.createContainer('a', 60); // refused
  await client.createContainer('a', '60'); // refused
  await client.createContainer('a', { defaultTTL: 60 }); // refused
  await client.createContainer('a', { default_ttl: 60 }); // refused
  await client.createContainer('a', { defaultTtl: true }); // refused
  await client.createContainer('a', { indexingMode: 'INDEXING_MODE_LAZZY' }); // refused
  await client.createContainer('a', { deletePolicy: { maxDeletesPerSec: 5 } }); // refused
  await client.createContainer('a', { deletePolicy: { maxDeletesPerSecond: '5' } }); // refused
  await client.createContainer('a', { deletePolicy: { brake: { maxDue: 5 } } }); // refused
  await client.setDefaultTtl('c', '60.5'); // refused
  await client.setDefaultTtl('c', true); // refused
  await client.setDefaultTtl('c'); // refused
  (await client.getContainer('c')).defalutTtl; // refused
  await client.placeHold('c', 'h', { reason: 'r' }); // refused
  await client.placeHold('c', 'h', { reason: 'r', allItems: false }); // refused
  await client.placeHold('c', 'h', { reason: 'r', allItems: true, partitionKey: 'p' }); // refused
  await client.placeHold('c', 'h', { allItems: true }); // refused
  await client.placeHold('c', 'h', { reason: 'r', keys: [{ partitionKey: 'p' }] }); // refused
  await client.deleteContainer('c', '', true); // refused
  for await (const _ of client.watchEvents('c', { kind: ['EVENT_KIND_GONE'] })); // refused
  for await (const _ of client.watchEvents(['c'], { kinds: ['GONE'] })); // refused
  await client.acknowledge('c', 'archive', 1n); // refused
  await client.updateContainer({ id: 'c' }, ['feed.max_ages']); // refused
  await client.updateContainer({ defaultTtl: 5 }, ['default_ttl']); // refused
  await client.updateContainer({ id: 'c', defaultTtl: 5 }, ['defaultTtl']); // refused
  await client.updateContainer({ id: 'c' }, ['delete_policy.dealy']); // refused
  (await client.status('c')).container?.backlogs; // refused
  (await client.status('c')).container?.items?.liveItms; // refused
  (await client.status('c')).sidecar?.health?.state === 'HEALTH_STATE_OK'; // refused
  await client.pauseDeletes(); // refused
  await client.pauseDeletes('why'); // refused
  await client.resumeDeletes(); // refused
  await client.resumeDeletes({ all: false }); // refused
  await client.setMaxDeletesPerSecond(); // refused
  await client.setMaxDeletesPerSecond('5'); // refused
  await client.startReconciliation('c', true); // refused
  client.addUsage('c'); // refused
  client.addUsage('c', '1'); // refused
  await client.call('ListStuckItem', {}); // refused
  await client.call('WatchContainers', {}); // refused
  await client.call('ListStuckItems', { containr: 'c' }); // refused
  (await client.call('ListStuckItems', { container: 'c' })).item; // refused
  for await (const { finishd } of client.verifyData()) console.log(finishd); // refused
  error.resaon; // refused
  error.fieldViolations[0].feild; // refused
  const hold: v1.DeleteHold = 'DELETE_HOLD_BREAK'; // refused
  console.log(hold);
  class Incomplete extends PrimaryStore {} // refused
  console.log(Incomplete);
}
