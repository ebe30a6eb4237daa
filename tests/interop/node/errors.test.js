// What an error tells programs: the details in grpc-status-details-bin, of a scripted sidecar and of
// the real one.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { fromMessage } from '../node_modules/ttl-sidecar/src/errors.js';
import { Sidecar, assertRefused, now, toArray } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const DETAILS = 'grpc-status-details-bin';
const { INVALID_ARGUMENT, RESOURCE_EXHAUSTED } = grpc.status;

// As a server would that knows nothing of this package: by the numbers of google.rpc's fields.
function bytesField(number, bytes) {
  return protobuf.Writer.create().uint32((number << 3) | 2).bytes(Buffer.from(bytes)).finish();
}

const message = (...fields) => Buffer.concat(fields);

function packed(name, value) {
  return message(bytesField(1, `type.googleapis.com/google.rpc.${name}`), bytesField(2, value));
}

const status = (...details) =>
  message(bytesField(2, 'told so'), ...details.map((detail) => bytesField(3, detail)));

const INFO = packed(
  'ErrorInfo',
  message(
    bytesField(1, 'TTL_OUT_OF_RANGE'),
    bytesField(2, 'ttl-sidecar'),
    bytesField(3, message(bytesField(1, 'container'), bytesField(2, 'c'))),
  ),
);
const REQUEST = packed(
  'BadRequest',
  bytesField(1, message(bytesField(1, 'items[0].ttl'), bytesField(2, '1 or more'))),
);
// 2.5 s
const RETRY = packed(
  'RetryInfo',
  bytesField(1, protobuf.Writer.create().uint32(8).int64(2).uint32(16).int32(5e8).finish()),
);
const OTHER = packed('DebugInfo', bytesField(1, 'x'));

async function errorOf(client, script, metadata, count = 1) {
  script.answer = (call, callback) => {
    const trailers = new grpc.Metadata();
    for (const [key, value] of Object.entries(metadata)) trailers.set(key, value);
    callback({ code: INVALID_ARGUMENT, details: 'told so', metadata: trailers });
  };
  const items = Array.from({ length: count }, () => ({ id: 'a', ts: 1 }));
  return assertRefused(client.track('c', items), 'INVALID_ARGUMENT', 'told so');
}

const shown = ({ reason, domain, metadata, fieldViolations, retryAfterMs }) => ({
  reason,
  domain,
  metadata,
  fieldViolations,
  retryAfterMs,
});

const NONE = {
  reason: undefined,
  domain: undefined,
  metadata: {},
  fieldViolations: [],
  retryAfterMs: undefined,
};

test('an error tells its reason and the fields that were refused', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const details = { [DETAILS]: status(INFO, REQUEST, RETRY) };
  const all = {
    reason: 'TTL_OUT_OF_RANGE',
    domain: 'ttl-sidecar',
    metadata: { container: 'c' },
    fieldViolations: [{ field: 'items[0].ttl', description: '1 or more' }],
    retryAfterMs: 2500,
  };
  const client = script.newClient();
  assert.deepEqual(shown(await errorOf(client, script, details)), all);
  const ofPart = await errorOf(client, script, details, 1500);
  assert.match(ofPart.message, /entries 0 to 999/);
  assert.deepEqual(shown(ofPart), all);
});

test('details that are missing, unknown or broken leave the error as it is', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  const error = (...details) => errorOf(client, script, { [DETAILS]: status(...details) });
  assert.deepEqual(shown(await errorOf(client, script, {})), NONE);
  assert.deepEqual(shown(await error()), NONE);
  assert.deepEqual(shown(await error(OTHER)), NONE);
  assert.equal((await error(OTHER, INFO)).reason, 'TTL_OUT_OF_RANGE');
  const broken = { [DETAILS]: Buffer.from('ffffff', 'hex') };
  assert.deepEqual(shown(await errorOf(client, script, broken)), NONE);
  const wrong = packed('ErrorInfo', Buffer.from('0f', 'hex')); // there is no such wire type
  assert.deepEqual(shown(await error(wrong, REQUEST)), {
    ...NONE,
    fieldViolations: [{ field: 'items[0].ttl', description: '1 or more' }],
  });
});

test('the retry delay is that of the metadata if both are there', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  const both = { [DETAILS]: status(RETRY), 'grpc-retry-pushback-ms': '1' };
  assert.equal((await errorOf(client, script, both)).retryAfterMs, 1);
  script.answer = (call, callback) => {
    const metadata = new grpc.Metadata();
    metadata.set(DETAILS, status(RETRY));
    callback({ code: RESOURCE_EXHAUSTED, details: 'told so', metadata });
  };
  const refused = client.check('c', [{ id: 'a' }]);
  assert.equal((await assertRefused(refused, 'RESOURCE_EXHAUSTED')).retryAfterMs, 2500);
});

test('the error of one message of a stream has the details that it carries', () => {
  const error = { code: INVALID_ARGUMENT, message: 'told so' };
  assert.equal(fromMessage({ ...error, statusDetails: status(INFO) }).reason, 'TTL_OUT_OF_RANGE');
  assert.deepEqual(shown(fromMessage(error)), NONE);
  assert.equal(fromMessage({ ...error, retryAfter: 5 }).retryAfterMs, 5);
});

// Fails unless that, and nothing else, is what `error` tells.
function assertTells(error, details, fields = []) {
  const fieldViolations = fields.map((field) => ({ field, description: error.message }));
  assert.deepEqual(shown(error), { ...NONE, domain: 'ttl-sidecar', ...details, fieldViolations });
}

test('the sidecar names the field that it refused, in a call and in a message', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', { defaultTtl: 3600 });
  const good = { id: 'a', ts: now() };
  const bad = { ...good, ttl: 0 };
  const error = await assertRefused(client.track('c', [good, bad]), 'INVALID_ARGUMENT');
  assertTells(error, { reason: 'INVALID_FIELD' }, ['items[1].ttl']);
  const [refused, applied] = await toArray(client.trackStream('c', [[bad], [good]]));
  assert.equal(refused.error.codeName, 'INVALID_ARGUMENT');
  assertTells(refused.error, { reason: 'INVALID_FIELD' }, ['items[0].ttl']);
  assert.deepEqual(applied.results, ['tracked']);
});

test('the sidecar gives the reason of a refusal with its facts', async (t) => {
  const { client } = await Sidecar.start(t);
  const { etag } = await client.createContainer('c', { defaultTtl: 3600 });
  const unknown = { reason: 'CONTAINER_NOT_FOUND', metadata: { container: 'no/such' } };
  assertTells(await assertRefused(client.getContainer('no/such'), 'NOT_FOUND'), unknown);
  const [reply] = await toArray(client.checkStream('no/such', [[{ id: 'a' }]]));
  assert.equal(reply.error.codeName, 'NOT_FOUND');
  assertTells(reply.error, unknown);
  assertTells(await assertRefused(client.deleteContainer('c', 'another'), 'ABORTED'), {
    reason: 'ETAG_MISMATCH',
    metadata: { container: 'c', etag },
  });
});

test('the sidecar says when to try again if its queue is full', async (t) => {
  const { client } = await Sidecar.start(t, '--max-queued-mib', '1');
  await client.createContainer('c', { defaultTtl: 3600 });
  // Larger than all that may wait.
  const items = Array.from({ length: 1000 }, (_, n) => ({
    id: `${n}`,
    partitionKey: Buffer.alloc(2048),
    ts: now(),
  }));
  const full = { reason: 'QUEUE_FULL', retryAfterMs: 100 };
  assertTells(await assertRefused(client.track('c', items), 'RESOURCE_EXHAUSTED', 'full'), full);
  const [reply] = await toArray(client.trackStream('c', [items]));
  assert.equal(reply.error.codeName, 'RESOURCE_EXHAUSTED');
  assertTells(reply.error, full);
});
