#!/usr/bin/env bash
# Packs the Node package as its users would get it, installs it and runs the tests of it.
#
#   tests/interop/run_node.sh BIN_FOLDER BUILD_FOLDER [TEST_FILE...]
#
# BIN_FOLDER has ttl-sidecar; TEST_FILE as in "rules.test.js".
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
package=$root/client/node
binaries=$(realpath "$1")
mkdir -p "$2"
build=$(realpath "$2")
shift 2

# install LOCKED_FOLDER: the dependencies of the package, unless they are there already.
install() {
  cmp -s "$package/package-lock.json" "$1/installed-lock.json" && return
  cp "$package/package.json" "$package/package-lock.json" "$1/"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund)
  cp "$package/package-lock.json" "$1/installed-lock.json"
}

install "$build"
# What npm pack puts into the archive, and nothing else, lies under the package's own name.
archive=$(cd "$package" && npm pack --silent --pack-destination "$build")
rm -rf "$build/node_modules/ttl-sidecar" "$build/tests"
mkdir "$build/node_modules/ttl-sidecar"
tar -xzf "$build/$archive" -C "$build/node_modules/ttl-sidecar" --strip-components 1
cp -r "$root/tests/interop/node" "$build/tests"

echo "types"
"$build/node_modules/.bin/tsc" --project "$build/tests/tsconfig.json"

cd "$build/tests"
files=("$@")
((${#files[@]} > 0)) || files=(*.test.js)
reporters=(--test-reporter spec --test-reporter-destination stdout)
if [[ ${GTEST_OUTPUT:-} == xml:* ]]; then
  reporters+=(--test-reporter ./gtest_reporter.js
    --test-reporter-destination "${GTEST_OUTPUT#xml:}node_interop_test.xml")
fi
# One file after the other: every test has a sidecar of its own.
export TTL_BIN=$binaries TTL_NODE_README=$package/README.md
export EXPIRY_RULES_FILE=$root/tests/data/expiry_rules.csv
exec node --test --test-concurrency 1 "${reporters[@]}" "${files[@]}"
