#include "client/postgres/capture/stream/row_change.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/row/row_key.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// The limits of ttl.v1.Item.
constexpr size_t kMaxPartitionKeyBytes = 2048;
constexpr size_t kMaxIdBytes = 1023;

struct Key {
  std::string partition_key;
  std::string id;
};

Key KeyOf(absl::Span<const absl::string_view> partition_key,
          absl::Span<const absl::string_view> id) {
  return {JoinKey(partition_key), JoinKey(id)};
}

void AddGone(Key key, uint64_t lsn, std::vector<Report>& reports) {
  // The sidecar cannot have such a key: its row was refused.
  if (key.partition_key.size() > kMaxPartitionKeyBytes || key.id.size() > kMaxIdBytes) return;
  reports.push_back(Report::Gone(std::move(key.partition_key), std::move(key.id), lsn));
}

absl::Status Refuse(const StreamedTable& table, absl::string_view column, const char* why) {
  const TableConfig& config = table.definition->config;
  return absl::FailedPreconditionError(absl::StrCat(
      "table ", config.schema, ".", config.table, ": the WAL does not have column \"", column,
      "\" of a row that was ", why,
      "; its REPLICA IDENTITY must cover the columns of the key: ALTER TABLE ... REPLICA IDENTITY "
      "FULL does, for rows written from then on. To get past those before, drop the replication "
      "slot: the tables are then read again"));
}

// Reads the columns of one row; takes an unchanged value from the old row.
class RowReader {
 public:
  RowReader(const StreamedTable& table, const Tuple& row, const Tuple* old_row)
      : table_(table), row_(row), old_row_(old_row) {}

  // Checks that the tuples have the columns that were described.
  absl::Status CheckWidth() const {
    if (row_.size() == table_.columns &&
        (old_row_ == nullptr || old_row_->size() == table_.columns)) {
      return absl::OkStatus();
    }
    const TableConfig& config = table_.definition->config;
    return absl::DataLossError(absl::StrCat("table ", config.schema, ".", config.table,
                                            ": a row of ", row_.size(), " columns where ",
                                            table_.columns, " were described"));
  }

  // Absent: NULL. FAILED_PRECONDITION if neither row has the value.
  absl::StatusOr<std::optional<absl::string_view>> Read(const StreamedTable::Place& place) const {
    const ColumnValue& value = row_[place.index];
    if (value.kind == ColumnValue::Kind::kText) return value.text;
    if (value.kind == ColumnValue::Kind::kNull) return std::nullopt;
    if (old_row_ != nullptr && (*old_row_)[place.index].kind == ColumnValue::Kind::kText) {
      return (*old_row_)[place.index].text;
    }
    return Refuse(table_, place.name, "updated, since it is stored out of line (TOAST)");
  }

  absl::StatusOr<std::optional<absl::string_view>> Read(
      const std::optional<StreamedTable::Place>& place) const {
    if (!place.has_value()) return std::nullopt;
    return Read(*place);
  }

  // Returns whether none of the columns is NULL.
  absl::StatusOr<bool> Read(const std::vector<StreamedTable::Place>& places,
                            std::vector<absl::string_view>& texts) const {
    bool complete = true;
    for (const StreamedTable::Place& place : places) {
      TTL_ASSIGN_OR_RETURN(const auto text, Read(place));
      complete = complete && text.has_value();
      texts.push_back(text.value_or(absl::string_view()));
    }
    return complete;
  }

 private:
  const StreamedTable& table_;
  const Tuple& row_;
  const Tuple* const old_row_;
};

// Returns the current row; absent if a key column is NULL, because the row then has no key.
absl::StatusOr<std::optional<RowTexts>> ReadRow(const StreamedTable& table,
                                                const RowReader& reader) {
  RowTexts texts;
  TTL_ASSIGN_OR_RETURN(const auto has_partition_key,
                       reader.Read(table.partition_key, texts.partition_key));
  TTL_ASSIGN_OR_RETURN(const auto has_id, reader.Read(table.id, texts.id));
  if (!has_partition_key || !has_id) return std::nullopt;
  for (const auto& [place, text] : {std::pair{&table.ts, &texts.ts},
                                    {&table.ttl, &texts.ttl},
                                    {&table.expires, &texts.expires},
                                    {&table.size, &texts.size}}) {
    TTL_ASSIGN_OR_RETURN(auto read, reader.Read(*place));
    *text = read;
  }
  return texts;
}

// Returns the key of a row that is gone; absent if a key column is NULL, because it was never
// reported.
absl::StatusOr<std::optional<Key>> OldKey(const StreamedTable& table, const Tuple& old_row,
                                          const char* why) {
  const RowReader reader(table, old_row, nullptr);
  TTL_RETURN_IF_ERROR(reader.CheckWidth());
  std::vector<absl::string_view> partition_key;
  std::vector<absl::string_view> id;
  for (const auto& [places, texts] :
       {std::pair{&table.partition_key, &partition_key}, {&table.id, &id}}) {
    TTL_ASSIGN_OR_RETURN(const auto complete, reader.Read(*places, *texts));
    if (complete) continue;
    // With FULL the column is NULL; otherwise the identity lacks it.
    if (table.definition->publishes_all_columns) return std::nullopt;
    for (const StreamedTable::Place& place : *places) {
      if (old_row[place.index].kind != ColumnValue::Kind::kText) {
        return Refuse(table, place.name, why);
      }
    }
  }
  return KeyOf(partition_key, id);
}

absl::StatusOr<RowReports> ReportNewRow(const StreamedTable& table, const RowReader& reader,
                                        const StreamedTransaction& transaction, absl::Time now) {
  TTL_RETURN_IF_ERROR(reader.CheckWidth());
  TTL_ASSIGN_OR_RETURN(const auto texts, ReadRow(table, reader));
  if (!texts.has_value())
    return RowReports{{}, absl::InvalidArgumentError("its key is NULL"), Exemption::kNone};
  return ReportRow(
      *table.definition, *texts,
      {.xmin = transaction.xid, .lsn = transaction.lsn, .commit_time = transaction.commit_time},
      now);
}

}  // namespace

RowReports ReportRow(const TableDefinition& table, const RowTexts& row, const RowVersion& version,
                     absl::Time now) {
  RowReports result;
  result.exemption = ExemptionOf(table, row);
  if (result.exemption != Exemption::kNone) {
    AddGone(KeyOf(row.partition_key, row.id), version.lsn, result.reports);
    return result;
  }
  absl::StatusOr<v1::Item> item = RowToItem(table, row, version, now);
  if (item.ok()) {
    result.reports.push_back(Report::Tracked(*std::move(item)));
  } else {
    result.untrackable = item.status();
    AddGone(KeyOf(row.partition_key, row.id), version.lsn, result.reports);
  }
  return result;
}

absl::StatusOr<RowReports> ReportInsert(const StreamedTable& table, const InsertMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now) {
  return ReportNewRow(table, RowReader(table, message.row, nullptr), transaction, now);
}

absl::StatusOr<RowReports> ReportUpdate(const StreamedTable& table, const UpdateMessage& message,
                                        const StreamedTransaction& transaction, absl::Time now) {
  const Tuple* const old_row = message.old_row.has_value() ? &*message.old_row : nullptr;
  absl::StatusOr<RowReports> reports =
      ReportNewRow(table, RowReader(table, message.row, old_row), transaction, now);
  if (!reports.ok() || old_row == nullptr) return reports;
  TTL_ASSIGN_OR_RETURN(std::optional<Key> old_key, OldKey(table, *old_row, "updated"));
  if (!old_key.has_value()) return reports;
  for (const Report& report : reports->reports) {
    if (old_key->partition_key == report.item.partition_key() && old_key->id == report.item.id()) {
      return reports;
    }
  }
  RowReports with_old;
  AddGone(*std::move(old_key), transaction.lsn, with_old.reports);
  for (Report& report : reports->reports) with_old.reports.push_back(std::move(report));
  with_old.untrackable = reports->untrackable;
  with_old.exemption = reports->exemption;
  return with_old;
}

absl::StatusOr<RowReports> ReportDelete(const StreamedTable& table, const DeleteMessage& message,
                                        const StreamedTransaction& transaction) {
  TTL_ASSIGN_OR_RETURN(std::optional<Key> key, OldKey(table, message.old_row, "deleted"));
  RowReports result;
  if (key.has_value()) AddGone(*std::move(key), transaction.lsn, result.reports);
  return result;
}

}  // namespace ttl::postgres
