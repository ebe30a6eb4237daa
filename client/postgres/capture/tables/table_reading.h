#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READING_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_options.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/row_change.h"
#include "client/postgres/capture/tables/item_lister.h"
#include "client/postgres/capture/tables/key_lookup.h"
#include "client/postgres/capture/tables/rewritten_rows.h"
#include "client/postgres/capture/tables/table_catalog.h"
#include "client/postgres/capture/tables/table_progress.h"
#include "client/postgres/capture/tables/table_scan.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/table_definition.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// Brings into the sidecar what the stream does not say of one table: the rows that were there
// before (the first scan), partitions that are attached, and what has gone unsaid (ghosts:
// items without a row). In small steps between the messages of the stream, by the thread that
// handles these: so a row that is deleted after it was read is untracked after it was tracked.
// How far it is is noted in the database once the reports are durable.
//
// For one thread.
class TableReading {
 public:
  // What it works with. All must outlive it.
  struct Parts {
    PatientQuery& database;
    const std::string& schema;  // of our own tables
    v1::ItemService::Stub& sidecar;
    ReportPipeline& pipeline;
    const VisiblePosition& visible;
    const CaptureOptions& options;
    std::function<void()> on_change;  // when Step() may have more to do; by any thread
    // Every row that cannot be tracked.
    std::function<void(const TableDefinition&, const absl::Status&)> on_untrackable;
  };

  // Goes on from `noted`, as soon as VisiblePosition::Get() has reached `needed`: what is not
  // in the stream from here on must be in what queries see.
  TableReading(const TableDefinition& table, Parts parts, TableProgress noted, uint64_t needed);

  // Whether there is nothing to read.
  bool is_done() const;
  // Whether Step() has something to do.
  bool has_work() const { return !is_done() || rewritten_.is_ready(); }

  // Does a little, if there is something that can be done; returns whether it did. `sees_all`
  // asks whether queries see everything that was taken from the stream.
  absl::StatusOr<bool> Step(absl::FunctionRef<absl::StatusOr<bool>()> sees_all, absl::Time now);

  // Everything is to be read again, since changes up to `lsn` were not understood. Noted when
  // it returns.
  absl::Status ReadAgain(uint64_t lsn);
  // Rows have gone up to `lsn` (TRUNCATE). Noted when it returns.
  absl::Status SearchGhosts(uint64_t lsn);
  // Looks whether the set of partitions has changed, or a table by commit time was rewritten, and
  // does what follows. REQUIRES: the table has the place in the publication that it had.
  absl::Status CheckFiles();

  // Notes what is durable by now, unless it did so just before and is not done.
  absl::Status Note(absl::Time now);

  // Whether it can go on only when transactions have ended that others began.
  bool is_waiting() const {
    return rewritten_.is_waiting() || (has_work() && parts_.visible.Get() < needed_);
  }
  // What is being done after a rewrite of the table, in words; empty: nothing.
  std::string RewriteText() const;

  // Counts a row of the stream or of a scan if it cannot be tracked or is exempt.
  void Count(const RowReports& row);

  // How far it is; counts are of this object's life.
  TableStatus status() const;
  // The same, but counts are added to what is there.
  void ShowIn(TableStatus& status);

 private:
  struct Pending {
    uint64_t reports;  // in the pipeline before it counts
    TableProgress progress;
  };

  // One page each; false if it has to be tried later.
  absl::StatusOr<bool> SweepPage(absl::Time now);
  absl::StatusOr<bool> ScanPage(const TableScan& scan, std::vector<std::string>& after,
                                absl::Time now, bool& finished);
  absl::StatusOr<bool> ScanTable(absl::Time now);
  absl::StatusOr<bool> ScanAddedPartition(absl::Time now);

  absl::Status CheckPartitions();
  absl::Status CheckRewrites();
  absl::StatusOr<bool> HoldPage(absl::Time now);
  bool IsTurnToHold() const;
  void LogRewrite();
  // Moves one that can be read to the front of `added_`; false if there is none.
  bool ChooseAddition();

  bool ForgetLostAdditions(const std::vector<Partition>& partitions);
  absl::Status PartitionsLost(const std::vector<Partition>& partitions);
  absl::Status PartitionsAdded(const std::vector<Partition>& partitions);

  absl::Status Untrack(const v1::ListItemsResponse& page);
  void Take(RowReports row);
  // Counts once all reports so far are durable.
  void Advanced();
  // Applies the same to all states, and notes it.
  absl::Status Change(absl::FunctionRef<void(TableProgress&)> change);
  // To be done again with what is visible now.
  absl::Status NeedPresent();
  // With all that has been committed, on disk or not.
  absl::Status NeedAllCommitted();

  const TableDefinition& table_;
  const Parts parts_;
  const TableScan scan_;
  const KeyLookup lookup_;
  ItemLister lister_;

  TableProgress read_;     // with all that is in the pipeline
  TableProgress durable_;  // with all that is durable
  TableProgress noted_;    // as in the database
  std::deque<Pending> pending_;
  uint64_t needed_;
  RewrittenRows rewritten_;
  std::string hold_after_;                // a page_token of ListItems
  bool is_holding_ = false;               // the page that was last asked for is for HoldPage()
  std::string logged_;                    // of RewriteText()
  int64_t held_ = 0;                      // rows
  std::vector<Partition> added_;          // to be read
  std::vector<std::string> added_after_;  // of the first of them
  absl::Time retry_at_ = absl::InfinitePast();
  absl::Time last_note_ = absl::InfinitePast();
  int64_t estimated_ = 0;
  bool has_estimate_ = false;
  int64_t ghosts_ = 0;
  int64_t untrackable_ = 0;
  int64_t null_times_ = 0;
  int64_t shown_ghosts_ = 0;
  int64_t shown_untrackable_ = 0;
  int64_t shown_null_times_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READING_H_
