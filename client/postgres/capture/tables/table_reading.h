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

// TableReading reports to the sidecar the state of one table that the stream lacks: the rows that
// existed before (the first scan), attached partitions, and missed deletes (ghosts: items without a
// row). It works in small steps between the messages of the stream, on the thread that handles
// them: a row that is deleted after it was read is untracked after it was tracked. Progress is
// stored in the database once the reports are durable.
//
// Not thread-safe.
class TableReading {
 public:
  // The dependencies. All must outlive the reading.
  struct Parts {
    PatientQuery& database;
    const std::string& schema;  // of ttl-postgres's own tables
    v1::ItemService::Stub& sidecar;
    ReportPipeline& pipeline;
    const VisiblePosition& visible;
    const CaptureOptions& options;
    std::function<void()> on_change;  // called by any thread when Step() may have more to do
    // Called for every row that cannot be tracked.
    std::function<void(const TableDefinition&, const absl::Status&)> on_untrackable;
  };

  // Resumes from `noted` once VisiblePosition::Get() has reached `needed`: queries must see every
  // change that the stream lacks from here on.
  TableReading(const TableDefinition& table, Parts parts, TableProgress noted, uint64_t needed);

  // Whether there is nothing to read.
  bool is_done() const;
  // Whether Step() has something to do.
  bool has_work() const { return !is_done() || rewritten_.is_ready(); }

  // Does one small step if possible; returns whether it did. `sees_all` returns whether queries see
  // every change received from the stream.
  absl::StatusOr<bool> Step(absl::FunctionRef<absl::StatusOr<bool>()> sees_all, absl::Time now);

  // Restarts the reading, because changes up to `lsn` could not be parsed. Stored on return.
  absl::Status ReadAgain(uint64_t lsn);
  // Restarts the search for ghosts, because rows were removed up to `lsn` (TRUNCATE). Stored on
  // return.
  absl::Status SearchGhosts(uint64_t lsn);
  // Handles a change of the set of partitions, or a rewrite of a table by commit time. REQUIRES:
  // the table's entry in the publication is unchanged.
  absl::Status CheckFiles();

  // Stores the durable progress, at most once per progress_interval until the reading is done.
  absl::Status Note(absl::Time now);

  // Whether the reading waits for other sessions' transactions to end.
  bool is_waiting() const {
    return rewritten_.is_waiting() || (has_work() && parts_.visible.Get() < needed_);
  }
  // The work after a rewrite of the table, for humans; empty: none.
  std::string RewriteText() const;

  // Counts a row of the stream or of a scan if it cannot be tracked or is exempt.
  void Count(const RowReports& row);

  // The progress; counts are since construction.
  TableStatus status() const;
  // Sets the progress in `status`, and adds the counts to those in it.
  void ShowIn(TableStatus& status);

 private:
  struct Pending {
    uint64_t reports;  // count of added reports that must be durable first
    TableProgress progress;
  };

  // Each processes one page; false: retry later.
  absl::StatusOr<bool> SweepPage(absl::Time now);
  absl::StatusOr<bool> ScanPage(const TableScan& scan, std::vector<std::string>& after,
                                absl::Time now, bool& finished);
  absl::StatusOr<bool> ScanTable(absl::Time now);
  absl::StatusOr<bool> ScanAddedPartition(absl::Time now);

  absl::Status CheckPartitions();
  absl::Status CheckGroupTables();
  absl::Status CheckRewrites();
  absl::StatusOr<bool> HoldPage(absl::Time now);
  bool IsTurnToHold() const;
  void LogRewrite();
  // Moves a partition that can be read to the front of `added_`; false if there is none.
  bool ChooseAddition();

  bool ForgetLostAdditions(const std::vector<Partition>& partitions);
  absl::Status PartitionsLost(const std::vector<Partition>& partitions);
  absl::Status PartitionsAdded(const std::vector<Partition>& partitions);

  absl::Status Untrack(const v1::ListItemsResponse& page);
  void Take(RowReports row);
  // Records the progress, to be stored once all reports so far are durable.
  void Advanced();
  // Applies `change` to every recorded progress, and stores the durable one.
  absl::Status Change(absl::FunctionRef<void(TableProgress&)> change);
  // Requires queries to see everything committed and flushed by now before the next step.
  absl::Status NeedPresent();
  // The same for everything committed by now, flushed or not.
  absl::Status NeedAllCommitted();

  const TableDefinition& table_;
  const Parts parts_;
  const TableScan scan_;
  const KeyLookup lookup_;
  ItemLister lister_;

  TableProgress read_;     // including reports in the pipeline
  TableProgress durable_;  // including only durable reports
  TableProgress noted_;    // as stored in the database
  std::deque<Pending> pending_;
  uint64_t needed_;
  RewrittenRows rewritten_;
  std::string hold_after_;                // a page_token of ListItems
  bool is_holding_ = false;               // the last requested page is for HoldPage()
  std::string logged_;                    // the last logged RewriteText()
  int64_t held_ = 0;                      // rows held since the files were chosen
  std::vector<Partition> added_;          // partitions to be read
  std::vector<std::string> added_after_;  // last key read of added_.front()
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
