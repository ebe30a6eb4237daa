#!/usr/bin/env bash
# Proves that check_layers.sh lets every legal include and every folder of thirty sources pass, and
# stops all others.
set -euo pipefail

check=$(cd "$(dirname "$0")" && pwd)/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0
failed=0

# expect pass|fail FILE INCLUDE: what the check says of a tree with this one file.
expect() {
  local expected=$1 file=$2 include=$3 actual=pass
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/service" "$tree/client" "$tree/deploy" "$tree/$(dirname "$file")"
  printf '#include <string>\n\n#include %s\n' "$include" >"$tree/$file"
  "$check" "$tree" >/dev/null || actual=fail
  if [[ $actual == "$expected" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $file with #include $include: expected $expected, got $actual"
  fi
}

# expect_ring pass|fail INCLUDES...: what it says of files in service/core, whose includes are given as
# FILE:INCLUDE; of files in client/cpp if they are given with a path below it.
expect_ring() {
  local expected=$1 actual=pass pair
  shift
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/service/core" "$tree/client" "$tree/deploy"
  mkdir -p "$tree/client/cpp/include/ttl"
  for pair in "$@"; do
    case $pair in
      cpp/*) printf '#include "%s"\n' "${pair#*:}" >>"$tree/client/${pair%%:*}" ;;
      *) printf '#include "service/core/%s"\n' "${pair#*:}" >>"$tree/service/core/${pair%%:*}" ;;
    esac
  done
  "$check" "$tree" >/dev/null || actual=fail
  if [[ $actual == "$expected" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: ring of $*: expected $expected, got $actual"
  fi
}

# expect_crowd pass|fail HEADERS SOURCES FOLDER: what it says of a folder with so many headers and
# sources, whose names stand before and after that of a folder below it with as many headers.
expect_crowd() {
  local expected=$1 headers=$2 sources=$3 folder=$4 actual=pass i
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/service" "$tree/client" "$tree/deploy" "$tree/$folder/below"
  for ((i = 0; i < headers; i++)); do touch "$tree/$folder/a$i.h" "$tree/$folder/below/$i.h"; done
  for ((i = 0; i < sources; i++)); do touch "$tree/$folder/z$i.cc"; done
  "$check" "$tree" >"$tree/said" || actual=fail
  if [[ $expected == fail ]] && ! grep -q "^$folder: $((headers + sources)) sources" "$tree/said"; then
    actual="a message without the folder: $(cat "$tree/said")"
  fi
  if [[ $actual == "$expected" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $folder with $headers headers and $sources sources: expected $expected, got $actual"
  fi
}

expect pass service/base/a.cc '"service/base/b.h"'
expect fail service/base/a.cc '"service/core/b.h"'
expect fail service/base/a.cc '"service/log/b.h"'
expect pass service/log/a.cc '"service/base/b.h"'
expect fail service/log/a.cc '"service/process/b.h"'
expect pass service/process/a.cc '"service/log/b.h"'
expect fail service/process/a.cc '"service/core/b.h"'
expect pass service/yaml/a.cc '"service/core/b.h"'
expect fail service/core/a.cc '"service/yaml/b.h"'
expect pass service/core/a.cc '"service/base/b.h"'
expect pass service/core/a.cc '"service/core/state/b.h"'
expect pass service/core/a.cc '"ttl/v1/item.pb.h"'
expect fail service/core/a.cc '"service/storage/b.h"'
expect fail service/core/a.h '"service/server/b.h"'
expect fail service/core/a.cc '"ttl/storage/v1/record.pb.h"'
expect pass service/core/hold/a.cc '"service/core/b.h"'
expect fail service/core/hold/a.cc '"service/storage/holds/b.h"'

expect pass service/storage/a.cc '"service/storage/upkeep/b.h"'
expect pass service/storage/a.cc '"leveldb/db.h"'
expect pass service/storage/format/a.cc '"ttl/storage/v1/record.pb.h"'
expect fail service/storage/format/a.cc '"service/storage/engine/b.h"'
expect fail service/storage/engine/a.cc '"service/storage/commit/b.h"'
expect pass service/storage/holds/a.cc '"service/storage/engine/b.h"'
expect fail service/storage/holds/a.cc '"service/storage/commit/b.h"'
expect fail service/storage/commit/a.cc '"service/storage/upkeep/b.h"'
expect fail service/storage/commit/a.cc '"service/storage/storage.h"'
expect fail service/storage/upkeep/a.cc '"service/storage/storage.h"'
expect fail service/storage/a.cc '"service/expiry/b.h"'
expect fail service/storage/a.cc '"service/rpc/services/b.h"'
expect fail service/storage/a.cc '"service/transport/b.h"'

expect fail service/transport/connections/a.cc '"service/transport/calls/b.h"'
expect pass service/transport/tls/a.cc '"service/base/b.h"'
expect fail service/transport/tls/a.cc '"service/transport/connections/b.h"'
expect fail service/transport/access/a.cc '"service/transport/calls/b.h"'
expect pass service/transport/calls/a.cc '"service/transport/access/b.h"'
expect fail service/transport/calls/a.cc '"service/transport/b.h"'
expect fail service/transport/a.cc '"service/core/b.h"'
expect fail service/transport/calls/a.cc '"service/rpc/services/b.h"'

expect pass service/expiry/sweep/a.cc '"service/storage/b.h"'
expect pass service/expiry/sweep/a.cc '"service/storage/engine/storage_options.h"'
expect fail service/expiry/sweep/a.cc '"service/storage/engine/database.h"'
expect fail service/expiry/store/a.cc '"service/expiry/sweep/b.h"'
expect fail service/expiry/pace/a.cc '"service/expiry/store/b.h"'
expect fail service/expiry/sweep/a.cc '"service/rpc/status/b.h"'
expect fail service/expiry/sweep/a.cc '"service/server/b.h"'
expect fail service/expiry/sweep/a.cc '<leveldb/db.h>'

expect pass service/rpc/services/a.cc '"service/storage/b.h"'
expect pass service/rpc/services/a.cc '"service/rpc/status/b.h"'
expect fail service/rpc/status/a.cc '"service/rpc/services/b.h"'
expect fail service/rpc/mapping/a.cc '"service/rpc/status/b.h"'
expect fail service/rpc/checks/a.cc '"service/rpc/mapping/b.h"'
expect fail service/rpc/services/a.cc '"service/expiry/sweep/b.h"'
expect fail service/rpc/services/a.cc '"leveldb/slice.h"'

expect pass service/server/a.cc '"service/rpc/services/b.h"'
expect pass service/server/a.cc '"service/expiry/sweep/b.h"'
expect pass service/server/http/a.cc '"service/transport/tls/b.h"'
expect fail service/server/http/a.cc '"service/server/page/b.h"'
expect pass service/server/page/a.cc '"service/server/http/b.h"'
expect fail service/server/page/a.cc '"service/transport/tls/b.h"'
expect fail service/server/config/a.cc '"service/server/b.h"'
expect fail service/server/metrics/a.cc '"service/server/b.h"'
expect fail service/server/a.cc '"client/cpp/a.h"'
expect fail service/server/a.cc '"ttl/client.h"'
expect fail service/server/a.cc '"tests/testing/fake_clock.h"'
expect fail service/server/a.cc '"../core/b.h"'
expect fail service/helpers/a.cc '"service/core/b.h"'
expect fail service/core/helpers/a.cc '"service/core/b.h"'

expect_ring pass a.cc:a.h a.cc:b.h b.cc:b.h
expect_ring fail a.h:b.h b.h:a.h
expect_ring fail a.cc:b.h b.cc:a.h
expect_ring fail a.h:b.h b.cc:c.h c.h:a.h
expect_ring pass cpp/a.cc:ttl/a.h cpp/a.cc:client/cpp/b.h cpp/b.cc:client/cpp/b.h
expect_ring fail cpp/a.cc:client/cpp/b.h cpp/b.cc:ttl/a.h
expect_ring fail cpp/include/ttl/a.h:ttl/b.h cpp/include/ttl/b.h:ttl/a.h

expect pass client/postgres/capture/a.cc '"client/postgres/row/b.h"'
expect pass client/postgres/row/a.cc '"service/core/ttl_rules.h"'
expect pass client/postgres/row/a.cc '"service/base/status_macros.h"'
expect fail client/postgres/row/a.cc '"service/base/status_macros.cc"'
expect fail client/postgres/row/a.cc '"service/core/clock.h"'
expect pass client/postgres/sql/a.h '<libpq-fe.h>'
expect fail client/postgres/sql/a.cc '"client/postgres/row/b.h"'
expect fail client/postgres/sql/connect/a.cc '"client/postgres/sql/check/b.h"'
expect fail client/postgres/capture/stream/a.cc '"client/postgres/capture/tables/b.h"'
expect fail client/postgres/capture/a.cc '"client/postgres/store/b.h"'
expect pass client/postgres/program/a.cc '"service/process/b.h"'
expect pass client/postgres/program/a.cc '"service/server/metrics/metrics_server.h"'
expect fail client/postgres/program/a.cc '"service/server/metrics/sidecar_metrics.h"'
expect fail client/postgres/store/a.cc '"service/server/metrics/metrics_server.h"'
expect fail client/postgres/store/a.cc '"service/process/b.h"'
expect fail client/cpp/a.cc '<libpq-fe.h>'
expect fail client/cpp/a.cc '"client/postgres/row/b.h"'
expect fail service/server/a.cc '<libpq-fe.h>'

expect pass client/cpp/a.cc '"ttl/v1/item_service.grpc.pb.h"'
expect pass client/examples/a.cc '"ttl/client.h"'
expect pass client/examples/a.cc '"leveldb/db.h"'
expect fail client/cpp/a.cc '"service/base/status_macros.h"'
expect pass client/cpp/a.cc '"service/base/time_text.h"'
expect pass client/cpp/a.cc '"ttl/client.h"'
expect pass client/cpp/include/ttl/a.h '"ttl/client.h"'
expect pass client/cpp/include/ttl/a.h '"ttl/v1/item.pb.h"'
expect fail client/cpp/include/ttl/a.h '"client/cpp/b.h"'
expect fail client/cpp/include/ttl/a.h '"service/core/ttl_rules.h"'
expect pass client/cpp/a.cc '"service/core/ttl_rules.h"'
expect fail client/cpp/a.cc '"service/core/ttl_rules.cc"'
expect fail client/cpp/a.cc '"service/storage/ttl_rules.h"'
expect fail client/examples/a.cc '"service/core/ttl_rules.h"'
expect pass client/ttlctl/a.cc '"service/yaml/container_entries.h"'
expect fail client/ttlctl/a.cc '"service/core/ttl_rules.h"'
expect fail client/cpp/a.cc '"service/yaml/container_entries.h"'
expect fail client/ttlctl/a.cc '"service/server/config/containers_file.h"'
expect fail client/ttlctl/a.cc '"ttl/storage/v1/record.pb.h"'
expect fail client/cpp/a.h '"tests/testing/b.h"'
expect pass deploy/quickstart/a.cc '"ttl/client.h"'
expect fail deploy/quickstart/a.cc '"service/core/ttl_rules.h"'

for folder in service service/base service/core service/core/state service/storage/commit service/server/page \
  client client/cpp client/cpp/include/ttl client/examples client/postgres/program \
  client/postgres/program/preview client/ttlctl/text deploy/quickstart; do
  expect_crowd pass 15 15 "$folder"
  expect_crowd fail 16 15 "$folder"
  expect_crowd fail 15 16 "$folder"
done
expect_crowd pass 16 15 client/node/node_modules/package

echo "layer check: $passed passed, $failed failed"
((failed == 0))
