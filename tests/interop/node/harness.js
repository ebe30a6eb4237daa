// What the tests share: a sidecar process per test, a store in memory, waiting.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Mutex, PrimaryStore, SidecarError } from 'ttl-sidecar';

// How long anything here may take: a machine that stands still for seconds fails no test.
export const PATIENCE_MS = 60000;
// For clients that are not to be impatient.
export const PATIENT = {
  checkTimeoutMs: PATIENCE_MS,
  reportTimeoutMs: PATIENCE_MS,
  adminTimeoutMs: PATIENCE_MS,
};

// Answers the first truthy value of `condition`; fails after `deadlineMs`.
export async function waitUntil(condition, what, deadlineMs = PATIENCE_MS) {
  const end = performance.now() + deadlineMs;
  for (let isLast = false; !isLast; ) {
    isLast = performance.now() >= end;
    const value = await condition();
    if (value) return value;
    await pause(10);
  }
  return assert.fail(`not within ${deadlineMs} ms: ${what}`);
}

export async function toArray(iterable) {
  const all = [];
  for await (const element of iterable) all.push(element);
  return all;
}

// `end`: ends whatever writes to the folder, before that is removed.
export function tempFolder(test, end = () => {}) {
  const folder = mkdtempSync(`${tmpdir()}/ttl-`);
  test.after(async () => {
    await end();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

// Writes a program beside the tests, so that it finds the package as any program does.
export function writeProgram(name, program) {
  const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
  writeFileSync(path, program);
  return path;
}

// Fails unless `promise` rejects with a SidecarError of that code that has all the words.
export async function assertRefused(promise, codeName, ...words) {
  const error = await promise.then(
    () => assert.fail(`not refused; ${codeName} was expected`),
    (e) => e,
  );
  assert.ok(error instanceof SidecarError, String(error?.stack ?? error));
  assert.equal(error.codeName, codeName, error.message);
  for (const word of words)
    assert.ok(error.message.includes(word), `${word} is not in: ${error.message}`);
  return error;
}

// The real ttl-sidecar on a Unix socket, and a client of it; both end with the test.
export class Sidecar {
  static async start(test, ...flags) {
    const sidecar = new Sidecar();
    sidecar.folder = tempFolder(test, () => sidecar.stop());
    sidecar.storeAddress = `unix:${sidecar.folder}/store.sock`;
    sidecar.address = `unix:${sidecar.folder}/sidecar.sock`;
    sidecar.flags = flags;
    sidecar.client = new Client({ address: sidecar.address, ...PATIENT });
    sidecar.spawn();
    await sidecar.untilReady();
    return sidecar;
  }

  spawn() {
    const output = openSync(`${this.folder}/sidecar.log`, 'a');
    this.process = spawn(
      `${process.env.TTL_BIN}/ttl-sidecar`,
      [
        '--listen-socket',
        `${this.folder}/sidecar.sock`,
        '--data-dir',
        `${this.folder}/data`,
        '--store',
        this.storeAddress,
        ...this.flags,
      ],
      { stdio: ['ignore', output, output] },
    );
    closeSync(output);
  }

  async untilReady() {
    const client = new Client({ address: this.address, adminTimeoutMs: 1000 });
    await waitUntil(() => {
      if (this.process.exitCode !== null) {
        assert.fail(`it has ended: ${readFileSync(`${this.folder}/sidecar.log`)}`);
      }
      return client.status().catch(() => undefined);
    }, 'the sidecar answers').finally(() => client.close());
  }

  // As spawn() and untilReady(), but goes by the log: a client of this process would share its
  // connection, and how it looks after it, with all others.
  async startUnseen() {
    const starts = () =>
      readFileSync(`${this.folder}/sidecar.log`, 'utf8').split('msg="ready"').length;
    const before = starts();
    this.spawn();
    await waitUntil(() => starts() > before, 'the sidecar is ready');
  }

  // Once it is fulfilled, the sidecar takes connections and answers nothing. The signal alone would
  // let it answer for a while yet.
  async suspend() {
    this.process.kill('SIGSTOP');
    const tasks = `/proc/${this.process.pid}/task`;
    const hasStopped = (task) => {
      try {
        return readFileSync(`${tasks}/${task}/stat`, 'latin1').includes(') T ');
      } catch (error) {
        if (error.code === 'ENOENT' || error.code === 'ESRCH') return false; // it has just ended
        throw error;
      }
    };
    await waitUntil(() => readdirSync(tasks).every(hasStopped), 'every thread has stopped');
  }

  // Once it is fulfilled, the sidecar has ended.
  async kill(signal = 'SIGKILL') {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    await ended;
  }

  async stop() {
    this.client?.close();
    if (this.process !== undefined) await this.kill();
  }
}

// Items in memory, by container and key.
export class MemoryStore extends PrimaryStore {
  storeId = 'memory';
  items = new Map();
  mutex = new Mutex();
  batches = 0;

  static name(container, { partitionKey = '', id }) {
    return [container, ...[partitionKey, id].map((part) => Buffer.from(part).toString('hex'))].join(
      '/',
    );
  }

  write(container, item) {
    return this.mutex.run(() => {
      this.items.set(MemoryStore.name(container, item), item);
    });
  }

  ids() {
    return [...this.items.values()].map(({ id }) => Buffer.from(id).toString('latin1')).sort();
  }

  exclusive(container, keys, action) {
    return this.mutex.run(action);
  }

  read(container, key) {
    return this.items.get(MemoryStore.name(container, key));
  }

  delete(container, keys) {
    this.batches += 1;
    for (const key of keys) this.items.delete(MemoryStore.name(container, key));
  }

  scan(container, after, limit) {
    const names = [...this.items.keys()]
      .filter(
        (name) =>
          name.startsWith(`${container}/`) &&
          (after === undefined || name > MemoryStore.name(container, after)),
      )
      .sort();
    return names.slice(0, limit).map((name) => this.items.get(name));
  }
}

export const now = () => Math.floor(Date.now() / 1000);
