#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace ttl::postgres {

// The SQLSTATE of an error that the server returned to a Connection; empty for other errors. The
// code of the status only tells how to continue: INVALID_ARGUMENT, PERMISSION_DENIED, NOT_FOUND (no
// such table, column, slot...), ALREADY_EXISTS, ABORTED (retry: deadlock, lock or statement
// timeout, serialization), FAILED_PRECONDITION (constraints, triggers, settings),
// RESOURCE_EXHAUSTED, UNAVAILABLE (connection lost), else INTERNAL.
std::string SqlState(const absl::Status& status);

// The primary message of the server. It is the same for every row with the same cause: the values
// are in the detail, which only the status message includes. Empty if SqlState() is empty.
std::string SqlMessage(const absl::Status& status);

// Whether a query failed because of its text: names, types, values, or an unsupported operation.
bool IsAboutTheStatement(const absl::Status& status);

// Whether a query failed because of the values of a row, such as a division by zero in a condition
// or an exception of a function, and not because of the connection, a lock, a missing resource, or
// a name in the statement.
bool IsFaultOfRow(const absl::Status& status);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_
