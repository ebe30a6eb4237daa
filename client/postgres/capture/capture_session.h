#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_options.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/pgoutput.h"
#include "client/postgres/capture/stream/position_keeper.h"
#include "client/postgres/capture/stream/position_tracker.h"
#include "client/postgres/capture/stream/relation_map.h"
#include "client/postgres/capture/stream/replication_stream.h"
#include "client/postgres/capture/stream/row_change.h"
#include "client/postgres/capture/stream/slot_keeper.h"
#include "client/postgres/capture/stream/source_position.h"
#include "client/postgres/capture/stream/unseen_transactions.h"
#include "client/postgres/capture/stream/wake_event.h"
#include "client/postgres/capture/tables/changed_rows.h"
#include "client/postgres/capture/tables/known_containers.h"
#include "client/postgres/capture/tables/scan_display.h"
#include "client/postgres/capture/tables/table_progress.h"
#include "client/postgres/capture/tables/table_reading.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"
#include "grpcpp/channel.h"
#include "service/base/wall_clock.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// CaptureSession is one attempt of a capture, from connecting to the first error. The next session
// captures again everything that is not durable in the sidecar by then. Not thread-safe.
class CaptureSession {
 public:
  // All must outlive the session.
  struct Parts {
    const Config& config;
    const std::vector<TableDefinition>& tables;
    const std::shared_ptr<grpc::Channel>& sidecar;
    const WallClock& clock;
    const KnownContainers& containers;
    const CaptureOptions& options;
    VisiblePosition& visible;
    CaptureStatusBoard& board;
    SlotKeeper& slot;
    WakeEvent& wake;
    const std::atomic<bool>& stop;
  };

  explicit CaptureSession(const Parts& parts);

  // Runs until `stop` is set, and then returns OK, or until an error.
  absl::Status Run();

  // Whether the sidecar has acknowledged changes, so that the next attempt can start after a short
  // pause.
  bool has_worked() const { return has_worked_; }

 private:
  // Steps before the stream starts.
  absl::Status Prepare();
  void AwaitSidecar();
  // Keeps the tables whose containers exist in the sidecar; NOT_FOUND if none does.
  absl::Status ChooseTables();
  void ShowLeftOut();
  absl::Status OpenDatabase();
  absl::Status ReadTableTypes();
  absl::Status LoadTables();
  absl::StatusOr<uint64_t> OpenSlot();
  void ShowWaiting(bool waits);
  absl::Status AskKeeper();
  absl::Status AwaitKeeper();
  // Durably resets the progress of all tables, so that they are read again. Returns whether any of
  // them had progress, that is, whether changes may have been lost.
  absl::StatusOr<bool> StartOver();
  absl::Status FollowOn(uint64_t start, uint64_t wal_end);
  absl::Status StartStream();
  absl::Status StartReading(uint64_t start);

  // Steps while the stream runs.
  absl::Status Work();
  bool MayTake() const;
  absl::StatusOr<bool> TakeFromStream();
  absl::Status Handle(const ReplicationStream::Message& message);
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
  absl::Status NoteGroups(const StreamedTable& table, absl::StatusOr<RowReports> row);
  // Sends a written row; a row of a table with `where`, or of a group, is looked up first.
  absl::Status SendWritten(const StreamedTable& table, absl::StatusOr<RowReports> row);
  absl::Status Send(const StreamedTable& table, absl::StatusOr<RowReports> row);
  void AddReports(size_t table, RowReports row);
  absl::Status LookUpChanged(absl::Time now);
  size_t changed_rows() const;
  absl::StatusOr<bool> ReadTables(absl::Time now);
  absl::StatusOr<bool> StepTables(absl::Time now);
  void ShowScan(absl::Time now);
  absl::StatusOr<bool> SeesAll();
  absl::Status Acknowledge(absl::Time now);
  absl::Status KeepPosition(absl::Time now);
  // The LSN up to which the server may discard WAL.
  uint64_t Confirmed() const;
  absl::Status LookAtSnapshots(absl::Time now);
  absl::Status LookAtCatalog(absl::Time now);
  // The oids of the entries in the publication, by TablesOf(); 0: not published.
  using Places = std::vector<uint32_t>;
  absl::Status LookAtTable(size_t number, const Places& places);
  absl::Status CheckContainers();
  void ShowStatus(absl::Time now);
  // Parts of ShowStatus().
  void ShowProblem(absl::Time now, CaptureStatus& status);
  void ShowTables(CaptureStatus& status);
  std::optional<absl::Time> OldestCommit() const;
  std::string State() const;
  absl::Duration LongestWait(absl::Time now) const;
  absl::Status WithAdvice(absl::Status status);

  // Returns an error if a running query must stop. Also sends keepalives, so that the server does
  // not time out the stream.
  absl::Status Meanwhile();
  void NoteUntrackable(const TableDefinition& table, const absl::Status& why);
  std::string SourceOf(const TableDefinition& table, absl::string_view create_time,
                       const Places& places) const;

  const Parts parts_;
  const std::unique_ptr<v1::ItemService::Stub> stub_;

  std::vector<TableDefinition> tables_;          // the followed tables
  std::vector<TableDefinition> items_;           // GroupsAsRows() of them
  std::map<std::string, std::string> left_out_;  // containers of the other tables, with the reason

  std::unique_ptr<Connection> connection_;
  std::unique_ptr<PatientQuery> database_;
  std::unique_ptr<ReplicationStream> stream_;
  std::unique_ptr<ReportPipeline> pipeline_;
  PositionKeeper keeper_;
  std::unique_ptr<RelationMap> relations_;
  std::vector<ColumnTypes> types_;         // by TablesOf() of each table
  std::vector<TableProgress> progress_;    // by table, as loaded at the start
  std::vector<std::string> create_times_;  // creation times of the containers, by table
  std::vector<Places> places_;             // by table
  std::vector<std::unique_ptr<TableReading>> readings_;  // by table

  SourcePosition source_;  // identifies the server; its lsn is unused
  PositionTracker positions_{0};
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
  uint64_t wal_end_ = 0;
  uint64_t flushed_at_start_ = 0;
  absl::Duration interval_ = absl::Seconds(1);
  uint64_t containers_version_ = 0;
  int64_t row_changes_ = 0;
  int64_t transactions_ = 0;
  uint64_t shown_reports_ = 0;
  int64_t shown_refused_ = 0;
  bool has_worked_ = false;
  bool has_news_ = false;  // a position was kept but not sent yet
  absl::Time last_keep_ = absl::InfinitePast();
  absl::Time last_status_ = absl::InfinitePast();
  absl::Time last_snapshot_ = absl::InfinitePast();
  absl::Time last_catalog_ = absl::InfinitePast();
  absl::Time last_show_ = absl::InfinitePast();
  // When a reading started to wait for older transactions.
  absl::Time waiting_since_ = absl::InfiniteFuture();
  absl::Time last_untrackable_ = absl::InfinitePast();
  int64_t unlogged_ = 0;
  ScanDisplay display_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_
