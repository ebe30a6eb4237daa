#!/usr/bin/env bash
# The status page with 1,000 containers in headless Chromium: to read, sort and filter them, beside
# what the browser alone takes for the same result.
#
#   tests/bench/page.sh [--quick] [--json FILE]
#
# --quick: 3 rounds instead of 21.
# --json:  write the rows to FILE too.
#
# BUILD_DIR: use what is built there instead of building the release preset.
set -euo pipefail
cd "$(dirname "$0")/../.."

deploy/install_packages.sh test >&2  # which has the browser
build=${BUILD_DIR:-build/release}
[[ -n ${BUILD_DIR:-} ]] || cmake --preset release -DTTL_BUILD_TESTS=ON >/dev/null
cmake --build "$build" -j "$(nproc)" --target ttl-sidecar ttlctl >&2
exec python3 -B tests/bench/page/measure.py --binaries "$build/bin" "$@"
