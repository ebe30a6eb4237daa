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

// Holds the times that the sidecar knows of the rows of a table by commit time that was rewritten,
// where no event trigger did (sql/held_times.h). VACUUM FULL and CLUSTER, too, make another file,
// in which rows that a rewrite left are in other places.
//
// A row is as a rewrite left it if its transaction had ended when the sidecar knew all changes, and
// the sidecar knows an earlier time of the row: a change would have been in the stream. So the
// table must be followed without a gap, and a file is chosen only after Look() saw the same file
// before and after all transactions had ended that may have written its rows.
//
// For one thread.
class RewrittenRows {
 public:
  // Does nothing for a table that does not go by commit times. `table` must outlive this.
  explicit RewrittenRows(const TableDefinition& table);

  // Whether a file is another one than the times that are known belong to.
  bool is_due() const { return !changed_.empty(); }
  // The same of one partition, or of the table, by oid: what it holds is not to be read yet.
  bool IsDue(uint32_t relation) const;
  // Whether some of the files that are due wait for transactions to end.
  bool is_waiting() const;
  // Whether Hold() may go on with files that Look() has chosen, once the sidecar knows all changes
  // up to the choice. Other files are seen meanwhile, and chosen after Finish().
  bool is_ready() const { return !chosen_.empty(); }
  // How often files have been chosen: all items are to be given to Hold() after each time.
  int64_t choices() const { return choices_; }

  // REQUIRES: all rows have been read, and the table is in the publication where it was.
  // `is_to_be_read` says of which partitions, by oid, rows are missing.
  absl::Status Look(PatientQuery& database, absl::FunctionRef<bool(uint32_t)> is_to_be_read);
  // All that was seen counts no more.
  void Reset();

  // What is waited for, in words that follow the table's name; empty: nothing is due.
  std::string state() const;

  // Holds the times of the items of a page; returns of how many rows. REQUIRES: is_ready().
  absl::StatusOr<int64_t> Hold(PatientQuery& database, const v1::ListItemsResponse& page) const;
  // All items were given to Hold(): the times belong to the chosen files from now on.
  absl::Status Finish(PatientQuery& database);

 private:
  // Of a table, or of a leaf of a partitioned one.
  struct File {
    uint32_t relation = 0;
    uint32_t filenode = 0;
    std::string attached;  // another one after it was detached
    friend bool operator==(const File&, const File&) = default;
  };
  enum class Stage { kSeen, kEnded, kReady };
  struct ChangedFile {
    File file;
    Stage stage = Stage::kSeen;
    uint64_t horizon = 0;  // the rewrite is of an earlier transaction
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
  const std::string hold_statement_;  // empty: nothing is to be held
  std::vector<ChangedFile> changed_;  // in the order of their oids
  std::vector<File> chosen_;          // of changed_
  uint64_t horizon_ = 0;              // the latest one of those that were chosen
  int64_t choices_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_REWRITTEN_ROWS_H_
