#include "client/postgres/capture/change_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/postgres/capture/tables/table_catalog.h"
#include "client/postgres/row/transaction_snapshot.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

// Stream messages handled before other work gets a turn.
constexpr int kMessagesPerTurn = 1000;
// The stream is not read while this many rows wait for a lookup; they are looked up together.
constexpr size_t kMaxChangedRows = 1000;
// Pause before a lookup is retried whose table was locked.
constexpr absl::Duration kLookUpPause = absl::Seconds(1);

}  // namespace

ChangeReader::ChangeReader(const Parts& parts, uint64_t start)
    : parts_(parts), relations_(parts.tables.definitions(), parts.tables.types()), wal_end_(start) {
  for (const TableDefinition& items : parts.tables.items()) changed_.emplace_back(items);
}

bool ChangeReader::CanRead() const {
  return parts_.pipeline.HasRoom() && changed_rows() < kMaxChangedRows;
}

absl::StatusOr<bool> ChangeReader::Read(ReplicationStream& stream) {
  int handled = 0;
  while (handled < kMessagesPerTurn && CanRead()) {
    TTL_ASSIGN_OR_RETURN(const auto message, stream.Next());
    if (message.kind == ReplicationStream::Message::Kind::kNone) break;
    ++handled;
    TTL_RETURN_IF_ERROR(Handle(message));
  }
  return handled > 0;
}

absl::Status ChangeReader::Handle(const ReplicationStream::Message& message) {
  wal_end_ = std::max(wal_end_, message.wal_end);
  if (message.kind == ReplicationStream::Message::Kind::kKeepalive) {
    HandleKeepalive(message.wal_end);
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const auto parsed, ParsePgoutput(message.data));
  return std::visit([this](const auto& one) { return Handle(one); }, parsed);
}

// The server may not say again that nothing else precedes `wal_end`, not before more is written: it
// asks for no answer to what it believes to be received.
void ChangeReader::HandleKeepalive(uint64_t wal_end) {
  if (transaction_.has_value()) return;
  if (changed_rows() == 0) {
    parts_.positions.Idle(wal_end, parts_.pipeline.added());
  } else if (ended_.has_value()) {
    ended_->end_lsn = std::max(ended_->end_lsn, wal_end);
  }
}

absl::Status ChangeReader::Handle(const BeginMessage& message) {
  transaction_ = {.lsn = message.final_lsn,
                  .xid = absl::StrCat(message.xid),
                  .commit_time = message.commit_time};
  unseen_.Add(message.xid);
  return absl::OkStatus();
}

absl::Status ChangeReader::Handle(const CommitMessage& message) {
  if (changed_rows() == 0) {
    parts_.positions.Commit(message.end_lsn, parts_.pipeline.added(), message.commit_time);
  } else {
    if (!ended_.has_value()) ended_ = Ended{message.end_lsn, message.commit_time};
    ended_->end_lsn = std::max(ended_->end_lsn, message.end_lsn);
  }
  transaction_.reset();
  ++transactions_;
  return absl::OkStatus();
}

absl::Status ChangeReader::Handle(const RelationMessage& message) {
  const absl::Status fit = relations_.Describe(message);
  if (fit.ok()) return absl::OkStatus();
  // If the table matches its definition by now, only rows written before cannot be parsed.
  const StreamedTable& table = *relations_.Find(message.oid);
  TTL_ASSIGN_OR_RETURN(const auto types, ReadColumnTypes(parts_.database, *table.definition));
  if (types != parts_.tables.types()[table.types]) return fit;
  spdlog::warn("{}; as it is what it should be now, it is read again", std::string(fit.message()));
  return absl::OkStatus();
}

absl::StatusOr<const StreamedTable*> ChangeReader::TableOf(uint32_t relation) {
  if (!transaction_.has_value()) {
    return absl::DataLossError("the replication stream has a row outside of a transaction");
  }
  const StreamedTable* const table = relations_.Find(relation);
  if (table == nullptr) return table;
  ++row_changes_;
  if (table->fit.ok()) return table;
  if (!absl::IsFailedPrecondition(table->fit)) return table->fit;
  TTL_RETURN_IF_ERROR(parts_.readings.of(table->number).ReadAgain(transaction_->lsn));
  return nullptr;
}

absl::Status ChangeReader::Handle(const InsertMessage& message) {
  TTL_ASSIGN_OR_RETURN(const StreamedTable* const table, TableOf(message.relation));
  if (table == nullptr) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(RowReports row,
                       ReportInsert(*table, message, *transaction_, parts_.clock()));
  SendWritten(*table, std::move(row));
  return absl::OkStatus();
}

absl::Status ChangeReader::Handle(const UpdateMessage& message) {
  TTL_ASSIGN_OR_RETURN(const StreamedTable* const table, TableOf(message.relation));
  if (table == nullptr) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(RowReports row,
                       ReportUpdate(*table, message, *transaction_, parts_.clock()));
  SendWritten(*table, std::move(row));
  return absl::OkStatus();
}

absl::Status ChangeReader::Handle(const DeleteMessage& message) {
  TTL_ASSIGN_OR_RETURN(const StreamedTable* const table, TableOf(message.relation));
  if (table == nullptr) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(RowReports row, ReportDelete(*table, message, *transaction_));
  if (IsGroup(*table->definition)) {
    NoteGroups(*table, std::move(row));
  } else {
    AddReports(table->number, std::move(row));
  }
  return absl::OkStatus();
}

absl::Status ChangeReader::Handle(const TruncateMessage& message) {
  if (!transaction_.has_value()) {
    return absl::DataLossError("the replication stream has a TRUNCATE outside of a transaction");
  }
  for (const uint32_t relation : message.relations) {
    const StreamedTable* const table = relations_.Find(relation);
    if (table == nullptr) continue;
    // Groups may have rows in other tables, and end earlier now.
    TableReading& reading = parts_.readings.of(table->number);
    TTL_RETURN_IF_ERROR(IsGroup(*table->definition) ? reading.ReadAgain(transaction_->lsn)
                                                    : reading.SearchGhosts(transaction_->lsn));
  }
  return absl::OkStatus();
}

// The row says nothing of the others of its group, not even that they are there.
void ChangeReader::NoteGroups(const StreamedTable& table, RowReports row) {
  for (Report& report : row.reports) NoteChanged(table.number, std::move(report));
}

void ChangeReader::SendWritten(const StreamedTable& table, RowReports row) {
  if (IsGroup(*table.definition)) return NoteGroups(table, std::move(row));
  const bool is_whole = table.definition->config.where.empty();
  if (is_whole || row.reports.empty()) return AddReports(table.number, std::move(row));
  // The last report is that of the row, after one for its former key. The lookup replaces it.
  NoteChanged(table.number, std::move(row.reports.back()));
  row.reports.pop_back();
  AddReports(table.number, RowReports{std::move(row.reports), absl::OkStatus(), Exemption::kNone});
}

void ChangeReader::NoteChanged(size_t table, Report report) {
  v1::Item& item = report.item;
  changed_[table].Add({std::move(*item.mutable_partition_key()), std::move(*item.mutable_id())},
                      transaction_->lsn);
}

void ChangeReader::AddReports(size_t table, RowReports row) {
  parts_.readings.of(table).Count(row);
  for (Report& report : row.reports) {
    parts_.pipeline.Add(parts_.tables.container(table), std::move(report));
  }
}

size_t ChangeReader::changed_rows() const {
  size_t rows = 0;
  for (const ChangedRows& changed : changed_) rows += changed.size();
  return rows;
}

absl::Status ChangeReader::LookUpChanged(absl::Time now) {
  if (changed_rows() == 0 || now < look_up_at_ || !parts_.pipeline.HasRoom()) {
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const bool sees_all, QueriesSeeAll());
  if (!sees_all) return absl::OkStatus();
  // A locked table keeps no other one waiting.
  for (size_t i = 0; i < changed_.size(); ++i) {
    const absl::Status looked_up = changed_[i].LookUp(
        parts_.database, now, [&](RowReports row) { AddReports(i, std::move(row)); });
    if (!absl::IsAborted(looked_up)) TTL_RETURN_IF_ERROR(looked_up);
  }
  if (changed_rows() > 0) {
    look_up_at_ = now + kLookUpPause;
  } else if (ended_.has_value()) {
    parts_.positions.Commit(ended_->end_lsn, parts_.pipeline.added(), ended_->first_commit);
    ended_.reset();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ChangeReader::QueriesSeeAll() {
  TTL_ASSIGN_OR_RETURN(const auto text,
                       parts_.database.Query("SELECT pg_catalog.pg_current_snapshot()::text"));
  TTL_ASSIGN_OR_RETURN(const auto snapshot, ParseTransactionSnapshot(text.Text(0, 0)));
  return unseen_.Observe(snapshot);
}

std::optional<absl::Time> ChangeReader::OldestCommit() const {
  if (const auto oldest = parts_.positions.oldest_commit(); oldest.has_value()) return oldest;
  if (ended_.has_value()) return ended_->first_commit;
  if (transaction_.has_value()) return transaction_->commit_time;
  return std::nullopt;
}

}  // namespace ttl::postgres
