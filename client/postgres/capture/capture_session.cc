#include "client/postgres/capture/capture_session.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/row/lsn.h"
#include "client/postgres/row/observe_snapshot.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_rows.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr char kApplicationName[] = "ttl-postgres capture";
// Stream messages handled before other work gets a turn.
constexpr int kMessagesPerTurn = 1000;
// The stream is not read while this many rows wait for a lookup; they are looked up together.
constexpr size_t kMaxChangedRows = 1000;
// Pause before a lookup is retried whose table was locked.
constexpr absl::Duration kLookUpPause = absl::Seconds(1);
constexpr absl::Duration kIdleWait = absl::Milliseconds(500);
constexpr absl::Duration kReadingWait = absl::Milliseconds(20);
constexpr absl::Duration kStatusPause = absl::Milliseconds(100);
// Each Keep() costs the sidecar a sync. Changes after the kept position are streamed again by the
// next session.
constexpr absl::Duration kKeepPause = absl::Milliseconds(500);
constexpr absl::Duration kShowInterval = absl::Milliseconds(100);
constexpr absl::Duration kUntrackableLogInterval = absl::Seconds(10);
// Time to wait for the sidecar's first answer.
constexpr absl::Duration kFirstAnswer = absl::Seconds(3);
// A sidecar that has not answered for this long is a problem.
constexpr absl::Duration kAnswerDeadline = absl::Seconds(10);

// row_security: rows that a policy hides would look like deleted rows.
// synchronous_commit: a server crash must not lose stored progress after the slot has advanced.
// client_connection_check_interval: without it, a backend that waits to create a slot would
// continue after this process was killed and leave a slot without a reader. Not every platform
// supports the check.
constexpr char kSettings[] =
    "SET row_security = off; SET lock_timeout = '2s'; SET statement_timeout = 0; SET jit = off; "
    "SELECT pg_catalog.set_config('client_connection_check_interval', '1s', false) "
    "WHERE pg_catalog.version() LIKE '%linux%'; "
    "SELECT pg_catalog.set_config('synchronous_commit', 'local', false) "
    "WHERE pg_catalog.current_setting('synchronous_commit') = 'off'; ";

std::string NamesOf(const std::vector<ColumnDefinition>& columns) {
  std::string names;
  for (const ColumnDefinition& column : columns) {
    absl::StrAppend(&names, " ", column.name, ":", column.type);
  }
  return names;
}

std::string NameOf(const std::optional<ColumnDefinition>& column) {
  return column.has_value() ? absl::StrCat(" ", column->name, ":", column->type) : " -";
}

// The oids of the entries in the publication, by TablesOf(); 0: not published.
std::vector<uint32_t> PlacesOf(const TableDefinition& table,
                               const absl::flat_hash_map<uint32_t, uint32_t>& published) {
  std::vector<uint32_t> places;
  for (const TableDefinition* one : TablesOf(table)) {
    const auto found = published.find(one->oid);
    places.push_back(found == published.end() ? 0 : found->second);
  }
  return places;
}

// Empty for a table without an expires_column, as in earlier versions, so that an upgrade does not
// read such tables again.
std::string EndSourceOf(const TableDefinition& table) {
  if (!table.expires.has_value()) return "";
  const TableConfig& config = table.config;
  return absl::StrCat(
      " expires", NameOf(table.expires),
      config.expires_unit == EpochUnit::kMilliseconds ? " ms" : "",
      table.expires_zone.has_value() ? absl::StrCat(" in ", table.expires_zone->name()) : "",
      config.ends == DayEdge::kEnd ? " end" : "",
      config.expires_null == NullEnd::kInherits ? " or inherits" : "");
}

std::string SourceOfTable(const TableDefinition& table, uint32_t place) {
  const bool is_millis = table.config.ts_unit == EpochUnit::kMilliseconds;
  const std::string& condition = table.config.where;
  const std::string where = condition.empty() ? "" : absl::StrCat(" where ", condition);
  const bool is_renamed = table.config.table != table.configured_table;
  const std::string renamed = is_renamed ? absl::StrCat(" called ", table.config.table) : "";
  return absl::StrCat("table ", table.oid, renamed, " key", NamesOf(table.partition_key), " /",
                      NamesOf(table.id), " ts", NameOf(table.ts), is_millis ? " ms" : "",
                      table.zone.has_value() ? absl::StrCat(" in ", table.zone->name()) : "",
                      " ttl", NameOf(table.ttl), EndSourceOf(table), " size", NameOf(table.size),
                      where, " published ", place);
}

TableStatus StatusOf(const std::vector<TableStatus>& tables, const std::string& container) {
  for (const TableStatus& table : tables) {
    if (table.container == container) return table;
  }
  return TableStatus();
}

}  // namespace

CaptureSession::CaptureSession(const Parts& parts)
    : parts_(parts),
      stub_(v1::ItemService::NewStub(parts.sidecar)),
      keeper_(parts.sidecar, parts.config.sidecar, [this] { parts_.wake.Notify(); }),
      display_(isatty(STDERR_FILENO) != 0) {}

absl::Status CaptureSession::Run() {
  absl::Status status = Prepare();
  if (status.ok()) status = Work();
  if (status.ok() || absl::IsCancelled(status)) return absl::OkStatus();
  return WithAdvice(std::move(status));
}

absl::Status CaptureSession::Prepare() {
  parts_.board.Update([](CaptureStatus& status) { status.state = "connecting"; });
  AwaitSidecar();
  containers_version_ = parts_.containers.version();
  absl::Status status = ChooseTables();
  if (status.ok()) status = OpenDatabase();
  if (status.ok()) status = ReadTableTypes();
  if (status.ok()) status = LoadTables();
  TTL_RETURN_IF_ERROR(status);
  TTL_ASSIGN_OR_RETURN(const auto start, OpenSlot());
  status = StartStream();
  return status.ok() ? StartReading(start) : status;
}

absl::Status CaptureSession::ChooseTables() {
  absl::Status missing;
  for (const TableDefinition& table : parts_.tables) {
    auto time = parts_.containers.CreateTime(table.config.container);
    if (absl::IsNotFound(time.status())) {
      left_out_[table.config.container] = std::string(time.status().message());
      missing.Update(time.status());
      continue;
    }
    TTL_RETURN_IF_ERROR(time.status());
    tables_.push_back(table);
    create_times_.push_back(*std::move(time));
  }
  ShowLeftOut();
  return tables_.empty() ? missing : absl::OkStatus();
}

// Logs each container once across all sessions.
void CaptureSession::ShowLeftOut() {
  parts_.board.Update([this](CaptureStatus& status) {
    for (const auto& [container, why] : left_out_) {
      if (status.left_out.contains(container)) continue;
      spdlog::error("table left out: container=\"{}\" reason=\"{}\"", absl::CHexEscape(container),
                    absl::CHexEscape(why));
    }
    status.left_out = left_out_;
  });
}

// The sidecar may take a moment to answer at the start; that is not a problem.
void CaptureSession::AwaitSidecar() {
  const absl::Time deadline = parts_.clock() + kFirstAnswer;
  while (parts_.containers.version() == 0 && !parts_.stop && parts_.clock() < deadline) {
    parts_.wake.Wait(-1, kStatusPause);
  }
}

absl::Status CaptureSession::OpenDatabase() {
  TTL_ASSIGN_OR_RETURN(connection_, Connection::Open(parts_.config.database, kApplicationName));
  const std::string settings = absl::StrCat(kSettings, Connection::kSystemNamesOnly);
  TTL_RETURN_IF_ERROR(connection_->Execute(settings).status());
  TTL_ASSIGN_OR_RETURN(
      const auto timeout,
      connection_->Query(
          "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'"));
  interval_ = StatusInterval(absl::Milliseconds(timeout.Number(0, 0)));
  database_ = std::make_unique<PatientQuery>(*connection_, std::min(interval_, kStatusPause),
                                             [this] { return Meanwhile(); });
  return absl::OkStatus();
}

absl::Status CaptureSession::ReadTableTypes() {
  for (const TableDefinition& table : AllTables(tables_)) {
    TTL_ASSIGN_OR_RETURN(auto types, ReadColumnTypes(*database_, table));
    types_.push_back(std::move(types));
  }
  return absl::OkStatus();
}

std::string CaptureSession::SourceOf(const TableDefinition& table, absl::string_view create_time,
                                     const Places& places) const {
  const std::vector<const TableDefinition*> tables = TablesOf(table);
  std::string source;
  for (size_t i = 0; i < tables.size(); ++i) {
    absl::StrAppend(&source, i == 0 ? "" : " and ", SourceOfTable(*tables[i], places[i]));
  }
  return absl::StrCat(source, IsGroup(table) ? " by group" : "", " container of ", create_time);
}

absl::Status CaptureSession::LoadTables() {
  auto noted = LoadProgress(*database_, parts_.config.schema);
  if (absl::IsNotFound(noted.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(noted.status().message(), "; `ttl-postgres install` makes it"));
  }
  TTL_RETURN_IF_ERROR(noted.status());
  TTL_ASSIGN_OR_RETURN(const auto published, ReadPublished(*database_, parts_.config.publication));
  for (size_t i = 0; i < tables_.size(); ++i) {
    places_.push_back(PlacesOf(tables_[i], published));
    const std::string& container = tables_[i].config.container;
    TableProgress progress = std::move((*noted)[container]);
    const std::string source = SourceOf(tables_[i], create_times_[i], places_[i]);
    if (progress.source != source) {
      if (!progress.source.empty()) {
        spdlog::warn(
            "container \"{}\": the container, the configuration of its table, or the table's "
            "place in the publication is another one than before; the table is read again",
            container);
      }
      progress = TableProgress();
      progress.source = source;
      TTL_RETURN_IF_ERROR(StoreProgress(*database_, parts_.config.schema, container, progress));
    }
    progress_.push_back(std::move(progress));
    noted->erase(container);
  }
  // Changes of tables that are not followed are lost, so their progress is invalid.
  for (const auto& [container, progress] : *noted) {
    TTL_RETURN_IF_ERROR(ForgetProgress(*database_, parts_.config.schema, container));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> CaptureSession::OpenSlot() {
  TTL_RETURN_IF_ERROR(AskKeeper());
  TTL_ASSIGN_OR_RETURN(source_, ReadSource(*database_));
  parts_.board.Update([&](CaptureStatus& status) {
    status.state = absl::StrCat("opening replication slot \"", parts_.config.slot,
                                "\"; a new one waits for the running transactions");
  });
  bool is_new = false;
  const auto start = parts_.slot.Open(*database_, [&]() -> absl::Status {
    is_new = true;
    // Do not create a slot that we cannot read: it would only retain WAL.
    TTL_RETURN_IF_ERROR(Connection::Open(parts_.config.replication_address(), kApplicationName,
                                         Connection::Kind::kReplication)
                            .status());
    ShowWaiting(true);
    const auto is_loss = StartOver();
    if (!is_loss.ok() || !*is_loss) return is_loss.status();
    spdlog::error(
        "replication slot \"{}\" is gone, and with it all changes since it was last read; "
        "a new one is made, and all tables are read again",
        parts_.config.slot);
    return absl::OkStatus();
  });
  ShowWaiting(false);
  TTL_RETURN_IF_ERROR(start.status());
  if (is_new) keeper_.Keep({source_.system_identifier, source_.timeline, *start});
  TTL_RETURN_IF_ERROR(is_new ? AwaitKeeper() : FollowOn(*start, source_.lsn));
  return *start;
}

void CaptureSession::ShowWaiting(bool waits) {
  parts_.board.Update([&](CaptureStatus& status) { status.is_waiting_for_transactions = waits; });
}

absl::Status CaptureSession::AskKeeper() {
  keeper_.Ask();
  return AwaitKeeper();
}

absl::Status CaptureSession::AwaitKeeper() {
  while (!parts_.stop) {
    if (const auto answer = keeper_.Take(); answer.has_value()) return *answer;
    parts_.wake.Wait(-1, kStatusPause);
  }
  return absl::CancelledError("stopping");
}

absl::StatusOr<bool> CaptureSession::StartOver() {
  bool is_loss = false;
  for (size_t i = 0; i < tables_.size(); ++i) {
    TableProgress fresh;
    fresh.source = progress_[i].source;
    is_loss = is_loss || progress_[i] != fresh;
    TTL_RETURN_IF_ERROR(
        StoreProgress(*database_, parts_.config.schema, tables_[i].config.container, fresh));
    progress_[i] = std::move(fresh);
  }
  // The LSNs may belong to a different WAL.
  parts_.visible.StartOver();
  if (is_loss) parts_.board.Update([](CaptureStatus& status) { ++status.slots_lost; });
  return is_loss;
}

// The slot may be a different one with the same name, belong to another server, or be ahead of the
// sidecar. The stream then lacks the changes in between, and all tables are read again.
absl::Status CaptureSession::FollowOn(uint64_t start, uint64_t wal_end) {
  const SourcePosition begin{source_.system_identifier, source_.timeline, start};
  std::string why = WhyChangesMayBeMissing(keeper_.kept(), begin, wal_end);
  // The server may have been restored to before a position that is acknowledged but not kept yet.
  const uint64_t acknowledged = parts_.visible.acknowledged();
  if (why.empty() && wal_end < acknowledged) {
    why = WhyChangesMayBeMissing(
        SourcePosition{source_.system_identifier, source_.timeline, acknowledged}, begin, wal_end);
  }
  if (why.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto is_loss, StartOver());
  if (is_loss) spdlog::error("all tables are read again: {}", why);
  keeper_.Keep(begin);
  return AwaitKeeper();
}

absl::Status CaptureSession::StartStream() {
  TTL_ASSIGN_OR_RETURN(
      stream_, ReplicationStream::Start(parts_.config.replication_address(), parts_.config.slot,
                                        parts_.config.publication));
  stream_->set_interval(interval_);
  ReportPipeline::Options options;
  options.address = parts_.config.sidecar;
  pipeline_ = std::make_unique<ReportPipeline>(*stub_, std::move(options), parts_.clock,
                                               [this] { parts_.wake.Notify(); });
  relations_ = std::make_unique<RelationMap>(tables_, types_);
  return absl::OkStatus();
}

absl::Status CaptureSession::StartReading(uint64_t start) {
  positions_ = PositionTracker(start);
  wal_end_ = start;
  TTL_ASSIGN_OR_RETURN(const auto flushed, ReadFlushPosition(*database_));
  flushed_at_start_ = flushed;
  if (start > 0) parts_.visible.Acknowledge(start - 1);
  for (const TableDefinition& table : tables_) items_.push_back(GroupsAsRows(table));
  for (const TableDefinition& items : items_) changed_.emplace_back(items);
  for (size_t i = 0; i < tables_.size(); ++i) {
    TableReading::Parts parts{*database_,
                              parts_.config.schema,
                              *stub_,
                              *pipeline_,
                              parts_.visible,
                              parts_.options,
                              [this] { parts_.wake.Notify(); },
                              [this](const TableDefinition& table, const absl::Status& why) {
                                NoteUntrackable(table, why);
                              }};
    // The stream lacks earlier commits, or has them as of another publication, so a reading waits
    // until queries see them.
    readings_.push_back(
        std::make_unique<TableReading>(items_[i], std::move(parts), progress_[i], flushed - 1));
  }
  spdlog::info("capturing {} tables from replication slot \"{}\" at {}", tables_.size(),
               parts_.config.slot, FormatLsn(start));
  return absl::OkStatus();
}

absl::Status CaptureSession::Work() {
  while (!parts_.stop) {
    absl::Time now = parts_.clock();
    absl::Status status = pipeline_->status();
    if (status.ok()) status = CheckContainers();
    TTL_RETURN_IF_ERROR(status);
    TTL_ASSIGN_OR_RETURN(const bool took, TakeFromStream());
    status = LookUpChanged(now);
    if (status.ok()) status = Acknowledge(now);
    if (status.ok()) status = LookAtCatalog(now);
    if (status.ok()) status = LookAtSnapshots(now);
    TTL_RETURN_IF_ERROR(status);
    TTL_ASSIGN_OR_RETURN(const bool read, ReadTables(now));
    now = parts_.clock();
    pipeline_->Flush(now);
    stream_->KeepAlive(Confirmed(), now);
    ShowStatus(now);
    if (took || read) continue;
    parts_.wake.Wait(MayTake() ? stream_->socket() : -1, LongestWait(now));
  }
  // Reduce the changes that the next session captures again.
  const absl::Status status = Acknowledge(parts_.clock());
  if (status.ok()) stream_->SendStatus(Confirmed(), parts_.clock());
  return status;
}

absl::Duration CaptureSession::LongestWait(absl::Time now) const {
  const bool is_reading = std::any_of(readings_.begin(), readings_.end(),
                                      [](const auto& reading) { return reading->has_work(); });
  const bool is_soon = is_reading || has_news_ || changed_rows() > 0;
  const absl::Duration wait = is_soon ? kReadingWait : kIdleWait;
  return std::min({interval_, wait, std::max(pipeline_->flush_due() - now, absl::ZeroDuration())});
}

bool CaptureSession::MayTake() const {
  return pipeline_->HasRoom() && changed_rows() < kMaxChangedRows;
}

absl::StatusOr<bool> CaptureSession::TakeFromStream() {
  int taken = 0;
  while (taken < kMessagesPerTurn && MayTake()) {
    TTL_ASSIGN_OR_RETURN(const auto message, stream_->Next());
    if (message.kind == ReplicationStream::Message::Kind::kNone) break;
    ++taken;
    TTL_RETURN_IF_ERROR(Handle(message));
  }
  return taken > 0;
}

absl::Status CaptureSession::Handle(const ReplicationStream::Message& message) {
  wal_end_ = std::max(wal_end_, message.wal_end);
  if (message.kind == ReplicationStream::Message::Kind::kKeepalive) {
    if (!transaction_.has_value() && changed_rows() == 0) {
      positions_.Idle(message.wal_end, pipeline_->added());
    }
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const auto parsed, ParsePgoutput(message.data));
  return std::visit([this](const auto& one) { return Handle(one); }, parsed);
}

absl::Status CaptureSession::Handle(const BeginMessage& message) {
  transaction_ = {.lsn = message.final_lsn,
                  .xid = absl::StrCat(message.xid),
                  .commit_time = message.commit_time};
  unseen_.Add(message.xid);
  return absl::OkStatus();
}

absl::Status CaptureSession::Handle(const CommitMessage& message) {
  if (changed_rows() == 0) {
    positions_.Commit(message.end_lsn, pipeline_->added(), message.commit_time);
  } else {
    if (!ended_.has_value()) ended_ = Ended{message.end_lsn, message.commit_time};
    ended_->end_lsn = message.end_lsn;
  }
  transaction_.reset();
  ++transactions_;
  return absl::OkStatus();
}

absl::Status CaptureSession::Handle(const RelationMessage& message) {
  const absl::Status fit = relations_->Describe(message);
  if (fit.ok()) return absl::OkStatus();
  // If the table matches its definition by now, only rows written before cannot be parsed.
  const StreamedTable& table = *relations_->Find(message.oid);
  const auto types = ReadColumnTypes(*database_, *table.definition);
  if (absl::IsFailedPrecondition(types.status())) return types.status();
  TTL_RETURN_IF_ERROR(types.status());
  if (*types != types_[table.types]) return fit;
  spdlog::warn("{}; as it is what it should be now, it is read again", std::string(fit.message()));
  return absl::OkStatus();
}

absl::StatusOr<const StreamedTable*> CaptureSession::TableOf(uint32_t relation) {
  if (!transaction_.has_value()) {
    return absl::DataLossError("the replication stream has a row outside of a transaction");
  }
  const StreamedTable* const table = relations_->Find(relation);
  if (table == nullptr) return table;
  ++row_changes_;
  if (table->fit.ok()) return table;
  if (!absl::IsFailedPrecondition(table->fit)) return table->fit;
  TTL_RETURN_IF_ERROR(readings_[table->number]->ReadAgain(transaction_->lsn));
  return nullptr;
}

absl::Status CaptureSession::Handle(const InsertMessage& message) {
  const auto table = TableOf(message.relation);
  if (!table.ok() || *table == nullptr) return table.status();
  return SendWritten(**table, ReportInsert(**table, message, *transaction_, parts_.clock()));
}

absl::Status CaptureSession::Handle(const UpdateMessage& message) {
  const auto table = TableOf(message.relation);
  if (!table.ok() || *table == nullptr) return table.status();
  return SendWritten(**table, ReportUpdate(**table, message, *transaction_, parts_.clock()));
}

absl::Status CaptureSession::Handle(const DeleteMessage& message) {
  const auto table = TableOf(message.relation);
  if (!table.ok() || *table == nullptr) return table.status();
  absl::StatusOr<RowReports> row = ReportDelete(**table, message, *transaction_);
  return IsGroup(*(*table)->definition) ? NoteGroups(**table, std::move(row))
                                        : Send(**table, std::move(row));
}

absl::Status CaptureSession::Handle(const TruncateMessage& message) {
  if (!transaction_.has_value()) {
    return absl::DataLossError("the replication stream has a TRUNCATE outside of a transaction");
  }
  for (const uint32_t relation : message.relations) {
    const StreamedTable* const table = relations_->Find(relation);
    if (table == nullptr) continue;
    // Groups may have rows in other tables, and end earlier now.
    TableReading& reading = *readings_[table->number];
    TTL_RETURN_IF_ERROR(IsGroup(*table->definition) ? reading.ReadAgain(transaction_->lsn)
                                                    : reading.SearchGhosts(transaction_->lsn));
  }
  return absl::OkStatus();
}

// The row says nothing of the others of its group, not even that they are there.
absl::Status CaptureSession::NoteGroups(const StreamedTable& table,
                                        absl::StatusOr<RowReports> row) {
  TTL_RETURN_IF_ERROR(row.status());
  for (Report& report : row->reports) {
    changed_[table.number].Add(
        {std::move(*report.item.mutable_partition_key()), std::move(*report.item.mutable_id())},
        transaction_->lsn);
  }
  return absl::OkStatus();
}

absl::Status CaptureSession::SendWritten(const StreamedTable& table,
                                         absl::StatusOr<RowReports> row) {
  if (IsGroup(*table.definition)) return NoteGroups(table, std::move(row));
  const bool is_whole = table.definition->config.where.empty();
  if (!row.ok() || is_whole || row->reports.empty()) return Send(table, std::move(row));
  // The last report is that of the row, after one for its former key. The lookup replaces it.
  v1::Item& item = row->reports.back().item;
  changed_[table.number].Add(
      {std::move(*item.mutable_partition_key()), std::move(*item.mutable_id())}, transaction_->lsn);
  row->reports.pop_back();
  return Send(table, RowReports{std::move(row->reports), absl::OkStatus(), Exemption::kNone});
}

absl::Status CaptureSession::Send(const StreamedTable& table, absl::StatusOr<RowReports> row) {
  TTL_RETURN_IF_ERROR(row.status());
  AddReports(table.number, *std::move(row));
  return absl::OkStatus();
}

void CaptureSession::AddReports(size_t table, RowReports row) {
  readings_[table]->Count(row);
  for (Report& report : row.reports) {
    pipeline_->Add(tables_[table].config.container, std::move(report));
  }
}

size_t CaptureSession::changed_rows() const {
  size_t rows = 0;
  for (const ChangedRows& changed : changed_) rows += changed.size();
  return rows;
}

absl::Status CaptureSession::LookUpChanged(absl::Time now) {
  if (changed_rows() == 0 || now < look_up_at_ || !pipeline_->HasRoom()) return absl::OkStatus();
  const auto sees = SeesAll();
  if (!sees.ok() || !*sees) return sees.status();
  for (size_t i = 0; i < changed_.size(); ++i) {
    const absl::Status looked_up =
        changed_[i].LookUp(*database_, now, [&](RowReports row) { AddReports(i, std::move(row)); });
    if (absl::IsAborted(looked_up)) {
      look_up_at_ = now + kLookUpPause;
      return absl::OkStatus();
    }
    TTL_RETURN_IF_ERROR(looked_up);
  }
  if (ended_.has_value()) {
    positions_.Commit(ended_->end_lsn, pipeline_->added(), ended_->first_commit);
    ended_.reset();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CaptureSession::ReadTables(absl::Time now) {
  for (const auto& reading : readings_) {
    TTL_RETURN_IF_ERROR(reading->Note(now));
  }
  const auto did = StepTables(now);
  ShowScan(now);
  return did;
}

absl::StatusOr<bool> CaptureSession::StepTables(absl::Time now) {
  for (const auto& reading : readings_) {
    if (!reading->has_work()) continue;
    const auto did = reading->Step([this] { return SeesAll(); }, now);
    if (!did.ok() || *did) return did;
  }
  return false;
}

// Shows the first unfinished table until it is done: alternating tables would be unreadable.
void CaptureSession::ShowScan(absl::Time now) {
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (!readings_[i]->is_done()) {
      const TableStatus status = readings_[i]->status();
      if (status.ghosts_done) display_.Show(status, now);
      return;
    }
    if (display_.IsShowing(tables_[i].config.container)) {
      display_.Finish(readings_[i]->status(), now);
    }
  }
}

absl::StatusOr<bool> CaptureSession::SeesAll() {
  TTL_ASSIGN_OR_RETURN(const auto text,
                       database_->Query("SELECT pg_catalog.pg_current_snapshot()::text"));
  TTL_ASSIGN_OR_RETURN(const auto snapshot, ParseTransactionSnapshot(text.Text(0, 0)));
  return unseen_.Observe(snapshot);
}

absl::Status CaptureSession::Acknowledge(absl::Time now) {
  if (positions_.Advance(pipeline_->durable())) {
    // The next commit may start at the end of the last one.
    parts_.visible.Acknowledge(positions_.acknowledged() - 1);
    has_worked_ = true;
  }
  TTL_RETURN_IF_ERROR(KeepPosition(now));
  if (!has_news_ || now - last_status_ < kStatusPause) return absl::OkStatus();
  stream_->SendStatus(Confirmed(), now);
  last_status_ = now;
  has_news_ = false;
  return absl::OkStatus();
}

absl::Status CaptureSession::KeepPosition(absl::Time now) {
  if (const auto answer = keeper_.Take(); answer.has_value()) {
    if (!answer->ok()) return *answer;
    has_news_ = true;
  }
  const bool is_ahead = positions_.acknowledged() > Confirmed();
  if (!is_ahead || keeper_.is_under_way() || now - last_keep_ < kKeepPause) {
    return absl::OkStatus();
  }
  last_keep_ = now;
  keeper_.Keep({source_.system_identifier, source_.timeline, positions_.acknowledged()});
  return absl::OkStatus();
}

// Changes up to this LSN are durable in the sidecar, and so is the LSN itself: if the sidecar is
// restored to an earlier state, its kept LSN is behind the slot, which reveals the gap.
uint64_t CaptureSession::Confirmed() const {
  const std::optional<SourcePosition>& kept = keeper_.kept();
  return kept.has_value() ? std::min(kept->lsn, positions_.acknowledged()) : 0;
}

absl::Status CaptureSession::LookAtSnapshots(absl::Time now) {
  const bool is_behind = parts_.visible.Get() < parts_.visible.acknowledged();
  const bool is_reading = std::any_of(readings_.begin(), readings_.end(),
                                      [](const auto& reading) { return reading->has_work(); });
  const absl::Duration interval = is_reading
                                      ? std::min(kReadingWait, parts_.options.snapshot_interval)
                                      : parts_.options.snapshot_interval;
  if (now - last_snapshot_ < interval) return absl::OkStatus();
  last_snapshot_ = now;
  // Forget transactions that queries see by now.
  if (unseen_.size() > 0) {
    TTL_RETURN_IF_ERROR(SeesAll().status());
  }
  if (!is_behind) return absl::OkStatus();
  return ObserveSnapshot([this](const char* query) { return database_->Query(query); },
                         parts_.visible);
}

absl::Status CaptureSession::LookAtCatalog(absl::Time now) {
  if (now - last_catalog_ < parts_.options.catalog_interval) return absl::OkStatus();
  last_catalog_ = now;
  if (absl::Status status = parts_.slot.Check(*database_); !status.ok()) {
    if (!absl::IsResourceExhausted(status) || !SqlState(status).empty()) return status;
    spdlog::error("{}", std::string(status.message()));
    stream_.reset();
    const absl::Status dropped = parts_.slot.Drop(*database_);
    return dropped.ok() ? status : dropped;
  }
  TTL_ASSIGN_OR_RETURN(const auto published, ReadPublished(*database_, parts_.config.publication));
  for (size_t i = 0; i < tables_.size(); ++i) {
    const absl::Status status = LookAtTable(i, PlacesOf(tables_[i], published));
    // The table is locked: check again later.
    if (!status.ok() && !absl::IsAborted(status)) return status;
  }
  return absl::OkStatus();
}

absl::Status CaptureSession::LookAtTable(size_t number, const Places& places) {
  const std::vector<const TableDefinition*> tables = TablesOf(tables_[number]);
  for (const TableDefinition* table : tables) {
    TTL_RETURN_IF_ERROR(ReadColumnTypes(*database_, *table).status());
  }
  const auto missing = std::find(places.begin(), places.end(), 0u);
  if (missing == places.end() && places == places_[number]) return readings_[number]->CheckFiles();
  const auto changed =
      missing == places.end()
          ? std::mismatch(places.begin(), places.end(), places_[number].begin()).first
          : missing;
  const TableConfig& config = tables[static_cast<size_t>(changed - places.begin())]->config;
  const std::string name = absl::StrCat(config.schema, ".", config.table);
  if (missing == places.end()) {
    return absl::FailedPreconditionError(absl::StrCat("table ", name, " was not in publication \"",
                                                      parts_.config.publication,
                                                      "\" for a time; it is read again"));
  }
  // Changes made until the table is published again are missing from the stream.
  TTL_RETURN_IF_ERROR(readings_[number]->ReadAgain(0));
  return absl::FailedPreconditionError(
      absl::StrCat("publication \"", parts_.config.publication, "\" does not have table ", name,
                   ", whose changes are lost: `ttl-postgres install` makes it"));
}

absl::Status CaptureSession::CheckContainers() {
  const uint64_t version = parts_.containers.version();
  if (version == containers_version_) return absl::OkStatus();
  containers_version_ = version;
  for (const auto& [container, why] : left_out_) {
    if (!parts_.containers.CreateTime(container).ok()) continue;
    return absl::AbortedError(
        absl::StrCat("container \"", container, "\" was created: its table is captured now"));
  }
  for (size_t i = 0; i < tables_.size(); ++i) {
    const std::string& container = tables_[i].config.container;
    const auto time = parts_.containers.CreateTime(container);
    // If the sidecar is unavailable, the report pipeline returns the error.
    if (absl::IsUnavailable(time.status())) return absl::OkStatus();
    TTL_RETURN_IF_ERROR(time.status());
    if (*time != create_times_[i]) {
      return absl::AbortedError(
          absl::StrCat("container \"", container, "\" was created again: its table is read again"));
    }
  }
  return absl::OkStatus();
}

absl::Status CaptureSession::Meanwhile() {
  if (parts_.stop) return absl::CancelledError("stopping");
  if (stream_ == nullptr) return absl::OkStatus();
  stream_->KeepAlive(Confirmed(), parts_.clock());
  return pipeline_ == nullptr ? absl::OkStatus() : pipeline_->status();
}

void CaptureSession::NoteUntrackable(const TableDefinition& table, const absl::Status& why) {
  const absl::Time now = parts_.clock();
  if (now - last_untrackable_ < kUntrackableLogInterval) {
    ++unlogged_;
    return;
  }
  spdlog::warn("table {}.{}: a row cannot be tracked, so it never expires: {}{}",
               table.config.schema, table.config.table, std::string(why.message()),
               unlogged_ > 0 ? absl::StrCat(" (and ", unlogged_, " rows like it before)") : "");
  last_untrackable_ = now;
  unlogged_ = 0;
}

std::string CaptureSession::State() const {
  for (const auto& reading : readings_) {
    if (!reading->is_waiting()) continue;
    const std::string rewrite = reading->RewriteText();
    if (!rewrite.empty()) return absl::StrCat("streaming; ", rewrite);
    return absl::StrCat("streaming; reading the table of container \"", reading->status().container,
                        "\" waits for older transactions to end");
  }
  for (const auto& reading : readings_) {
    const std::string rewrite = reading->RewriteText();
    if (!rewrite.empty()) return absl::StrCat("streaming; ", rewrite);
    if (reading->is_done()) continue;
    const TableStatus status = reading->status();
    const std::string container = absl::StrCat("container \"", status.container, "\"");
    if (!status.ghosts_done) {
      return absl::StrCat("streaming; looking for items of ", container, " without a row");
    }
    return absl::StrCat("streaming; first scan of ", ScanText(status, 0));
  }
  return "streaming";
}

void CaptureSession::ShowStatus(absl::Time now) {
  if (now - last_show_ < kShowInterval) return;
  last_show_ = now;
  const std::optional<absl::Time> oldest = OldestCommit();
  parts_.board.Update([&](CaptureStatus& status) {
    status.state = State();
    ShowProblem(now, status);
    status.is_streaming = true;
    status.is_caught_up = positions_.acknowledged() >= flushed_at_start_;
    status.acknowledged = positions_.acknowledged();
    status.lag_bytes = static_cast<int64_t>(wal_end_ - std::min(wal_end_, status.acknowledged));
    status.lag =
        oldest.has_value() ? std::max(now - *oldest, absl::ZeroDuration()) : absl::ZeroDuration();
    status.slot_bytes = parts_.slot.retained_bytes();
    status.transactions += std::exchange(transactions_, 0);
    status.row_changes += std::exchange(row_changes_, 0);
    status.reports += static_cast<int64_t>(pipeline_->added() -
                                           std::exchange(shown_reports_, pipeline_->added()));
    status.refused += pipeline_->refused() - std::exchange(shown_refused_, pipeline_->refused());
    ShowTables(status);
  });
}

void CaptureSession::ShowProblem(absl::Time now, CaptureStatus& status) {
  const absl::Duration silence = pipeline_->waiting_for_answer(now);
  const bool is_waiting = std::any_of(readings_.begin(), readings_.end(),
                                      [](const auto& reading) { return reading->is_waiting(); });
  waiting_since_ = is_waiting ? std::min(waiting_since_, now) : absl::InfiniteFuture();
  status.problem = "";
  status.is_waiting_for_transactions = false;
  if (silence >= kAnswerDeadline) {
    status.problem =
        absl::StrCat("the sidecar at ", parts_.config.sidecar, " has not answered for ",
                     absl::FormatDuration(absl::Trunc(silence, absl::Seconds(1))));
  } else if (now - waiting_since_ >= kAnswerDeadline) {
    status.problem = status.state;
    status.is_waiting_for_transactions = true;
  }
}

void CaptureSession::ShowTables(CaptureStatus& status) {
  status.is_complete = true;
  const std::vector<TableStatus> shown = std::exchange(status.tables, {});
  for (size_t i = 0; i < readings_.size(); ++i) {
    // An earlier session may have followed other tables.
    readings_[i]->ShowIn(status.tables.emplace_back(StatusOf(shown, tables_[i].config.container)));
    status.is_complete = status.is_complete && readings_[i]->is_done();
  }
}

std::optional<absl::Time> CaptureSession::OldestCommit() const {
  if (const auto oldest = positions_.oldest_commit(); oldest.has_value()) return oldest;
  if (ended_.has_value()) return ended_->first_commit;
  if (transaction_.has_value()) return transaction_->commit_time;
  return std::nullopt;
}

// Replaces a server error that has a known cause with instructions.
absl::Status CaptureSession::WithAdvice(absl::Status status) {
  constexpr char kUndefinedObject[] = "42704";
  if (stream_ == nullptr || SqlState(status) != kUndefinedObject) return status;
  const auto found = connection_->Query("SELECT FROM pg_catalog.pg_publication WHERE pubname = $1",
                                        {parts_.config.publication});
  if (!found.ok()) return status;
  // The publication is newer than the slot, which cannot decode earlier WAL with it.
  if (found->rows() > 0) {
    parts_.slot.SetUseless();
    return status;
  }
  return absl::FailedPreconditionError(absl::StrCat("publication \"", parts_.config.publication,
                                                    "\" does not exist: `ttl-postgres install` "
                                                    "makes it"));
}

}  // namespace ttl::postgres
