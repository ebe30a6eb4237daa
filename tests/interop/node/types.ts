// Compiled, never run: the types say what the package takes and gives, and refuse what it does not.
import {
  Answer,
  Client,
  Item,
  Key,
  Mutex,
  PrimaryStore,
  Reply,
  SidecarError,
  StoreBusy,
  serveStore,
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
  for await (const view of client.listItems('c'))
    console.log(view.item.sequence === 5n, view.item.ts + 1);
  // @ts-expect-error an item has a ts
  await client.track('c', [{ id: 'a' }]);
  await client.setDefaultTtl('c', '60');
  // @ts-expect-error a fraction is no whole number
  await client.setDefaultTtl('c', '60.5');
  // @ts-expect-error a Boolean is no ttl
  await client.setDefaultTtl('c', true);
  // @ts-expect-error an item has an id
  await client.track('c', [{ ts: 1 }]);
  // @ts-expect-error keys are no numbers
  await client.getItem('c', 5);
  // @ts-expect-error a store can delete
  class Incomplete extends PrimaryStore {
    storeId = 'x';
    exclusive = undefined as any;
    read = () => undefined;
  }
  const server = await serveStore(new Store(), 'unix:/tmp/store.sock');
  await server.close();
  client.close();
}
