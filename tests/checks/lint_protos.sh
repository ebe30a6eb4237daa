#!/usr/bin/env bash
# Runs buf lint (see the buf.yaml files) on the protos. buf comes from npm in the
# version that package-lock.json pins, into a folder of its own under build/.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
root=$checks/../..
tools=$root/build/checks

if ! cmp -s "$checks/package-lock.json" "$tools/installed-lock.json"; then
  mkdir -p "$tools"
  cp "$checks/package.json" "$checks/package-lock.json" "$tools/"
  (cd "$tools" && npm ci --no-audit --no-fund)
  cp "$checks/package-lock.json" "$tools/installed-lock.json"
fi
for folder in protos client/examples/protos; do
  echo "buf lint $folder"
  (cd "$root/$folder" && "$tools/node_modules/.bin/buf" lint)
done
