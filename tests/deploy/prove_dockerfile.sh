#!/usr/bin/env bash
# Proves deploy/image/Dockerfile without a container engine: carries out its own steps in
# roots made by debootstrap, then runs the resulting programs in the resulting roots as a
# pod would, read-only and not as root.
#
#   tests/deploy/prove_dockerfile.sh [--twice]
#
# --twice builds everything once more and compares byte by byte. Needs root and
# debootstrap; part of tests/run.sh --long.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bare_root.sh

work=$(mktemp -d "${TMPDIR:-/var/tmp}/prove-dockerfile.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

make_bare_root "$work/debian" "$work/debootstrap.log"
# Mounts and processes of the proof end with its namespaces.
unshare --mount --pid --fork --kill-child --mount-proc \
  /usr/bin/python3 tests/deploy/prove_dockerfile.py "$work/debian" "$work" "$@"
