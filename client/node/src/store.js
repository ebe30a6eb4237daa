import { once } from 'node:events';
import grpc from '@grpc/grpc-js';
import { requireMessage, serviceDefinition } from './messages.js';
import { removeStaleSocket, socketPath } from './socket_path.js';

const { INTERNAL, OK, UNAUTHENTICATED } = grpc.status;

// With the longest keys they still fit into one message.
const MAX_SCANNED_AT_ONCE = 500;

// Limit of the API for nextPageToken.
const MAX_TOKEN_BYTES = 4096;

// Of what a store throws; a header of gRPC must hold it.
const MAX_REASON_LENGTH = 1000;

// How long close() waits for calls that are being answered.
const STOP_WAIT_MS = 1000;

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
    same(expired.expireAt, found.expireAt) &&
    (expired.etag.length === 0 || expired.etag.equals(Buffer.from(found.etag ?? '')))
  );
}

// In place of an item.
class Unreadable {
  constructor(reason) {
    this.reason = `the item cannot be read: ${reason}`;
  }
}

// What read() answered: an item or undefined. Anything else, which could not be sent as MODIFIED,
// is the failure of this item alone.
function asItem(key, found) {
  if (found === undefined || found === null) return undefined;
  try {
    requireMessage('Item', { ...found, ...key });
    return found;
  } catch (error) {
    return new Unreadable(error.message);
  }
}

// DELETED means that the item may be deleted.
function judge(expired, found, nowMs, notAfterMs) {
  if (found instanceof Unreadable) {
    return { outcome: 'DELETE_OUTCOME_FAILED', reason: found.reason };
  }
  if (found === undefined) return { outcome: 'DELETE_OUTCOME_NOT_FOUND' };
  if (!isJudgedVersion(expired, found)) {
    const { partitionKey, id } = expired;
    return { outcome: 'DELETE_OUTCOME_MODIFIED', current: { ...found, partitionKey, id } };
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
  const id = Buffer.from(item.id);
  if (2 + partitionKey.length + id.length > MAX_TOKEN_BYTES) {
    throw new Error(
      `scan() gave an item with a partition key of ${partitionKey.length} bytes and an id of ` +
        `${id.length} bytes: together they must be at most ${MAX_TOKEN_BYTES - 2} bytes for the ` +
        'scan to go on behind it',
    );
  }
  const length = Buffer.alloc(2);
  length.writeUInt16BE(partitionKey.length);
  return Buffer.concat([length, partitionKey, id]);
}

// The place behind what scan() gave, which was asked for `limit` items behind `token`.
function tokenBehind(items, limit, token) {
  if (items.length > limit) {
    throw new Error(`scan() gave ${items.length} items: at most ${limit} were asked for`);
  }
  const next = tokenOf(items.length === limit ? items.at(-1) : undefined);
  if (next.length > 0 && next.equals(token)) {
    throw new Error('scan() gave the item that it was to start behind');
  }
  return next;
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
  knowsExpireAt = false;

  nowMs() {
    return Date.now();
  }

  getStoreInfo() {
    return {
      storeId: this.storeId,
      now: new Date(this.nowMs()),
      maxBatchItems: this.maxBatchItems,
      capabilities: [
        'STORE_CAPABILITY_ETAG',
        ...(this.scan ? ['STORE_CAPABILITY_SCAN'] : []),
        ...(this.knowsExpireAt ? ['STORE_CAPABILITY_EXPIRE_AT'] : []),
      ],
    };
  }

  async *scanItems({ container, pageToken, maxItems }) {
    if (!this.scan) {
      throw Object.assign(new Error('this store does not scan'), {
        code: grpc.status.UNIMPLEMENTED,
      });
    }
    if (maxItems < 1) throw invalid(`max_items = ${maxItems}: at least 1`);
    let token = pageToken;
    for (let left = maxItems; left > 0;) {
      const limit = Math.min(left, MAX_SCANNED_AT_ONCE);
      const items = await this.scan(container, keyOf(token), limit);
      const nextPageToken = tokenBehind(items, limit, token);
      yield { items, nextPageToken };
      token = nextPageToken;
      left = token.length === 0 ? 0 : left - limit;
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
    // The sidecar sends more than the store takes at once if it asked for the limit before the store
    // was started again with a lower one.
    const most = this.maxBatchItems > 0 ? this.maxBatchItems : request.items.length;
    const judged = request.items.slice(0, most);
    const keys = judged.map(({ partitionKey, id }) => ({ partitionKey, id }));
    let results = [];
    let retryAfter;
    try {
      // Held until the batch is deleted: nobody rewrites an item between comparison and delete.
      results = await this.exclusive(request.container, keys, () =>
        this.#deleteJudged(request, judged, keys),
      );
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      retryAfter = error.retryAfterMs;
    }
    const left = request.items.length - results.length;
    results.push(...Array.from({ length: left }, () => ({ outcome: 'DELETE_OUTCOME_THROTTLED' })));
    return { results, storeNow: new Date(this.nowMs()), retryAfter };
  }

  async #deleteJudged(request, judged, keys) {
    const stored = [];
    for (const key of keys) stored.push(await this.#readOrWhyNot(request.container, key));
    const now = this.nowMs();
    const toDelete = new Map();
    const results = judged.map((expired, i) => {
      const result = judge(expired, stored[i], now, request.notAfter.getTime());
      if (result.outcome !== 'DELETE_OUTCOME_DELETED') return result;
      const name = `${keys[i].partitionKey.toString('hex')}/${keys[i].id.toString('hex')}`;
      if (toDelete.has(name)) return { outcome: 'DELETE_OUTCOME_NOT_FOUND' }; // the key came twice
      toDelete.set(name, keys[i]);
      return result;
    });
    if (toDelete.size > 0) await this.delete(request.container, [...toDelete.values()]);
    return results;
  }

  // One item that cannot be read must not hold up the others.
  async #readOrWhyNot(container, key) {
    try {
      return asItem(key, await this.read(container, key));
    } catch (error) {
      if (error instanceof StoreBusy) throw error;
      return new Unreadable(nameOf(error));
    }
  }
}

// `read` of what a store threw, which may be anything, even nothing; undefined if it throws too.
function readFrom(reason, read) {
  try {
    return read(reason);
  } catch {
    return undefined;
  }
}

function nameOf(reason) {
  const name = readFrom(reason, (error) => error.name);
  return typeof name === 'string' ? name : 'Error';
}

function textOf(reason) {
  if (reason === undefined || reason === null) return 'the store gave no reason';
  const message = readFrom(reason, (error) => error.message);
  const text = typeof message === 'string' ? message : readFrom(reason, String);
  if (text === undefined) return 'the store gave a reason without text';
  // gRPC cannot send a lone surrogate; Buffer puts U+FFFD in its place.
  return Buffer.from(text.slice(0, MAX_REASON_LENGTH)).toString();
}

function toServiceError(reason) {
  const code = readFrom(reason, (error) => error.code);
  const isError = Number.isInteger(code) && code > OK && code <= UNAUTHENTICATED;
  return { code: isError ? code : INTERNAL, details: textOf(reason) };
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
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    try {
      for await (const response of method(call.request)) {
        if (call.cancelled) return;
        if (!call.write(response)) await once(call, 'drain', cancelled);
      }
      call.end();
    } catch (error) {
      if (!call.cancelled) call.emit('error', toServiceError(error));
    }
  };
}

// Fulfilled once nobody is answered any more. Calls under way are given STOP_WAIT_MS to end.
function stop(server) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.forceShutdown(), STOP_WAIT_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export async function serveStore(
  store,
  address,
  { credentials = grpc.ServerCredentials.createInsecure() } = {},
) {
  const path = socketPath(address);
  if (path !== undefined) await removeStaleSocket(path);
  const server = new grpc.Server();
  server.addService(serviceDefinition('PrimaryStoreService'), {
    GetStoreInfo: unary(() => store.getStoreInfo()),
    DeleteItems: unary((request) => store.deleteItems(request)),
    ScanItems: serverStream((request) => store.scanItems(request)),
  });
  await new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error) => (error ? reject(error) : resolve()));
  });
  return { close: () => stop(server) };
}
