#!/usr/bin/env bash
# check_monitoring.sh BIN: checks deploy/monitoring. The alert rules and their unit tests with
# promtool; every metric that rules and dashboard use against scrapes of a real sidecar, which
# metrics_process_test in the folder BIN takes, and of a real ttl-postgres; the scrapes themselves by
# what Prometheus recommends; client/postgres/metrics.md against the latter; that each alert is made to fire in a test and has its paragraph in deploy/alerts.md.
#
# promtool comes from Debian's package prometheus, unpacked below build/: installed, it would
# start a server.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
root=$checks/../..
bin=$(cd "$1" && pwd)
tools=$root/build/promtool
monitoring=$root/deploy/monitoring

# Where the lists of packages are old or missing, fetching them needs root, or sudo.
unpack_promtool() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo)
  rm -rf "$tools"
  mkdir -p "$tools"
  cd "$tools"
  apt-get download -qq prometheus || {
    "${as_root[@]}" apt-get update -qq
    apt-get download -qq prometheus
  }
  dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
  rm prometheus_*.deb
}

promtool=$(command -v promtool || true)
if [[ -z $promtool ]]; then
  promtool=$tools/usr/bin/promtool
  [[ -x $promtool ]] || (unpack_promtool)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$promtool" check rules "$monitoring/alerts.yaml"
(cd "$monitoring" && "$promtool" test rules alerts_test.yaml)

TTL_SCRAPE_FILE=$work/scrape.txt "$bin/metrics_process_test" --gtest_brief=1 \
  --gtest_filter=MetricsProcessTest.EveryMetricOfTheCatalogIsThereAndNoOther
"$promtool" check metrics <"$work/scrape.txt"

"$checks/scrape_ttl_postgres.py" "$bin" "$work/postgres.txt"
"$promtool" check metrics <"$work/postgres.txt"

"$checks/check_monitoring.py" "$root" "$work/scrape.txt" "$work/postgres.txt" \
  "$work/dashboard_rules.yaml"
# As rules the dashboard's expressions are parsed as Prometheus would.
"$promtool" check rules --lint=none "$work/dashboard_rules.yaml"
