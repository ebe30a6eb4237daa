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

// Reads the rows of a table, or of one of its partitions, page by page in key order.
class TableScan {
 public:
  explicit TableScan(TableDefinition table, std::string restriction = "");
  // Reads only the given partition, with the privileges on the table. `bounds` is the condition
  // that the partition's rows satisfy, so that the planner skips other partitions; may be empty.
  static TableScan OfPartition(const TableDefinition& table, uint32_t partition,
                               absl::string_view bounds);

  struct Page {
    int rows = 0;
    bool is_last = false;
    std::vector<std::string> last_key;  // empty if there are no rows
  };

  // Reads at most `limit` rows after the key `after`; empty: from the beginning. Each is reported
  // with the sequence `lsn`, which must be a VisiblePosition::Get() from before the call. A row
  // that cannot be read is reported as untrackable, in a page of its own; rows that do not satisfy
  // `where` are not reported. On an error, which is that of Connection, nothing is reported.
  absl::StatusOr<Page> ReadPage(PatientQuery& database, const std::vector<std::string>& after,
                                int limit, uint64_t lsn, absl::Time now,
                                absl::FunctionRef<void(RowReports)> take) const;

 private:
  // Returns a page of the next row, which cannot be read because of `why`.
  absl::StatusOr<Page> PassRow(PatientQuery& database,
                               const std::vector<Connection::Parameter>& after, uint64_t lsn,
                               const absl::Status& why,
                               absl::FunctionRef<void(RowReports)> take) const;

  const TableDefinition table_;
  const RowSelect select_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_SCAN_H_
