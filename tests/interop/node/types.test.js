// The types of the package: they are those of the protos, and refuse what is misspelled.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import ts from 'typescript';

const PACKAGE = fileURLToPath(new URL('../node_modules/ttl-sidecar', import.meta.url));
const BAD = fileURLToPath(new URL('./bad_types.ts', import.meta.url));

const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

function loadApi() {
  const root = new protobuf.Root();
  root.resolvePath = (origin, target) => `${PACKAGE}/protos/${target}`;
  const services = ['container', 'expiry', 'feed', 'hold', 'item', 'maintenance', 'primary_store'];
  root.loadSync(
    services.map((name) => `ttl/v1/${name}_service.proto`),
    { keepCase: true },
  );
  root.resolveAll();
  return root.lookup('ttl.v1');
}

// { name: { field: "type", with ? if it may be absent } } of the interfaces of a file, and { name:
// [type, ...] } of its type aliases.
function readTypes(path) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const interfaces = {};
  const unions = {};
  for (const statement of file.statements) {
    if (ts.isInterfaceDeclaration(statement)) {
      interfaces[statement.name.text] = Object.fromEntries(
        statement.members.map((member) => [
          member.name.text,
          `${member.type.getText()}${member.questionToken ? '?' : ''}`,
        ]),
      );
    } else if (ts.isTypeAliasDeclaration(statement) && ts.isUnionTypeNode(statement.type)) {
      unions[statement.name.text] = statement.type.types.map((type) => type.getText());
    }
  }
  return { interfaces, unions };
}

const GIVEN = {
  bool: 'boolean',
  bytes: 'Buffer',
  double: 'number',
  fixed64: 'bigint',
  int32: 'number',
  int64: 'number',
  string: 'string',
  uint64: 'bigint',
  'google.protobuf.Duration': 'Milliseconds',
  'google.protobuf.FieldMask': 'FieldMask',
  'google.protobuf.Timestamp': 'Date',
};
const TAKEN = { ...GIVEN, bytes: 'Bytes' };
for (const type of ['fixed64', 'int32', 'int64', 'uint64']) TAKEN[type] = 'Integer';

function givenType(field) {
  const type = GIVEN[field.type] ?? field.type.split('.').at(-1);
  if (field.repeated) return `${type}[]`;
  const hasPresence = field.partOf !== null || field.resolvedType instanceof protobuf.Type;
  return hasPresence ? `${type}?` : type;
}

// Of a field that need not be there.
function takenType(field) {
  const suffix = field.resolvedType instanceof protobuf.Type ? 'Input' : '';
  const type = TAKEN[field.type] ?? `${field.type.split('.').at(-1)}${suffix}`;
  return `${field.repeated ? `Iterable<${type}>` : type} | null?`;
}

test('the types are those of the protos, without one that is missing', () => {
  const { interfaces, unions } = readTypes(`${PACKAGE}/src/v1.d.ts`);
  const definitions = loadApi().nestedArray;
  const messages = definitions.filter((one) => one instanceof protobuf.Type);
  assert.ok(messages.length > 60, `${messages.length} messages`);
  for (const { name, fieldsArray } of messages) {
    const expected = (typeOf) =>
      Object.fromEntries(fieldsArray.map((field) => [camelCase(field.name), typeOf(field)]));
    assert.deepEqual(interfaces[name], expected(givenType), name);
    const taken = expected(takenType);
    for (const [field, type] of Object.entries(interfaces[`${name}Input`])) {
      // What must be there is neither absent nor null.
      if (!type.endsWith('?')) taken[field] = taken[field].replace(' | null?', '');
    }
    assert.deepEqual(interfaces[`${name}Input`], taken, `${name}Input`);
  }
  for (const one of definitions.filter((definition) => definition instanceof protobuf.Enum)) {
    const names = Object.keys(one.values).map((value) => `'${value}'`);
    assert.deepEqual(unions[one.name], [...names, 'number']);
  }
  const unary = definitions
    .filter((one) => one instanceof protobuf.Service && one.name !== 'PrimaryStoreService')
    .flatMap(({ methodsArray }) => methodsArray)
    .filter(({ requestStream, responseStream }) => !requestStream && !responseStream);
  assert.deepEqual(
    interfaces.Methods,
    Object.fromEntries(
      unary.map(({ name, requestType, responseType }) => [
        name,
        `{ request: ${requestType}Input; response: ${responseType} }`,
      ]),
    ),
  );
});

test('every misspelled line is refused, and no other', () => {
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    noEmit: true,
  };
  const program = ts.createProgram([BAD], options);
  const found = new Set(
    ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
      assert.equal(file?.fileName, BAD, JSON.stringify(messageText));
      return file.getLineAndCharacterOfPosition(start).line + 1;
    }),
  );
  const lines = readFileSync(BAD, 'utf8').split('\n');
  const marked = lines.flatMap((line, n) => (line.endsWith('// refused') ? [n + 1] : []));
  assert.ok(marked.length > 40);
  assert.deepEqual([...found].sort((a, b) => a - b), marked);
});

test('the version is that of the project', () => {
  const { version } = JSON.parse(readFileSync(`${PACKAGE}/package.json`, 'utf8'));
  const path = process.env.TTL_NODE_README.replace('client/node/README.md', 'CMakeLists.txt');
  const project = readFileSync(path, 'utf8');
  assert.equal(version, /^project\(ttl-sidecar VERSION (\S+)/m.exec(project)[1]);
});
