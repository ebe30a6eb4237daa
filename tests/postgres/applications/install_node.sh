#!/usr/bin/env bash
# Installs packages of Node.js, and copies the programs beside their list; what is installed already
# stays.
#
#   tests/postgres/applications/install_node.sh FOLDER_OF_PACKAGE_JSON TARGET
set -euo pipefail
source=$(realpath "$1")
mkdir -p "$2"
cd "$2"
if ! cmp -s "$source/package-lock.json" installed-lock.json; then
  cp "$source/package.json" "$source/package-lock.json" .
  npm ci --ignore-scripts --no-audit --no-fund --silent
  cp package-lock.json installed-lock.json
fi
find "$source" -name '*.js' -exec cp {} . ';'
