#!/usr/bin/env bash
# Installs the applications that run on Node.js, and what they need, into a folder; nothing if they
# are there already.
#
#   tests/postgres/applications/install_node.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
if ! cmp -s "$here/node/package-lock.json" installed-lock.json; then
  cp "$here/node/package.json" "$here/node/package-lock.json" .
  npm ci --ignore-scripts --no-audit --no-fund --silent
  cp package-lock.json installed-lock.json
fi
cp "$here"/node/*.js .
