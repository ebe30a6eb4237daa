// The feed, against a scripted sidecar and the real one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import { Client } from 'ttl-sidecar';
import { Sidecar, assertRefused, tempFolder, toArray, writeProgram } from './harness.js';
import { ScriptedSidecar } from './scripted_sidecar.js';

const { status } = grpc;

const response = (token, ...sequences) => ({
  token,
  epoch: 7n,
  events: sequences.map((sequence) => ({ kind: 'EVENT_KIND_EXPIRED', sequence })),
});

// A client, the requests that its sidecar has seen, and for each stream what it sends and the code with
// which it ends; undefined: it stays open.
async function start(t, ...streams) {
  const script = await ScriptedSidecar.start(t);
  const seen = [];
  script.answer = (call) => {
    seen.push(call.request);
    const [responses, code] = streams.shift();
    for (const one of responses) call.write(one);
    if (code === status.OK) call.end();
    else if (code !== undefined) call.emit('error', { code, details: 'told so' });
  };
  const answerWith = (answer) => {
    script.answer = (call, callback) => {
      seen.push(call.request);
      callback(null, answer);
    };
  };
  return { script, client: script.newClient(), seen, answerWith };
}

// The tokens of the first responses; ends the watch.
async function tokens(watch, count) {
  const got = [];
  for (let i = 0; i < count; i += 1) got.push(String((await watch.next()).value.token));
  await watch.return();
  return got;
}

test('what is watched arrives as given', async (t) => {
  const open = [[response('t')]];
  const { client, seen } = await start(t, open, open, open);
  const kinds = ['EVENT_KIND_EXPIRED', 'EVENT_KIND_PURGED'];
  const options = { token: 'start', kinds, heartbeatMs: 2500 };
  assert.deepEqual(await tokens(client.watchEvents(['c', 'd'], options), 1), ['t']);
  assert.deepEqual(await tokens(client.watchSubscription('c', 'archive'), 1), ['t']);
  assert.deepEqual(await tokens(client.watchEvents(new Set(['c'])), 1), ['t']);
  const [first, second, third] = seen;
  assert.deepEqual(first, {
    containers: { ids: ['c', 'd'], token: Buffer.from('start'), kinds },
    heartbeatInterval: 2500,
  });
  assert.deepEqual(second, {
    subscription: { container: 'c', name: 'archive' },
    heartbeatInterval: 1000,
  });
  assert.deepEqual(third.containers, { ids: ['c'], token: Buffer.alloc(0), kinds: [] });
});

test('events arrive in order and exactly', async (t) => {
  const large = 2n ** 64n - 1n;
  const { client } = await start(t, [[{ ...response('t', 5n, large), epoch: large }]]);
  const watch = client.watchEvents(['c']);
  const { value } = await watch.next();
  assert.equal(value.epoch, large);
  assert.deepEqual(
    value.events.map(({ kind, sequence }) => [kind, sequence]),
    [
      ['EVENT_KIND_EXPIRED', 5n],
      ['EVENT_KIND_EXPIRED', large],
    ],
  );
  assert.equal(value.watermark, undefined);
  await watch.return();
});

test('a watch that is left early ends its stream', async (t) => {
  const { client, script } = await start(t);
  const cancelled = new Promise((resolve) => {
    script.answer = (call) => {
      call.write(response('t', 1n));
      call.on('cancelled', resolve);
    };
  });
  for await (const { token } of client.watchEvents(['c'])) {
    assert.equal(String(token), 't');
    break;
  }
  await cancelled;
});

test('values of the wrong type send nothing', async (t) => {
  const { client, seen } = await start(t);
  for (const call of [
    () => client.watchEvents('c').next(),
    () => client.watchEvents(['c'], { kinds: 'EVENT_KIND_GONE' }).next(),
    () => client.watchEvents(['c'], { kinds: ['GONE'] }).next(),
    () => client.watchEvents(['c'], { kind: [] }).next(),
    () => client.watchEvents(['c'], { heartbeatMs: '1' }).next(),
    () => client.watchSubscription('c', 'a', { token: 't' }).next(),
    () => client.acknowledge('c', 'a', 7n),
    () => client.acknowledge('c', 'a', undefined, 7n),
    () => client.acknowledge('c', 'a', 7n, 1.5),
    () => client.createSubscription('c', 'a', { kind: [] }),
  ]) {
    await assert.rejects(call, TypeError);
  }
  await assert.rejects(client.acknowledge('c', 'a', -1, 1), RangeError);
  assert.deepEqual(seen, []);
});

test('a stream that breaks is resumed behind what was dealt with', async (t) => {
  const { client, seen } = await start(
    t,
    [[response('t1', 3n), response('t2')], status.UNAVAILABLE],
    [[], status.UNAVAILABLE],
    [[response('t3', 4n)]],
  );
  const watch = client.watchEvents(['c'], { token: 't0' });
  assert.deepEqual(await tokens(watch, 3), ['t1', 't2', 't3']);
  assert.deepEqual(
    seen.map(({ containers }) => String(containers.token)),
    ['t0', 't2', 't2'],
  );
  assert.deepEqual(seen[2].containers.ids, ['c']);
});

test('a stream that the sidecar ends or that falls silent is resumed too', async (t) => {
  const { client } = await start(
    t,
    [[response('t1')], status.OK],
    [[response('t2')]],
    [[response('t3')]],
  );
  const watch = client.watchEvents(['c'], { heartbeatMs: 100 });
  assert.deepEqual(await tokens(watch, 3), ['t1', 't2', 't3']);
});

test('a subscription is resumed by its name', async (t) => {
  const { client, seen } = await start(
    t,
    [[response('t1', 3n)], status.UNAVAILABLE],
    [[response('t1', 3n)]],
  );
  assert.deepEqual(await tokens(client.watchSubscription('c', 'archive'), 2), ['t1', 't1']);
  assert.deepEqual(seen[0], seen[1]);
});

test('what may pass is tried again', async (t) => {
  const codes = [status.RESOURCE_EXHAUSTED, status.INTERNAL, status.UNKNOWN, status.CANCELLED];
  const streams = codes.map((code) => [[response('t')], code]);
  const { client } = await start(t, ...streams, [[response('end')]]);
  assert.deepEqual(await tokens(client.watchEvents(['c']), 5), ['t', 't', 't', 't', 'end']);
});

test('what does not pass is an error', async (t) => {
  for (const code of [
    status.OUT_OF_RANGE,
    status.INVALID_ARGUMENT,
    status.NOT_FOUND,
    status.FAILED_PRECONDITION,
    status.PERMISSION_DENIED,
    status.UNAUTHENTICATED,
    status.UNIMPLEMENTED,
  ]) {
    const { client, seen } = await start(t, [[response('t')], code]);
    const watch = client.watchEvents(['c']);
    await watch.next();
    await assertRefused(watch.next(), status[code], 'told so');
    assert.equal(seen.length, 1);
  }
});

test('an error before the first response is told', async (t) => {
  for (const code of [status.UNAVAILABLE, status.RESOURCE_EXHAUSTED]) {
    const { client } = await start(t, [[], code]);
    await assertRefused(client.watchEvents(['c']).next(), status[code]);
  }
  const nobody = new Client({ address: `unix:${tempFolder(t)}/nobody.sock` });
  t.after(() => nobody.close());
  await assert.rejects(nobody.watchEvents(['c'], { heartbeatMs: 50 }).next(), ({ codeName }) =>
    ['UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(codeName),
  );
});

test('close ends a watch', async (t) => {
  const { client } = await start(t, [[response('t')]]);
  const watch = client.watchEvents(['c']);
  await watch.next();
  client.close();
  await assertRefused(watch.next(), 'CANCELLED', 'closed');
});

test('an acknowledgement is sent again until it is answered', async (t) => {
  const { client, script, seen } = await start(t);
  script.answer = (call, callback) => {
    seen.push(call.request);
    if (seen.length < 6) callback({ code: status.UNAVAILABLE });
    else callback(null, { acknowledgedSequence: 43n });
  };
  const epoch = 2n ** 64n - 1n;
  assert.equal(await client.acknowledge('c', 'archive', epoch, 42), 43n);
  const request = { container: 'c', name: 'archive', epoch, sequence: 42n };
  assert.deepEqual(seen, Array(6).fill(request));
});

test('subscriptions are created and deleted once', async (t) => {
  const { client, script, seen, answerWith } = await start(t);
  answerWith({ subscription: { name: 'a' } });
  const options = { kinds: ['EVENT_KIND_EXPIRED'], consumer: 'cn:shipping' };
  assert.equal((await client.createSubscription('c', 'a', options)).name, 'a');
  answerWith({});
  assert.equal(await client.deleteSubscription('c', 'a'), undefined);
  const { container, name, kinds, consumer } = seen[0].subscription;
  assert.deepEqual({ container, name, kinds, consumer }, { container: 'c', name: 'a', ...options });
  assert.deepEqual(seen[1], { container: 'c', name: 'a' });
  script.failWith(status.UNAVAILABLE);
  await assertRefused(client.createSubscription('c', 'a'), 'UNAVAILABLE');
  await assertRefused(client.deleteSubscription('c', 'a'), 'UNAVAILABLE');
  assert.deepEqual(script.calls, { CreateSubscription: 2, DeleteSubscription: 2 });
});

test('subscriptions are read and listed page by page', async (t) => {
  const { client, script, seen } = await start(t);
  const pages = { '': ['a', 'next'], next: ['b', ''] };
  script.answer = (call, callback) => {
    const { request } = call;
    seen.push(request);
    if (request.pageToken === undefined) {
      callback(null, { subscription: { name: request.name } });
      return;
    }
    const [name, nextPageToken] = pages[request.pageToken];
    callback(null, { subscriptions: [{ name }], nextPageToken });
  };
  assert.equal((await client.getSubscription('c', 'a')).name, 'a');
  const names = (await toArray(client.listSubscriptions('c'))).map(({ name }) => name);
  assert.deepEqual(names, ['a', 'b']);
  assert.deepEqual(
    seen.map(({ container }) => container),
    ['c', 'c', 'c'],
  );
  await toArray(client.listSubscriptions());
  assert.equal(seen.at(-1).container, '');
});

test('the example of the page acknowledges what it has dealt with', async (t) => {
  const { script, seen } = await start(t);
  const acknowledged = [];
  script.answer = (call, callback) => {
    seen.push(call.request);
    if (callback !== undefined) {
      acknowledged.push(call.request);
      callback(null, {});
      return;
    }
    call.write(response('t'));
    call.write(response('t', 3n, 4n));
    call.emit('error', { code: status.OUT_OF_RANGE, details: 'told so' });
  };
  const page = readFileSync(process.env.TTL_NODE_README.replace('node/README', 'feed'), 'utf8');
  const code = /^```js\n(.*?)^```$/ms.exec(page)[1];
  const program = `const remindOwner = async (id) => console.log('reminded');\n${code}`;
  const path = writeProgram(
    'feed_page.js',
    program.replace('unix:/run/ttl-sidecar/sidecar.sock', script.address),
  );
  // Not synchronously: the sidecar is in this process.
  const ended = await promisify(execFile)(process.execPath, [path]).catch((error) => error);
  assert.match(ended.stderr, /told so/);
  assert.equal(ended.stdout, 'reminded\n'.repeat(2));
  const [container, name] = ['salesdb/carts', 'mail'];
  assert.deepEqual(acknowledged, [{ container, name, epoch: 7n, sequence: 4n }]);
  assert.deepEqual(seen[0].subscription, { container, name });
});

test('a container has a feed if it is given one', async (t) => {
  const { client, seen, answerWith } = await start(t);
  answerWith({});
  for (const feed of [undefined, {}, { maxBytes: 2 ** 20, notice: 600_000 }]) {
    await client.createContainer('c', { feed });
  }
  assert.deepEqual(
    seen.map(({ container }) => container.feed),
    [undefined, {}, { maxBytes: 2 ** 20, notice: 600_000 }],
  );
});

test('the real sidecar tells an expiry, and tells it again after a restart until it is acknowledged', async (t) => {
  const sidecar = await Sidecar.start(t);
  const { client } = sidecar;
  await client.createContainer('c', { defaultTtl: -1, feed: {} });
  await client.createSubscription('c', 's', { kinds: ['EVENT_KIND_EXPIRED'] });
  const ts = Math.floor(Date.now() / 1000);
  await client.track('c', [{ id: 'a', ts, ttl: 1 }]);
  const watch = client.watchSubscription('c', 's');
  const next = async () => {
    for (;;) {
      const { value } = await watch.next();
      if (value.events.length > 0) return value;
    }
  };
  const { events } = await next();
  const [{ kind, id, expireTime, sequence }] = events;
  assert.deepEqual([kind, String(id), expireTime], ['EVENT_KIND_EXPIRED', 'a', ts + 1]);
  await sidecar.kill();
  sidecar.spawn();
  await sidecar.untilReady();
  const again = await next();
  assert.deepEqual(again.events, events);
  assert.equal(await client.acknowledge('c', 's', again.epoch, sequence), sequence);
  assert.equal((await client.getSubscription('c', 's')).acknowledgedSequence, sequence);
  await watch.return();
});
