// Streams of events one after the other, each of which begins where the one before ended.
import { status } from '@grpc/grpc-js';
import { SidecarError } from './errors.js';
import { follow } from './streams.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

// Codes after which opening the next stream would not help. CANCELLED: the client is closed.
const FINAL = new Set([
  status.CANCELLED,
  status.OUT_OF_RANGE,
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
]);

const isFinal = (error) => !(error instanceof SidecarError) || FINAL.has(error.code);

// Yields what the server sends, over one stream after the other; `open` opens one with a request. The
// next one begins behind the last response that the reader has come back from; a subscription moves
// by what is acknowledged. What fails before the first response is an error.
export async function* followEvents(open, request, longestSilenceMs, calls) {
  let next = request;
  let hasBegun = false;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      for await (const response of follow(open(next), longestSilenceMs, calls)) {
        hasBegun = true;
        pauseMs = FIRST_PAUSE_MS;
        yield response;
        if (next.containers !== undefined && response.token.length > 0) {
          next = { ...next, containers: { ...next.containers, token: response.token } };
        }
      }
    } catch (error) {
      if (!hasBegun || isFinal(error)) throw error;
    }
    await calls.sleep(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}
