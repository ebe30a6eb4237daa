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

// Progress of reading the rows of one table. Stored in the database: see `progress` in
// sql/schema_layout.h.
struct TableProgress {
  // All rows up to this key are tracked; empty: start with the first row.
  std::vector<std::string> scan_after;
  bool scan_done = false;
  int64_t scanned = 0;  // rows

  // Where the search for ghosts continues: a page_token of ListItems.
  std::string ghosts_after;
  bool ghosts_done = false;

  // The partitions whose rows the fields above cover, as pairs of oid and mark (table_catalog.h).
  // Absent: unknown.
  std::optional<std::vector<uint32_t>> partitions;

  // Identifies the table, its configuration and publication entry, and the container; after a
  // change the table is read again.
  std::string source;

  friend bool operator==(const TableProgress&, const TableProgress&) = default;

  // Resets everything but `source`.
  void StartOver() {
    std::string same = std::move(source);
    *this = TableProgress();
    source = std::move(same);
  }
};

// Returns all stored progress, by container.
absl::StatusOr<std::map<std::string, TableProgress>> LoadProgress(PatientQuery& database,
                                                                  const std::string& schema);

// Deletes the progress of a container; durable on return.
absl::Status ForgetProgress(PatientQuery& database, const std::string& schema,
                            const std::string& container);

// Stores the progress of a container; durable on return.
absl::Status StoreProgress(PatientQuery& database, const std::string& schema,
                           const std::string& container, const TableProgress& progress);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_PROGRESS_H_
