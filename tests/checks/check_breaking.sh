#!/usr/bin/env bash
# Fails if the API, protos/ttl/v1, breaks a client of the API as it was last
# recorded in protos/v1.binpb (buf breaking, see protos/buf.yaml), or if it has grown
# since and that is not recorded: what is not recorded is not guarded.
#
#   tests/checks/check_breaking.sh [PROTOS]            the check
#   tests/checks/check_breaking.sh --renew [PROTOS]    records what was added; refuses what breaks
#   tests/checks/check_breaking.sh --renew-breaking [PROTOS]
#                                                      records all: for a break that is meant
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)

mode=check
if [[ ${1:-} == --* ]]; then
  mode=${1#--}
  shift
fi
cd "${1:-$checks/../../protos}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Without comments and positions, so that only what is on the wire and in stubs counts.
"$checks/buf.sh" build --path ttl/v1 --exclude-source-info -o "$scratch/v1.binpb"

if [[ $mode != renew-breaking ]]; then
  "$checks/buf.sh" breaking --path ttl/v1 --against v1.binpb || {
    echo "error: protos/ttl/v1 breaks its clients; see protos/README.md" >&2
    exit 1
  }
fi
case "$mode" in
  check)
    cmp -s "$scratch/v1.binpb" v1.binpb || {
      echo "error: protos/ttl/v1 has grown and protos/v1.binpb does not know it;" \
        "record it with tests/checks/check_breaking.sh --renew" >&2
      exit 1
    }
    ;;
  renew | renew-breaking) cp "$scratch/v1.binpb" v1.binpb ;;
  *)
    echo "usage: $0 [--renew|--renew-breaking] [PROTOS]" >&2
    exit 2
    ;;
esac
