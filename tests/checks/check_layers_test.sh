#!/usr/bin/env bash
# Proves that check_layers.sh lets every legal include pass and stops every other.
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

expect pass service/core/a.cc '"service/core/b.h"'
expect pass service/core/a.cc '"ttl/v1/item.pb.h"'
expect fail service/core/a.cc '"service/storage/b.h"'
expect fail service/core/a.h '"service/server/b.h"'
expect fail service/core/a.cc '"ttl/storage/v1/record.pb.h"'

expect pass service/storage/a.cc '"service/core/b.h"'
expect pass service/storage/a.cc '"leveldb/db.h"'
expect pass service/storage/a.cc '"ttl/storage/v1/record.pb.h"'
expect fail service/storage/a.cc '"service/expiry/b.h"'
expect fail service/storage/a.cc '"service/rpc/b.h"'

expect pass service/expiry/a.cc '"service/storage/b.h"'
expect fail service/expiry/a.cc '"service/rpc/b.h"'
expect fail service/expiry/a.cc '"service/server/b.h"'
expect fail service/expiry/a.cc '<leveldb/db.h>'

expect pass service/rpc/a.cc '"service/storage/b.h"'
expect fail service/rpc/a.cc '"service/expiry/b.h"'
expect fail service/rpc/a.cc '"leveldb/slice.h"'

expect pass service/server/a.cc '"service/rpc/b.h"'
expect pass service/server/a.cc '"service/expiry/b.h"'
expect fail service/server/a.cc '"client/cpp/ttl_client.h"'
expect fail service/server/a.cc '"tests/testing/fake_clock.h"'
expect fail service/server/a.cc '"../core/b.h"'
expect fail service/helpers/a.cc '"service/core/b.h"'

expect pass service/log/a.cc '"service/core/mutex.h"'
expect fail service/log/a.cc '"service/core/b.h"'
expect fail service/log/a.cc '"service/process/b.h"'
expect pass service/process/a.cc '"service/log/b.h"'
expect fail service/process/a.cc '"service/server/b.h"'
expect pass service/server/a.cc '"service/process/b.h"'
expect fail service/expiry/a.cc '"service/log/b.h"'
expect pass client/examples/document_store/a.cc '"service/log/b.h"'
expect pass client/postgres/program/a.cc '"service/process/b.h"'
expect fail client/postgres/capture/a.cc '"service/log/b.h"'
expect fail client/postgres/program/a.cc '"service/core/b.h"'
expect fail client/cpp/a.cc '"service/log/b.h"'

expect pass client/postgres/capture/a.cc '"client/postgres/row/b.h"'
expect pass client/postgres/row/a.cc '"service/core/ttl_rules.h"'
expect pass client/postgres/sql/a.h '<libpq-fe.h>'
expect fail client/postgres/sql/a.cc '"client/postgres/row/b.h"'
expect fail client/postgres/capture/a.cc '"client/postgres/store/b.h"'
expect fail client/cpp/a.cc '<libpq-fe.h>'
expect fail client/cpp/a.cc '"client/postgres/row/b.h"'
expect fail service/server/a.cc '<libpq-fe.h>'

expect pass client/cpp/a.cc '"ttl/v1/item_service.grpc.pb.h"'
expect pass client/examples/a.cc '"client/cpp/ttl_client.h"'
expect pass client/examples/a.cc '"leveldb/db.h"'
expect fail client/cpp/a.cc '"service/core/status_macros.h"'
expect pass client/cpp/a.cc '"service/core/ttl_rules.h"'
expect fail client/cpp/a.cc '"service/core/ttl_rules.cc"'
expect fail client/cpp/a.cc '"service/storage/ttl_rules.h"'
expect fail client/examples/a.cc '"service/core/ttl_rules.h"'
expect pass client/ttlctl/a.cc '"service/core/container_entries.h"'
expect fail client/ttlctl/a.cc '"service/core/ttl_rules.h"'
expect fail client/cpp/a.cc '"service/core/container_entries.h"'
expect fail client/ttlctl/a.cc '"service/server/containers_file.h"'
expect fail client/ttlctl/a.cc '"ttl/storage/v1/record.pb.h"'
expect fail client/cpp/a.h '"tests/testing/b.h"'
expect pass deploy/quickstart/a.cc '"client/cpp/ttl_client.h"'
expect fail deploy/quickstart/a.cc '"service/core/ttl_rules.h"'

echo "layer check: $passed passed, $failed failed"
((failed == 0))
