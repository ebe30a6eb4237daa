// Streams as async iterators, with a deadline for every answer.
import { EventEmitter, once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { SidecarError } from './errors.js';
import { runAt } from './time_limits.js';

// Messages that may be under way: as many as the sidecar reads ahead of its answers.
const MAX_UNANSWERED = 64;

// Calls `onTimeout` once if somebody waits for an answer longer than `timeoutMs`: counted from when
// the message was sent, or from when its reader came to wait, whichever is later. Emits "answered".
class Watchdog extends EventEmitter {
  #sent = [];
  #waitingSince;
  #disarm = () => {};

  constructor(timeoutMs, onTimeout) {
    super();
    this.timeoutMs = timeoutMs;
    this.onTimeout = onTimeout;
    this.timedOut = false;
  }

  get unanswered() {
    return this.#sent.length;
  }

  sent() {
    this.#sent.push(performance.now());
    this.#arm();
  }

  answered() {
    if (this.#sent.length === 0)
      throw new SidecarError(status.INTERNAL, 'the stream has more answers than messages');
    this.#sent.shift();
    this.emit('answered');
  }

  async waitFor(promise) {
    this.#waitingSince = performance.now();
    this.#arm();
    try {
      return await promise;
    } finally {
      this.#waitingSince = undefined;
      this.close();
    }
  }

  close() {
    this.#disarm();
  }

  #arm() {
    this.#disarm();
    if (this.#waitingSince === undefined || this.#sent.length === 0) return;
    const end = Math.max(this.#sent[0], this.#waitingSince) + this.timeoutMs;
    this.#disarm = runAt(end, () => {
      this.timedOut = true;
      this.onTimeout();
    });
  }
}

function translate(error, watchdog, calls) {
  if (error instanceof SidecarError || error.code === undefined) return error;
  return watchdog.timedOut ? calls.timeoutError(watchdog.timeoutMs) : calls.errorOf(error);
}

// Writes what `requests` yields, as fast as the other side takes it, then closes its half.
async function feed(call, requests, watchdog, closed) {
  for await (const request of requests) {
    if (closed.aborted) return;
    watchdog.sent();
    if (!call.write(request)) await once(call, 'drain', { signal: closed });
    if (watchdog.unanswered >= MAX_UNANSWERED) await once(watchdog, 'answered', { signal: closed });
  }
  call.end();
}

// Sends `requests` over one bidirectional stream and yields an answer for each, in order. What
// `requests` throws is thrown to the reader.
export async function* exchange(call, requests, timeoutMs, calls) {
  const watchdog = new Watchdog(timeoutMs, () => call.cancel());
  const closed = new AbortController();
  let thrown;
  call.on('error', () => {}); // the reader is told
  call.on('status', () => closed.abort());
  feed(call, requests, watchdog, closed.signal).catch((reason) => {
    if (closed.signal.aborted) return;
    thrown = { reason };
    call.cancel();
  });
  try {
    const answers = call[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await watchdog.waitFor(answers.next());
      if (done) break;
      watchdog.answered();
      yield value;
    }
    if (watchdog.unanswered > 0) {
      throw new SidecarError(
        status.INTERNAL,
        `the stream ended with ${watchdog.unanswered} messages unanswered`,
      );
    }
  } catch (error) {
    if (thrown !== undefined) throw thrown.reason;
    throw translate(error, watchdog, calls);
  } finally {
    closed.abort();
    call.cancel();
  }
}

// Yields what the server sends until it ends the stream, which is an error.
export async function* follow(call, longestSilenceMs, calls) {
  const watchdog = new Watchdog(longestSilenceMs, () => call.cancel());
  call.on('error', () => {}); // the reader is told
  try {
    const messages = call[Symbol.asyncIterator]();
    for (;;) {
      watchdog.sent();
      const { done, value } = await watchdog.waitFor(messages.next());
      if (done)
        throw calls.errorOf({ code: status.UNAVAILABLE, details: 'the stream has ended' });
      watchdog.answered();
      yield value;
    }
  } catch (error) {
    throw translate(error, watchdog, calls);
  } finally {
    call.cancel();
  }
}

// Yields what the server sends, for as long as it takes. If `name` is given, the last message says
// that the work of that name is finished.
export async function* download(call, calls, name) {
  call.on('error', () => {}); // the reader is told
  let last;
  try {
    for await (const message of call) {
      last = message;
      yield message;
    }
  } catch (error) {
    throw error instanceof SidecarError || error.code === undefined ? error : calls.errorOf(error);
  } finally {
    call.cancel();
  }
  if (name === undefined || last?.finished) return;
  const text = `the sidecar ended the ${name} before it was finished`;
  throw new SidecarError(status.INTERNAL, text);
}
