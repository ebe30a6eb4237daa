// A reporter of node:test that writes GoogleTest's XML, so that cases are counted one by one
// (tests/checks/tally.py). A skipped case is a failed one.
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text) =>
  String(text)
    .replace(/[&<>"]/g, (c) => escapes[c])
    .replace(/[^\n\x20-\x7e]/g, '?');

export default async function* report(source) {
  yield '<testsuites><testsuite name="node_interop_test">\n';
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite') continue;
    const failure = type === 'test:fail' ? data.details.error : (data.skip ?? data.todo);
    yield `<testcase classname="node" name="${escape(data.name)}" result="completed">`;
    if (failure !== undefined) {
      yield `<failure message="${escape(failure.cause?.stack ?? failure)}"/>`;
    }
    yield '</testcase>\n';
  }
  yield '</testsuite></testsuites>\n';
}
