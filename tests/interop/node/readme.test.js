// What the README prints works as printed; only addresses and deadlines are replaced.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { PATIENT, Sidecar, writeProgram } from './harness.js';

const README = process.env.TTL_NODE_README;
const codeOf = (page) =>
  [...readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
const [client, store] = codeOf(README);

function run(t, name, program) {
  return execFileSync(process.execPath, [writeProgram(name, program)], {
    encoding: 'utf8',
    timeout: 60000,
  });
}

test('the example of a client runs', async (t) => {
  const { address } = await Sidecar.start(t);
  const printed = run(
    t,
    'readme_client.js',
    // With the usual deadlines it would fail wherever the machine stands still for a second.
    client.replace(
      "{ address: 'unix:/run/ttl-sidecar/sidecar.sock' }",
      JSON.stringify({ address, ...PATIENT }),
    ),
  );
  assert.match(printed, /^visible \d+$/m);
  assert.match(printed, /^INVALID_ARGUMENT .*ts/m);
});

test('the example of a store runs', async (t) => {
  const { storeAddress } = await Sidecar.start(t);
  run(
    t,
    'readme_store.js',
    `${store.replace('unix:/run/my-store/store.sock', storeAddress)}\nawait server.close();\n`,
  );
});

test('the examples of interceptors and usage run', async (t) => {
  const { address } = await Sidecar.start(t);
  const examples = codeOf(README.replace('README.md', 'calls.md')).join('\n');
  const traceparent = "const currentTraceparent = () => '00-1-2-01';\n";
  const program = traceparent + examples.replace('unix:/run/ttl-sidecar/sidecar.sock', address);
  assert.equal(run(t, 'readme_calls.js', program), '0\n');
});
