# Sourced by tests that count cases: `check` runs one and counts it in `passed` or `failed`. `work` is
# a folder that is removed at the end; the process `sidecar`, if one is started, is stopped then.
work=$(mktemp -d)
sidecar=
stop() {
  [[ -z $sidecar ]] || kill "$sidecar" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
passed=0
failed=0

# check NAME COMMAND...: a case; it fails with the command.
check() {
  local name=$1
  shift
  if "$@" >"$work/output" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    cat "$work/output"
  fi
}
