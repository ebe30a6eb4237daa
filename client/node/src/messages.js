// Messages of ttl.v1 as plain objects, exact in both directions.
//
//   int64          number, bigint or decimal text in; out a number, or a bigint beyond 2^53
//   uint64         number, bigint or decimal text in; bigint out; fixed64, too
//   bytes          Uint8Array of any realm, or text taken as UTF-8, in; Buffer out
//   string         well-formed text: UTF-8 cannot say a lone surrogate
//   enum           its name; a value that is not known comes out as a number
//   Timestamp      Date, rounded down to milliseconds
//   Duration       milliseconds
//   Any            { typeUrl, value }
//   absent         undefined, and null in
//
// What does not fit its field is a TypeError or a RangeError: nothing is rounded or replaced.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect, types } from 'node:util';
import protobuf from 'protobufjs';
import { REQUIRED_FIELDS } from './required_fields.js';

const FILES = [
  'ttl/v1/container_service',
  'ttl/v1/expiry_service',
  'ttl/v1/feed_service',
  'ttl/v1/hold_service',
  'ttl/v1/item_service',
  'ttl/v1/maintenance_service',
  'ttl/v1/primary_store_service',
  'ttl/errors/v1/error_details',
];
const { Long } = protobuf.util;

const INT_RANGES = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  fixed64: [0n, 2n ** 64n - 1n],
};

// As String() writes whole numbers: "", " 5", "5.0" and "0x5" are not meant as such.
const DECIMAL = /^(0|-?[1-9][0-9]{0,19})$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

// The longest google.protobuf.Duration, in milliseconds.
const MAX_DURATION_MS = 315576000000 * 1000;

function protoFolder() {
  const packaged = fileURLToPath(new URL('../protos', import.meta.url));
  return existsSync(packaged)
    ? packaged
    : fileURLToPath(new URL('../../../protos', import.meta.url));
}

function loadProtos() {
  const folder = protoFolder();
  const root = new protobuf.Root();
  root.resolvePath = (origin, target) => `${folder}/${target}`;
  root.loadSync(FILES.map((file) => `${file}.proto`));
  root.resolveAll();
  return root;
}

const root = loadProtos();

// The methods of a service as a grpc-js service definition.
export function serviceDefinition(service) {
  const methods = root.lookupService(`ttl.v1.${service}`).methodsArray;
  return Object.fromEntries(
    methods.map((method) => [
      method.name,
      {
        path: `/ttl.v1.${service}/${method.name}`,
        requestStream: Boolean(method.requestStream),
        responseStream: Boolean(method.responseStream),
        requestSerialize: (value) => encode(method.resolvedRequestType, value),
        requestDeserialize: (bytes) => decode(method.resolvedRequestType, bytes),
        responseSerialize: (value) => encode(method.resolvedResponseType, value),
        responseDeserialize: (bytes) => decode(method.resolvedResponseType, bytes),
      },
    ]),
  );
}

// gRPC's health service, of which the package has no protos.
const health = new protobuf.Root()
  .define('grpc.health.v1')
  .add(new protobuf.Type('HealthCheckRequest').add(new protobuf.Field('service', 1, 'string')))
  .add(new protobuf.Type('HealthCheckResponse').add(new protobuf.Field('status', 1, 'int32')));
health.resolveAll();

export const SERVING = 1;
export const HEALTH_CHECK = {
  path: '/grpc.health.v1.Health/Check',
  requestSerialize: (value) => encode(health.lookupType('HealthCheckRequest'), value),
  responseDeserialize: (bytes) => decode(health.lookupType('HealthCheckResponse'), bytes),
};

// Throws unless `value` can be sent as a message of that type of ttl.v1.
export function requireMessage(name, value) {
  toMessage(root.lookupType(`ttl.v1.${name}`), value);
}

// A message of ttl.errors.v1 as protobufjs has it; throws if the bytes cannot be read.
export function decodeErrorMessage(name, bytes) {
  return root.lookupType(`ttl.errors.v1.${name}`).decode(bytes);
}

function encode(type, value) {
  return Buffer.from(type.encode(toMessage(type, value)).finish());
}

function decode(type, bytes) {
  return fromMessage(type, type.decode(bytes));
}

function isAbsent(value) {
  return value === undefined || value === null;
}

function notA(what, field, value) {
  const shown = inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100);
  return new TypeError(`${field.name} = ${shown}: ${what} is required`);
}

function toMessage(type, value) {
  const special = SPECIAL_TYPES[type.fullName];
  if (special !== undefined) return type.create(special.toMessage(value));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw notA('an object', type, value);
  }
  for (const name of REQUIRED_FIELDS[type.fullName] ?? []) {
    if (isAbsent(value[name])) throw new TypeError(`${name} of ${type.name} is missing`);
  }
  const message = type.create();
  for (const [name, element] of Object.entries(value)) {
    const field = type.fields[name];
    if (field === undefined) throw new TypeError(`${type.name} has no field ${name}`);
    if (isAbsent(element)) continue;
    message[name] = field.repeated ? toList(field, element) : toField(field, element);
  }
  return message;
}

function toList(field, value) {
  if (typeof value === 'string' || typeof value[Symbol.iterator] !== 'function') {
    throw notA('a list', field, value);
  }
  return Array.from(value, (entry) => toField(field, entry));
}

function toField(field, value) {
  if (field.resolvedType instanceof protobuf.Type) return toMessage(field.resolvedType, value);
  if (field.resolvedType instanceof protobuf.Enum) return toEnum(field, value);
  switch (field.type) {
    case 'int32':
      return Number(toInteger(field, value));
    case 'int64':
    case 'uint64':
    case 'fixed64':
      return Long.fromString(String(toInteger(field, value)), field.type !== 'int64');
    case 'bytes':
      return toBytes(field, value);
    case 'string':
      return toText(field, value);
    case 'double':
      if (typeof value !== 'number') throw notA('a number', field, value);
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw notA('true or false', field, value);
      return value;
    default:
      throw new Error(`${field.type}, the type of ${field.name}, is not known`);
  }
}

function toInteger(field, value) {
  const isInteger =
    typeof value === 'bigint' ||
    Number.isSafeInteger(value) ||
    (typeof value === 'string' && DECIMAL.test(value));
  if (!isInteger) throw notA('a whole number, a bigint or its decimal text', field, value);
  const [least, most] = INT_RANGES[field.type];
  if (value < least || value > most) {
    throw new RangeError(`${field.name} = ${value}: ${least} to ${most} are allowed`);
  }
  return value;
}

function toBytes(field, value) {
  if (typeof value === 'string') return Buffer.from(toText(field, value));
  if (types.isUint8Array(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  throw notA('a string or a Uint8Array', field, value);
}

function toText(field, value) {
  if (typeof value !== 'string') throw notA('a string', field, value);
  if (LONE_SURROGATE.test(value)) throw notA('text without lone surrogates', field, value);
  return value;
}

function toEnum(field, value) {
  const isName = typeof value === 'string' && Object.hasOwn(field.resolvedType.values, value);
  if (isName) return field.resolvedType.values[value];
  if (Number.isInteger(value) && value === (value | 0)) return value;
  throw notA(`a name of ${field.resolvedType.name}`, field, value);
}

function fromMessage(type, message) {
  const special = SPECIAL_TYPES[type.fullName];
  if (special !== undefined) return special.fromMessage(message);
  const value = {};
  for (const field of type.fieldsArray) {
    const present = Object.hasOwn(message, field.name);
    if (field.repeated) {
      value[field.name] = message[field.name].map((entry) => fromField(field, entry));
    } else if (present || !hasPresence(field)) {
      value[field.name] = fromField(field, message[field.name]);
    }
  }
  return value;
}

function hasPresence(field) {
  return field.partOf !== null || field.resolvedType instanceof protobuf.Type;
}

function fromField(field, value) {
  if (field.resolvedType instanceof protobuf.Type) return fromMessage(field.resolvedType, value);
  if (field.resolvedType instanceof protobuf.Enum)
    return field.resolvedType.valuesById[value] ?? value;
  switch (field.type) {
    case 'int64':
      return exact(value);
    case 'uint64':
    case 'fixed64':
      return BigInt(value.toString());
    case 'bytes':
      return Buffer.from(value);
    default:
      return value;
  }
}

function exact(long) {
  const number = long.toNumber();
  return Number.isSafeInteger(number) ? number : BigInt(long.toString());
}

function wholeSeconds(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return {
    seconds: Long.fromNumber(seconds),
    nanos: Math.round((milliseconds - seconds * 1000) * 1e6),
  };
}

function toTimestamp(date) {
  if (!types.isDate(date) || Number.isNaN(date.getTime())) {
    throw notA('a valid Date', { name: 'a time' }, date);
  }
  return wholeSeconds(date.getTime());
}

function toDuration(milliseconds) {
  const name = 'a duration in milliseconds';
  if (typeof milliseconds !== 'number' || Number.isNaN(milliseconds)) {
    throw notA('a number', { name }, milliseconds);
  }
  if (Math.abs(milliseconds) > MAX_DURATION_MS) {
    throw new RangeError(`${name} = ${milliseconds}: at most ${MAX_DURATION_MS} is allowed`);
  }
  return wholeSeconds(milliseconds);
}

// Of a google.protobuf.Duration.
export function millisecondsOf({ seconds, nanos }) {
  return Number(seconds) * 1000 + nanos / 1e6;
}

// Of a google.protobuf.Any.
export function anyOf({ type_url: typeUrl, value }) {
  return { typeUrl, value: Buffer.from(value) };
}

const SPECIAL_TYPES = {
  '.google.protobuf.Any': {
    toMessage: ({ typeUrl, value }) => ({ type_url: typeUrl, value }),
    fromMessage: anyOf,
  },
  '.google.protobuf.Timestamp': {
    toMessage: toTimestamp,
    fromMessage: ({ seconds, nanos }) => new Date(Number(seconds) * 1000 + Math.floor(nanos / 1e6)),
  },
  '.google.protobuf.Duration': {
    toMessage: toDuration,
    fromMessage: millisecondsOf,
  },
};
