#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CHANGE_READER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CHANGE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/pgoutput.h"
#include "client/postgres/capture/stream/position_tracker.h"
#include "client/postgres/capture/stream/relation_map.h"
#include "client/postgres/capture/stream/replication_stream.h"
#include "client/postgres/capture/stream/row_change.h"
#include "client/postgres/capture/stream/unseen_transactions.h"
#include "client/postgres/capture/tables/captured_tables.h"
#include "client/postgres/capture/tables/changed_rows.h"
#include "client/postgres/capture/tables/table_readings.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// ChangeReader turns the messages of the replication stream into reports. The rows of a table with
// `where`, and of a group, are not reported as they are in the stream: they wait until they are
// looked up together, and the transactions that wrote them end for `positions` only then. Not
// thread-safe.
class ChangeReader {
 public:
  // All must outlive the reader.
  struct Parts {
    const CapturedTables& tables;
    PatientQuery& database;
    ReportPipeline& pipeline;
    TableReadings& readings;
    PositionTracker& positions;
    const WallClock& clock;
  };

  // The stream starts at the LSN `start`.
  ChangeReader(const Parts& parts, uint64_t start);

  // Whether there is room for what Read() makes of further messages.
  bool CanRead() const;
  // Handles the messages that have arrived, up to some bound; returns whether there were any.
  absl::StatusOr<bool> Read(ReplicationStream& stream);

  // Looks up the rows that wait for it, if queries see their changes and there is room for the
  // reports.
  absl::Status LookUpChanged(absl::Time now);
  bool has_changed_rows() const { return changed_rows() > 0; }

  // Whether queries see every change that was read.
  absl::StatusOr<bool> QueriesSeeAll();
  // The transactions for which that is not known.
  size_t unseen() const { return unseen_.size(); }

  // The commit time of the first transaction whose reports are not durable; absent: there is none.
  std::optional<absl::Time> OldestCommit() const;
  // The server's WAL position, as of its last message.
  uint64_t wal_end() const { return wal_end_; }
  // Counts since the start.
  int64_t transactions() const { return transactions_; }
  int64_t row_changes() const { return row_changes_; }

 private:
  absl::Status Handle(const ReplicationStream::Message& message);
  void HandleKeepalive(uint64_t wal_end);
  absl::Status Handle(const BeginMessage& message);
  absl::Status Handle(const CommitMessage& message);
  absl::Status Handle(const RelationMessage& message);
  absl::Status Handle(const InsertMessage& message);
  absl::Status Handle(const UpdateMessage& message);
  absl::Status Handle(const DeleteMessage& message);
  absl::Status Handle(const TruncateMessage& message);
  template <typename Other>
  absl::Status Handle(const Other&) {
    return absl::OkStatus();
  }
  // Returns the followed table of a row; null if the table is not followed, or if its rows cannot
  // be parsed, in which case the table is read again later.
  absl::StatusOr<const StreamedTable*> TableOf(uint32_t relation);
  // Notes the groups of a changed row, which are looked up.
  void NoteGroups(const StreamedTable& table, RowReports row);
  // Sends a written row; a row of a table with `where`, or of a group, is looked up first.
  void SendWritten(const StreamedTable& table, RowReports row);
  void NoteChanged(size_t table, Report report);
  void AddReports(size_t table, RowReports row);
  size_t changed_rows() const;

  const Parts parts_;
  RelationMap relations_;
  UnseenTransactions unseen_;
  std::vector<ChangedRows> changed_;  // by table
  absl::Time look_up_at_ = absl::InfinitePast();
  // The transactions that ended while changed rows wait for their lookup.
  struct Ended {
    uint64_t end_lsn;
    absl::Time first_commit;
  };
  std::optional<Ended> ended_;
  std::optional<StreamedTransaction> transaction_;  // set between its BEGIN and COMMIT
  uint64_t wal_end_;
  int64_t row_changes_ = 0;
  int64_t transactions_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CHANGE_READER_H_
