#!/usr/bin/env bash
# Runs buf lint (see the buf.yaml files) on the protos.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)

for folder in protos client/examples/protos client/postgres/store/protos; do
  echo "buf lint $folder"
  (cd "$checks/../../$folder" && "$checks/buf.sh" lint)
done
