#!/usr/bin/env bash
# Everything that must pass before a change lands. Meant for Debian 12; installs
# what it needs (root or sudo).
#
#   tests/run.sh           all of it
#   tests/run.sh --quick   while working: checks, build, unit tests
#   tests/run.sh --long    all of it, and the campaigns that take longer
#
# Prints everything it runs. The last line is "N passed, N failed", over all
# checks and test cases; the exit code is 0 only if none failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

mode=${1:-}
case "$mode" in
  "" | --quick | --long) ;;
  *)
    echo "usage: $0 [--quick|--long]" >&2
    exit 2
    ;;
esac

jobs=$(nproc)
results=build/results
rm -rf "$results"
mkdir -p "$results"
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1

passed=0
failed=0
summary=()
failures=()

section() { printf '\n======== %s\n' "$1"; }

# note NAME START PASSED FAILED: counts a step that began at START, for the summary.
note() {
  local verdict=ok
  (($4 == 0)) || verdict=FAILED
  passed=$((passed + $3))
  failed=$((failed + $4))
  summary+=("$(printf '%-44s %5d s %6d passed %4d failed  %s' "$1" $((SECONDS - $2)) "$3" "$4" "$verdict")")
  echo "-------- $1: $verdict, $((SECONDS - $2)) s"
}

# run NAME COMMAND...: one step that passes or fails as a whole.
run() {
  local name=$1 start=$SECONDS
  shift
  printf '\n-------- %s\n' "$name"
  if "$@"; then
    note "$name" "$start" 1 0
  else
    failures+=("$name")
    note "$name" "$start" 0 1
    return 1
  fi
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  cmake --preset "$preset" -DTTL_BUILD_TESTS=ON &&
    cmake --build --preset "$preset" -j "$jobs" --target "$@"
}

# run_tests PRESET LABELS JOBS [CTEST_ARGUMENT...]: the tests of one label, or of several joined
# by "|", counted case by case.
run_tests() {
  local preset=$1 label=$2 parallel=$3 start=$SECONDS cases=$PWD/$results/$1-${2//|/-} tally
  local tests_passed tests_failed
  shift 3
  printf '\n-------- %s tests, %s\n' "$label" "$preset"
  mkdir -p "$cases"
  GTEST_OUTPUT=xml:$cases/ ctest --preset "$preset" -L "^($label)\$" -j "$parallel" "$@" \
    --no-tests=error --output-junit "$cases/ctest.junit"
  if tally=$(tests/checks/tally.py "$cases/ctest.junit" "$cases"); then
    mapfile -t -O "${#failures[@]}" failures < <(tail -n +2 <<<"$tally" | grep . | sed "s/\$/ ($preset)/")
    read -r tests_passed tests_failed <<<"$tally"
    note "$label tests, $preset" "$start" "$tests_passed" "$tests_failed"
  else
    failures+=("$label tests, $preset: no results")
    note "$label tests, $preset" "$start" 0 1
  fi
}

# beside NAME FUNCTION: runs what the function does in the background, its output in a log.
# join NAME: waits for it, shows the log, and adds what it counted.
declare -A beside_jobs=()
beside() {
  (
    # What else runs waits for processes more than it computes, and is not to wait for this, too.
    renice -n 5 "$BASHPID" >/dev/null
    passed=0 failed=0 summary=() failures=()
    "$2"
    declare -p passed failed summary failures >"$results/$1.counts"
  ) >"$results/$1.log" 2>&1 &
  beside_jobs[$1]=$!
}
join() {
  local all_passed=$passed all_failed=$failed all_summary=("${summary[@]}") all_failures=("${failures[@]}")
  wait "${beside_jobs[$1]}"
  cat "$results/$1.log"
  if [[ -f $results/$1.counts ]]; then
    eval "$(sed 's/^declare -[-a]* //' "$results/$1.counts")"
  else
    passed=0 failed=1 summary=() failures=("$1: ended early")
  fi
  passed=$((all_passed + passed))
  failed=$((all_failed + failed))
  summary=("${all_summary[@]}" "${summary[@]}")
  failures=("${all_failures[@]}" "${failures[@]}")
}

# The programs as shipped, and what is tested on the real binaries.
test_processes() {
  section "Tests of processes"
  # They wait most of the time, and those that measure the machine still run one at a time.
  run_tests ci "integration|fault|interop" "$((2 * jobs))"
  run_tests ci scale 1
  run "Kubernetes manifests" tests/deploy/run.sh build/ci/bin
  run "Debian packages" tests/deploy/packages_test.sh build/ci
  run "C++ client in projects of others" tests/deploy/client_library_test.sh build/ci
  run "monitoring" tests/checks/check_monitoring.sh build/ci/bin
  run "commands in READMEs" tests/checks/check_commands.py build/ci/bin
  run "million items" tests/million_items.sh "${million_items_arguments[@]}"
}

# sanitize PRESET TEST...: builds unit tests with a sanitizer and runs them.
sanitize() {
  local preset=$1
  shift
  section "Sanitizers: $preset"
  run "$preset build" build "$preset" "$@" || return
  run_tests "$preset" unit "$jobs" -R "^($(IFS='|'; echo "$*"))\$"
}

# What runs in threads, and what else parses or stores bytes from outside. The
# tools and the tests' own helpers are left out: compiling takes most of the time.
sanitized_tests=(
  core_test document_store_test expiry_rules_test feed_test holds_test metrics_of_calls_test metrics_race_test
  metrics_test postgres_capture_parts_test postgres_config_test postgres_row_test
  postgres_store_test primary_store_client_test rpc_functions_test rpc_services_test server_test
  shared_checks_test status_page_test storage_test sweeper_test transport_test ttl_client_test
)

# fuzz SECONDS: what reads bytes from outside, each kind for so long.
fuzz() {
  section "Fuzzing"
  run "fuzz build" build fuzz fuzz_targets && run "fuzz" tests/fuzz/run.sh build/fuzz/bin "$1"
}

# What compiles most of the time, and so goes well beside tests that mostly wait.
test_with_sanitizers() {
  sanitize asan-ubsan "${sanitized_tests[@]}"
  # Committers, cache, gate, the client's mirror, and counters that are read while they count:
  # the threads that share state of ours. What goes through gRPC is left out: its library is not
  # instrumented, so every message that crosses it looks like a race.
  sanitize tsan metrics_race_test policy_mirror_test storage_test transport_test
  [[ -n $mode ]] || fuzz 3
  run "lock annotations (clang)" tests/checks/check_sources.sh build/ci
}

section "Packages"
package_set="test"
[[ $mode != --long ]] || package_set="long"
run "packages" deploy/install_packages.sh "$package_set"

section "Static checks"
run "layers" tests/checks/check_layers.sh
run "layer check can fail" tests/checks/check_layers_test.sh
run "format" tests/checks/check_format.sh
run "links" tests/checks/check_links.py
run "times" tests/checks/check_times.sh
run "buf lint" tests/checks/lint_protos.sh
run "buf breaking" tests/checks/check_breaking.sh
run "breaking check can fail" tests/checks/check_breaking_test.sh
run "packages can be missing" tests/checks/check_packages_test.sh
run "Dockerfile reader" python3 tests/deploy/dockerfile_test.py

million_items_arguments=(--quick)
[[ $mode != --long ]] || million_items_arguments=()
section "Build and unit tests"
if run "build" build ci all; then
  if [[ $mode == --quick ]]; then
    run_tests ci unit "$jobs"
    run "lock annotations (clang)" tests/checks/check_sources.sh build/ci
  else
    beside sanitizers test_with_sanitizers
    run_tests ci unit "$jobs"
    test_processes
    join sanitizers
  fi
fi
if [[ $mode == --long ]]; then
  fuzz 120
  section "Campaigns"
  run "Dockerfile" tests/deploy/prove_dockerfile.sh
  run "Debian packages in a bare root" tests/deploy/prove_packages.sh build/ci
  run "stubs of other languages" tests/interop/run_stubs.sh build/ci/bin build/ci/tests/interop/stubs
  run "release build, each file by itself" build release all
  run "every source read by clang" tests/checks/check_sources.sh build/ci --all
  run "clang-tidy" tests/checks/check_tidy.sh build/release
  TTL_SCALE_ITEMS=10000000 TTL_SCALE_CONTAINERS=100000 run_tests ci scale 1
  TTL_SCALE_ITEMS=10000000 run_tests ci integration 1 -R sweep_process_test
  TTL_FEED_KILLS=1000 run_tests ci fault 1 -R feed_kill_test
  TTL_PROOF_ROWS=1000000 TTL_PROOF_SECONDS=120 run_tests ci fault 1 -R postgres_system_test
  run "asan-ubsan build, processes" build asan-ubsan integration_tests fault_tests &&
    run_tests asan-ubsan integration 1 && run_tests asan-ubsan fault 1
fi

section "Summary"
printf '%s\n' "${summary[@]}"
if ((failed > 0)); then
  echo "Failed:"
  printf '  %s\n' "${failures[@]}"
fi
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed"
((failed == 0))
