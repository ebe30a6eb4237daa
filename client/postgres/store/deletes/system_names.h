#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_SYSTEM_NAMES_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_SYSTEM_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"

namespace ttl::postgres {

// Runs one statement of a transaction with the system's search path: one that contains the
// operator's text, or names of the catalog. Its rows must not have triggers, which need the
// application's path.
absl::StatusOr<QueryResult> QueryBySystemNames(
    Connection& connection, const std::string& statement,
    const std::vector<Connection::Parameter>& parameters);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_SYSTEM_NAMES_H_
