// What programs can tell about an error beyond its code: the details that gRPC carries in the
// trailing metadata grpc-status-details-bin.
import { anyOf, decodeErrorMessage, millisecondsOf } from './messages.js';

const STATUS_DETAILS = 'grpc-status-details-bin';

// undefined if the bytes cannot be read.
function parse(name, bytes) {
  try {
    return decodeErrorMessage(name, bytes);
  } catch {
    return undefined;
  }
}

// The first detail of that type of google.rpc.
function find(details, name) {
  const detail = details.find(({ typeUrl }) => typeUrl.split('/').at(-1) === `google.rpc.${name}`);
  return detail && parse(name, detail.value);
}

// The details of an error, by the bytes of its google.rpc.Status. Those that are missing, unknown or
// cannot be read are left out: invalid details never hide the error.
export function readDetails(bytes) {
  const details = ((bytes && parse('ErrorStatus', bytes))?.details ?? []).map(anyOf);
  const info = find(details, 'ErrorInfo');
  const request = find(details, 'BadRequest');
  const retry = find(details, 'RetryInfo');
  return {
    reason: info?.reason,
    domain: info?.domain,
    metadata: { ...info?.metadata },
    fieldViolations: (request?.fieldViolations ?? []).map(({ field, description }) => ({
      field,
      description,
    })),
    retryAfterMs: retry?.retryDelay ? millisecondsOf(retry.retryDelay) : undefined,
  };
}

// Those of a failed call, by its trailing metadata.
export function readTrailingDetails(metadata) {
  const [bytes] = metadata?.get(STATUS_DETAILS) ?? [];
  return readDetails(bytes);
}
