// What is repeated and what is not, and answers that no sidecar of today gives: against a server that
// says what the test tells it.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { Client } from 'ttl-sidecar';
import { assertRefused, tempFolder, toArray } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const { CANCELLED, RESOURCE_EXHAUSTED, UNAVAILABLE } = grpc.status;
const HINT = 'grpc-retry-pushback-ms';

// More than a call of gRPC itself would make.
const FAILURES = 5;

test('only what may be repeated is repeated', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  const plain = { id: 'a', ts: 1 };
  const ordered = { id: 'a', ts: 1, sequence: 1 };
  const table = [
    // method, call, whether repeated if UNAVAILABLE, with a hint, attempts if RESOURCE_EXHAUSTED
    ['CheckVisibility', () => client.check('c', [{ id: 'a' }]), true, true, 1],
    ['GetItem', () => client.getItem('c', 'a'), true, true, 1],
    ['ListItems', () => toArray(client.listItems('c')), true, true, 1],
    ['TrackItems', () => client.track('c', [plain]), false, true, 4],
    ['TrackItems', () => client.track('c', [ordered]), true, true, 4],
    ['TrackItems', () => client.track('c', [ordered, plain]), false, true, 4],
    ['UntrackItems', () => client.untrack('c', [plain]), false, true, 4],
    ['UntrackItems', () => client.untrack('c', [ordered]), true, true, 4],
    ['GetContainer', () => client.getContainer('c'), true, true, 1],
    ['ListContainers', () => toArray(client.listContainers()), true, true, 1],
    ['CreateContainer', () => client.createContainer('c'), false, false, 1],
    ['UpdateContainer', () => client.setDefaultTtl('c', 1), false, false, 1],
    ['DeleteContainer', () => client.deleteContainer('c'), false, false, 1],
    ['GetExpiryStatus', () => client.status(), true, true, 1],
    ['ListExpiryStatuses', () => toArray(client.listStatuses()), true, true, 1],
    ['ExplainItem', () => client.explainItem('c', 'a'), true, true, 1],
    ['PauseDeletes', () => client.pauseDeletes('why', 'c'), false, false, 1],
    ['ResumeDeletes', () => client.resumeDeletes('c'), false, false, 1],
    ['ReportUsage', () => client.reportUsage('c', 1), false, false, 1],
    ['GetForecast', () => client.forecast(), true, true, 1],
    ['ListStuckItems', () => toArray(client.listStuckItems('c')), true, true, 1],
    ['GetReconciliation', () => client.getReconciliation(), true, true, 1],
    ['AcceptClock', () => client.acceptClock(), false, false, 1],
    ['ConfirmPolicy', () => client.confirmPolicy('c'), false, false, 1],
    ['ConfirmStore', () => client.confirmStore('s'), false, false, 1],
    ['SetMaxDeletesPerSecond', () => client.setMaxDeletesPerSecond(1), false, false, 1],
    ['StartReconciliation', () => client.startReconciliation('c'), false, false, 1],
    ['CancelReconciliation', () => client.cancelReconciliation(), false, false, 1],
    ['TrustData', () => client.trustData(), false, false, 1],
  ];
  for (const [method, call, isRepeated, isRepeatedWithHint, attempts] of table) {
    for (const [metadata, repeated] of [
      [{}, isRepeated],
      [{ [HINT]: '1' }, isRepeatedWithHint],
    ]) {
      script.calls = {};
      script.failFirst(FAILURES, UNAVAILABLE, metadata);
      await assertRefused(call(), repeated ? 'NOT_FOUND' : 'UNAVAILABLE');
      assert.deepEqual(script.calls, { [method]: repeated ? FAILURES + 1 : 1 }, method);
    }
    script.calls = {};
    script.failWith(RESOURCE_EXHAUSTED, { [HINT]: '1' });
    await assertRefused(call(), 'RESOURCE_EXHAUSTED', 'told so');
    assert.deepEqual(script.calls, { [method]: attempts }, method);
  }
});

test('a call that a stopping sidecar cancelled is one of a sidecar that is away', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient();
  for (const [call, attempts] of [
    [() => client.check('c', [{ id: 'a' }]), FAILURES + 1],
    [() => client.track('c', [{ id: 'a', ts: 1, sequence: 1 }]), FAILURES + 1],
    [() => client.track('c', [{ id: 'a', ts: 1 }]), 1],
    [() => client.createContainer('c'), 1],
  ]) {
    script.calls = {};
    script.failFirst(FAILURES, CANCELLED);
    await assertRefused(call(), attempts === 1 ? 'UNAVAILABLE' : 'NOT_FOUND');
    assert.deepEqual(Object.values(script.calls), [attempts]);
  }
});

test('repeats end with the time of the call, and the reason is told', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const client = script.newClient({ checkTimeoutMs: 300 });
  script.failWith(UNAVAILABLE);
  await assertRefused(client.check('c', [{ id: 'a' }]), 'UNAVAILABLE', script.address, 'told so');
  script.failWith(UNAVAILABLE, { [HINT]: '60000' });
  const error = await assertRefused(client.check('c', [{ id: 'a' }]), 'UNAVAILABLE', 'told so');
  assert.equal(error.retryAfterMs, 60000);
  script.calls = {};
  script.failWith(RESOURCE_EXHAUSTED, { [HINT]: '-1' });
  await assertRefused(client.track('c', [{ id: 'a', ts: 1 }]), 'RESOURCE_EXHAUSTED');
  assert.deepEqual(script.calls, { TrackItems: 1 });
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

test('a sidecar that is not there is unavailable', async (t) => {
  const timeouts = { checkTimeoutMs: 300, reportTimeoutMs: 300, adminTimeoutMs: 300 };
  const client = new Client({ address: `unix:${tempFolder(t)}/nobody.sock`, ...timeouts });
  t.after(() => client.close());
  for (const call of [
    () => client.check('c', [{ id: 'a' }]),
    () => client.track('c', [{ id: 'a', ts: 1 }]),
    () => client.track('c', [{ id: 'a', ts: 1, sequence: 1 }]),
    () => client.status(),
    () => client.createContainer('c'),
    () => toArray(client.checkStream('c', [[{ id: 'a' }]])),
  ]) {
    await assertRefused(call(), 'UNAVAILABLE', 'nobody.sock');
  }
});

test('time limits of any size hold', async (t) => {
  const script = await ScriptedSidecar.start(t);
  script.answer = (call, callback) => {
    const answer = { visibilities: [1], expireTimes: [0] };
    if (callback !== undefined) callback(null, answer);
    else call.on('data', () => call.write({ response: answer })).on('end', () => call.end());
  };
  for (const checkTimeoutMs of [Infinity, Number.MAX_VALUE, 2 ** 31, 2 ** 53]) {
    const client = script.newClient({ checkTimeoutMs });
    assert.equal((await client.check('c', [{ id: 'a' }])).length, 1);
    assert.equal((await toArray(client.checkStream('c', [[{ id: 'a' }]]))).length, 1);
  }
  for (const checkTimeoutMs of [NaN, -1, '5', null, 5n]) {
    assert.throws(() => script.newClient({ checkTimeoutMs }), /checkTimeoutMs/);
  }
});
