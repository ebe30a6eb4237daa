// Which calls are made again after a failed attempt, and after what pause.
//
// A sidecar that restarts is away for about a second. Until their deadline, calls wait for a
// connection, and those that may be sent twice are sent again.
import { status } from '@grpc/grpc-js';

export const Kind = {
  // Sending it twice changes nothing.
  READ: 'read',
  // Every entry has a sequence, by which the sidecar tells a second report from a later one.
  ORDERED_REPORT: 'ordered report',
  // A second report could overrule a later write of the same second: sent again only if the sidecar
  // refused the first, which it says by a hint when to come back.
  REPORT: 'report',
  // A hold. Sending it twice changes nothing, unless somebody released it in between: then it stands
  // again, which deletes nothing.
  HOLD: 'hold',
  // A touch: the countdown starts a moment later.
  TOUCH: 'touch',
  // A second one could undo somebody else's: never sent again.
  CHANGE: 'change',
  // Useful only immediately: never sent again, and does not wait for a connection.
  NOW: 'now',
};

// Of reports and touches that the sidecar has no room for.
const MAX_ATTEMPTS = 4;
const QUEUED = [Kind.ORDERED_REPORT, Kind.REPORT, Kind.TOUCH];

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;

function mayRepeat(kind, { code, retryAfterMs }, attempt) {
  if (kind === Kind.CHANGE || kind === Kind.NOW) return false;
  if (code === status.RESOURCE_EXHAUSTED) {
    return QUEUED.includes(kind) && attempt < MAX_ATTEMPTS;
  }
  if (code !== status.UNAVAILABLE) return false;
  return kind !== Kind.REPORT || retryAfterMs !== undefined;
}

// Milliseconds from the failure of an attempt, the first of which is 1, to the next; undefined if
// there is none. `random` is from 0 to 1: clients that fail together do not come back together.
export function pauseBeforeRepeat(kind, error, attempt, leftMs, random) {
  if (!mayRepeat(kind, error, attempt)) return undefined;
  const grown = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
  const pause = error.retryAfterMs ?? grown * (0.5 + random / 2);
  return pause < leftMs ? pause : undefined;
}

// Whether an attempt waits for a connection. What may not be sent twice does so from the start. The
// first attempt of others fails where there is none, with the reason.
export function waitsForConnection(kind, attempt) {
  return attempt > 1 || kind === Kind.REPORT || kind === Kind.CHANGE;
}
