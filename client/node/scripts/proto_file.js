// Reads the .proto files of ttl.v1 without a dependency, since npm pack must work without node_modules.
// What it does not know is an error.

// Statements: what stands before a ";", a "{" or a "}", with the comment lines above it.
function* statementsOf(text) {
  let comment = [];
  let words = '';
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.startsWith('//')) {
      comment.push(trimmed.slice(2).trim());
      continue;
    }
    if (trimmed === '' && words === '') comment = [];
    for (const piece of trimmed.replace(/\/\/.*$/, '').split(/(?<=[;{}])/)) {
      words = `${words} ${piece}`.trim();
      if (!/[;{}]$/.test(words)) continue;
      yield { comment, words: words.slice(0, -1).trim(), end: words.at(-1) };
      comment = [];
      words = '';
    }
  }
}

const FIELD = /^(?:(optional|repeated) )?([\w.]+) (\w+) = \d+(?: \[.*\])?$/;
const METHOD = /^rpc (\w+)\s?\((stream )?(\w+)\) returns \((stream )?(\w+)\)$/;

function readField(scope, { comment, words }) {
  const [, label, type, name] = FIELD.exec(words) ?? [];
  if (name === undefined) throw new Error(`"${words}" is not a field that is known`);
  return { name, type, label: scope.kind === 'oneof' ? 'optional' : label, comment };
}

function readMember(scope, statement) {
  const { comment, words } = statement;
  if (words === '' || /^(option|reserved) /.test(words)) return;
  if (scope.kind === 'enum') scope.values.push({ name: words.split(' ')[0], comment });
  else if (scope.kind === 'service') {
    const [, name, streams, request, streamed, response] = METHOD.exec(words) ?? [];
    if (name === undefined) throw new Error(`"${words}" is not a method that is known`);
    scope.methods.push({ name, request, response, isStream: Boolean(streams ?? streamed) });
  } else scope.fields.push(readField(scope, statement));
}

function openScope(outer, { comment, words }) {
  const [kind, name] = words.split(' ');
  if (kind === 'oneof') return { kind, fields: outer.fields };
  if (outer !== undefined || !['message', 'enum', 'service'].includes(kind)) {
    throw new Error(`"${words} {" is not known here`);
  }
  return { kind, name, comment, fields: [], values: [], methods: [] };
}

// The messages, enums and services of a file, in order: { kind, name, comment, fields, values,
// methods }.
export function readProto(text) {
  const definitions = [];
  const open = [];
  for (const statement of statementsOf(text)) {
    const scope = open.at(-1);
    if (statement.end === '{') open.push(openScope(scope, statement));
    else if (statement.end === '}') {
      const closed = open.pop();
      if (closed.kind !== 'oneof') definitions.push(closed);
    } else if (scope !== undefined) readMember(scope, statement);
  }
  return definitions;
}
