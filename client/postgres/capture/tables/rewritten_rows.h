#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_REWRITTEN_ROWS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_REWRITTEN_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/sql/table_definition.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl::postgres {

// Holds the sidecar's times for the rows of a rewritten table by commit time, where the event
// triggers did not (sql/held_times.h). VACUUM FULL and CLUSTER also create a new file, in which
// rows that a rewrite left are at other places.
//
// A row is as the rewrite left it if its transaction had ended when the sidecar had all changes,
// and the sidecar has an earlier time for the row: a change would have been streamed. So the table
// must be followed without a gap, and a file is chosen only after Look() saw it both before and
// after all transactions ended that may have written its rows.
//
// Not thread-safe.
class RewrittenRows {
 public:
  // Does nothing for a table that does not use commit times. `table` must outlive this.
  explicit RewrittenRows(const TableDefinition& table);

  // Whether a file differs from the one that the sidecar's times belong to.
  bool is_due() const { return !changed_.empty(); }
  // The same for one partition, or for the table, by oid: its rows must not be read yet.
  bool IsDue(uint32_t relation) const;
  // Whether a file that is due waits for transactions to end.
  bool is_waiting() const;
  // Whether Look() has chosen files for Hold(), which may start once the sidecar has all changes up
  // to the choice. Files that change meanwhile are chosen after Finish().
  bool is_ready() const { return !chosen_.empty(); }
  // How often files were chosen. Hold() must see all items after each choice.
  int64_t choices() const { return choices_; }

  // Looks for changed files. REQUIRES: all rows have been read, and the table's entry in the
  // publication is unchanged. `is_to_be_read` returns whether the rows of a partition, by oid, are
  // still to be read.
  absl::Status Look(PatientQuery& database, absl::FunctionRef<bool(uint32_t)> is_to_be_read);
  // Forgets all changed files.
  void Reset();

  // The current state, for humans, to follow the table's name; empty: nothing is due.
  std::string state() const;

  // Holds the times of the items of a page; returns the number of rows held. REQUIRES: is_ready().
  absl::StatusOr<int64_t> Hold(PatientQuery& database, const v1::ListItemsResponse& page) const;
  // Hold() has seen all items: the sidecar's times belong to the chosen files from now on.
  absl::Status Finish(PatientQuery& database);

 private:
  // The file of a table, or of a leaf partition.
  struct File {
    uint32_t relation = 0;
    uint32_t filenode = 0;
    std::string attached;  // changes when the partition is detached
    friend bool operator==(const File&, const File&) = default;
  };
  enum class Stage { kSeen, kEnded, kReady };
  struct ChangedFile {
    File file;
    Stage stage = Stage::kSeen;
    uint64_t horizon = 0;  // the rewriting transaction is earlier
  };
  struct Known {
    std::vector<std::string> key;
    int64_t ts = 0;
  };

  absl::Status Know(PatientQuery& database, absl::Span<const File> files) const;
  void Note(std::vector<File> changed);
  absl::Status LookAgain(PatientQuery& database);
  void Choose();
  std::vector<Known> KnownOf(const v1::ListItemsResponse& page) const;
  absl::StatusOr<int64_t> Hold(PatientQuery& database, absl::Span<const Known> items) const;

  const TableDefinition& table_;
  const std::string hold_statement_;  // empty: the table does not use commit times
  std::vector<ChangedFile> changed_;  // in the order of their oids
  std::vector<File> chosen_;          // a subset of changed_
  uint64_t horizon_ = 0;              // the latest horizon of the chosen files
  int64_t choices_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_REWRITTEN_ROWS_H_
