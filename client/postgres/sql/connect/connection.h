#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_H_

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/sql/connect/connection_breaker.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/sql/connect/sql_error.h"

namespace ttl::postgres {

// One connection to the database. All values are text in a format that does not depend on the
// session: UTC, ISO dates, exact floats. The connection may write, whatever the default of the
// role. Calls block; not thread-safe. A lost connection stays lost: is_open() returns false, and
// every call fails with UNAVAILABLE.
class Connection {
 public:
  enum class Kind {
    kQueries,
    kReplication,  // a walsender: replication commands, and statements without parameters
  };

  // Opens a connection. `application_name` is shown in pg_stat_activity. Waits up to 10 s for each
  // host unless `database` sets connect_timeout. `breaker`, if not null, can interrupt the
  // connection and the attempt to connect: UNAVAILABLE.
  //
  // UNAVAILABLE if the server cannot be reached or has no free connection; PERMISSION_DENIED if it
  // refuses the role or has no such database; INVALID_ARGUMENT if `database` is not a connection
  // string, or leads through a pooler that does not accept the settings of the session.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& database,
                                                          const std::string& application_name,
                                                          Kind kind = Kind::kQueries,
                                                          ConnectionBreaker* breaker = nullptr);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  using Parameter = std::optional<std::string>;  // absent: NULL

  // Runs one statement with parameters $1, $2, ... given as text; INVALID_ARGUMENT if one contains
  // a zero byte. A replication command that starts a copy returns at once; the copy continues with
  // raw().
  absl::StatusOr<QueryResult> Query(const std::string& statement,
                                    absl::Span<const Parameter> parameters = {});

  // Runs statements, separated by semicolons and without parameters, in one transaction.
  absl::StatusOr<QueryResult> Execute(const std::string& statements);

  // Restricts unqualified names to pg_catalog, so that functions or operators of other schemas
  // cannot replace those of PostgreSQL. Not to be used where triggers of applications may run.
  static constexpr char kSystemNamesOnly[] = "SET search_path = pg_catalog";

  // Statements that restore the settings of the text format for the rest of a transaction, where a
  // trigger may have changed them.
  static std::string SetTextSettings();

  bool is_open() const { return PQstatus(connection_.get()) == CONNECTION_OK; }

  // Gives access to COPY and the like. Owned by the Connection.
  PGconn* raw() { return connection_.get(); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Handle = std::unique_ptr<PGconn, Finish>;

  Connection(Handle connection, Kind kind) : connection_(std::move(connection)), kind_(kind) {}
  absl::StatusOr<QueryResult> Take(PGresult* result);

  const Handle connection_;
  const Kind kind_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_H_
