// Messages of ttl.v1 as plain objects, exact in both directions.
//
//   int64          number or bigint in; out a number, or a bigint beyond 2^53, never rounded
//   uint64         number or bigint in; bigint out
//   bytes          Uint8Array, or text taken as UTF-8, in; Buffer out
//   enum           its name; a value that is not known comes out as a number
//   Timestamp      Date, rounded down to milliseconds
//   Duration       milliseconds
//   absent         undefined
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const FILES = [
  'container_service',
  'expiry_service',
  'item_service',
  'maintenance_service',
  'primary_store_service',
];
const { Long } = protobuf.util;

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
  root.loadSync(FILES.map((file) => `ttl/v1/${file}.proto`));
  root.resolveAll();
  return root;
}

const root = loadProtos();

// The methods of a service as grpc-js wants them, by name.
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

function encode(type, value) {
  return Buffer.from(type.encode(toMessage(type, value)).finish());
}

function decode(type, bytes) {
  return fromMessage(type, type.decode(bytes));
}

function toMessage(type, value) {
  const special = SPECIAL_TYPES[type.fullName];
  if (special !== undefined) return type.create(special.toMessage(value));
  const message = type.create();
  for (const [name, element] of Object.entries(value)) {
    const field = type.fields[name];
    if (field === undefined) throw new TypeError(`${type.name} has no field ${name}`);
    if (element === undefined || element === null) continue;
    message[name] = field.repeated
      ? Array.from(element, (entry) => toField(field, entry))
      : toField(field, element);
  }
  return message;
}

function toField(field, value) {
  if (field.resolvedType instanceof protobuf.Type) return toMessage(field.resolvedType, value);
  if (field.resolvedType instanceof protobuf.Enum) return toEnum(field, value);
  switch (field.type) {
    case 'int64':
      return toLong(field, value, -(2n ** 63n), 2n ** 63n - 1n, false);
    case 'uint64':
      return toLong(field, value, 0n, 2n ** 64n - 1n, true);
    case 'bytes':
      return toBytes(field, value);
    default:
      return value;
  }
}

function toLong(field, value, least, most, unsigned) {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new TypeError(`${field.name} = ${value}: a whole number is required, or a bigint`);
  }
  if (value < least || value > most) {
    throw new RangeError(`${field.name} = ${value}: ${least} to ${most} are allowed`);
  }
  return Long.fromString(String(value), unsigned);
}

function toBytes(field, value) {
  if (typeof value === 'string') return Buffer.from(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`${field.name}: a string or a Uint8Array is required`);
}

function toEnum(field, value) {
  const number = typeof value === 'number' ? value : field.resolvedType.values[value];
  if (number === undefined) throw new TypeError(`${field.name} = ${value} is not known`);
  return number;
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

const SPECIAL_TYPES = {
  '.google.protobuf.Timestamp': {
    toMessage: (date) => wholeSeconds(date.getTime()),
    fromMessage: ({ seconds, nanos }) => new Date(Number(seconds) * 1000 + Math.floor(nanos / 1e6)),
  },
  '.google.protobuf.Duration': {
    toMessage: (milliseconds) => wholeSeconds(milliseconds),
    fromMessage: ({ seconds, nanos }) => Number(seconds) * 1000 + nanos / 1e6,
  },
};
