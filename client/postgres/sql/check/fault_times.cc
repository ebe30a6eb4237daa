#include "client/postgres/sql/check/fault_times.h"

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {

std::string LeftOutFault(const std::string& container) {
  return absl::StrCat("container ", container);
}

absl::StatusOr<FaultTimes> RecordFaults(Connection& connection, const std::string& schema,
                                        const std::vector<std::string>& faults) {
  const std::string table = QuoteQualified(schema, "faults");
  ArrayText names;
  for (const std::string& fault : faults) names.Add(fault);
  const std::string array = names.Take();
  TTL_RETURN_IF_ERROR(
      connection
          .Query(absl::StrCat("DELETE FROM ", table, " WHERE NOT fault = ANY ($1::text[])"),
                 {array})
          .status());
  TTL_RETURN_IF_ERROR(
      connection
          .Query(absl::StrCat("INSERT INTO ", table, " SELECT fault, now() FROM unnest(",
                              "$1::text[]) AS fault ON CONFLICT DO NOTHING"),
                 {array})
          .status());
  return ReadFaults(connection, schema);
}

absl::StatusOr<FaultTimes> ReadFaults(Connection& connection, const std::string& schema) {
  TTL_ASSIGN_OR_RETURN(
      const auto rows,
      connection.Query(absl::StrCat("SELECT fault, floor(extract(epoch FROM since))::bigint FROM ",
                                    QuoteQualified(schema, "faults"))));
  FaultTimes times;
  for (int row = 0; row < rows.rows(); ++row) {
    times[std::string(rows.Text(row, 0))] = absl::FromUnixSeconds(rows.Number(row, 1));
  }
  return times;
}

}  // namespace ttl::postgres
