#!/usr/bin/env bash
# How the sidecar grows with what it tracks: load, checks, sweep, start, memory and
# disk with 100 thousand, a million and ten million items, as a table and a plot.
#
#   tests/bench/growth.sh [--max 1M|10M|100M] [--json FILE] [--plot FILE]
#
# --max: default 10M, a few minutes. 100M takes ten times as long and as much of /tmp.
# --json: where the figures go, default build/release/growth.json.
# --plot: where the plot goes, default tests/bench/growth.svg.
#
# BUILD_DIR: use what is built there instead of building the release preset.
set -euo pipefail
cd "$(dirname "$0")/../.."

max=10M
json=
plot=tests/bench/growth.svg
while (($# > 0)); do
  case $1 in
    --max) max=${2:?--max needs a number of items} ;;
    --json) json=${2:?--json needs a file} ;;
    --plot) plot=${2:?--plot needs a file} ;;
    *)
      sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1 >&2
      exit 2
      ;;
  esac
  shift 2
done

build=${BUILD_DIR:-build/release}
if [[ -z ${BUILD_DIR:-} ]]; then
  deploy/install_packages.sh bench
  cmake --preset release -DTTL_BUILD_TESTS=ON >/dev/null
fi
cmake --build "$build" -j "$(nproc)" --target growth_bench ttl-sidecar

json=${json:-$build/growth.json}
"$build/bin/growth_bench" --max "$max" --json "$json"
python3 tests/bench/growth/draw_growth.py "$json" "$plot"
echo "figures: $json, plot: $plot"
