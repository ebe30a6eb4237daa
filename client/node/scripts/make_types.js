// Writes src/v1.d.ts, the types of every message of ttl.v1, from the protos; --remove takes it away.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REQUIRED_FIELDS } from '../src/required_fields.js';
import { readProto } from './proto_file.js';

const target = fileURLToPath(new URL('../src/v1.d.ts', import.meta.url));
const source = fileURLToPath(new URL('../../../protos/ttl/v1', import.meta.url));

// Types as they are given by the sidecar, and as they are taken.
const SCALARS = {
  bool: ['boolean', 'boolean'],
  bytes: ['Buffer', 'Bytes'],
  double: ['number', 'number'],
  fixed64: ['bigint', 'Integer'],
  int32: ['number', 'Integer'],
  int64: ['number', 'Integer'],
  string: ['string', 'string'],
  uint64: ['bigint', 'Integer'],
  'google.protobuf.Duration': ['Milliseconds', 'Milliseconds'],
  'google.protobuf.FieldMask': ['FieldMask', 'FieldMask'],
  'google.protobuf.Timestamp': ['Date', 'Date'],
};

const HEAD = `// Messages of ttl.v1 as plain objects; made from protos/ttl/v1 by scripts/make_types.js. X is a message
// as the sidecar gives it, XInput as it is taken.

/** A whole number of 64 bits: a number up to 2^53, a bigint, or its decimal text, as JSON has it.
 * Anything else, text such as "5.0" included, is a TypeError; out of range, it is a RangeError. */
export type Integer = number | bigint | \`\${bigint}\`;

/** Keys and etags are bytes of any kind, of any realm; text stands for its UTF-8, and may have no
 * lone surrogates. */
export type Bytes = string | Uint8Array;

export type Milliseconds = number;

/** Names of fields in snake_case. */
export interface FieldMask {
  paths: string[];
}
`;

const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

function comment(lines, indent) {
  if (lines.length === 0) return '';
  const text = lines.map((line) => line.replaceAll('*/', '* /')).join(`\n${indent} * `);
  return `${indent}/** ${text} */\n`;
}

function typesOf(field, messages) {
  if (SCALARS[field.type] !== undefined) return SCALARS[field.type];
  return [field.type, messages.has(field.type) ? `${field.type}Input` : field.type];
}

// Whether a field may be absent from what the sidecar gives.
function isOptional(field, messages) {
  if (field.label !== undefined) return field.label === 'optional';
  return messages.has(field.type) || field.type.startsWith('google.');
}

function givenField(field, messages) {
  const [type] = typesOf(field, messages);
  const name = `${camelCase(field.name)}${isOptional(field, messages) ? '?' : ''}`;
  return `  ${name}: ${type}${field.label === 'repeated' ? '[]' : ''};\n`;
}

function takenField(field, messages, required) {
  const [, type] = typesOf(field, messages);
  const name = camelCase(field.name);
  if (required.includes(name)) return `  ${name}: ${type};\n`;
  return `  ${name}?: ${field.label === 'repeated' ? `Iterable<${type}>` : type} | null;\n`;
}

function messageTypes({ name, comment: about, fields }, messages) {
  const required = REQUIRED_FIELDS[`.ttl.v1.${name}`] ?? [];
  const body = (line) => fields.map((field) => comment(field.comment, '  ') + line(field)).join('');
  const given = body((field) => givenField(field, messages));
  const taken = body((field) => takenField(field, messages, required));
  return (
    `${comment(about, '')}export interface ${name} {\n${given}}\n\n` +
    `${comment(about, '')}export interface ${name}Input {\n${taken}}\n`
  );
}

// A number is a value that this version does not know.
function enumType({ name, comment: about, values }) {
  const names = values.map((value) => `\n${comment(value.comment, '  ')}  | '${value.name}'`);
  return `${comment(about, '')}export type ${name} =${names.join('')}\n  | number;\n`;
}

// What updates may name: the fields of a container, and those of its policy and of its feed.
function containerPath(definitions) {
  const fieldsOf = (name) => definitions.find((one) => one.name === name).fields;
  const paths = [
    '*',
    ...fieldsOf('Container').map(({ name }) => name),
    ...fieldsOf('DeletePolicy').map(({ name }) => `delete_policy.${name}`),
    ...fieldsOf('FeedSettings').map(({ name }) => `feed.${name}`),
  ];
  return `/** What updateContainer() can set. */\nexport type ContainerPath =${paths
    .map((path) => `\n  | '${path}'`)
    .join('')};\n`;
}

function methodTypes(definitions) {
  const methods = definitions
    .filter(({ kind, name }) => kind === 'service' && name !== 'PrimaryStoreService')
    .flatMap((service) => service.methods)
    .filter(({ isStream }) => !isStream)
    .map(
      ({ name, request, response }) =>
        `  ${name}: { request: ${request}Input; response: ${response} };\n`,
    );
  return `/** Methods that are no streams. */\nexport interface Methods {\n${methods.join('')}}\n`;
}

function makeTypes() {
  const files = readdirSync(source).sort();
  const definitions = files.flatMap((file) => readProto(readFileSync(`${source}/${file}`, 'utf8')));
  const messages = new Set(
    definitions.filter(({ kind }) => kind === 'message').map(({ name }) => name),
  );
  const types = definitions
    .filter(({ kind }) => kind !== 'service')
    .map((one) => (one.kind === 'enum' ? enumType(one) : messageTypes(one, messages)));
  return [HEAD, ...types, containerPath(definitions), methodTypes(definitions)].join('\n');
}

rmSync(target, { force: true });
if (process.argv[2] !== '--remove') writeFileSync(target, makeTypes());
