#!/usr/bin/env bash
# Makes the PrometheusRule of components/monitoring from deploy/monitoring/alerts.yaml: the
# same text, indented.
#
#   deploy/kubernetes/make_prometheus_rule.sh           writes it
#   deploy/kubernetes/make_prometheus_rule.sh --check   fails if it is not what would be written
#   deploy/kubernetes/make_prometheus_rule.sh --print [RUNBOOKS]
#                       prints it; with runbook links below RUNBOOKS, the address of this project's
#                       root in a browser, instead of paths
set -euo pipefail
cd "$(dirname "$0")"
rule=components/monitoring/prometheusrule.yaml

make() {
  cat <<'HEAD'
# Made from deploy/monitoring/alerts.yaml by deploy/kubernetes/make_prometheus_rule.sh.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: ttl-sidecar
spec:
HEAD
  sed 's/^\(.\)/  \1/' ../monitoring/alerts.yaml
}

case "${1:-}" in
  "") make >"$rule" ;;
  --print) make | sed "s|runbook_url: |&${2:+${2%/}/}|" ;;
  --check)
    if ! diff <(make) "$rule"; then
      echo "error: $rule is not what alerts.yaml makes; run $0" >&2
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 [--check | --print [RUNBOOKS]]" >&2
    exit 2
    ;;
esac
