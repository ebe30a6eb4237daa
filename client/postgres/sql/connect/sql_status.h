#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_

#include <libpq-fe.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Returns the code for an error with this SQLSTATE; see SqlState() in sql_error.h.
absl::StatusCode CodeOfSqlState(absl::string_view sql_state);

// Converts a result to an error with its SQLSTATE. The code is UNAVAILABLE if the connection is
// lost. `result` may be null if libpq could not create one.
absl::Status StatusOfResult(const PGresult* result, PGconn* connection);

// Why a connection could not be opened. REQUIRES: PQERRORS_VERBOSE was set, since the SQLSTATE is
// available only in the verbose message.
absl::Status StatusOfFailedOpen(PGconn* connection);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_STATUS_H_
