// Interceptors of grpc-js that are given to a client.
import assert from 'node:assert/strict';
import test from 'node:test';
import grpc from '@grpc/grpc-js';
import { PATIENCE_MS, PATIENT, Sidecar, assertRefused, toArray } from './harness.js';
import { Client } from 'ttl-sidecar';
import { ScriptedSidecar } from './scripted_sidecar.js';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

// Notes the methods, and adds a traceparent.
function makeTracer() {
  const methods = [];
  const interceptor = (options, nextCall) => {
    methods.push(options.method_definition.path.split('/').at(-1));
    return new grpc.InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        metadata.set('traceparent', TRACE);
        next(metadata, listener);
      },
    });
  };
  return { methods, interceptor };
}

test('every kind of call is seen, and carries what was added', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const { methods, interceptor } = makeTracer();
  const client = script.newClient({ ...PATIENT, interceptors: [interceptor] });
  const answers = { visibilities: [1], expireTimes: [0] };
  const next = async (generator) => (await generator.next()).value;
  for (const [method, response, call] of [
    ['CheckVisibility', answers, () => client.check('c', [{ id: 'a' }])],
    ['GetExpiryStatus', {}, () => client.status()],
    [
      'StreamCheckVisibility',
      { response: answers },
      () => next(client.checkStream('c', [[{ id: 'a' }]])),
    ],
    ['WatchContainers', {}, () => next(client.watchContainers())],
    ['BackUpData', {}, () => next(client.backUpData())],
  ]) {
    const traces = [];
    script.answer = (serverCall, callback) => {
      traces.push(...serverCall.metadata.get('traceparent'));
      if (callback) callback(null, response);
      else serverCall.write(response);
    };
    await call();
    assert.deepEqual([traces, methods.at(-1)], [[TRACE], method]);
  }
  assert.equal(methods.length, 5);
});

test('every attempt is seen, and errors are as without', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const { methods, interceptor } = makeTracer();
  const client = script.newClient({ ...PATIENT, interceptors: [interceptor] });
  script.failFirst(2, grpc.status.UNAVAILABLE);
  await assertRefused(client.check('c', [{ id: 'a' }]), 'NOT_FOUND', 'in the end');
  assert.deepEqual(methods, ['CheckVisibility', 'CheckVisibility', 'CheckVisibility']);
});

test('what an interceptor throws reaches the caller', async (t) => {
  const script = await ScriptedSidecar.start(t);
  const failing = () => {
    throw new RangeError('no token');
  };
  const client = script.newClient({ ...PATIENT, interceptors: [failing] });
  await assert.rejects(client.status(), /^RangeError: no token/);
  await assert.rejects(client.checkStream('c', [[{ id: 'a' }]]).next(), /^RangeError: no token/);
});

test('streams of many messages and close() work through interceptors', async (t) => {
  const sidecar = await Sidecar.start(t);
  await sidecar.client.createContainer('c', { defaultTtl: 60 });
  const { interceptor } = makeTracer();
  const client = new Client({ address: sidecar.address, ...PATIENT, interceptors: [interceptor] });
  const batches = Array.from({ length: 200 }, (_, n) => [{ id: `${n}`, ts: 1 }]);
  const replies = await toArray(client.trackStream('c', batches));
  assert.deepEqual([replies.length, replies.filter(({ error }) => error).length], [200, 0]);
  const watch = client.watchContainers({ heartbeatMs: PATIENCE_MS / 5 });
  await watch.next();
  client.close();
  await assertRefused(watch.next(), 'CANCELLED', 'closed');
});
