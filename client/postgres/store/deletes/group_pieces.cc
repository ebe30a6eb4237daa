#include "client/postgres/store/deletes/group_pieces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_cascades.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/store/deletes/delete_fault.h"
#include "client/postgres/store/deletes/delete_sql.h"
#include "client/postgres/store/deletes/system_names.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

// A condemned row has a lower writer than any row of the new group, and no lock of the group is
// needed to tell them apart: a row that is updated meanwhile has a new version with a later writer.
// Foreign keys need more, since those that act ON DELETE would take rows of the new group with
// them. Rows of another table of the group that refer to a row keep it. The row is locked by one
// statement before the next looks for them: from then on no such row can be written, and each that
// was is seen. Nobody can tell in time whether rows of the same table refer to it, so a group with
// such a key is not condemned.
namespace ttl::postgres {
namespace {

absl::Status DatabaseFails(const absl::Status& error) {
  return absl::UnavailableError(absl::StrCat("the database: ", error.message()));
}

int64_t MillisecondsOf(absl::Duration duration) {
  return std::max<int64_t>(absl::ToInt64Milliseconds(duration), 1);
}

// Whether row t of `table` is in the group of the first parameters.
std::string IsInEntry(const TableDefinition& table) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < table.id.size(); ++i) {
    conditions.push_back(absl::Substitute(
        "t.$0 OPERATOR(pg_catalog.=) $$$1::text::$2 AND pg_catalog.concat(t.$0) = $$$1::text",
        QuoteName(table.id[i].name), i + 1, table.id[i].type));
  }
  return absl::StrJoin(conditions, " AND ");
}

std::string PlacesIn(const QueryResult& rows) {
  ArrayText places;
  for (int row = 0; row < rows.rows(); ++row) places.Add(rows.Text(row, 0));
  return places.Take();
}

// The key of an entry, whose last parameter is before_xid.
std::string KeyText(const std::vector<Connection::Parameter>& entry) {
  std::vector<std::string> key;
  for (size_t i = 0; i + 1 < entry.size(); ++i) key.push_back(entry[i].value_or(""));
  return absl::CHexEscape(absl::StrJoin(key, ", "));
}

}  // namespace

GroupPieces::GroupPieces(const TableDefinition& table, const GroupSql& sql)
    : table_(table), sql_(sql), condemned_(CondemnedTable(table.own_schema)) {
  const size_t width = table.id.size();
  const std::string before = absl::StrCat("$", width + 1, "::bigint");
  const std::vector<const TableDefinition*> tables = TablesOf(table);
  for (const size_t place : table.delete_order) {
    const TableDefinition& one = *tables[place];
    Rows rows;
    rows.oid = one.oid;
    rows.from = absl::StrCat("ONLY ", QuoteQualified(one.config.schema, one.config.table), " AS t");
    // Another table may have taken the name.
    rows.select =
        absl::StrCat("SELECT t.ctid FROM ", rows.from, " WHERE ", IsInEntry(one),
                     " AND t.tableoid = ", one.oid, "::oid AND ", IsWrittenBefore("t", before));
    rows_.push_back(std::move(rows));
  }
  std::vector<std::string> key;
  std::vector<std::string> values;
  for (size_t i = 1; i <= width; ++i) {
    key.push_back(absl::StrCat("c.key[", i, "]"));
    values.push_back(absl::StrCat("$", i, "::text"));
  }
  count_ =
      absl::Substitute("SELECT count(*) FROM $0 AS c WHERE c.relation = $1::oid AND c.system = $2",
                       condemned_, table.group, SystemIdentifier());
  // Groups with a fault must not keep the others waiting, nor wait for the end of all others:
  // one call of ten takes any.
  next_entry_ = absl::Substitute(
      "SELECT $0, c.before_xid, count(*) OVER () FROM $1 AS c WHERE c.relation = $2::oid AND "
      "c.system = $3 ORDER BY c.fault IS NOT NULL AND (SELECT pg_catalog.random()) < 0.9, "
      "pg_catalog.random() LIMIT 1",
      absl::StrJoin(key, ", "), condemned_, table.group, SystemIdentifier());
  is_entry_ = absl::Substitute("c.relation = $0::oid AND c.key = ARRAY[$1] AND c.before_xid = $2",
                               table.group, absl::StrJoin(values, ", "), before);
}

absl::StatusOr<int64_t> GroupPieces::Count(Connection& connection) const {
  const auto counted = connection.Query(count_);
  if (!counted.ok()) return DatabaseFails(counted.status());
  return counted->Number(0, 0);
}

absl::StatusOr<PieceOutcome> GroupPieces::DeleteOne(Connection& connection,
                                                    const PieceBounds& bounds,
                                                    BatchFit& fit) const {
  PieceOutcome outcome;
  const auto next = connection.Query(next_entry_);
  if (!next.ok()) return DatabaseFails(next.status());
  if (next->rows() == 0) return outcome;
  Entry entry;
  const int width = static_cast<int>(table_.id.size()) + 1;
  for (int i = 0; i < width; ++i) entry.emplace_back(std::string(next->Text(0, i)));
  outcome.groups = next->Number(0, width);

  const size_t limit = fit.max_rows();
  const absl::Time began = bounds.clock();
  auto fault = Attempt(connection, bounds, entry, limit, outcome);
  if (fault.ok() && fault->empty()) {
    const bool is_full = outcome.rows == static_cast<int64_t>(limit);
    if (is_full && bounds.clock() - began < bounds.statement_timeout / 2) fit.FittedEasily(limit);
    if (outcome.is_gone) {
      spdlog::info("condemned group is gone: container=\"{}\" key=\"{}\"",
                   absl::CHexEscape(table_.config.container), KeyText(entry));
    }
    return outcome;
  }
  outcome = {.groups = outcome.groups};
  const DeleteFault kind = fault.ok() ? DeleteFault::kRow : FaultOf(fault.status());
  if (!connection.is_open() || kind == DeleteFault::kDatabase) return DatabaseFails(fault.status());
  if (const auto back = connection.Execute("ROLLBACK"); !back.ok()) {
    return DatabaseFails(back.status());
  }
  outcome.is_over = kind == DeleteFault::kTimeout;
  if (outcome.is_over && limit > 1) {
    fit.Overran(limit);
    return outcome;
  }
  outcome.is_stuck = true;
  if (kind == DeleteFault::kConflict || kind == DeleteFault::kLock) return outcome;
  const std::string reason = fault.ok() ? *fault : ReasonOf(fault.status());
  TTL_RETURN_IF_ERROR(Blame(connection, entry, reason));
  return outcome;
}

absl::StatusOr<std::string> GroupPieces::Attempt(Connection& connection, const PieceBounds& bounds,
                                                 const Entry& entry, size_t limit,
                                                 PieceOutcome& outcome) const {
  const std::string begin = absl::Substitute(
      "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; $0 SET LOCAL lock_timeout = $1; SET LOCAL "
      "statement_timeout = $2; $3",
      ReadingSettings(), MillisecondsOf(bounds.lock_timeout),
      MillisecondsOf(bounds.statement_timeout), sql_.lock_tables());
  TTL_RETURN_IF_ERROR(connection.Execute(begin).status());
  TTL_ASSIGN_OR_RETURN(const auto unguarded,
                       QueryBySystemNames(connection, sql_.why_unguarded(), {}));
  if (unguarded.Value(0, 0).has_value()) return std::string(unguarded.Text(0, 0));
  TTL_ASSIGN_OR_RETURN(const auto keys,
                       QueryBySystemNames(connection, KeysWithinGroup(table_), {}));
  References references;
  for (int row = 0; row < keys.rows(); ++row) {
    if (keys.Bool(row, 2)) return std::string(kRefersToItself);
    absl::StrAppend(&references[static_cast<uint32_t>(keys.Number(row, 0))], " AND ",
                    keys.Text(row, 1));
  }
  TTL_ASSIGN_OR_RETURN(std::string fault,
                       DeleteRows(connection, entry, limit, references, outcome));
  if (fault.empty()) {
    // Triggers that were deferred act before the message, which is the last change.
    const std::string emit =
        outcome.rows > 0 ? absl::StrCat("SELECT ", EmitPieceMessage(table_.config), "; ") : "";
    TTL_RETURN_IF_ERROR(
        connection.Execute(absl::StrCat("SET CONSTRAINTS ALL IMMEDIATE; ", emit, "COMMIT"))
            .status());
  }
  return fault;
}

absl::StatusOr<std::string> GroupPieces::DeleteRows(Connection& connection, const Entry& entry,
                                                    size_t limit, const References& references,
                                                    PieceOutcome& outcome) const {
  Entry parameters = entry;
  parameters.emplace_back(absl::StrCat(limit));
  for (const Rows& rows : rows_) {
    const auto found = references.find(rows.oid);
    const std::string unreferenced = found == references.end() ? "" : found->second;
    TTL_ASSIGN_OR_RETURN(
        const auto places,
        connection.Query(absl::StrCat(rows.select, unreferenced, " LIMIT $", parameters.size(),
                                      "::bigint FOR UPDATE OF t SKIP LOCKED"),
                         parameters));
    if (places.rows() > 0) {
      return DeleteLocked(connection, entry, rows, unreferenced, PlacesIn(places), outcome);
    }
  }
  return Conclude(connection, entry, references, outcome);
}

absl::StatusOr<std::string> GroupPieces::DeleteLocked(Connection& connection, const Entry& entry,
                                                      const Rows& rows,
                                                      const std::string& unreferenced,
                                                      const std::string& places,
                                                      PieceOutcome& outcome) const {
  TTL_ASSIGN_OR_RETURN(
      const auto still,
      connection.Query(absl::StrCat("SELECT t.ctid FROM ", rows.from,
                                    " WHERE t.ctid = ANY ($1::tid[])", unreferenced),
                       {places}));
  TTL_ASSIGN_OR_RETURN(
      const auto deleted,
      connection.Query(
          absl::StrCat("WITH gone AS (DELETE FROM ", rows.from,
                       " WHERE t.ctid = ANY ($1::tid[]) RETURNING 1) SELECT count(*) FROM gone"),
          {PlacesIn(still)}));
  outcome.rows = deleted.Number(0, 0);
  if (outcome.rows != still.rows()) {
    return "a trigger keeps or changes rows of the group instead of their delete";
  }
  const std::string clear = absl::Substitute(
      "UPDATE $0 AS c SET fault = NULL WHERE $1 AND c.fault IS NOT NULL", condemned_, is_entry_);
  TTL_RETURN_IF_ERROR(connection.Query(clear, entry).status());
  return std::string();
}

absl::StatusOr<std::string> GroupPieces::Conclude(Connection& connection, const Entry& entry,
                                                  const References& references,
                                                  PieceOutcome& outcome) const {
  TTL_ASSIGN_OR_RETURN(const bool is_left, HasRow(connection, entry, nullptr));
  if (!is_left) {
    const std::string remove =
        absl::Substitute("DELETE FROM $0 AS c WHERE $1", condemned_, is_entry_);
    TTL_RETURN_IF_ERROR(connection.Query(remove, entry).status());
    outcome.is_gone = true;
    return std::string();
  }
  outcome.is_stuck = true;
  TTL_ASSIGN_OR_RETURN(const bool is_unreferenced, HasRow(connection, entry, &references));
  // Others have locked such rows.
  if (is_unreferenced) return std::string();
  return "rows of the new group refer to rows of the condemned one by a foreign key: they must be "
         "deleted, or refer to others";
}

absl::StatusOr<bool> GroupPieces::HasRow(Connection& connection, const Entry& entry,
                                         const References* references) const {
  std::vector<std::string> exists;
  for (const Rows& rows : rows_) {
    std::string select = rows.select;
    if (references != nullptr) {
      const auto found = references->find(rows.oid);
      if (found != references->end()) absl::StrAppend(&select, found->second);
    }
    exists.push_back(absl::StrCat("EXISTS (", select, ")"));
  }
  TTL_ASSIGN_OR_RETURN(
      const auto has_row,
      connection.Query(absl::StrCat("SELECT ", absl::StrJoin(exists, " OR ")), entry));
  return has_row.Bool(0, 0);
}

absl::Status GroupPieces::Blame(Connection& connection, const Entry& entry,
                                const std::string& fault) const {
  Entry parameters = entry;
  parameters.emplace_back(fault);
  const std::string reason = absl::StrCat("$", parameters.size(), "::text");
  const auto blamed = connection.Query(
      absl::Substitute("UPDATE $0 AS c SET fault = $1 WHERE $2 AND c.fault IS DISTINCT FROM $1 "
                       "RETURNING 1",
                       condemned_, reason, is_entry_),
      parameters);
  if (!blamed.ok()) return DatabaseFails(blamed.status());
  if (blamed->rows() == 0) return absl::OkStatus();
  spdlog::warn("condemned group is not deleted: container=\"{}\" key=\"{}\" reason=\"{}\"",
               absl::CHexEscape(table_.config.container), KeyText(entry), absl::CHexEscape(fault));
  return absl::OkStatus();
}

}  // namespace ttl::postgres
