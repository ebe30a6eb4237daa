// A store in Node: the comparison before a delete, and deletes by the real sidecar.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { StoreBusy, serveStore } from 'ttl-sidecar';
import { serviceDefinition } from '../node_modules/ttl-sidecar/src/messages.js';
import {
  MemoryStore,
  PATIENCE_MS,
  Sidecar,
  now,
  tempFolder,
  toArray,
  waitUntil,
  writeProgram,
} from './harness.js';

const TS = 1000000; // of the items in the table; they expire at TS + 10
const METHODS = serviceDefinition('PrimaryStoreService');

class StoreAtFixedTime extends MemoryStore {
  nowSeconds = TS + 10;

  nowMs() {
    return this.nowSeconds * 1000;
  }
}

async function serve(t, store, address) {
  const server = await serveStore(store, address);
  t.after(() => server.close());
}

// A store behind its socket, called as the sidecar does.
async function startStore(t) {
  const store = new StoreAtFixedTime();
  const address = `unix:${tempFolder(t)}/store.sock`;
  await serve(t, store, address);
  const stub = new grpc.Client(address, grpc.credentials.createInsecure());
  t.after(() => stub.close());
  const call = (name, request) =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = METHODS[name];
      stub.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new grpc.Metadata(),
        { deadline: Date.now() + PATIENCE_MS },
        (error, response) => (error ? reject(error) : resolve(response)),
      );
    });
  const deleteItems = (items, notAfter = TS + 60) =>
    call('DeleteItems', { container: 'c', items, notAfter: new Date(notAfter * 1000) });
  const scan = (pageToken, maxItems) => {
    const { path, requestSerialize, responseDeserialize } = METHODS.ScanItems;
    return toArray(
      stub.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { container: 'c', pageToken, maxItems },
        new grpc.Metadata(),
        { deadline: Date.now() + PATIENCE_MS },
      ),
    );
  };
  return { store, call, deleteItems, scan };
}

const judged = (fields) => ({
  id: 'a',
  ts: TS,
  ttl: 10,
  etag: 'v1',
  expireTime: TS + 10,
  ...fields,
});
const outcomes = ({ results }) =>
  results.map(({ outcome }) => outcome.replace('DELETE_OUTCOME_', ''));

test('deletes that are meant for another store are refused', async (t) => {
  const { store, call } = await startStore(t);
  store.write('c', { id: 'a', ts: TS, ttl: 10, etag: 'v1' });
  const request = { container: 'c', items: [judged()], notAfter: new Date((TS + 60) * 1000) };
  await assert.rejects(call('DeleteItems', { ...request, storeId: 'another' }), {
    code: grpc.status.FAILED_PRECONDITION,
  });
  const response = await call('DeleteItems', { ...request, storeId: store.storeId });
  assert.deepEqual(outcomes(response), ['DELETED']);
});

test('only a store that says so knows expireAt', async (t) => {
  const { store, call } = await startStore(t);
  const knows = async () =>
    (await call('GetStoreInfo', {})).capabilities.includes('STORE_CAPABILITY_EXPIRE_AT');
  assert.equal(await knows(), false);
  store.knowsExpireAt = true;
  assert.equal(await knows(), true);
});

test('an item goes only if it is the one judged and in time', async (t) => {
  const { store, deleteItems } = await startStore(t);
  const stored = { id: 'a', ts: TS, ttl: 10, etag: 'v1' };
  const table = [
    // stored, judged, seconds of the store's clock and of not_after, outcome
    [stored, {}, 10, 60, 'DELETED'],
    [{ ...stored, ts: BigInt(TS), ttl: 10n }, {}, 10, 60, 'DELETED'],
    [stored, { etag: '' }, 10, 60, 'DELETED'],
    [{ ...stored, etag: undefined }, { etag: '' }, 10, 60, 'DELETED'],
    [{ ...stored, ttl: null }, { ttl: undefined }, 10, 60, 'DELETED'],
    [undefined, {}, 10, 60, 'NOT_FOUND'],
    [{ ...stored, expireAt: TS + 10 }, { expireAt: TS + 10 }, 10, 60, 'DELETED'],
    [{ ...stored, expireAt: TS + 11 }, { expireAt: TS + 10 }, 10, 60, 'MODIFIED'],
    [{ ...stored, expireAt: TS + 10 }, {}, 10, 60, 'MODIFIED'],
    [stored, { expireAt: TS + 10 }, 10, 60, 'MODIFIED'],
    [{ ...stored, ts: TS + 1 }, {}, 10, 60, 'MODIFIED'],
    [{ ...stored, ts: TS - 1 }, {}, 10, 60, 'MODIFIED'],
    [{ ...stored, ttl: 11 }, {}, 10, 60, 'MODIFIED'],
    [{ ...stored, ttl: undefined }, {}, 10, 60, 'MODIFIED'],
    [stored, { ttl: undefined }, 10, 60, 'MODIFIED'],
    [{ ...stored, etag: 'v2' }, {}, 10, 60, 'MODIFIED'],
    [{ ...stored, etag: undefined }, {}, 10, 60, 'MODIFIED'],
    [{ ...stored, id: 'b' }, {}, 10, 60, 'NOT_FOUND'],
    [{ ...stored, partitionKey: 'p' }, {}, 10, 60, 'NOT_FOUND'],
    [stored, {}, 9, 60, 'NOT_EXPIRED'],
    [stored, {}, 60, 60, 'THROTTLED'],
    [stored, {}, 59, 60, 'DELETED'],
    // Touched: it ends later than its ts and ttl say.
    [stored, { expireTime: TS + 25 }, 24, 60, 'NOT_EXPIRED'],
    [stored, { expireTime: TS + 25 }, 25, 60, 'DELETED'],
  ];
  for (const [item, fields, clock, notAfter, outcome] of table) {
    store.items.clear();
    if (item !== undefined) store.write('c', item);
    store.nowSeconds = TS + clock;
    const response = await deleteItems([judged(fields)], TS + notAfter);
    const left = item === undefined || outcome === 'DELETED' ? 0 : 1;
    assert.deepEqual(
      [outcomes(response), store.items.size],
      [[outcome], left],
      `${outcome}, ${JSON.stringify({ fields, clock, notAfter })}`,
    );
    assert.equal(response.storeNow.getTime(), (TS + clock) * 1000);
  }
});

test('a modified item comes with what it is now', async (t) => {
  const { store, deleteItems } = await startStore(t);
  store.write('c', { id: 'a', ts: TS + 5, etag: 'v2', sequence: 2n ** 64n - 1n, sizeBytes: 3 });
  const { current } = (await deleteItems([judged()])).results[0];
  assert.deepEqual(
    [current.ts, current.ttl, current.etag.toString(), current.sequence, current.sizeBytes],
    [TS + 5, undefined, 'v2', 2n ** 64n - 1n, 3],
  );
});

test('items of a batch are independent, and a key is deleted once', async (t) => {
  const { store, deleteItems } = await startStore(t);
  const id = Buffer.from([0xff]);
  store.write('c', { id: 'a', ts: TS, ttl: 10, etag: 'v1' });
  store.write('c', { id, ts: TS, ttl: 10, etag: 'v2' });
  const response = await deleteItems([judged({ id }), judged(), judged({ id: 'x' }), judged()]);
  assert.deepEqual(outcomes(response), ['MODIFIED', 'DELETED', 'NOT_FOUND', 'NOT_FOUND']);
  assert.deepEqual(store.ids(), ['\xff']);
});

test('an item that cannot be read does not hold up the others', async (t) => {
  const { store, deleteItems } = await startStore(t);
  const read = store.read.bind(store);
  store.read = async (container, key) => {
    if (key.id.toString() === 'broken') throw new RangeError('block 7 is damaged');
    return read(container, key);
  };
  store.write('c', { id: 'a', ts: TS, ttl: 10, etag: 'v1' });
  const response = await deleteItems([judged({ id: 'broken' }), judged()]);
  assert.deepEqual(outcomes(response), ['FAILED', 'DELETED']);
  assert.equal(response.results[0].reason, 'the item cannot be read: RangeError');
});

test('a delete that throws fails the call', async (t) => {
  const { store, deleteItems } = await startStore(t);
  store.delete = async () => {
    throw Object.assign(new Error('disk full'), { code: 'ENOSPC' });
  };
  store.write('c', { id: 'a', ts: TS, ttl: 10, etag: 'v1' });
  await assert.rejects(deleteItems([judged()]), {
    code: grpc.status.INTERNAL,
    details: 'disk full',
  });
});

// What a store may throw, and the error of the call.
const REASONS = [
  [undefined, 'INTERNAL', 'no reason'],
  [null, 'INTERNAL', 'no reason'],
  ['in a text', 'INTERNAL', 'in a text'],
  [7, 'INTERNAL', '7'],
  [Symbol('s'), 'INTERNAL', 'Symbol(s)'],
  [Object.create(null), 'INTERNAL', 'a reason without text'],
  [{ message: 5 }, 'INTERNAL', 'object'],
  [{ message: 'gone', code: grpc.status.ABORTED }, 'ABORTED', 'gone'],
  [{ message: 'fine', code: grpc.status.OK }, 'INTERNAL', 'fine'],
  [new DOMException('aborted', 'AbortError'), 'INTERNAL', 'aborted'], // its code is 20
  [new Error('half of a pair: \ud800'), 'INTERNAL', 'half of a pair: \ufffd'],
  [new Error('x'.repeat(100000)), 'INTERNAL', 'xxx'],
  [
    {
      get code() {
        throw new Error('no');
      },
      get message() {
        throw new Error('no');
      },
    },
    'INTERNAL',
    'object',
  ],
];

test('whatever a store throws fails the call, and not the process', async (t) => {
  const { store, deleteItems, scan, call } = await startStore(t);
  const methods = { delete: store.delete, scan: store.scan, getStoreInfo: store.getStoreInfo };
  const calls = [
    ['delete', () => deleteItems([judged()])],
    ['scan', () => scan('', 10)],
    ['getStoreInfo', () => call('GetStoreInfo', {})],
  ];
  store.write('c', { id: 'a', ts: TS, ttl: 10, etag: 'v1' });
  for (const [name, failing] of calls) {
    for (const [reason, codeName, text] of REASONS) {
      store[name] = () => Promise.reject(reason);
      const error = await failing().then(
        () => assert.fail('not refused'),
        (refusal) => refusal,
      );
      assert.equal(grpc.status[error.code], codeName, `${name}: ${error}`);
      assert.ok(error.details.includes(text), `${name}: ${text} is not in ${error.details}`);
    }
    store[name] = methods[name];
  }
  assert.deepEqual(outcomes(await deleteItems([judged()])), ['DELETED']);
});

test('what read() rejects with, or gives that is no item, is the failure of one item', async (t) => {
  const { store, deleteItems } = await startStore(t);
  const read = store.read.bind(store);
  for (const [found, reason] of [
    [() => Promise.reject(), 'the item cannot be read: Error'],
    [() => Promise.reject(null), 'the item cannot be read: Error'],
    [() => ({ id: 'a' }), 'the item cannot be read: ts of Item is missing'],
    [() => ({ id: 'a', ts: TS, ttl: true }), 'the item cannot be read: ttl = true'],
    [() => 'a', 'the item cannot be read: ts of Item is missing'],
  ]) {
    store.write('c', { id: 'good', ts: TS, ttl: 10, etag: 'v1' });
    store.read = async (container, key) =>
      key.id.toString() === 'good' ? read(container, key) : found();
    const response = await deleteItems([judged(), judged({ id: 'good' })]);
    assert.deepEqual(outcomes(response), ['FAILED', 'DELETED']);
    assert.ok(response.results[0].reason.startsWith(reason), response.results[0].reason);
  }
  store.read = async () => null;
  assert.deepEqual(outcomes(await deleteItems([judged()])), ['NOT_FOUND']);
  store.read = async () => ({ ts: TS + 1 }); // the key is known
  const { current } = (await deleteItems([judged()])).results[0];
  assert.deepEqual([current.id.toString(), current.ts], ['a', TS + 1]);
});

test('a busy store throttles the whole batch', async (t) => {
  const { store, deleteItems } = await startStore(t);
  store.exclusive = async () => {
    throw new StoreBusy(1500);
  };
  const response = await deleteItems([judged(), judged({ id: 'b' })]);
  assert.deepEqual([outcomes(response), response.retryAfter], [['THROTTLED', 'THROTTLED'], 1500]);
});

test('requests without items or not_after are refused', async (t) => {
  const { call } = await startStore(t);
  for (const request of [{ items: [judged()] }, { notAfter: new Date() }]) {
    await assert.rejects(call('DeleteItems', { container: 'c', ...request }), {
      code: grpc.status.INVALID_ARGUMENT,
    });
  }
});

test('a scan gives every item once, over messages and calls', async (t) => {
  const { store, scan } = await startStore(t);
  assert.deepEqual(await scan('', 10), [{ items: [], nextPageToken: Buffer.alloc(0) }]);
  const names = Array.from({ length: 1501 }, (_, n) => [`${'p'.repeat(n % 3)}`, `${n}`]);
  for (const [partitionKey, id] of names) store.write('c', { partitionKey, id, ts: TS });
  const found = [];
  let pageToken = Buffer.alloc(0);
  let calls = 0;
  do {
    const messages = await scan(pageToken, 700);
    found.push(...messages.flatMap(({ items }) => items));
    pageToken = messages.at(-1).nextPageToken;
    calls += 1;
  } while (pageToken.length > 0);
  assert.equal(calls, 3);
  assert.deepEqual(
    found.map(({ partitionKey, id }) => `${partitionKey}/${id}`).sort(),
    names.map(([partitionKey, id]) => `${partitionKey}/${id}`).sort(),
  );
});

test('a scan refuses what is no place and no number, and a store may have none', async (t) => {
  const { store, scan, call } = await startStore(t);
  for (const [token, maxItems] of [
    ['x', 1],
    [Buffer.from([0, 5, 1, 2]), 1],
    ['', 0],
  ]) {
    await assert.rejects(scan(token, maxItems), { code: grpc.status.INVALID_ARGUMENT });
  }
  store.scan = undefined;
  await assert.rejects(scan('', 1), { code: grpc.status.UNIMPLEMENTED });
  assert.deepEqual((await call('GetStoreInfo', {})).capabilities, ['STORE_CAPABILITY_ETAG']);
});

test('items beyond what the store takes at once are put off', async (t) => {
  const { store, deleteItems } = await startStore(t);
  const outcomes = async (items) =>
    (await deleteItems(items)).results.map(({ outcome }) => outcome.replace('DELETE_OUTCOME_', ''));
  store.maxBatchItems = 2;
  for (const id of ['a', 'b', 'c']) await store.write('c', { id, ts: TS, ttl: 10, etag: 'v1' });
  const batch = ['a', 'b', 'c'].map((id) => judged({ id }));
  assert.deepEqual(await outcomes(batch), ['DELETED', 'DELETED', 'THROTTLED']);
  assert.deepEqual(store.ids(), ['c']);
  store.maxBatchItems = 0; // no limit
  assert.deepEqual(await outcomes(batch), ['NOT_FOUND', 'NOT_FOUND', 'DELETED']);
});

test('a scan that cannot go on says why', async (t) => {
  const { store, scan } = await startStore(t);
  const item = (partitionKeyBytes, idBytes) => ({
    partitionKey: 'p'.repeat(partitionKeyBytes),
    id: 'i'.repeat(idBytes),
    ts: TS,
  });
  store.scan = (container, after) => (after === undefined ? [item(2048, 2046)] : []);
  const [{ nextPageToken }] = await scan('', 1);
  assert.equal(nextPageToken.length, 4096);
  assert.deepEqual(await scan(nextPageToken, 1), [{ items: [], nextPageToken: Buffer.alloc(0) }]);
  for (const [items, token, words] of [
    [[item(2048, 2047)], '', /partition key of 2048 bytes/],
    [[item(65536, 0)], '', /partition key of 65536 bytes/],
    [[item(1, 1), item(1, 2)], '', /scan\(\) gave 2 items: at most 1 were asked for/],
    [[item(2048, 2046)], nextPageToken, /scan\(\) gave the item that it was to start behind/],
  ]) {
    store.scan = () => items;
    await assert.rejects(scan(token, 1), { code: grpc.status.INTERNAL, details: words });
  }
});

test('the store says who it is, and where it cannot listen', async (t) => {
  const { store, call } = await startStore(t);
  const info = await call('GetStoreInfo', {});
  assert.deepEqual(
    [info.storeId, info.now.getTime(), info.maxBatchItems, info.capabilities],
    ['memory', (TS + 10) * 1000, 1000, ['STORE_CAPABILITY_ETAG', 'STORE_CAPABILITY_SCAN']],
  );
  await assert.rejects(serveStore(store, `unix:${tempFolder(t)}/no/such/store.sock`));
});

// A program that serves an empty store until it is killed, and says when it is ready.
const PROGRAM = `
import { PrimaryStore, serveStore } from 'ttl-sidecar';
class Empty extends PrimaryStore {
  storeId = process.argv[3];
  exclusive(container, keys, action) { return action(); }
  read() { return undefined; }
  delete() {}
}
await serveStore(new Empty(), process.argv[2]);
console.log('ready');
`;

// The process, once it serves.
async function spawnStore(t, address, storeId) {
  const program = writeProgram('empty_store.js', PROGRAM);
  const child = spawn(process.execPath, [program, address, storeId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  assert.equal(String(first), 'ready\n');
  return child;
}

async function storeIdAt(t, address) {
  const stub = new grpc.Client(address, grpc.credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = METHODS.GetStoreInfo;
  const options = { deadline: Date.now() + PATIENCE_MS };
  const info = await new Promise((resolve, reject) => {
    stub.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      new grpc.Metadata(),
      options,
      (error, response) => (error ? reject(error) : resolve(response)),
    );
  }).finally(() => stub.close());
  return info.storeId;
}

test('the socket that a killed store left is replaced', async (t) => {
  for (const scheme of ['unix:', 'unix://']) {
    const path = `${tempFolder(t)}/store.sock`;
    const killed = await spawnStore(t, scheme + path, 'killed');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    assert.ok(existsSync(path));
    await spawnStore(t, scheme + path, 'next');
    assert.equal(await storeIdAt(t, `unix:${path}`), 'next');
  }
});

test('a socket that a store answers on is not taken, and what is no socket is left', async (t) => {
  const folder = tempFolder(t);
  const address = `unix:${folder}/store.sock`;
  const first = await spawnStore(t, address, 'first');
  await assert.rejects(serveStore(new MemoryStore(), address), { code: 'EADDRINUSE' });
  first.kill('SIGSTOP'); // it answers nothing; its socket is its own all the same
  await assert.rejects(serveStore(new MemoryStore(), address), { code: 'EADDRINUSE' });
  first.kill('SIGCONT');
  assert.equal(await storeIdAt(t, address), 'first');
  writeFileSync(`${folder}/file`, 'precious');
  await assert.rejects(serveStore(new MemoryStore(), `unix:${folder}/file`), /not a socket/);
  assert.equal(readFileSync(`${folder}/file`, 'utf8'), 'precious');
});

test('of stores that start at once on a socket that was left, one serves', async (t) => {
  const path = `${tempFolder(t)}/store.sock`;
  const killed = await spawnStore(t, `unix:${path}`, 'killed');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const starts = await Promise.allSettled(
    Array.from({ length: 8 }, () => serveStore(new MemoryStore(), `unix:${path}`)),
  );
  const served = starts.filter(({ status }) => status === 'fulfilled');
  t.after(() => Promise.all(served.map(({ value }) => value.close())));
  assert.equal(served.length, 1);
  assert.equal(await storeIdAt(t, `unix:${path}`), 'memory');
});

test('a store that is closed does not wait for ever for a caller', async (t) => {
  const store = new MemoryStore();
  const address = `unix:${tempFolder(t)}/store.sock`;
  store.read = () => new Promise(() => {});
  const server = await serveStore(store, address);
  const stub = new grpc.Client(address, grpc.credentials.createInsecure());
  t.after(() => stub.close());
  const { path, requestSerialize, responseDeserialize } = METHODS.DeleteItems;
  const request = { container: 'c', items: [judged()], notAfter: new Date((TS + 60) * 1000) };
  const ended = new Promise((resolve) => {
    stub.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      new grpc.Metadata(),
      { deadline: Date.now() + PATIENCE_MS },
      resolve,
    );
  });
  await new Promise((resolve) => {
    store.exclusive = (container, keys, action) => (resolve(), action());
  });
  const begin = performance.now();
  await server.close();
  assert.ok(performance.now() - begin < PATIENCE_MS / 2); // the caller waits for PATIENCE_MS
  assert.ok((await ended).code > 0);
});

// A sidecar and a store; write() reports, too.
async function startBoth(t) {
  const sidecar = await Sidecar.start(t, '--policy-grace-seconds', '1');
  const store = new MemoryStore();
  await sidecar.client.createContainer('c', { defaultTtl: -1 });
  const write = async (item) => {
    await store.write('c', item);
    await sidecar.client.track('c', [item]);
  };
  const deletes = async () => (await sidecar.client.status('c')).container.deletes;
  return { ...sidecar, store, write, deletes };
}

test('expired items are deleted, and modified ones live', async (t) => {
  const { client, store, write, deletes, storeAddress } = await startBoth(t);
  const past = now() - 100;
  const future = now() + 1800;
  await write({ id: 'expired', ts: past, ttl: 10, etag: Buffer.from([0, 0xff]), sequence: 1 });
  await write({ id: Buffer.from([0xff, 0, 0x6e]), ts: past, ttl: 10 });
  await write({ id: 'live', ts: now(), ttl: 3600 });
  await write({ id: 'for ever', ts: past });
  await write({ id: 'rewritten', ts: past, ttl: 10, etag: '1', sequence: 2 });
  // Written again, and the report is lost.
  const ts = now();
  await store.write('c', { id: 'rewritten', ts, ttl: future - ts, etag: '2', sequence: 3 });
  await serve(t, store, storeAddress);
  await waitUntil(async () => {
    const { deleted, modified } = await deletes();
    return deleted === 2 && modified === 1;
  }, 'two are deleted and one is found modified');
  assert.deepEqual(store.ids(), ['for ever', 'live', 'rewritten']);
  const [answer] = await client.check('c', [{ id: 'rewritten' }]);
  assert.deepEqual([answer.expired, answer.expireTime], [false, future]);
});

test('a default_ttl reaches items that were there before', async (t) => {
  const { client, store, deletes, storeAddress } = await startBoth(t);
  const items = Array.from({ length: 1200 }, (_, n) => ({ id: `${n}`, ts: now() - 100 }));
  await Promise.all(items.map((item) => store.write('c', item)));
  await client.track('c', items);
  await serve(t, store, storeAddress);
  await client.setDefaultTtl('c', 50);
  await waitUntil(async () => (await deletes()).deleted === 1200, '1200 deletes are counted');
  assert.deepEqual(store.ids(), []);
  assert.ok(store.batches > 1);
});

test('a store that is busy is asked again', async (t) => {
  const { store, write, deletes, storeAddress } = await startBoth(t);
  const exclusive = store.exclusive.bind(store);
  let turnedAway = 0;
  store.exclusive = async (...theArguments) => {
    turnedAway += 1;
    if (turnedAway === 1) throw new StoreBusy(100);
    return exclusive(...theArguments);
  };
  await write({ id: 'a', ts: now() - 100, ttl: 10 });
  await serve(t, store, storeAddress);
  await waitUntil(async () => (await deletes()).deleted === 1, 'the item is deleted');
  assert.deepEqual([(await deletes()).throttled, store.ids()], [1, []]);
});
