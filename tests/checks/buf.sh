#!/usr/bin/env bash
# Runs buf with the given arguments, in the version that package-lock.json pins. It
# comes from npm, into a folder of its own under build/.
#
#   tests/checks/buf.sh ARGUMENT...
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
tools=$(cd "$checks/../.." && pwd)/build/checks

if ! cmp -s "$checks/package-lock.json" "$tools/installed-lock.json"; then
  mkdir -p "$tools"
  cp "$checks/package.json" "$checks/package-lock.json" "$tools/"
  (cd "$tools" && npm ci --no-audit --no-fund >&2)
  cp "$checks/package-lock.json" "$tools/installed-lock.json"
fi
exec "$tools/node_modules/.bin/buf" "$@"
