import { once } from 'node:events';
import grpc from '@grpc/grpc-js';
import { serviceDefinition } from './messages.js';

// With the longest keys they still fit into one message.
const MAX_SCANNED_AT_ONCE = 500;

export class StoreBusy extends Error {
  constructor(retryAfterMs) {
    super(`busy for ${retryAfterMs} ms`);
    this.name = 'StoreBusy';
    this.retryAfterMs = retryAfterMs;
  }
}

// Whether two whole numbers, absent ones and bigints included, are the same.
function same(a, b) {
  return String(a ?? 'absent') === String(b ?? 'absent');
}

function isJudgedVersion(expired, found) {
  return (
    same(expired.ts, found.ts) &&
    same(expired.ttl, found.ttl) &&
    (expired.etag.length === 0 || expired.etag.equals(Buffer.from(found.etag ?? '')))
  );
}

// DELETED means that the item may be deleted.
function judge(expired, found, nowMs, notAfterMs) {
  if (found instanceof Error) {
    return { outcome: 'DELETE_OUTCOME_FAILED', reason: `the item cannot be read: ${found.name}` };
  }
  if (found === undefined) return { outcome: 'DELETE_OUTCOME_NOT_FOUND' };
  if (!isJudgedVersion(expired, found)) {
    return { outcome: 'DELETE_OUTCOME_MODIFIED', current: found };
  }
  // Without etags, a rewrite within the second of ts looks like the judged version. It is as old,
  // so it may go once our own clock says that this age is expired.
  if (nowMs < expired.expireTime * 1000) return { outcome: 'DELETE_OUTCOME_NOT_EXPIRED' };
  if (nowMs >= notAfterMs) return { outcome: 'DELETE_OUTCOME_THROTTLED' };
  return { outcome: 'DELETE_OUTCOME_DELETED' };
}

// A place in a scan: the length of the partition key in two bytes, partition key, id.
function tokenOf(item) {
  if (item === undefined) return Buffer.alloc(0);
  const partitionKey = Buffer.from(item.partitionKey ?? '');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(partitionKey.length);
  return Buffer.concat([length, partitionKey, Buffer.from(item.id)]);
}

function keyOf(token) {
  if (token.length === 0) return undefined;
  const end = token.length < 2 ? Infinity : 2 + token.readUInt16BE();
  if (token.length < end) throw invalid('page_token is not of this store');
  return { partitionKey: token.subarray(2, end), id: token.subarray(end) };
}

function invalid(message) {
  return Object.assign(new Error(message), { code: grpc.status.INVALID_ARGUMENT });
}

export class PrimaryStore {
  maxBatchItems = 1000;

  nowMs() {
    return Date.now();
  }

  getStoreInfo() {
    return {
      storeId: this.storeId,
      now: new Date(this.nowMs()),
      maxBatchItems: this.maxBatchItems,
      capabilities: ['STORE_CAPABILITY_ETAG', ...(this.scan ? ['STORE_CAPABILITY_SCAN'] : [])],
    };
  }

  async *scanItems({ container, pageToken, maxItems }) {
    if (!this.scan) {
      throw Object.assign(new Error('this store does not scan'), {
        code: grpc.status.UNIMPLEMENTED,
      });
    }
    if (maxItems < 1) throw invalid(`max_items = ${maxItems}: at least 1`);
    let after = keyOf(pageToken);
    for (let left = maxItems; left > 0;) {
      const limit = Math.min(left, MAX_SCANNED_AT_ONCE);
      const items = await this.scan(container, after, limit);
      const last = items.length === limit ? items.at(-1) : undefined;
      const nextPageToken = tokenOf(last);
      yield { items, nextPageToken };
      after = keyOf(nextPageToken);
      left = last === undefined ? 0 : left - limit;
    }
  }

  async deleteItems(request) {
    if (request.notAfter === undefined || request.items.length === 0) {
      throw invalid('not_after and at least one of items are required');
    }
    // The sidecar may have known another store at this address.
    if (request.storeId !== '' && request.storeId !== this.storeId) {
      throw Object.assign(
        new Error(
          `store_id is ${JSON.stringify(request.storeId)}: this store is ${JSON.stringify(this.storeId)}`,
        ),
        { code: grpc.status.FAILED_PRECONDITION },
      );
    }
    const keys = request.items.map(({ partitionKey, id }) => ({ partitionKey, id }));
    try {
      // Held until the batch is deleted: nobody rewrites an item between comparison and delete.
      const results = await this.exclusive(request.container, keys, () =>
        this.#deleteJudged(request, keys),
      );
      return { results, storeNow: new Date(this.nowMs()) };
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      const results = keys.map(() => ({ outcome: 'DELETE_OUTCOME_THROTTLED' }));
      return { results, storeNow: new Date(this.nowMs()), retryAfter: error.retryAfterMs };
    }
  }

  async #deleteJudged(request, keys) {
    const stored = [];
    for (const key of keys) stored.push(await this.#readOrWhyNot(request.container, key));
    const now = this.nowMs();
    const doomed = new Map();
    const results = request.items.map((expired, i) => {
      const result = judge(expired, stored[i], now, request.notAfter.getTime());
      if (result.outcome !== 'DELETE_OUTCOME_DELETED') return result;
      const name = `${keys[i].partitionKey.toString('hex')}/${keys[i].id.toString('hex')}`;
      if (doomed.has(name)) return { outcome: 'DELETE_OUTCOME_NOT_FOUND' }; // the key came twice
      doomed.set(name, keys[i]);
      return result;
    });
    if (doomed.size > 0) await this.delete(request.container, [...doomed.values()]);
    return results;
  }

  // One item that cannot be read must not hold up the others.
  async #readOrWhyNot(container, key) {
    try {
      return (await this.read(container, key)) ?? undefined;
    } catch (error) {
      if (error instanceof StoreBusy) throw error;
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

function toServiceError(error) {
  const code = Number.isInteger(error.code) ? error.code : grpc.status.INTERNAL;
  return { code, details: error.message };
}

// Handlers of grpc-js from an async method, and from an async generator.
function unary(method) {
  return async ({ request }, callback) => {
    try {
      callback(null, await method(request));
    } catch (error) {
      callback(toServiceError(error));
    }
  };
}

function serverStream(method) {
  return async (call) => {
    try {
      for await (const response of method(call.request)) {
        if (call.cancelled) return;
        if (!call.write(response)) await once(call, 'drain');
      }
      call.end();
    } catch (error) {
      call.emit('error', toServiceError(error));
    }
  };
}

export async function serveStore(
  store,
  address,
  { credentials = grpc.ServerCredentials.createInsecure() } = {},
) {
  const server = new grpc.Server();
  server.addService(serviceDefinition('PrimaryStoreService'), {
    GetStoreInfo: unary(() => store.getStoreInfo()),
    DeleteItems: unary((request) => store.deleteItems(request)),
    ScanItems: serverStream((request) => store.scanItems(request)),
  });
  await new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error) => (error ? reject(error) : resolve()));
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.tryShutdown(() => resolve());
      }),
  };
}
