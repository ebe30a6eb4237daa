#!/usr/bin/env bash
# Fails if a file includes a layer that it must not know.
#
#   tests/checks/check_layers.sh [SOURCE_ROOT]
#
# Layers, lowest first: protos, service/core, then service/transport and service/storage side by
# side, then service/expiry and service/rpc side by side, then service/server. Beside them:
#   - service/log, above core/mutex.h alone, and service/process above it, are for programs:
#     service/server, client/examples and client/postgres/program;
#   - client/ and deploy/ know the service by its protos only, except that client/cpp
#     and client/postgres judge by the service's own rules (service/core/ttl_rules.h),
#     client/ttlctl reads the service's own file of containers
#     (service/core/container_entries.h), and client/postgres reads files and takes YAML
#     apart as it does (service/core/small_file.h, yaml_document.h);
#   - in client/postgres: config, sql, row, then capture, store, policy and load side by
#     side, then program; nothing else knows PostgreSQL's headers;
#   - the service knows neither client/ nor deploy/, and no product code knows tests/;
#   - LevelDB's headers are for service/storage alone, and the messages it keeps on
#     disk for it too.
# Every build runs this (target layer_check).
set -euo pipefail

root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root"

find service client deploy -name '*.h' -o -name '*.cc' | sort | xargs --no-run-if-empty awk '
  BEGIN {
    may["core"] = "core"
    may["log"] = "log"
    may["process"] = "log process"
    may["storage"] = "core storage"
    may["expiry"] = "core storage expiry"
    may["rpc"] = "core storage rpc"
    may["transport"] = "core transport"
    may["server"] = "core log process storage expiry rpc transport server"
    postgres_may["config"] = "config"
    postgres_may["sql"] = "config sql"
    postgres_may["row"] = "config sql row"
    postgres_may["capture"] = "config sql row capture"
    postgres_may["store"] = "config sql row store"
    postgres_may["policy"] = "config sql row policy"
    postgres_may["load"] = "config sql row load"
    postgres_may["program"] = "config sql row capture store policy load program"
    shared_with["cpp"] = "service/core/ttl_rules.h"
    shared_with["postgres"] = "service/core/ttl_rules.h service/core/small_file.h service/core/yaml_document.h"
    shared_with["ttlctl"] = "service/core/container_entries.h"
    for_programs = "log process"
    programs = "client/examples client/postgres/program"
  }

  # Whether word is one of the words of list.
  function among(word, list) { return index(" " list " ", " " word " ") > 0 }

  function refuse(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0
    violations++
  }

  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    split($0, quoted, /["<>]/)
    split(quoted[2], to, "/")
    split(FILENAME, from, "/")
    in_service = from[1] == "service"
    in_storage = in_service && from[2] == "storage"

    if (quoted[2] ~ /^\.\.?\//) refuse("includes start at the root of the repository")
    if (to[1] == "tests") refuse("no product code knows the tests")
    if (in_service && among(to[1], "client deploy")) refuse("the service does not know its users")
    shared = from[1] == "client" && among(quoted[2], shared_with[from[2]])
    folder = from[1] "/" from[2] (from[2] == "postgres" ? "/" from[3] : "")
    if (among(folder, programs) && among(to[2], for_programs)) shared = 1
    if (!in_service && to[1] == "service" && !shared) refuse("users know the service by its protos only")
    if (in_service && !(from[2] in may)) refuse("a folder that is no layer")
    else if (in_service && among(from[2], for_programs) && quoted[2] == "service/core/mutex.h") {}
    else if (in_service && to[1] == "service" && !among(to[2], may[from[2]]))
      refuse("service/" from[2] " must not know service/" to[2])
    in_postgres = from[1] == "client" && from[2] == "postgres"
    if (in_postgres && to[1] == "client" && to[2] == "postgres" && !among(to[3], postgres_may[from[3]]))
      refuse("client/postgres/" from[3] " must not know client/postgres/" to[3])
    if (!in_postgres && (quoted[2] == "libpq-fe.h" || to[1] == "client" && to[2] == "postgres"))
      refuse("PostgreSQL is known to client/postgres only")
    if (in_service && !in_storage && to[1] == "leveldb") refuse("LevelDB is known to service/storage only")
    if (!in_storage && quoted[2] ~ /^ttl\/storage\//) refuse("what is on disk is known to service/storage only")
  }

  END { exit violations > 0 }
'
