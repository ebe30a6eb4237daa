#!/usr/bin/env bash
# Runs the fuzz targets, each for some seconds: first over the inputs kept in corpus/,
# then over what the fuzzer makes of them.
#
#   tests/fuzz/run.sh BIN_FOLDER [SECONDS] [TARGET...]
#
# BIN_FOLDER holds what the preset fuzz builds; without targets all are run, as many at a
# time as there are cores. An input that fails is shown in base64 and kept in
# BIN_FOLDER/../fuzz/TARGET; put it into corpus/TARGET together with the fix. What else is
# found stays in BIN_FOLDER/../fuzz/TARGET/found, and later runs begin with it.
set -euo pipefail

bin=$(realpath "${1:?usage: $0 BIN_FOLDER [SECONDS] [TARGET...]}")
seconds=${2:-3}
shift $(($# < 2 ? $# : 2))
corpus=$(realpath "$(dirname "$0")")/corpus
work=$(dirname "$bin")/fuzz

targets=("$@")
((${#targets[@]} > 0)) || mapfile -t targets < <(ls "$corpus")

# A target that loops is stopped by libFuzzer after ten seconds, one that is stuck in the
# report of that by us.
run_target() {
  local target=$1 folder=$work/$1
  mkdir -p "$folder/found"
  if timeout --signal=KILL $((seconds + 60)) "$bin/${target}_fuzz" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/found" "$corpus/$target" >"$folder/log" 2>&1; then
    printf '%-16s ok, %s\n' "$target" "$(grep -E '^Done' "$folder/log")"
  else
    printf '%-16s FAILED\n' "$target"
    grep -vE 'libprotobuf ERROR|pulse|REDUCE|NEW ' "$folder/log" | tail -n 60
    return 1
  fi
}
export -f run_target
export bin seconds corpus work

printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'run_target "$1"' run_target
