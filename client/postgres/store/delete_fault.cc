#include "client/postgres/store/delete_fault.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/postgres/sql/connection.h"

namespace ttl::postgres {
namespace {

struct FaultOfPrefix {
  absl::string_view prefix;  // of a SQLSTATE; the first that fits counts
  DeleteFault fault;
};

constexpr FaultOfPrefix kFaults[] = {
    {"08", DeleteFault::kDatabase},    // connection
    {"25", DeleteFault::kDatabase},    // read-only, idle in a transaction for too long
    {"53", DeleteFault::kDatabase},    // disk, memory, connections
    {"57014", DeleteFault::kTimeout},  // statement timeout
    {"57", DeleteFault::kDatabase},    // shutting down
    {"58", DeleteFault::kDatabase},    // input and output
    {"55P03", DeleteFault::kLock},     // lock timeout
    {"40", DeleteFault::kConflict},    // deadlock, serialization
    {"42", DeleteFault::kDefinition},  // names, rights
    {"3F", DeleteFault::kDefinition},  // schema
};

}  // namespace

DeleteFault FaultOf(const absl::Status& status) {
  const std::string sql_state = SqlState(status);
  // Not the server's words, or its last ones.
  if (sql_state.empty() || absl::IsUnavailable(status)) return DeleteFault::kDatabase;
  for (const FaultOfPrefix& known : kFaults) {
    if (absl::StartsWith(sql_state, known.prefix)) return known.fault;
  }
  return DeleteFault::kRow;
}

std::string ReasonOf(const absl::Status& status) {
  return absl::StrCat(SqlMessage(status), " (SQLSTATE ", SqlState(status), ")");
}

}  // namespace ttl::postgres
