// Usage that is reported in the background.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { SidecarError } from 'ttl-sidecar';
import { MAX_CONTAINERS, UsageReporter } from '../node_modules/ttl-sidecar/src/usage.js';
import { Sidecar, waitUntil } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const { INVALID_ARGUMENT, NOT_FOUND, UNAVAILABLE } = grpc.status;

// A reporter whose clock and sidecar are the test's, and which reports only when it is told.
function makeReporter() {
  const test = { now: 1000, sent: [], error: undefined };
  const send = async ({ container, requestUnits, period }) => {
    test.sent.push([container, requestUnits, period]);
    if (test.error !== undefined) throw test.error;
  };
  const reporter = new UsageReporter(send, 2 ** 31 - 1, () => test.now);
  // Reports once, `laterMs` later; what was sent.
  test.report = async (laterMs) => {
    test.now += laterMs;
    test.sent = [];
    await reporter.reportAll();
    return test.sent;
  };
  return { reporter, test };
}

const refusal = (code) => new SidecarError(code, 'told so');

test('uses add up, and then zero is reported', async () => {
  const { reporter, test } = makeReporter();
  reporter.add('c', 2);
  reporter.add('c', 0.5);
  assert.deepEqual(await test.report(1000), [['c', 2.5, 1000]]);
  test.now += 750;
  reporter.add('d', 1);
  assert.deepEqual(await test.report(250), [
    ['c', 0, 1000],
    ['d', 1, 1000],
  ]);
});

test('what was not answered is added to the next report, at its average rate', async () => {
  const { reporter, test } = makeReporter();
  for (const container of ['c', 'd']) reporter.add(container, 10);
  for (const error of [refusal(UNAVAILABLE), new Error('of an interceptor')]) {
    test.error = error;
    assert.equal((await test.report(1000)).length, 1);
  }
  assert.equal(reporter.failures, 2);
  test.error = undefined;
  reporter.add('d', 1);
  assert.deepEqual(await test.report(1000), [
    ['c', 10, 3000],
    ['d', 11, 3000],
  ]);
  reporter.add('c', 120);
  assert.deepEqual((await test.report(120000))[0], ['c', 60, 60000]);
});

test('a container that is refused is dropped until it is used again', async () => {
  const { reporter, test } = makeReporter();
  for (const code of [NOT_FOUND, INVALID_ARGUMENT]) {
    reporter.add('c', 1);
    test.error = refusal(code);
    assert.equal((await test.report(1000)).length, 1);
    assert.deepEqual(await test.report(1000), []);
  }
  assert.equal(reporter.failures, 2);
});

test('what is no usage is not counted, nor are too many containers', async () => {
  const { reporter, test } = makeReporter();
  for (const units of [-1, NaN, Infinity]) reporter.add('c', units);
  assert.deepEqual(await test.report(1000), []);
  assert.throws(() => reporter.add(undefined, 1), /^TypeError: container/);
  assert.throws(() => reporter.add('\ud800', 1), TypeError);
  assert.throws(() => reporter.add('c', '1'), /^TypeError: requestUnits/);
  for (let n = 0; n <= MAX_CONTAINERS; n += 1) reporter.add(`${n}`, 1);
  reporter.add('0', 1);
  const sent = await test.report(1000);
  assert.deepEqual([sent.length, ...sent[0].slice(0, 2)], [MAX_CONTAINERS, '0', 2]);
});

test('usage shows in the status, and goes on with zero', async (t) => {
  const { client } = await Sidecar.start(t);
  await client.createContainer('c', {
    defaultTtl: 60,
    deletePolicy: { requestUnitsPerSecond: 1e6 },
  });
  const used = async () => (await client.status('c')).container.budget.usedByRequests;
  client.addUsage('c', 5000);
  await waitUntil(async () => (await used()) > 0, 'the usage is in the status');
  await waitUntil(async () => (await used()) === 0, 'no usage is reported, too');
  assert.equal(client.usageFailures, 0);
});

test('usage is never waited for, and close() ends its report', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const ended = new Promise((resolve) => {
    script.answer = (call) => call.on('cancelled', resolve);
  });
  const client = script.newClient();
  assert.equal(client.addUsage('c', 1), undefined);
  await waitUntil(() => script.calls.ReportUsage === 1, 'the report is under way');
  client.addUsage('c', 1);
  client.close();
  await ended;
  client.addUsage('c', 1); // after the end it is not counted, and no error
});

test('a report is sent once, and its failure is only counted', async (t) => {
  const script = await ScriptedSidecar.start(t);
  script.failWith(UNAVAILABLE);
  const client = script.newClient();
  client.addUsage('c', 1);
  await waitUntil(() => client.usageFailures === 1, 'the failure is counted');
  assert.deepEqual(script.calls, { ReportUsage: 1 });
});
