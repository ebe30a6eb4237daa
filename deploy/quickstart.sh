#!/usr/bin/env bash
# Builds ttl-sidecar, starts it beside the example document store, and shows in
# under a minute of running time what it does. Exit code 0 only if everything
# shown was checked and true.
#
#   deploy/quickstart.sh            install packages, build, show, stop
#   deploy/quickstart.sh --keep     the same, but leave both running
#
# Meant for Debian 12; installing packages needs root or sudo.
set -euo pipefail

cd "$(dirname "$0")/.."
keep=false
case "${1:-}" in
  "") ;;
  --keep) keep=true ;;
  *)
    echo "usage: $0 [--keep]" >&2
    exit 2
    ;;
esac

policy_grace_seconds=3
max_deletes_per_second=10000
bin=build/quick/bin
# Processor time of a cold build, as measured; see tests/times.md.
compile_seconds=400
work=$(mktemp -d "${TMPDIR:-/tmp}/ttl-quickstart.XXXXXX")
store=unix:$work/store.sock
sidecar=unix:$work/sidecar.sock
pids=()
succeeded=false

stop_all() {
  ((${#pids[@]})) || return 0
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
}

# Whatever fails, the logs stay; after success nothing does, unless kept.
finish() {
  $succeeded && $keep && return
  stop_all
  if $succeeded; then rm -rf "$work"; else echo "FAILED. Logs: $work" >&2; fi
}
trap finish EXIT

# step NAME COMMAND...: runs it with its output in a log, shown if it fails.
step() {
  local name=$1 start=$SECONDS log
  shift
  log=$work/${name// /-}.log
  printf '%-22s' "$name"
  if ! "$@" >"$log" 2>&1; then
    echo "failed after $((SECONDS - start)) s:"
    tail -n 40 "$log"
    return 1
  fi
  echo "$((SECONDS - start)) s"
}

# A job of the compiler takes up to 1 GiB.
count_jobs() {
  local jobs memory
  jobs=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
  ((memory >= jobs)) || jobs=$memory
  echo $((jobs > 0 ? jobs : 1))
}

# Compiles with the output in a log, and shows how far it is: on a terminal in one line, else
# a line for each tenth.
build() {
  local start=$SECONDS log=$work/Building.log share shown=-1 line jobs
  jobs=$(count_jobs)
  NINJA_STATUS='[%p] ' cmake --build --preset quick -j "$jobs" \
    --target ttl-sidecar ttlctl document-store quickstart-demo 2>&1 |
    while IFS= read -r line; do
      echo "$line" >>"$log"
      [[ $line =~ ^\[\ *([0-9]+)%\] ]] || continue
      share=${BASH_REMATCH[1]}
      if [[ -t 1 ]]; then
        printf '\r%-22s%3d %%  %d s ' "Building" "$share" $((SECONDS - start))
      elif ((share / 10 > shown)); then
        printf '%-22s%3d %%  %d s\n' "Building" "$share" $((SECONDS - start))
      fi
      shown=$((share / 10))
    done || {
    echo "failed after $((SECONDS - start)) s:"
    tail -n 40 "$log"
    return 1
  }
  if [[ -t 1 ]]; then printf '\n'; fi
}

# start NAME COMMAND...: starts a process in the background with a log of its own.
start() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 &
  pids+=("$!")
}

start_all() {
  # Each waits for the other as long as it must, so their order does not matter.
  start document-store "$bin/document-store" \
    --listen "$store" --sidecar "$sidecar" --data-dir "$work/store"
  start ttl-sidecar "$bin/ttl-sidecar" \
    --listen-socket "${sidecar#unix:}" --store "$store" --data-dir "$work/sidecar" \
    --policy-grace-seconds "$policy_grace_seconds" \
    --max-deletes-per-second "$max_deletes_per_second"
}

all_run() {
  local pid
  for pid in "${pids[@]}"; do kill -0 "$pid" || return 1; done
}

# Ready: both sockets are there and the sidecar answers. At most 20 s.
wait_until_ready() {
  local deadline=$((SECONDS + 20))
  until [[ -S ${store#unix:} ]] && "$bin/ttlctl" --server "$sidecar" status; do
    all_run || return 1
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

print_next_steps() {
  cat <<TEXT

Both are still running. To try next:

  export TTL_SIDECAR_ADDRESS=$sidecar
  export PATH=$PWD/$bin:\$PATH
  ttlctl status                                    # backlog, lag, clock, store
  ttlctl containers list
  ttlctl containers create carts --default-ttl 60
  ttlctl items track carts cart-1 --ts \$(date +%s)   # a store reports a write
  ttlctl items check carts cart-1                  # visible for 60 seconds
  ttlctl items explain carts cart-1                # and what becomes of it
  ttlctl pause carts --reason "just looking"       # nothing is deleted; visibility stays exact

Logs and data: $work
To stop:       kill ${pids[*]}; rm -r $work
TEXT
}

printf 'The first time this compiles, which takes about %d minutes here.\n' \
  $(((compile_seconds / $(count_jobs) + 59) / 60))
step "Installing packages" deploy/install_packages.sh
step "Configuring" cmake --preset quick
build

shown_at=$SECONDS
start_all
step "Starting" wait_until_ready
echo "ttl-sidecar runs with --policy-grace-seconds $policy_grace_seconds (default 60: how long a stricter"
echo "policy waits before it deletes) and --max-deletes-per-second $max_deletes_per_second."

"$bin/quickstart-demo" --store "$store" --sidecar "$sidecar" --ttlctl "$bin/ttlctl" \
  --policy-grace-seconds "$policy_grace_seconds" \
  --max-deletes-per-second "$max_deletes_per_second"
all_run
succeeded=true
echo
echo "All of this was checked and is true. Running time: $((SECONDS - shown_at)) s."
if $keep; then print_next_steps; fi
