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

// Converts rows and their changes to reports. Pure.
namespace ttl::postgres {

// The transaction of a change.
struct StreamedTransaction {
  uint64_t lsn = 0;  // of the commit
  std::string xid;   // a decimal number
  absl::Time commit_time;
};

// The reports of one row, or of one change of it.
struct RowReports {
  std::vector<Report> reports;  // in this order; at most two
  // Why the row, as it is now, cannot be tracked. It is then reported as gone, unless its key could
  // never be tracked.
  absl::Status untrackable;
  // Why the configuration exempts the row, which is not an error.
  Exemption exemption = Exemption::kNone;
};

// Reports a row from a query or the stream. `now` bounds how far ahead a _ts may be.
RowReports ReportRow(const TableDefinition& table, const RowTexts& row, const RowVersion& version,
                     absl::Time now);

// Report changes of a table whose `fit` is OK. FAILED_PRECONDITION if a message lacks a required
// column, which means that the replica identity does not cover the key; DATA_LOSS if its columns
// are not those that were described.
absl::StatusOr<RowReports> ReportInsert(const StreamedTable& table, const InsertMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now);
absl::StatusOr<RowReports> ReportUpdate(const StreamedTable& table, const UpdateMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now);
absl::StatusOr<RowReports> ReportDelete(const StreamedTable& table, const DeleteMessage& message,
                                        const StreamedTransaction& transaction);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ROW_CHANGE_H_
