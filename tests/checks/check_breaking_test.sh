#!/usr/bin/env bash
# Proves that check_breaking.sh stops every kind of change that breaks clients, and
# lets the others pass once they are recorded.
set -euo pipefail

checks=$(cd "$(dirname "$0")" && pwd)
check=$checks/check_breaking.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0
failed=0

# outcome COMMAND...: pass or fail.
outcome() { if "$@" >/dev/null 2>&1; then echo pass; else echo fail; fi; }

# expect CHECK RENEW FILE SED_SCRIPT: what the check says of protos/ttl/v1 after the
# change, and whether the change can then be recorded. A change that changes nothing
# is a mistake in this test.
expect() {
  local expected="$1 $2" file=$tree/protos/ttl/v1/$3 script=$4 actual
  rm -rf "$tree/protos"
  cp -r "$checks/../../protos" "$tree/protos"
  "$check" --renew-breaking "$tree/protos"
  sed -i -E "$script" "$file"
  if cmp -s "$file" "$checks/../../protos/ttl/v1/$3"; then
    actual="no change"
  else
    actual="$(outcome "$check" "$tree/protos") $(outcome "$check" --renew "$tree/protos")"
  fi
  if [[ $actual == "$expected" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $3: $script: expected $expected, got $actual"
  fi
}

expect pass pass item.proto 's|^  // Opaque version|  // Version|'

# Additions must be recorded.
expect fail pass item.proto 's|^  int64 size_bytes = 7;|&\n  int64 color = 9;|'
expect fail pass item.proto 's|^  VISIBILITY_UNTRACKED = 3;|&\n  VISIBILITY_UNCLEAR = 4;|'
expect fail pass item_service.proto \
  's|^  rpc GetItem\(.*|&\n  rpc GetItemAgain(GetItemRequest) returns (GetItemResponse);|'

# What breaks clients is refused.
expect fail fail item.proto '/^  int64 size_bytes = 7;/d'
expect fail fail item.proto 's|^  int64 size_bytes = 7;|  int64 size_bytes = 9;|'
expect fail fail item.proto 's|^  int64 size_bytes = 7;|  int64 size_in_bytes = 7;|'
expect fail fail item.proto 's|^  int64 size_bytes = 7;|  int32 size_bytes = 7;|'
expect fail fail item.proto 's|^  int64 size_bytes = 7;|  repeated int64 size_bytes = 7;|'
expect fail fail item.proto 's|^  optional int64 ttl = 4;|  int64 ttl = 4;|'
expect fail fail item.proto '/^  VISIBILITY_UNTRACKED = 3;/d'
expect fail fail item.proto 's|^  VISIBILITY_UNTRACKED = 3;|  VISIBILITY_UNTRACKED = 4;|'
expect fail fail item.proto 's|java_package = "io|java_package = "org|'
expect fail fail item_service.proto '/^  rpc GetItem\(/d'
expect fail fail item_service.proto 's|^  rpc GetItem\(.*|  rpc FetchItem(GetItemRequest) returns (GetItemResponse);|'
expect fail fail item_service.proto 's|^(  rpc GetItem.*)\(GetItemResponse\)|\1(ListItemsResponse)|'
expect fail fail item_service.proto 's|^(  rpc GetItem.*)\(GetItemResponse\)|\1(stream GetItemResponse)|'

echo "breaking check: $passed passed, $failed failed"
((failed == 0))
