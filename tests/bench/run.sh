#!/usr/bin/env bash
# What the sidecar can do, beside what gRPC and LevelDB can do at most and beside
# Redis. Meant for Debian 12; installs what it needs (root or sudo).
#
#   tests/bench/run.sh [--quick] [--json FILE] [--only NAME,...] [--items N]
#
# --quick: shorter windows and a million items instead of ten, under three minutes.
# --json:  write the rows to FILE too.
# --only:  only these rows; --help lists them.
# --items: how many items where their number matters.
#
# BUILD_DIR: build and use that configured directory instead of the preset release.
set -euo pipefail
cd "$(dirname "$0")/../.."

deploy/install_packages.sh bench >&2
build=${BUILD_DIR:-build/release}
[[ -n ${BUILD_DIR:-} ]] || cmake --preset release -DTTL_BUILD_TESTS=ON >/dev/null
cmake --build "$build" -j "$(nproc)" --target sidecar_bench >&2
exec "$build/bin/sidecar_bench" "$@"
