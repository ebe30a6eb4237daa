// The calls of one client: makes them, repeats them within their deadline, and ends them all when
// the client is closed. Every failure is a SidecarError.
import { setTimeout as sleep } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import { CHANNEL_OPTIONS } from './channel.js';
import { SidecarError, fromCall } from './errors.js';
import { pauseBeforeRepeat, waitsForConnection } from './repeats.js';

const { CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE } = grpc.status;
const { TRANSIENT_FAILURE } = grpc.connectivityState;

const asItIs = (bytes) => bytes;

export class Calls {
  #address;
  #client;
  #underWay = new Set();
  #closed = new AbortController();

  constructor(address, credentials, interceptors) {
    this.#address = address;
    this.#client = new grpc.Client(address, credentials, { ...CHANNEL_OPTIONS, interceptors });
  }

  close() {
    this.#closed.abort();
    for (const call of this.#underWay) call.cancel();
    this.#client.close();
  }

  // The response to a request, given as `bytes`, within `timeoutMs`.
  async unary(method, bytes, timeoutMs, kind) {
    const end = performance.now() + timeoutMs;
    let unavailable;
    for (let attempt = 1; ; attempt += 1) {
      const waits = waitsForConnection(kind, attempt);
      const left = Math.max(0, end - performance.now());
      const { error, response } = await this.#attempt(method, bytes, left, waits);
      if (error === undefined) return response;
      // Why there was no answer, rather than that there was none.
      if (error.code === DEADLINE_EXCEEDED) throw unavailable ?? error;
      if (error.code === UNAVAILABLE) unavailable = error;
      const rest = end - performance.now();
      const pause = pauseBeforeRepeat(kind, error, attempt, rest, Math.random());
      if (pause === undefined) throw error;
      await this.sleep(pause);
    }
  }

  // Ends earlier if the client is closed.
  async sleep(ms) {
    await sleep(ms, undefined, { signal: this.#closed.signal }).catch(() => {});
  }

  // Streams of requests that are bytes. They have no deadline.

  bidirectional({ path, responseDeserialize }) {
    this.#requireOpen();
    const metadata = new grpc.Metadata({ waitForReady: true });
    return this.#follow(
      this.#client.makeBidiStreamRequest(path, asItIs, responseDeserialize, metadata, {}),
    );
  }

  serverStream({ path, responseDeserialize }, bytes, { waitForReady }) {
    this.#requireOpen();
    const metadata = new grpc.Metadata({ waitForReady });
    return this.#follow(
      this.#client.makeServerStreamRequest(path, asItIs, responseDeserialize, bytes, metadata, {}),
    );
  }

  // What a failed call is to its caller.
  errorOf(error) {
    if (error instanceof SidecarError) return error;
    if (this.#closed.signal.aborted) return this.#closedError();
    return fromCall(error, this.#address);
  }

  // The error of a call whose deadline has passed.
  timeoutError(timeoutMs) {
    if (this.#closed.signal.aborted) return this.#closedError();
    const state = this.#client.getChannel().getConnectivityState(false);
    const isDisconnected = state === TRANSIENT_FAILURE;
    const what = isDisconnected ? 'no connection' : 'no answer';
    return new SidecarError(
      isDisconnected ? UNAVAILABLE : DEADLINE_EXCEEDED,
      `sidecar at ${this.#address}: ${what} within ${Math.round(timeoutMs)} ms`,
    );
  }

  // `error`, which grpc-js gave by callback or not at all; undefined if it gave a response.
  #attempt({ path, responseDeserialize }, bytes, leftMs, waitForReady) {
    if (this.#closed.signal.aborted) return { error: this.#closedError() };
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        path,
        asItIs,
        responseDeserialize,
        bytes,
        new grpc.Metadata({ waitForReady }),
        { deadline: Date.now() + leftMs },
        (error, response) => {
          if (!error) resolve({ response });
          else if (error.code !== DEADLINE_EXCEEDED) resolve({ error: this.errorOf(error) });
          else resolve({ error: this.timeoutError(leftMs) });
        },
      );
      this.#follow(call);
    });
  }

  #follow(call) {
    this.#underWay.add(call);
    call.on('status', () => this.#underWay.delete(call));
    return call;
  }

  #requireOpen() {
    if (this.#closed.signal.aborted) throw this.#closedError();
  }

  #closedError() {
    const message = `the client of the sidecar at ${this.#address} is closed`;
    return new SidecarError(CANCELLED, message);
  }
}
