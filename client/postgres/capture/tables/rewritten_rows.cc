#include "client/postgres/capture/tables/rewritten_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/row/row_key.h"
#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// The files that differ from known_files, each with whether it is known and has stayed attached.
// The xmin of the pg_inherits row changes when a partition or an ancestor is detached and attached
// again.
constexpr char kChangedFiles[] = R"(
WITH tree AS MATERIALIZED (
  SELECT relid::oid, isleaf FROM pg_partition_tree($$1::oid::regclass)
  UNION SELECT oid, true FROM pg_class WHERE oid = $$1::oid AND relkind = 'r'),
files AS (
  SELECT c.oid AS relation, pg_relation_filenode(c.oid) AS filenode,
    coalesce((SELECT string_agg(i.xmin::text, ' ' ORDER BY i.inhrelid) FROM pg_inherits i
      WHERE i.inhrelid IN (SELECT relid FROM pg_partition_ancestors(c.oid))
        AND i.inhparent IN (SELECT relid FROM tree)), '') AS attached
  FROM tree p JOIN pg_class c ON c.oid = p.relid WHERE p.isleaf AND c.relkind = 'r')
SELECT f.relation, f.filenode, f.attached, k.attached IS NOT DISTINCT FROM f.attached
FROM files f LEFT JOIN $0 k ON k.relation = f.relation
WHERE (k.filenode, k.attached) IS DISTINCT FROM (f.filenode, f.attached) ORDER BY f.relation)";

std::vector<ColumnDefinition> KeyOf(const TableDefinition& table) {
  std::vector<ColumnDefinition> key = table.partition_key;
  key.insert(key.end(), table.id.begin(), table.id.end());
  return key;
}

// Parameters: the texts of each key column, the times, the oids of the files' tables, the horizon.
// OFFSET makes the lookups separate, as in KeyLookup. xids are compared modulo 2^32, as PostgreSQL
// does. The text is compared, too, because a different text may be an equal value but belongs to
// another item. The update locks the file's row in `rewrites` against removal.
std::string HoldStatement(const TableDefinition& table) {
  const std::vector<ColumnDefinition> key = KeyOf(table);
  std::vector<std::string> arrays;
  std::vector<std::string> names;
  std::vector<std::string> conditions;
  for (const ColumnDefinition& column : key) {
    const std::string name = absl::StrCat("k", names.size());
    const std::string of_row = absl::StrCat("t.", QuoteName(column.name));
    names.push_back(name);
    arrays.push_back(absl::StrCat("$", names.size(), "::text[]"));
    conditions.push_back(absl::StrCat(of_row, " = asked.", name, "::", column.type));
    conditions.push_back(absl::StrCat("concat(", of_row, ") = asked.", name));
  }
  const size_t last = key.size();
  const std::string horizon = absl::StrCat("$", last + 3, "::bigint");
  conditions.push_back(absl::StrCat("t.tableoid = ANY ($", last + 2, "::oid[])"));
  conditions.push_back(
      absl::StrCat("((", horizon, " - 1 - t.xmin::text::bigint) & 4294967295) < 2147483648"));
  conditions.push_back(
      "floor(extract(epoch FROM pg_xact_commit_timestamp(t.xmin))) > asked.known_ts");
  return absl::StrCat(
      "WITH rewritten AS MATERIALIZED (SELECT found.* FROM unnest(", absl::StrJoin(arrays, ", "),
      ", $", last + 1, "::bigint[]) AS asked(", absl::StrJoin(names, ", "), ", known_ts), ",
      "LATERAL (SELECT pg_relation_filenode(t.tableoid) AS file, t.tableoid AS relation, t.ctid AS "
      "place, t.xmin AS writer, to_timestamp(asked.known_ts) AS ts FROM ",
      RowSelect(table).from(), " WHERE ", absl::StrJoin(conditions, " AND "),
      " OFFSET 0) AS found),\n"
      "noted AS (INSERT INTO ",
      QuoteQualified(table.own_schema, "rewrites"),
      " AS r (filenode, relation, xids) SELECT file, relation, array_agg(writer) FROM (SELECT "
      "DISTINCT file, relation, writer FROM rewritten) AS w GROUP BY 1, 2 ORDER BY 1 ON CONFLICT "
      "(filenode) DO UPDATE SET xids = ARRAY(SELECT unnest(r.xids) UNION SELECT "
      "unnest(excluded.xids))),\nheld AS (INSERT INTO ",
      QuoteQualified(table.own_schema, "held_times"),
      " AS h SELECT file, place, writer, ts FROM rewritten ON CONFLICT (filenode, place) DO UPDATE "
      "SET xid = excluded.xid, ts = excluded.ts WHERE h.xid <> excluded.xid OR h.ts >= excluded.ts "
      "+ interval '1 second')\n"
      "SELECT count(*) FROM rewritten");
}

bool GoesByCommitTime(const TableDefinition& table) {
  return table.ts_source == TsSource::kCommitTime && !table.own_schema.empty();
}

}  // namespace

RewrittenRows::RewrittenRows(const TableDefinition& table)
    : table_(table), hold_statement_(GoesByCommitTime(table) ? HoldStatement(table) : "") {}

void RewrittenRows::Reset() {
  changed_.clear();
  chosen_.clear();
}

bool RewrittenRows::IsDue(uint32_t relation) const {
  return std::any_of(changed_.begin(), changed_.end(), [relation](const ChangedFile& changed) {
    return changed.file.relation == relation;
  });
}

bool RewrittenRows::is_waiting() const {
  return std::any_of(changed_.begin(), changed_.end(), [](const ChangedFile& changed) {
    return changed.stage == Stage::kSeen && changed.horizon != 0;
  });
}

std::string RewrittenRows::state() const {
  if (changed_.empty()) return "";
  if (is_waiting()) {
    return "was rewritten; holding the times of its rows waits for older transactions to end";
  }
  return "was rewritten; the times of its rows are being held";
}

absl::Status RewrittenRows::Look(PatientQuery& database,
                                 absl::FunctionRef<bool(uint32_t)> is_to_be_read) {
  if (hold_statement_.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(
      const auto rows,
      database.Query(
          absl::Substitute(kChangedFiles, QuoteQualified(table_.own_schema, "known_files")),
          {absl::StrCat(table_.oid)}));
  std::vector<File> changed;
  std::vector<File> others;  // files without known times
  for (int row = 0; row < rows.rows(); ++row) {
    File file{static_cast<uint32_t>(rows.Number(row, 0)),
              static_cast<uint32_t>(rows.Number(row, 1)), std::string(rows.Text(row, 2))};
    if (rows.Bool(row, 3)) {
      changed.push_back(std::move(file));
    } else if (!is_to_be_read(file.relation)) {
      others.push_back(std::move(file));
    }
  }
  TTL_RETURN_IF_ERROR(Know(database, others));
  Note(std::move(changed));
  TTL_RETURN_IF_ERROR(LookAgain(database));
  if (chosen_.empty()) Choose();
  return absl::OkStatus();
}

// An unchanged file keeps its stage, whatever happens to others.
void RewrittenRows::Note(std::vector<File> changed) {
  std::vector<ChangedFile> noted;
  for (File& file : changed) {
    const auto same = std::find_if(changed_.begin(), changed_.end(),
                                   [&](const ChangedFile& before) { return before.file == file; });
    noted.push_back(same != changed_.end() ? std::move(*same) : ChangedFile{std::move(file)});
  }
  changed_ = std::move(noted);
  const auto is_gone = [this](const File& chosen) {
    return std::none_of(changed_.begin(), changed_.end(),
                        [&](const ChangedFile& changed) { return changed.file == chosen; });
  };
  chosen_.erase(std::remove_if(chosen_.begin(), chosen_.end(), is_gone), chosen_.end());
}

// Takes the snapshot in a separate statement, because the query of the files may read them after
// its own snapshot.
absl::Status RewrittenRows::LookAgain(PatientQuery& database) {
  bool is_any_seen = false;
  for (ChangedFile& changed : changed_) {
    if (changed.stage == Stage::kEnded) changed.stage = Stage::kReady;
    is_any_seen = is_any_seen || changed.stage == Stage::kSeen;
  }
  if (!is_any_seen) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(
      const auto snapshot,
      database.Query(
          "SELECT pg_snapshot_xmin(s), pg_snapshot_xmax(s) FROM pg_current_snapshot() AS s"));
  uint64_t ended = 0;
  uint64_t horizon = 0;
  if (!absl::SimpleAtoi(snapshot.Text(0, 0), &ended) ||
      !absl::SimpleAtoi(snapshot.Text(0, 1), &horizon)) {
    return absl::InternalError("a snapshot of the server cannot be read");
  }
  for (ChangedFile& changed : changed_) {
    if (changed.stage != Stage::kSeen) continue;
    if (changed.horizon == 0) changed.horizon = horizon;
    if (ended >= changed.horizon) changed.stage = Stage::kEnded;
  }
  return absl::OkStatus();
}

// The latest horizon is valid for all files: earlier transactions have ended, and each file was
// seen after that.
void RewrittenRows::Choose() {
  horizon_ = 0;
  for (const ChangedFile& changed : changed_) {
    if (changed.stage != Stage::kReady) continue;
    chosen_.push_back(changed.file);
    horizon_ = std::max(horizon_, changed.horizon);
  }
  if (!chosen_.empty()) ++choices_;
}

absl::Status RewrittenRows::Know(PatientQuery& database, absl::Span<const File> files) const {
  if (files.empty()) return absl::OkStatus();
  ArrayText relations;
  ArrayText filenodes;
  ArrayText attached;
  for (const File& file : files) {
    relations.Add(static_cast<int64_t>(file.relation));
    filenodes.Add(static_cast<int64_t>(file.filenode));
    attached.Add(file.attached);
  }
  return database
      .Query(absl::StrCat("INSERT INTO ", QuoteQualified(table_.own_schema, "known_files"),
                          " SELECT * FROM unnest($1::oid[], $2::oid[], $3::text[]) ON CONFLICT "
                          "(relation) DO UPDATE SET filenode = excluded.filenode, attached = "
                          "excluded.attached"),
             {relations.Take(), filenodes.Take(), attached.Take()})
      .status();
}

std::vector<RewrittenRows::Known> RewrittenRows::KnownOf(const v1::ListItemsResponse& page) const {
  std::vector<Known> items;
  for (const v1::ItemView& view : page.items()) {
    const v1::Item& item = view.item();
    auto key = SplitKey(item.partition_key(), table_.partition_key.size());
    const auto id = SplitKey(item.id(), table_.id.size());
    // A PostgreSQL text cannot contain a zero byte.
    if (!key.ok() || !id.ok() || absl::StrContains(item.partition_key(), '\0') ||
        absl::StrContains(item.id(), '\0')) {
      continue;
    }
    key->insert(key->end(), id->begin(), id->end());
    items.push_back({*std::move(key), item.ts()});
  }
  return items;
}

absl::StatusOr<int64_t> RewrittenRows::Hold(PatientQuery& database,
                                            const v1::ListItemsResponse& page) const {
  return Hold(database, KnownOf(page));
}

absl::StatusOr<int64_t> RewrittenRows::Hold(PatientQuery& database,
                                            absl::Span<const Known> items) const {
  if (items.empty()) return 0;
  std::vector<ArrayText> arrays(items.front().key.size());
  ArrayText times;
  for (const Known& item : items) {
    for (size_t i = 0; i < arrays.size(); ++i) arrays[i].Add(item.key[i]);
    times.Add(item.ts);
  }
  ArrayText relations;
  for (const File& file : chosen_) relations.Add(static_cast<int64_t>(file.relation));
  std::vector<Connection::Parameter> parameters;
  for (ArrayText& array : arrays) parameters.emplace_back(array.Take());
  parameters.emplace_back(times.Take());
  parameters.emplace_back(relations.Take());
  parameters.emplace_back(absl::StrCat(horizon_));
  const auto held = database.Query(hold_statement_, parameters);
  if (held.ok()) return held->Number(0, 0);
  // A key is not a valid value of its type, so it has no row.
  if (!IsFaultOfRow(held.status())) return held.status();
  if (items.size() == 1) return 0;
  const size_t half = items.size() / 2;
  TTL_ASSIGN_OR_RETURN(const auto first, Hold(database, items.subspan(0, half)));
  TTL_ASSIGN_OR_RETURN(const auto second, Hold(database, items.subspan(half)));
  return first + second;
}

absl::Status RewrittenRows::Finish(PatientQuery& database) {
  TTL_RETURN_IF_ERROR(Know(database, chosen_));
  const auto is_known = [this](const ChangedFile& changed) {
    return std::find(chosen_.begin(), chosen_.end(), changed.file) != chosen_.end();
  };
  changed_.erase(std::remove_if(changed_.begin(), changed_.end(), is_known), changed_.end());
  chosen_.clear();
  return absl::OkStatus();
}

}  // namespace ttl::postgres
