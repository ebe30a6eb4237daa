#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"

// Since when something has been wrong, in the table `faults` of the schema, so that it outlives the
// process that found it.
namespace ttl::postgres {

using FaultTimes = std::map<std::string, absl::Time>;

// The names of a fault of what is installed, and of a table that is left out.
inline constexpr char kInstallationFault[] = "installation";
std::string LeftOutFault(const std::string& container);

// From now on these are the faults: what was one before keeps its time, others begin now.
absl::StatusOr<FaultTimes> RecordFaults(Connection& connection, const std::string& schema,
                                        const std::vector<std::string>& faults);

// What was recorded last.
absl::StatusOr<FaultTimes> ReadFaults(Connection& connection, const std::string& schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_
