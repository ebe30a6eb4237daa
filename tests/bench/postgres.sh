#!/usr/bin/env bash
# ttl-postgres, by ts_column and by expires_column, beside the usual job that deletes expired rows
# once a minute: the same application, the same server, one after the other; as a table and a plot.
#
#   tests/bench/postgres.sh [--seconds N] [--rate N] [--rounds N] [--rows N] [--json FILE] [--plot FILE]
#
# --seconds: of load for each of the three, default 300. --rounds: default 1.
# --rate: transactions a second; without it as many as they can.
# --rows: of the table, default 1000000.
# --json: where the figures go, default build/release/postgres.json.
# --plot: where the plot goes, default tests/bench/postgres.svg.
#
# BUILD_DIR: use what is built there instead of building the release preset.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${BUILD_DIR:-build/release}
json=$build/postgres.json
plot=tests/bench/postgres.svg
arguments=()
while (($# > 0)); do
  case $1 in
    --json) json=${2:?--json needs a file} ;;
    --plot) plot=${2:?--plot needs a file} ;;
    --seconds | --rate | --rounds | --rows) arguments+=("$1" "${2:?$1 needs a number}") ;;
    *)
      sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1 >&2
      exit 2
      ;;
  esac
  shift 2
done

if [[ -z ${BUILD_DIR:-} ]]; then
  deploy/install_packages.sh bench
  cmake --preset release -DTTL_BUILD_TESTS=ON >/dev/null
fi
cmake --build "$build" -j "$(nproc)" --target ttl-sidecar ttlctl ttl-postgres

python3 tests/bench/postgres/compare.py --binaries "$build/bin" --json "$json" "${arguments[@]}"
python3 tests/bench/postgres/draw.py "$json" "$plot"
