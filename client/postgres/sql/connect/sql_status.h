#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_

#include <libpq-fe.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// How to go on after an error of this SQLSTATE; see SqlState() in sql_error.h.
absl::StatusCode CodeOfSqlState(absl::string_view sql_state);

// The error that a result is, with its SQLSTATE. A connection that is lost makes it
// UNAVAILABLE, whatever it is. `result` may be null: libpq could not even make one.
absl::Status StatusOfResult(const PGresult* result, PGconn* connection);

// Why a connection could not be opened. It must have been opened with PQERRORS_VERBOSE,
// since there is no other way to the SQLSTATE.
absl::Status StatusOfFailedOpen(PGconn* connection);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_
