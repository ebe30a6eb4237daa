// After close() nothing is under way any more, and every failure is a SidecarError.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { Client } from 'ttl-sidecar';
import {
  PATIENCE_MS,
  PATIENT,
  Sidecar,
  assertRefused,
  now,
  tempFolder,
  toArray,
  writeProgram,
} from './harness.js';

async function start(t) {
  const sidecar = await Sidecar.start(t);
  await sidecar.client.createContainer('c', { defaultTtl: 3600 });
  return sidecar;
}

test('close ends a watch at once', async (t) => {
  const { client } = await start(t);
  const watch = client.watchContainers({ heartbeatMs: 300 });
  await watch.next();
  const idle = client.watchContainers();
  await idle.next();
  client.close();
  client.close();
  await assertRefused(toArray(watch), 'CANCELLED', 'closed');
  await assertRefused(idle.next(), 'CANCELLED', 'closed');
});

test('close ends calls and streams that wait for an answer, and pauses', async (t) => {
  const sidecar = await start(t);
  const { client } = sidecar;
  await sidecar.suspend();
  const calls = [
    client.check('c', [{ id: '1' }]),
    client.track('c', [{ id: '1', ts: now() }]),
    client.setDefaultTtl('c', 5),
    toArray(client.checkStream('c', [[{ id: '1' }]])),
    toArray(client.listItems('c')),
  ].map((call) => assertRefused(call, 'CANCELLED', 'closed'));
  setImmediate(() => client.close());
  await Promise.all(calls);
  await sidecar.kill();
});

test('close ends calls that wait for a connection', async (t) => {
  const client = new Client({ address: `unix:${tempFolder(t)}/nobody.sock`, ...PATIENT });
  const calls = [
    client.check('c', [{ id: '1' }]),
    client.track('c', [{ id: '1', ts: now() }]),
    client.setDefaultTtl('c', 5),
  ].map((call) => assertRefused(call, 'CANCELLED', 'closed'));
  setTimeout(() => client.close(), 500);
  await Promise.all(calls);
});

test('every call after close is refused alike', async (t) => {
  const { client } = await start(t);
  const pages = client.listItems('c');
  client.close();
  const item = { id: '1', ts: now() };
  for (const call of [
    () => client.check('c', [{ id: '1' }]),
    () => client.track('c', [item]),
    () => client.untrack('c', [{ ...item, sequence: 1 }]),
    () => client.getItem('c', '1'),
    () => client.status(),
    () => client.createContainer('d'),
    () => client.reportUsage('c', 1),
    () => client.call('ListStuckItems'),
    () => pages.next(),
    () => toArray(client.checkStream('c', [[{ id: '1' }]])),
    () => toArray(client.trackStream('c', [[item]])),
    () => toArray(client.watchContainers()),
  ]) {
    await assertRefused(call(), 'CANCELLED', 'closed');
  }
});

test('a process that closed its client ends', async (t) => {
  const { address } = await start(t);
  const program = writeProgram(
    'closes.js',
    `import { Client } from 'ttl-sidecar';
     const client = new Client({ address: '${address}', checkTimeoutMs: ${PATIENCE_MS} });
     const watch = client.watchContainers({ heartbeatMs: 300 });
     await watch.next();
     const replies = client.checkStream('c', (async function* () {
       yield [{ id: '1' }];
       await new Promise(() => {});
     })());
     await replies.next();
     client.close();
     console.log('closed');`,
  );
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const closed = performance.now();
  const [code] = await once(child, 'exit');
  // With the watch left open it is 20 s, when the channel that nobody uses is dropped.
  assert.ok(performance.now() - closed < 10000);
  assert.equal(code, 0);
});
