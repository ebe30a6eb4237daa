#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"

// Start times of faults, in the table `faults` of the schema, so that they outlive the process that
// found them.
namespace ttl::postgres {

using FaultTimes = std::map<std::string, absl::Time>;

// Names of the fault of an installed object, and of the fault of a table that is left out.
inline constexpr char kInstallationFault[] = "installation";
std::string LeftOutFault(const std::string& container);

// Replaces the recorded faults: a fault that was recorded before keeps its time, the others start
// now.
absl::StatusOr<FaultTimes> RecordFaults(Connection& connection, const std::string& schema,
                                        const std::vector<std::string>& faults);

// Reads the recorded faults.
absl::StatusOr<FaultTimes> ReadFaults(Connection& connection, const std::string& schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_FAULT_TIMES_H_
