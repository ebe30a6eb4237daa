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

// One connection to the database. Every value is text that is the same in each session:
// UTC, ISO dates, exact floats. It may write, whatever the role's default is. Blocks; for one
// thread at a time. A connection that is lost stays lost: is_open() is false, and every call
// UNAVAILABLE.
class Connection {
 public:
  enum class Kind {
    kQueries,
    kReplication,  // a walsender: replication commands, and statements without parameters
  };

  // UNAVAILABLE if the server cannot be reached or has no place for us, PERMISSION_DENIED if
  // it does not let us in, also because there is no such database, INVALID_ARGUMENT behind a pooler
  // that does not take the settings of the session, and if
  // `database` is no connection string. Waits 10 s for each host unless `database` says
  // connect_timeout. `application_name` is what pg_stat_activity shows. `breaker`, if not null, can
  // break it off, the attempt to connect too: UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& database,
                                                          const std::string& application_name,
                                                          Kind kind = Kind::kQueries,
                                                          ConnectionBreaker* breaker = nullptr);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  using Parameter = std::optional<std::string>;  // absent: NULL

  // Runs one statement with parameters $1, $2, ... given as text; one with a zero byte is
  // INVALID_ARGUMENT. A replication command that
  // starts a copy returns at once; the copy goes on with raw().
  absl::StatusOr<QueryResult> Query(const std::string& statement,
                                    absl::Span<const Parameter> parameters = {});

  // Runs statements separated by semicolons, without parameters, as one transaction.
  absl::StatusOr<QueryResult> Execute(const std::string& statements);

  // A statement after which names are PostgreSQL's own or qualified, so that no function or
  // operator of others is taken for one of them. Not where triggers of applications may run.
  static constexpr char kSystemNamesOnly[] = "SET search_path = pg_catalog";

  // Statements that give the rest of a transaction the settings by which values are text, where
  // a trigger may have changed them since the connection was opened.
  static std::string SetTextSettings();

  bool is_open() const { return PQstatus(connection_.get()) == CONNECTION_OK; }

  // For COPY and its like; stays with this.
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
