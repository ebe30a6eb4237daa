// Copies the protos of the API and of error details into the package before it is packed; --remove
// takes the copy away again.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const copy = fileURLToPath(new URL('../protos', import.meta.url));
const source = fileURLToPath(new URL('../../../protos', import.meta.url));

rmSync(copy, { recursive: true, force: true });
if (process.argv[2] !== '--remove') {
  for (const part of ['ttl/v1', 'ttl/errors/v1']) {
    cpSync(`${source}/${part}`, `${copy}/${part}`, { recursive: true });
  }
}
