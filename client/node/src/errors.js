import { status } from '@grpc/grpc-js';
import { readDetails, readTrailingDetails } from './error_details.js';

// Trailing metadata by which a server says when to try again; below 0: never.
const PUSHBACK = 'grpc-retry-pushback-ms';

// A call, or one message of a stream, that was refused or not answered.
export class SidecarError extends Error {
  constructor(code, message, retryAfterMs = undefined, details = {}) {
    super(message);
    this.name = 'SidecarError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.reason = details.reason;
    this.domain = details.domain;
    this.metadata = details.metadata ?? {};
    this.fieldViolations = details.fieldViolations ?? [];
  }

  // The name of the code, such as "NOT_FOUND".
  get codeName() {
    return status[this.code] ?? 'UNKNOWN';
  }
}

// The same error of a part of what was sent.
export function aboutPart(error, which) {
  return new SidecarError(error.code, `${which}: ${error.message}`, error.retryAfterMs, error);
}

// The error of a finished call that this client did not cancel. Where gRPC made it up itself, it
// names the address. A sidecar that stops may cancel calls: then it is unavailable.
export function fromCall(error, address) {
  const code = error.code === status.CANCELLED ? status.UNAVAILABLE : error.code;
  const madeUp = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED].includes(code);
  const message = madeUp ? `sidecar at ${address}: ${error.details}` : error.details;
  const [pushback] = error.metadata?.get(PUSHBACK) ?? [];
  const details = readTrailingDetails(error.metadata);
  return new SidecarError(code, message, readPushback(pushback) ?? details.retryAfterMs, details);
}

function readPushback(text) {
  if (!/^-?\d+$/.test(text)) return undefined;
  return text.startsWith('-') ? Infinity : Number(text);
}

// The error of one message of a stream.
export function fromMessage({ code, message, retryAfter, statusDetails }) {
  const read = readDetails(statusDetails);
  return new SidecarError(code, message, retryAfter ?? read.retryAfterMs, read);
}

// An answer that cannot be matched with what was asked.
export function requireLength(list, want) {
  if (list.length === want) return;
  throw new SidecarError(
    status.INTERNAL,
    `${list.length} results for ${want} entries; none of them is used`,
  );
}
