// What is repeated and what is not, and answers that no sidecar of today gives: against a server that
// says what the test tells it.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { Client } from 'ttl-sidecar';
import { serviceDefinition } from '../node_modules/ttl-sidecar/src/messages.js';
import { PATIENCE_MS, PATIENT, assertRefused, tempFolder, toArray } from './harness.js';

const { RESOURCE_EXHAUSTED, UNAVAILABLE } = grpc.status;

// Counts calls by method, and answers each as `answer` says.
class ScriptedSidecar {
  static async start(t) {
    const script = new ScriptedSidecar();
    script.calls = {};
    script.address = `unix:${tempFolder(t)}/scripted.sock`;
    const server = new grpc.Server();
    for (const service of ['ItemService', 'ContainerService', 'ExpiryService']) {
      const definition = serviceDefinition(service);
      const handlers = Object.keys(definition).map((name) => [
        name,
        (call, callback) => {
          script.calls[name] = (script.calls[name] ?? 0) + 1;
          script.answer(call, callback);
        },
      ]);
      server.addService(definition, Object.fromEntries(handlers));
    }
    await new Promise((resolve, reject) => {
      server.bindAsync(script.address, grpc.ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    t.after(() => server.forceShutdown());
    script.newClient = () => {
      const client = new Client({ address: script.address, ...PATIENT });
      t.after(() => client.close());
      return client;
    };
    return script;
  }

  failWith(code, metadata = {}) {
    this.answer = (call, callback) =>
      callback({ code, details: 'told so', metadata: grpc.Metadata.fromHttp2Headers(metadata) });
  }

  answerWith(response) {
    this.answer = (call, callback) => callback(null, response);
  }
}

// gRPC repeats less after many failures, which it counts by address.
async function refillRetryBudget(script, client) {
  script.answerWith({ visibilities: ['VISIBILITY_VISIBLE'], expireTimes: [0] });
  for (let n = 0; n < 100; n += 1) await client.check('c', [{ id: 'a' }]);
  script.calls = {};
}

test('only what may be repeated is repeated', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  const plain = { id: 'a', ts: 1 };
  const ordered = { id: 'a', ts: 1, sequence: 1 };
  const table = [
    // method, call, attempts if UNAVAILABLE, attempts if RESOURCE_EXHAUSTED
    ['CheckVisibility', () => client.check('c', [{ id: 'a' }]), 4, 1],
    ['GetItem', () => client.getItem('c', 'a'), 4, 1],
    ['ListItems', () => toArray(client.listItems('c')), 4, 1],
    ['TrackItems', () => client.track('c', [plain]), 1, 4],
    ['TrackItems', () => client.track('c', [ordered]), 4, 4],
    ['TrackItems', () => client.track('c', [ordered, plain]), 1, 4],
    ['UntrackItems', () => client.untrack('c', [plain]), 1, 4],
    ['UntrackItems', () => client.untrack('c', [ordered]), 4, 4],
    ['GetContainer', () => client.getContainer('c'), 4, 1],
    ['ListContainers', () => toArray(client.listContainers()), 4, 1],
    ['CreateContainer', () => client.createContainer('c'), 1, 1],
    ['UpdateContainer', () => client.setDefaultTtl('c', 1), 1, 1],
    ['DeleteContainer', () => client.deleteContainer('c'), 1, 1],
    ['GetExpiryStatus', () => client.status(), 4, 1],
    ['ListExpiryStatuses', () => toArray(client.listStatuses()), 4, 1],
    ['ExplainItem', () => client.explainItem('c', 'a'), 4, 1],
    ['PauseDeletes', () => client.pauseDeletes('why'), 1, 1],
    ['ResumeDeletes', () => client.resumeDeletes(), 1, 1],
    ['ReportUsage', () => client.reportUsage('c', 1), 1, 1],
  ];
  for (const [column, code] of [
    [2, UNAVAILABLE],
    [3, RESOURCE_EXHAUSTED],
  ]) {
    for (const row of table) {
      await refillRetryBudget(script, client);
      script.failWith(code);
      await assertRefused(row[1](), grpc.status[code], 'told so');
      assert.deepEqual(script.calls, { [row[0]]: row[column] }, `${row[0]}, ${grpc.status[code]}`);
    }
  }
});

test('other errors are not repeated, and keep code and message', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  for (const codeName of [
    'INTERNAL',
    'DATA_LOSS',
    'ABORTED',
    'FAILED_PRECONDITION',
    'PERMISSION_DENIED',
    'UNKNOWN',
  ]) {
    script.calls = {};
    script.failWith(grpc.status[codeName]);
    const error = await assertRefused(client.check('c', [{ id: 'a' }]), codeName);
    assert.deepEqual([error.message, error.retryAfterMs], ['told so', undefined]);
    assert.deepEqual(script.calls, { CheckVisibility: 1 });
  }
});

test('a hint when to retry is waited for and given to the caller', async (t) => {
  const script = await ScriptedSidecar.start(t);
  script.failWith(RESOURCE_EXHAUSTED, { 'grpc-retry-pushback-ms': '150' });
  const begin = performance.now();
  const error = await assertRefused(
    script.newClient().track('c', [{ id: 'a', ts: 1 }]),
    'RESOURCE_EXHAUSTED',
  );
  assert.deepEqual([error.retryAfterMs, script.calls], [150, { TrackItems: 4 }]);
  assert.ok(performance.now() - begin >= 3 * 145);
});

test('what this client does not know is visible, or unknown', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  script.answerWith({ visibilities: [77, 0, 2], expireTimes: [5, 0, 5] });
  const answers = await client.check('c', [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  assert.deepEqual(
    answers.map(({ visibility, expired }) => [visibility, expired]),
    [
      ['visible', false],
      ['visible', false],
      ['expired', true],
    ],
  );
  script.answerWith({ results: [1, 77] });
  assert.deepEqual(
    await client.track('c', [
      { id: 'a', ts: 1 },
      { id: 'b', ts: 1 },
    ]),
    ['tracked', 'unknown'],
  );
});

test('a number beyond 2^53 comes as a bigint, not rounded', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const times = [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
  script.answerWith({ visibilities: [1, 1, 1, 1], expireTimes: times });
  const answers = await script.newClient().check('c', Array(4).fill({ id: 'a' }));
  assert.deepEqual(
    answers.map(({ expireTime }) => expireTime),
    [Number.MAX_SAFE_INTEGER, ...times.slice(1)],
  );
});

test('an answer of the wrong length is not used', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  for (const [visibilities, expireTimes] of [
    [[2], [0, 0]],
    [[1, 1], [0]],
    [
      [1, 1, 1],
      [0, 0, 0],
    ],
  ]) {
    script.answerWith({ visibilities, expireTimes });
    await assertRefused(client.check('c', [{ id: 'a' }, { id: 'b' }]), 'INTERNAL', 'for 2 entries');
  }
});

test('a refused message of a stream has code, message and hint', async (t) => {
  const script = await ScriptedSidecar.start(t);
  script.answer = (call) => {
    call.on('data', () => call.write({ error: { code: 8, message: 'full', retryAfter: 250 } }));
    call.on('end', () => call.end());
  };
  const [{ error }] = await toArray(script.newClient().trackStream('c', [[{ id: 'a', ts: 1 }]]));
  assert.deepEqual(
    [error.codeName, error.message, error.retryAfterMs],
    ['RESOURCE_EXHAUSTED', 'full', 250],
  );
});

test('a stream that ends before it has answered is an error', async (t) => {
  const script = await ScriptedSidecar.start(t);
  let received = 0;
  script.answer = (call) =>
    call.on('data', () => {
      received += 1;
      if (received === 1) call.write({ response: { visibilities: [1], expireTimes: [0] } });
      else call.end();
    });
  const replies = script.newClient().checkStream('c', [[{ id: 'a' }], [{ id: 'a' }]]);
  await assertRefused(toArray(replies), 'INTERNAL', '1 messages unanswered');
});

test('a sidecar that is not there is unavailable at once', async (t) => {
  const client = new Client({ address: `unix:${tempFolder(t)}/nobody.sock`, ...PATIENT });
  t.after(() => client.close());
  const begin = performance.now();
  await assertRefused(client.status(), 'UNAVAILABLE', 'nobody.sock');
  assert.ok(performance.now() - begin < PATIENCE_MS / 2);
});
