#!/usr/bin/env bash
# The main job on real input: a million documents with the ttls, sizes and
# popularity of production clusters; generator, store and sidecar as processes;
# kill -9 in the middle; at the end the store must hold exactly what is live by
# the generator's own arithmetic. Prints what it saw; exit 0 only if all holds.
#
#   tests/million_items.sh [COUNT] [--quick] [flags of million_items, see --help]
#
# COUNT: documents to load, default 1000000, with --quick 50000.
# --quick: shorter ttls and less load, about a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

count=1000000
arguments=()
given_count=
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  given_count=$1
  shift
fi
if [[ ${1:-} == --quick ]]; then
  count=50000
  arguments=(--ttl-scale 0.1 --seconds 20 --deletes-per-second 5000)
  shift
fi

cmake --preset ci >/dev/null
cmake --build --preset ci -j "$(nproc)" --target million_items
exec build/ci/bin/million_items --documents "${given_count:-$count}" "${arguments[@]}" "$@"
