#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_PROGRESS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"

namespace ttl::postgres {

// How far the rows of one table are read, kept in the database: see `progress` in
// sql/schema_layout.h.
struct TableProgress {
  // The last key of which all rows up to it are tracked; empty: begin with the first.
  std::vector<std::string> scan_after;
  bool scan_done = false;
  int64_t scanned = 0;  // rows

  // Where the search for ghosts goes on, a page_token of ListItems.
  std::string ghosts_after;
  bool ghosts_done = false;

  // Of a partitioned table: the partitions whose rows are in the two above, as pairs of oid and
  // mark (table_catalog.h). Absent: not known.
  std::optional<std::vector<uint32_t>> partitions;

  // What was read, and into what: other words for something else.
  std::string source;

  friend bool operator==(const TableProgress&, const TableProgress&) = default;

  // All has to be read again.
  void StartOver() {
    std::string same = std::move(source);
    *this = TableProgress();
    source = std::move(same);
  }
};

// All there is, by container.
absl::StatusOr<std::map<std::string, TableProgress>> LoadProgress(PatientQuery& database,
                                                                  const std::string& schema);

// Nothing is known of this one any more; durable when it returns.
absl::Status ForgetProgress(PatientQuery& database, const std::string& schema,
                            const std::string& container);

// Durable when it returns.
absl::Status StoreProgress(PatientQuery& database, const std::string& schema,
                           const std::string& container, const TableProgress& progress);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_PROGRESS_H_
