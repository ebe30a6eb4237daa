// Compiled, never run: the types say what the package takes and gives, and refuse what it does not.
import {
  Answer,
  Client,
  Item,
  Key,
  Mutex,
  PlaceHoldResult,
  PrimaryStore,
  Reply,
  SidecarError,
  StoreBusy,
  TouchResult,
  Touched,
  serveStore,
  v1,
} from 'ttl-sidecar';

class Store extends PrimaryStore {
  readonly storeId = 'typed';
  #mutex = new Mutex();
  #items = new Map<string, Item>();

  exclusive<T>(container: string, keys: Key[], action: () => Promise<T>) {
    if (keys.length > 100) throw new StoreBusy(100);
    return this.#mutex.run(action);
  }

  read(container: string, key: Key) {
    return this.#items.get(key.id.toString('hex'));
  }

  async delete(container: string, keys: Key[]) {
    for (const key of keys) this.#items.delete(key.id.toString('hex'));
  }
}

export async function use(): Promise<void> {
  const client = new Client({ address: 'unix:/run/ttl-sidecar/sidecar.sock', checkTimeoutMs: 100 });
  const items: Item[] = [
    { id: 'a', ts: 1n, ttl: null, sequence: 2n ** 64n - 1n },
    { id: new Uint8Array(2), ts: 1 },
    { id: 'b', ts: '1767225600', sequence: '18446744073709551615' },
  ];
  await client.track('c', items);
  const [answer]: Answer[] = await client.check('c', [{ id: Buffer.from('a') }]);
  const expireTime: number | undefined = answer.expireTime;
  for await (const reply of client.checkStream('c', [[{ id: 'a' }]])) {
    const typed: Reply<Answer> = reply;
    if (typed.error)
      throw new SidecarError(typed.error.code, `${expireTime}`, typed.error.retryAfterMs);
    else console.log(typed.results.length);
  }
  await client.check('c', [{ id: 'a' }], { asOf: answer.judgedAt });
  for await (const { id } of client.listContainers({ idPrefix: 'c', ttlOnOnly: true }))
    console.log(id);
  const forecast: v1.GetForecastResponse = await client.forecast('c', { defaultTtl: 5n });
  console.log(forecast.backlogItems, forecast.steps[0].endTime?.getTime());
  for await (const view of client.listItems('c', { partitionKey: 'p', expireTimeTo: 5n }))
    console.log(view.item.sequence === 5n, view.item.ts + 1);
  await client.setDefaultTtl('c', '60');
  const container: v1.Container = await client.createContainer('c', {
    defaultTtl: 60,
    indexingMode: 'INDEXING_MODE_CONSISTENT',
    deletePolicy: { maxDeletesPerSecond: 5, delay: 1000, brake: { maxNewlyDueItems: 5n } },
  });
  await client.updateContainer({ ...container, defaultTtl: null }, ['default_ttl']);
  await client.updateContainer(container, ['delete_policy.brake']);
  const status: v1.GetExpiryStatusResponse = await client.status('c');
  const backlog: number | undefined = status.container?.backlog;
  const holds: v1.DeleteHold[] = status.container?.holds ?? [];
  console.log(holds.includes('DELETE_HOLD_BRAKE'), backlog);
  const stuck = await client.call('ListStuckItems', { container: 'c', pageSize: 5 });
  console.log(stuck.items.map(({ id, nextTryTime }) => [id.toString(), nextTryTime + 1]));
  for await (const { data } of client.backUpData()) console.log(data.byteLength);
  const { hold, results } = await client.placeHold('c', 'h', { reason: 'r', keys: [{ id: 'a' }] });
  await client.placeHold('c', 'h', { reason: 'r', partitionKey: '', until: new Date() });
  const held: PlaceHoldResult = results[0];
  for await (const { id } of client.listHeldKeys('c', hold?.holdId ?? held)) console.log(id.length);
  for await (const { createTime, keyCount } of client.listHolds())
    console.log(createTime, keyCount);
  await client.updateContainer({ id: 'c', showHeld: true }, ['show_held'], { force: true });
  await client.previewUpdate({ id: 'c', showHeld: true }, ['show_held'], { force: true });
  for await (const response of client.watchEvents(['c'], { kinds: ['EVENT_KIND_EXPIRED'] })) {
    const kinds: v1.EventKind[] = response.events.map(({ kind }) => kind);
    console.log(kinds, response.watermark?.getTime(), response.epoch === 5n);
  }
  const { name, giveUpAfter } = await client.createSubscription('c', 'archive', {
    consumer: 'cn:archiver',
    gate: true,
    giveUpAfterMs: 1000,
  });
  const milliseconds: number | undefined = giveUpAfter;
  for await (const { events } of client.watchEvents(['c']))
    console.log(events[0].givenUpSubscriptions.join(), milliseconds);
  await client.createContainer('t', { allowTouch: true });
  const [touched]: Touched[] = await client.touch('t', [{ id: 'a' }, { partitionKey: 'p', id: 'b' }], {
    unlessTouchedWithinMs: 60000,
  });
  const touch: TouchResult = touched.result;
  const later: number | undefined = touched.expireTime;
  console.log(touch === 'recent', later, touched.touchTime + 1);
  for await (const { revision } of client.watchContainers({ touch: true })) console.log(revision);
  for await (const { epoch, events } of client.watchSubscription('c', name, { heartbeatMs: 100 }))
    console.log((await client.acknowledge('c', name, epoch, events[0].sequence)) + 1n);
  for await (const { hasLostEvents } of client.listSubscriptions()) console.log(!hasLostEvents);
  await client.updateContainer({ id: 'c', feed: { maxAge: 1000 } }, ['feed.max_age', 'feed']);
  const limit: number | undefined = await client.setMaxDeletesPerSecond(null);
  client.addUsage('c', limit ?? 1);
  const server = await serveStore(new Store(), 'unix:/tmp/store.sock');
  await server.close();
  client.close();
}
