// Copies protos/ttl/v1 into the package before it is packed; --remove takes the copy away again.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const copy = fileURLToPath(new URL('../protos', import.meta.url));
const source = fileURLToPath(new URL('../../../protos/ttl/v1', import.meta.url));

rmSync(copy, { recursive: true, force: true });
if (process.argv[2] !== '--remove') cpSync(source, `${copy}/ttl/v1`, { recursive: true });
