#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_SCAN_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_SCAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/row_change.h"
#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Reads the rows of a table, or of one of its partitions, page by page in the order of the key.
class TableScan {
 public:
  explicit TableScan(TableDefinition table, std::string restriction = "");
  // Reads that partition alone, by the rights that we have to the table. `bounds`: the condition
  // that its rows fulfil, so that the planner looks at no other; may be empty.
  static TableScan OfPartition(const TableDefinition& table, uint32_t partition,
                               absl::string_view bounds);

  struct Page {
    int rows = 0;
    bool is_last = false;
    std::vector<std::string> last_key;  // empty if there are no rows
  };

  // Reads at most `limit` rows that come after the key `after`; empty: from the beginning.
  // Each is reported with the sequence `lsn`, which has to be a VisiblePosition::Get() from
  // before the call. One that cannot be read is reported as untrackable, in a page of its own;
  // those that `where` does not take in are not. Errors are those of Connection, nothing is
  // reported then.
  absl::StatusOr<Page> ReadPage(PatientQuery& database, const std::vector<std::string>& after,
                                int limit, uint64_t lsn, absl::Time now,
                                absl::FunctionRef<void(RowReports)> take) const;

 private:
  // A page of the next row, which cannot be read, and `why`.
  absl::StatusOr<Page> PassRow(PatientQuery& database,
                               const std::vector<Connection::Parameter>& after, uint64_t lsn,
                               const absl::Status& why,
                               absl::FunctionRef<void(RowReports)> take) const;

  const TableDefinition table_;
  const RowSelect select_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_SCAN_H_
