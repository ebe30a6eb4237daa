// What a value may be is checked before anything is sent.
import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import { Client } from 'ttl-sidecar';
import { ScriptedSidecar } from './scripted_sidecar.js';

const TS = 1767225600;

async function start(t) {
  const script = await ScriptedSidecar.start(t);
  return { script, client: script.newClient() };
}

test('a key that is missing is not the empty key', async (t) => {
  const { script, client } = await start(t);
  for (const call of [
    () => client.track('c', [{ id: undefined, ts: TS, ttl: 7 }]),
    () => client.track('c', [{ id: null, ts: TS }]),
    () => client.track('c', [{ id: 'a' }]),
    () => client.untrack('c', [{ ts: TS }]),
    () => client.untrack('c', [{ id: 'a' }]),
    () => client.check('c', [{ id: 'a' }, { ts: TS }]),
    () => client.check('c', [{}]),
    () => client.getItem('c', undefined),
    () => client.explainItem('c'),
    () => client.call('GetItem', { container: 'c' }),
  ]) {
    await assert.rejects(call(), /^TypeError: (id|ts) of \w+ is missing$/);
  }
  await assert.rejects(client.trackStream('c', [[{ ts: TS }]]).next(), TypeError);
  assert.deepEqual(script.calls, {});
  script.answerWith({ visibilities: [1], expireTimes: [0] });
  assert.equal((await client.check('c', [{ id: '' }])).length, 1);
});

test('what does not fit its field is refused, and not rounded or replaced', async (t) => {
  const { script, client } = await start(t);
  for (const [fields, error] of [
    [{ ttl: true }, TypeError],
    [{ ttl: false }, TypeError],
    [{ ttl: 1.5 }, TypeError],
    [{ ttl: '' }, TypeError],
    [{ ttl: ' 60' }, TypeError],
    [{ ttl: '60.0' }, TypeError],
    [{ ttl: '6e1' }, TypeError],
    [{ ttl: '0x3c' }, TypeError],
    [{ ttl: '-0' }, TypeError],
    [{ ttl: [60] }, TypeError],
    [{ ttl: new Date(60) }, TypeError],
    [{ ttl: Symbol('60') }, TypeError],
    [{ ts: 2 ** 53 }, TypeError],
    [{ ts: '9223372036854775808' }, RangeError],
    [{ sequence: '18446744073709551616' }, RangeError],
    [{ sequence: '-1' }, RangeError],
    [{ id: 5 }, TypeError],
    [{ id: ['a'] }, TypeError],
    [{ id: new Uint16Array(1) }, TypeError],
    [{ id: new ArrayBuffer(1) }, TypeError],
    [{ id: '\ud800' }, TypeError],
    [{ id: 'a\udfff' }, TypeError],
    [{ partitionKey: '\udfff\ud800' }, TypeError],
    [{ etag: '\ud83d' }, TypeError],
    [{ TTL: 5 }, TypeError],
  ]) {
    await assert.rejects(client.track('c', [{ id: 'a', ts: TS, ...fields }]), error);
  }
  for (const call of [
    () => client.track('c', ['a']),
    () => client.track('c', [null]),
    () => client.track('c', 'abc'),
    () => client.track(5, [{ id: 'a', ts: TS }]),
    () => client.track('\ud800', [{ id: 'a', ts: TS }]),
    () => client.track('c', [{ id: 'a', ts: TS }], { adopted: 'no' }),
    () => client.setDefaultTtl('c', true),
    () => client.createContainer('c', { defaultTtl: true }),
    () => client.createContainer('c', { deletePolicy: { maxDeletesPerSecond: '5' } }),
    () => client.createContainer('c', { deletePolicy: { delay: '5' } }),
    () => client.createContainer('c', { deletePolicy: { delay: NaN } }),
    () => client.createContainer('c', { indexingMode: 'toString' }),
    () => client.updateContainer({ id: 'c' }, 'default_ttl'),
    () => client.pauseDeletes({ why: 'x' }, 'c'),
    () => client.pauseDeletes('why'),
    () => client.pauseDeletes('why', null),
    () => client.resumeDeletes(),
    () => client.resumeDeletes(undefined),
    () => client.resumeDeletes(null),
    () => client.resumeDeletes({ all: false }),
    () => client.resumeDeletes({ all: true, container: 'c' }),
    () => client.watchContainers({ heartbeatMs: '300' }).next(),
  ]) {
    await assert.rejects(call(), TypeError);
  }
  assert.deepEqual(script.calls, {});
});

test('bytes of other realms are bytes, and whole pairs of surrogates are text', async (t) => {
  const { script, client } = await start(t);
  const seen = [];
  script.answer = (call, callback) => {
    seen.push(...call.request.items.map(({ id, etag }) => [id.toString('hex'), etag.toString()]));
    callback(null, { results: call.request.items.map(() => 1) });
  };
  const bytes = vm.runInNewContext('new Uint8Array([0, 1, 255, 4]).subarray(1, 3)');
  assert.ok(!(bytes instanceof Uint8Array));
  await client.track('c', [
    { id: bytes, ts: TS, etag: '\u{1f600}' },
    { id: Buffer.from([7]), ts: TS },
  ]);
  assert.deepEqual(seen, [
    ['01ff', '\u{1f600}'],
    ['07', ''],
  ]);
});

test('options are objects, and misspelled ones are refused', async (t) => {
  const { script, client } = await start(t);
  const container = /createContainer\(\): 60 is not an object like \{ defaultTtl: 60 \}/;
  await assert.rejects(client.createContainer('a', 60), container);
  await assert.rejects(client.createContainer('a', { defaultTTL: 60 }), /no field defaultTTL/);
  for (const [call, words] of [
    [() => client.track('c', [], true), /track\(\): true is not an object like \{ adopted: true \}/],
    [() => client.track('c', [], { adoptd: true }), /track\(\) has no option adoptd: adopted/],
    [async () => client.listItems('c', true), /listItems\(\): true/],
    [() => client.reportUsage('c', 1, 1000), /reportUsage\(\): 1000/],
    [() => client.watchContainers(1000).next(), /watchContainers\(\): 1000/],
    [() => client.startReconciliation('c', true), /startReconciliation\(\): true/],
    [() => client.setMaxDeletesPerSecond(), /limit = undefined: a number is required, or null/],
    [async () => new Client('unix:/tmp/x.sock'), /new Client\(\): 'unix:\/tmp\/x.sock' is not an obj/],
    [async () => new Client({ checkTimeout: 5 }), /has no option checkTimeout: address, cred/],
    [async () => new Client({ interceptors: [5] }), /interceptors: a list of functions/],
  ]) {
    await assert.rejects(call(), (error) => error instanceof TypeError && words.test(error.message));
  }
  assert.deepEqual(script.calls, {});
});
