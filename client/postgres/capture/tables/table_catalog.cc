#include "client/postgres/capture/tables/table_catalog.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/row/lsn.h"
#include "client/postgres/sql/connect/array_text.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// Types are named as in TableDefinition: the base type of any domain.
constexpr char kColumns[] = R"(
WITH RECURSIVE below(number, type, modifier) AS (
  SELECT attnum, atttypid, atttypmod FROM pg_catalog.pg_attribute
  WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT b.number, t.typbasetype, t.typtypmod FROM below b
  JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
SELECT n.nspname, c.relname, a.attname, a.atttypid, a.atttypmod,
       CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace
            THEN pg_catalog.format_type(b.type, b.modifier)
            ELSE format('%I.%I', tn.nspname, t.typname) END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN below b ON b.number = a.attnum
JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype <> 'd'
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
WHERE c.oid = $1::oid)";

// A plain table is its own leaf. The xmin of the pg_inherits row changes when a partition or an
// ancestor is detached and attached again; a column's number changes when it is dropped and added
// again.
constexpr char kPartitions[] = R"(
WITH tree AS MATERIALIZED (
  SELECT relid::oid, isleaf FROM pg_catalog.pg_partition_tree($1::oid::regclass)
  UNION SELECT oid, true FROM pg_catalog.pg_class WHERE oid = $1::oid AND relkind = 'r')
SELECT c.oid, n.nspname, c.relname,
       hashtext(concat_ws(' ', pg_catalog.pg_relation_filenode(c.oid),
         (SELECT string_agg(i.xmin::text, ' ' ORDER BY i.inhrelid) FROM pg_catalog.pg_inherits i
          WHERE i.inhrelid IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(c.oid))
                AND i.inhparent IN (SELECT relid FROM tree)), '/',
         (SELECT string_agg(a.attnum::text, ' ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
          WHERE a.attrelid = $1::oid AND a.attname = ANY ($2::text[]))))::bigint & 4294967295
FROM tree p
JOIN pg_catalog.pg_class c ON c.oid = p.relid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE p.isleaf AND c.relkind = 'r' ORDER BY c.oid)";

// reltuples is -1 for a table that was never analysed.
constexpr char kEstimate[] = R"(
SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint FROM pg_catalog.pg_class c
WHERE c.oid = $1::oid OR c.oid IN
  (SELECT relid FROM pg_catalog.pg_partition_tree($1::oid::regclass) WHERE isleaf))";

constexpr char kPublished[] = R"(
SELECT r.prrelid, r.oid FROM pg_catalog.pg_publication p
JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid WHERE p.pubname = $1)";

std::vector<ColumnDefinition> UsedColumns(const TableDefinition& table) {
  std::vector<ColumnDefinition> columns = table.partition_key;
  columns.insert(columns.end(), table.id.begin(), table.id.end());
  for (const auto* column : {&table.ts, &table.ttl, &table.expires, &table.size}) {
    if (column->has_value()) columns.push_back(**column);
  }
  return columns;
}

absl::Status Refuse(const TableDefinition& table, absl::string_view problems) {
  return absl::FailedPreconditionError(absl::StrCat(
      "table ", table.config.schema, ".", table.config.table, " (container \"",
      table.config.container, "\") is not what it was when ttl-postgres started: ", problems,
      "; change it back, or see what `ttl-postgres check` says and start ttl-postgres again"));
}

// The catalogue entry of a column.
struct CurrentColumn {
  ColumnType type;
  std::string type_name;
};

std::string FindProblems(const std::vector<ColumnDefinition>& used,
                         const std::map<std::string, CurrentColumn>& current) {
  std::vector<std::string> problems;
  for (const ColumnDefinition& column : used) {
    const auto found = current.find(column.name);
    if (found == current.end()) {
      problems.push_back(absl::StrCat("there is no column \"", column.name, "\""));
    } else if (found->second.type_name != column.type) {
      problems.push_back(absl::StrCat("column \"", column.name, "\" is of type ",
                                      found->second.type_name, ", not ", column.type));
    }
  }
  return absl::StrJoin(problems, ", ");
}

}  // namespace

absl::StatusOr<ColumnTypes> ReadColumnTypes(PatientQuery& database, const TableDefinition& table) {
  TTL_ASSIGN_OR_RETURN(const auto rows, database.Query(kColumns, {absl::StrCat(table.oid)}));
  if (rows.rows() == 0) return Refuse(table, absl::StrCat("oid ", table.oid, " is gone"));
  const std::string name = absl::StrCat(rows.Text(0, 0), ".", rows.Text(0, 1));
  if (name != absl::StrCat(table.config.schema, ".", table.config.table)) {
    return Refuse(table, absl::StrCat("its name is ", name));
  }
  std::map<std::string, CurrentColumn> current;
  ColumnTypes types;
  for (int row = 0; row < rows.rows(); ++row) {
    const ColumnType type{static_cast<uint32_t>(rows.Number(row, 3)),
                          static_cast<int32_t>(rows.Number(row, 4))};
    types[rows.Text(row, 2)] = type;
    current[std::string(rows.Text(row, 2))] = {type, std::string(rows.Text(row, 5))};
  }
  const std::string problems = FindProblems(UsedColumns(table), current);
  if (!problems.empty()) return Refuse(table, problems);
  return types;
}

absl::StatusOr<absl::flat_hash_map<uint32_t, uint32_t>> ReadPublished(
    PatientQuery& database, const std::string& publication) {
  TTL_ASSIGN_OR_RETURN(const auto rows, database.Query(kPublished, {publication}));
  absl::flat_hash_map<uint32_t, uint32_t> tables;
  for (int row = 0; row < rows.rows(); ++row) {
    tables[static_cast<uint32_t>(rows.Number(row, 0))] = static_cast<uint32_t>(rows.Number(row, 1));
  }
  return tables;
}

absl::StatusOr<std::vector<Partition>> ReadPartitions(PatientQuery& database,
                                                      const TableDefinition& table) {
  ArrayText names;
  for (const ColumnDefinition& column : UsedColumns(table)) names.Add(column.name);
  TTL_ASSIGN_OR_RETURN(const auto rows,
                       database.Query(kPartitions, {absl::StrCat(table.oid), names.Take()}));
  std::vector<Partition> partitions;
  for (int row = 0; row < rows.rows(); ++row) {
    partitions.push_back({.oid = static_cast<uint32_t>(rows.Number(row, 0)),
                          .mark = static_cast<uint32_t>(rows.Number(row, 3)),
                          .schema = std::string(rows.Text(row, 1)),
                          .name = std::string(rows.Text(row, 2))});
  }
  return partitions;
}

absl::StatusOr<std::string> ReadBounds(PatientQuery& database, const Partition& partition) {
  TTL_ASSIGN_OR_RETURN(const auto bounds,
                       database.Query("SELECT pg_catalog.pg_get_partition_constraintdef($1::oid)",
                                      {absl::StrCat(partition.oid)}));
  return std::string(bounds.Text(0, 0));
}

PartitionChanges ComparePartitions(const std::vector<uint32_t>& noted,
                                   const std::vector<Partition>& partitions) {
  std::map<uint32_t, uint32_t> before;  // mark by oid
  for (size_t i = 0; i + 1 < noted.size(); i += 2) before[noted[i]] = noted[i + 1];
  PartitionChanges changes;
  for (const Partition& partition : partitions) {
    const auto found = before.find(partition.oid);
    // A changed partition also stays in `before`: the old one is gone, and a new one was added.
    if (found == before.end() || found->second != partition.mark) {
      changes.added.push_back(partition);
      continue;
    }
    changes.noted.insert(changes.noted.end(), {partition.oid, partition.mark});
    before.erase(found);
  }
  changes.has_lost_rows = !before.empty();
  return changes;
}

std::vector<uint32_t> NotePartitions(const std::vector<Partition>& partitions) {
  std::vector<uint32_t> noted;
  for (const Partition& partition : partitions) {
    noted.insert(noted.end(), {partition.oid, partition.mark});
  }
  return noted;
}

absl::StatusOr<int64_t> EstimateRows(PatientQuery& database, const TableDefinition& table) {
  TTL_ASSIGN_OR_RETURN(const auto rows, database.Query(kEstimate, {absl::StrCat(table.oid)}));
  return rows.Number(0, 0);
}

absl::StatusOr<uint64_t> ReadFlushPosition(PatientQuery& database) {
  TTL_ASSIGN_OR_RETURN(const auto rows,
                       database.Query("SELECT pg_catalog.pg_current_wal_flush_lsn()"));
  return ParseLsn(rows.Text(0, 0));
}

absl::StatusOr<uint64_t> ReadInsertPosition(PatientQuery& database) {
  TTL_ASSIGN_OR_RETURN(const auto rows,
                       database.Query("SELECT pg_catalog.pg_current_wal_insert_lsn()"));
  return ParseLsn(rows.Text(0, 0));
}

absl::StatusOr<SourcePosition> ReadSource(PatientQuery& database) {
  // The control file has the timeline of the last checkpoint, which may be an earlier one. The name
  // of a WAL file begins with the current timeline.
  TTL_ASSIGN_OR_RETURN(const auto rows,
                       database.Query("SELECT (pg_catalog.pg_control_system()).system_identifier, "
                                      "left(pg_catalog.pg_walfile_name(lsn), 8), lsn "
                                      "FROM pg_catalog.pg_current_wal_flush_lsn() AS lsn"));
  TTL_ASSIGN_OR_RETURN(const auto lsn, ParseLsn(rows.Text(0, 2)));
  return SourcePosition{std::string(rows.Text(0, 0)), std::string(rows.Text(0, 1)), lsn};
}

}  // namespace ttl::postgres
