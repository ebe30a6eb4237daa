#!/usr/bin/env bash
# Fails if a file includes what its room must not know, if includes run in a ring, or if a folder has
# more than thirty sources.
#
#   tests/checks/check_layers.sh [SOURCE_ROOT]
#
# A room is a folder. Those of service/, lowest first:
#   base, yaml            what everybody may use; the YAML reader
#   log, process          for programs: the log; signals and threads
#   core, feed, hold, state, windows   rules and values (core/feed, core/hold, core/state, core/windows)
#   storage               format <- engine <- { feed, holds } <- commit <- upkeep, and on top of them its faces, which
#                         are all that others know, but for the values listed in `values`
#   transport             connections, tls; tls <- access <- calls <- the servers themselves
#   expiry                pace <- store <- sweep <- feed
#   rpc                   checks <- mapping <- status <- services
#   server                http <- { config, metrics, page }, and the wiring on top
# expiry and rpc do not know each other. Beside them:
#   - client/ and deploy/ know the service by its protos only, but for what `shared_with` lists
#     for client/cpp, client/postgres and client/ttlctl, all of base for client/postgres, log and
#     process for programs, and the server of the metrics for ttl-postgres;
#   - client/cpp/include is what users of the C++ client see: it knows nothing of ours but itself;
#   - in client/postgres: config, sql, row, then capture, store, policy and load side by side, then
#     program; sql: tables, connect and install, check on top; capture: reports, stream and tables,
#     the session on top. Nothing else knows PostgreSQL's headers;
#   - the service knows neither client/ nor deploy/, and no product code knows tests/;
#   - LevelDB's headers are for service/storage alone, and the messages it keeps on disk for it too.
# In a ring a source counts as one with its header. The sources of a folder are those on its own level,
# whatever the folder is. Every build runs this (target layer_check).
set -euo pipefail

root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root"

sources() {
  find service client deploy -name node_modules -prune -o \( -name '*.h' -o -name '*.cc' \) -print | sort
}

crowded=$(sources | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 30 { print $2 ": " $1 " sources on one level: at most 30" }')
if [[ -n $crowded ]]; then
  printf '%s\n' "$crowded"
  exit 1
fi

sources | xargs --no-run-if-empty awk '
  BEGIN {
    core = "base core core/feed core/hold core/state core/windows"
    inner = "storage/format storage/engine storage/feed storage/holds storage/commit"
    values = "storage/format/index_entry storage/engine/storage_figures storage/engine/storage_options"
    transport = "transport transport/access transport/calls transport/connections transport/tls"
    expiry = "expiry expiry/pace expiry/store expiry/sweep"
    rpc = "rpc/checks rpc/mapping rpc/status rpc/services"
    may["base"] = "base"
    may["yaml"] = core " yaml"
    may["log"] = "base log"
    may["process"] = "base log process"
    may["core"] = may["core/feed"] = may["core/hold"] = may["core/state"] = may["core/windows"] = core
    may["storage/format"] = core " storage/format"
    may["storage/engine"] = core " storage/format storage/engine"
    may["storage/feed"] = core " storage/format storage/engine storage/feed"
    may["storage/holds"] = core " storage/format storage/engine storage/holds"
    may["storage/commit"] = core " " inner
    may["storage/upkeep"] = core " " inner " storage/upkeep"
    may["storage"] = core " " inner " storage/upkeep storage"
    may["transport/connections"] = "base transport/connections"
    may["transport/tls"] = "base transport/tls"
    may["transport/access"] = "base transport/tls transport/access"
    may["transport/calls"] = "base transport/tls transport/access transport/calls"
    may["transport"] = "base " transport
    may["expiry"] = core " expiry"
    may["expiry/pace"] = core " expiry expiry/pace"
    may["expiry/store"] = core " storage expiry expiry/pace expiry/store"
    may["expiry/sweep"] = core " storage " expiry
    may["expiry/feed"] = core " storage " expiry " expiry/feed"
    may["rpc/checks"] = core " storage rpc/checks"
    may["rpc/mapping"] = core " storage transport/calls rpc/checks rpc/mapping"
    may["rpc/status"] = core " storage rpc/mapping rpc/status"
    may["rpc/services"] = core " storage storage/commit storage/upkeep transport/access transport/calls " rpc
    may["server/http"] = "base transport/connections transport/tls server/http"
    may["server/config"] = core " yaml storage " transport " server/http server/config"
    may["server/metrics"] = core " log storage " transport " " rpc " server/http server/metrics"
    may["server/page"] = "base server/http server/page"
    may["server"] = core " yaml log process storage storage/upkeep " transport " " expiry " expiry/feed " rpc " server server/http server/config server/metrics server/page"
    sql = "config sql sql/tables sql/connect sql/install"
    may_p["config"] = "config"
    may_p["sql"] = may_p["sql/tables"] = may_p["sql/connect"] = may_p["sql/install"] = sql
    may_p["sql/check"] = sql " sql/check"
    may_p["row"] = sql " row"
    may_p["capture/reports"] = sql " row capture capture/reports"
    may_p["capture/stream"] = may_p["capture/reports"] " capture/stream"
    may_p["capture/tables"] = may_p["capture/reports"] " capture/stream capture/tables"
    may_p["capture"] = may_p["capture/tables"]
    may_p["store"] = may_p["store/deletes"] = sql " row store store/deletes"
    may_p["policy"] = sql " row policy"
    may_p["load"] = sql " row load"
    may_p["program"] = sql " sql/check row capture capture/stream capture/tables store policy load program program/preview"
    may_p["program/preview"] = sql " sql/check program program/preview"
    shared_with["cpp"] = "service/base/time_text.h service/core/ttl_rules.h"
    shared_with["postgres"] = "service/core/ttl_rules.h service/yaml/yaml_document.h"
    shared_with["ttlctl"] = "service/base/time_text.h service/core/windows/window_text.h service/rpc/mapping/window_mapping.h service/yaml/container_entries.h"
    programs = "client/examples client/postgres/program"
  }

  # Whether word is one of the words of list.
  function among(word, list) { return index(" " list " ", " " word " ") > 0 }

  # The folder of a path below its first `levels` names.
  function room(path, levels, names, n, i, found) {
    n = split(path, names, "/")
    found = names[levels + 1]
    for (i = levels + 2; i < n; i++) found = found "/" names[i]
    return n > levels + 1 ? found : ""
  }

  function refuse(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0
    violations++
  }

  function check_service(included) {
    if (!(room(FILENAME, 1) in may)) return refuse("a folder that is no room")
    if (included !~ /^service\//) return
    stem = substr(included, 9); sub(/\.h$/, "", stem)
    if (among(stem, values) && among("storage", may[room(FILENAME, 1)])) return
    if (!among(room(included, 1), may[room(FILENAME, 1)]))
      refuse("service/" room(FILENAME, 1) " must not know service/" room(included, 1))
  }

  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    split($0, quoted, /["<>]/)
    included = quoted[2]
    split(included, to, "/")
    split(FILENAME, from, "/")
    in_service = from[1] == "service"
    in_storage = in_service && from[2] == "storage"
    in_postgres = from[1] == "client" && from[2] == "postgres"

    if (included ~ /^\.\.?\//) refuse("includes start at the root of the repository")
    if (to[1] == "tests") refuse("no product code knows the tests")
    public_header = included ~ /^ttl\/[^\/]+\.h$/
    if (in_service && (among(to[1], "client deploy") || public_header)) refuse("the service does not know its users")
    if (FILENAME ~ /^client\/cpp\/include\// && among(to[1], "service client deploy")) {
      refuse("a public header knows no private one")
      next
    }
    if (in_service) check_service(included)

    folder = from[1] "/" from[2] (in_postgres ? "/" from[3] : "")
    shared = from[1] == "client" && among(included, shared_with[from[2]])
    if (among(folder, programs) && among(to[2], "log process")) shared = 1
    if (folder == "client/postgres/program" && included == "service/server/metrics/metrics_server.h") shared = 1
    if (in_postgres && included ~ /^service\/base\/[^\/]+\.h$/) shared = 1
    if (!in_service && to[1] == "service" && !shared) refuse("users know the service by its protos only")

    if (in_postgres && to[1] == "client" && to[2] == "postgres" && !among(room(included, 2), may_p[room(FILENAME, 2)]))
      refuse("client/postgres/" room(FILENAME, 2) " must not know client/postgres/" room(included, 2))
    if (!in_postgres && (included == "libpq-fe.h" || to[1] == "client" && to[2] == "postgres"))
      refuse("PostgreSQL is known to client/postgres only")
    if (in_service && !in_storage && to[1] == "leveldb") refuse("LevelDB is known to service/storage only")
    if (!in_storage && included ~ /^ttl\/storage\//) refuse("what is on disk is known to service/storage only")
  }

  END { exit violations > 0 }
'

# Of each file and what it includes, both without their endings; a public header of the C++ client
# goes by the path of its source.
includes() {
  sources | xargs --no-run-if-empty awk '/^#include "((service|client|deploy)\/|ttl\/[^\/]+\.h")/ {
    split($0, quoted, "\""); from = FILENAME; to = quoted[2]
    sub(/\.(h|cc)$/, "", from); sub(/\.h$/, "", to)
    sub(/^client\/cpp\/include\/ttl\//, "client/cpp/", from); sub(/^ttl\//, "client/cpp/", to)
    if (from != to) print from, to
  }'
}
if ! rings=$(includes | tsort 2>&1 >/dev/null); then
  printf 'includes run in a ring:\n%s\n' "$rings"
  exit 1
fi
