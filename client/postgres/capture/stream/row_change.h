#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ROW_CHANGE_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ROW_CHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/capture/reports/report.h"
#include "client/postgres/capture/stream/pgoutput.h"
#include "client/postgres/capture/stream/relation_map.h"
#include "client/postgres/row/row_item.h"

// From rows to reports. Pure.
namespace ttl::postgres {

// The transaction that changes are of.
struct StreamedTransaction {
  uint64_t lsn = 0;  // of the commit
  std::string xid;   // a decimal number
  absl::Time commit_time;
};

// What one row, or one change of it, comes to.
struct RowReports {
  std::vector<Report> reports;  // in this order; at most two
  // Why the row, as it is now, cannot be tracked; it is then reported as gone, unless it has
  // a key that never could be tracked.
  absl::Status untrackable;
  // The same without a fault.
  Exemption exemption = Exemption::kNone;
};

// A row that a query returned or the stream brought. `now` bounds how far ahead a _ts may be.
RowReports ReportRow(const TableDefinition& table, const RowTexts& row, const RowVersion& version,
                     absl::Time now);

// Changes of a table whose `fit` is OK. FAILED_PRECONDITION if a message lacks a column that it
// must have, which means a replica identity that does not cover the key; DATA_LOSS if it does
// not have the columns that were described.
absl::StatusOr<RowReports> ReportInsert(const StreamedTable& table, const InsertMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now);
absl::StatusOr<RowReports> ReportUpdate(const StreamedTable& table, const UpdateMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now);
absl::StatusOr<RowReports> ReportDelete(const StreamedTable& table, const DeleteMessage& message,
                                        const StreamedTransaction& transaction);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ROW_CHANGE_H_
