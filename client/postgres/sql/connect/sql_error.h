#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace ttl::postgres {

// The SQLSTATE of an error that the server gave a Connection; empty if there was none.
// The code of the status says only how to go on: INVALID_ARGUMENT, PERMISSION_DENIED,
// NOT_FOUND (no such table, column, slot...), ALREADY_EXISTS, ABORTED (try again: deadlock,
// lock or statement timeout, serialization), FAILED_PRECONDITION (constraints, triggers,
// settings), RESOURCE_EXHAUSTED, UNAVAILABLE (connection lost), else INTERNAL.
std::string SqlState(const absl::Status& status);

// The server's message alone. The same cause has the same words, whatever the row: the values
// are in the detail, which the message of the status has too. Empty if SqlState() is.
std::string SqlMessage(const absl::Status& status);

// Whether a query failed for what its text says: names, types, values, or what cannot be done so.
bool IsAboutTheStatement(const absl::Status& status);

// Whether a query failed for the values of a row, as where a condition divides by zero or a
// function raises: not for the connection, a lock, a lack of anything, or what the statement names.
bool IsFaultOfRow(const absl::Status& status);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_SQL_ERROR_H_
