#include "client/postgres/sql/archive_fit.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/table_facts.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

using Names = std::vector<std::string>;

// Rights of roles to a table: those of the current role and, with $3, of the owner of another
// table. Parameters: oid of the table, oid of the other table, whether to include its owner.
constexpr absl::string_view kMayInsert = R"(
  SELECT r.rolname, has_schema_privilege(r.oid, c.relnamespace, 'USAGE'),
         has_table_privilege(r.oid, c.oid, 'INSERT'), n.nspname,
         c.relrowsecurity AND NOT (r.rolsuper OR r.rolbypassrls)
           AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
       JOIN pg_roles AS r ON r.rolname = current_user
         OR $3::boolean AND r.oid = (SELECT relowner FROM pg_class WHERE oid = $2::oid)
  WHERE c.oid = $1::oid ORDER BY r.rolname)";

// Whether a row inserted into one table may be a row of the other. Parameters: oids of the two
// tables.
constexpr absl::string_view kAreRelated = R"(
  SELECT $1::oid = $2::oid
         OR $1::oid IN (SELECT relid::oid FROM pg_partition_ancestors($2::oid::regclass))
         OR $2::oid IN (SELECT relid::oid FROM pg_partition_ancestors($1::oid::regclass)))";

// Partitions of the archive that are not ordinary, logged tables. Parameter: oid of the archive.
// $0: the query of its partitions.
constexpr char kUnfitPartitions[] = R"(
  SELECT format('%I.%I', n.nspname, c.relname)
  FROM ($0) AS p JOIN pg_class AS c ON c.oid = p.oid
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.oid <> $$1::oid AND (c.relkind NOT IN ('r', 'p') OR c.relpersistence <> 'p')
  ORDER BY 1)";

// Indexes and exclusion constraints that two rows may violate that differ only in the time of their
// move. $0: the query of the archive and its partitions. Parameters: oid of the archive, names of
// the columns that come from the table.
constexpr char kRefusingIndexes[] = R"(
  SELECT format('%I', c.relname)
  FROM ($0) AS p JOIN pg_index AS i ON i.indrelid = p.oid JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE i.indisready AND (i.indisunique OR i.indisexclusion)
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = i.indexrelid)
    AND NOT EXISTS (
      SELECT FROM generate_series(0, i.indnkeyatts - 1) AS k
           JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
      WHERE a.attname <> ALL ($$2::name[]))
  ORDER BY 1)";

// Parameter: oid.
constexpr absl::string_view kInsertRules = R"(
  SELECT format('%I', rulename) FROM pg_rewrite
  WHERE ev_class = $1::oid AND ev_type = '3' AND ev_enabled <> 'D' ORDER BY 1)";

// Sequences that provide the value of a column, and the roles that lack the right to them.
// Parameters: as in kMayInsert, then the names of the columns that the INSERT sets.
constexpr absl::string_view kSequences = R"(
  SELECT a.attname, format('%I.%I', n.nspname, s.relname), format('%I', r.rolname)
  FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
       JOIN pg_depend AS p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
            AND p.refclassid = 'pg_class'::regclass
       JOIN pg_class AS s ON s.oid = p.refobjid AND s.relkind = 'S'
       JOIN pg_namespace AS n ON n.oid = s.relnamespace
       JOIN pg_roles AS r ON r.rolname = current_user
         OR $3::boolean AND r.oid = (SELECT relowner FROM pg_class WHERE oid = $2::oid)
  WHERE d.adrelid = $1::oid AND a.attname <> ALL ($4::name[])
        AND NOT has_sequence_privilege(r.oid, s.oid, 'USAGE, UPDATE')
  ORDER BY a.attnum, 3)";

// Columns for which an INSERT must provide a value. Parameter: oid.
constexpr absl::string_view kNeededColumns = R"(
  SELECT attname FROM pg_attribute
  WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef
        AND attidentity = '' ORDER BY attnum)";

absl::StatusOr<Names> Column(Connection& connection, absl::string_view query,
                             const std::vector<Connection::Parameter>& parameters) {
  TTL_ASSIGN_OR_RETURN(const auto found, connection.Query(std::string(query), parameters));
  Names names;
  for (int row = 0; row < found.rows(); ++row) names.emplace_back(found.Text(row, 0));
  return names;
}

bool IsVaryingText(const BaseType& type) { return type.name == "text" || type.name == "varchar"; }

// Whether `to` can represent each integer of `from`.
bool IsWiderInteger(const BaseType& from, const BaseType& to) {
  const Names order = {"int2", "int4", "int8", "numeric"};
  const auto rank = [&order](const BaseType& type) {
    return std::find(order.begin(), order.end(), type.name) - order.begin();
  };
  const bool are_numbers = rank(from) < 3 && rank(to) <= 3;
  return are_numbers && rank(from) <= rank(to) && to.modifier < 0;
}

// Whether a column of type `to` stores each value of type `from` without loss.
bool Keeps(const ColumnFacts& from, const ColumnFacts& to) {
  if (from.cast == to.cast) return true;
  const bool is_unlimited = to.base.modifier < 0;
  if (is_unlimited &&
      (IsVaryingText(to.base) || (!from.base.name.empty() && from.base.name == to.base.name))) {
    return true;
  }
  if (from.base.name == "varchar" && to.base.name == "varchar") {
    return from.base.modifier >= 0 && from.base.modifier <= to.base.modifier;
  }
  return IsWiderInteger(from.base, to.base);
}

class ArchiveCheck {
 public:
  ArchiveCheck(Connection& connection, const TableConfig& table)
      : connection_(connection), table_(table), name_(ArchiveName(table)) {}

  absl::StatusOr<Names> WhyUnfit() {
    return Run({&ArchiveCheck::FindBoth, &ArchiveCheck::CheckKind, &ArchiveCheck::CheckRights,
                &ArchiveCheck::CheckSequences, &ArchiveCheck::CheckColumns,
                &ArchiveCheck::CheckNeeded, &ArchiveCheck::CheckRules});
  }

  absl::StatusOr<Names> WhyMayRefuse() {
    return Run({&ArchiveCheck::FindBoth, &ArchiveCheck::CheckIndexes});
  }

 private:
  using Step = absl::Status (ArchiveCheck::*)();

  absl::StatusOr<Names> Run(std::initializer_list<Step> steps) {
    for (const Step step : steps) {
      TTL_RETURN_IF_ERROR((this->*step)());
      // The later steps need a table.
      if (!is_table_) break;
    }
    return std::move(problems_);
  }

  template <typename... Parts>
  void Problem(const Parts&... parts) {
    problems_.push_back(absl::StrCat("archive_table ", name_, parts...));
  }

  // Absent if the table does not exist.
  absl::StatusOr<std::optional<TableFacts>> Find(const std::string& schema,
                                                 const std::string& table) {
    return LookUpTable(connection_, {schema, table, "", schema, {}, "", ""});
  }

  absl::Status FindBoth() {
    const TableConfig& config = table_;
    TTL_ASSIGN_OR_RETURN(auto source, Find(config.schema, config.table));
    TTL_ASSIGN_OR_RETURN(auto archive, Find(config.schema_of_archive(), config.archive_table));
    if (!source.has_value()) return absl::OkStatus();  // reported elsewhere
    source_ = *std::move(source);
    is_table_ = archive.has_value();
    if (is_table_) {
      archive_ = *std::move(archive);
      return absl::OkStatus();
    }
    const std::string added =
        config.archived_at.empty()
            ? ""
            : absl::StrCat("; ALTER TABLE ", name_, " ADD COLUMN ", QuoteName(config.archived_at),
                           " timestamp with time zone");
    Problem(" does not exist: CREATE TABLE ", name_, " (LIKE ",
            QuoteQualified(config.schema, config.table), ")", added);
    return absl::OkStatus();
  }

  absl::Status CheckKind() {
    if (archive_.kind != 'r' && archive_.kind != 'p') {
      is_table_ = false;
      Problem(" is not a table; a view, a foreign table and the like may lose what it is given");
      return absl::OkStatus();
    }
    if (archive_.persistence != 'p') {
      Problem(" is unlogged or temporary, so that a crash of the server empties it: ALTER TABLE ",
              name_, " SET LOGGED");
    }
    TTL_RETURN_IF_ERROR(CheckPartitions());
    TTL_ASSIGN_OR_RETURN(const auto related,
                         connection_.Query(std::string(kAreRelated), {absl::StrCat(source_.oid),
                                                                      absl::StrCat(archive_.oid)}));
    if (related.Bool(0, 0)) Problem(" is the table itself, or a partition of the same table");
    return absl::OkStatus();
  }

  absl::Status CheckPartitions() {
    TTL_ASSIGN_OR_RETURN(const auto unfit,
                         Column(connection_, absl::Substitute(kUnfitPartitions, PartitionsOf("$1")),
                                {absl::StrCat(archive_.oid)}));
    for (const std::string& partition : unfit) {
      Problem(": its partition ", partition,
              " is unlogged, or not a table, so that rows in it may be lost: ALTER TABLE ",
              partition, " SET LOGGED, or detach it");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRights() {
    TTL_ASSIGN_OR_RETURN(const auto rights,
                         connection_.Query(std::string(kMayInsert),
                                           {absl::StrCat(archive_.oid), absl::StrCat(source_.oid),
                                            table_.replace_expired ? "t" : "f"}));
    for (int row = 0; row < rights.rows(); ++row) {
      const std::string role = QuoteName(rights.Text(row, 0));
      if (!rights.Bool(row, 1)) {
        Problem(": role ", role, " may not use its schema: GRANT USAGE ON SCHEMA ",
                QuoteName(rights.Text(row, 3)), " TO ", role);
      }
      if (!rights.Bool(row, 2)) {
        Problem(": role ", role, " lacks a right: GRANT INSERT ON ", name_, " TO ", role);
      }
      if (rights.Bool(row, 4)) {
        Problem(": row-level security binds role ", role, ": ALTER ROLE ", role, " BYPASSRLS");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckSequences() {
    ArrayText given;
    for (const ColumnFacts& column : source_.columns) given.Add(column.name);
    if (!table_.archived_at.empty()) given.Add(table_.archived_at);
    TTL_ASSIGN_OR_RETURN(const auto lacking,
                         connection_.Query(std::string(kSequences),
                                           {absl::StrCat(archive_.oid), absl::StrCat(source_.oid),
                                            table_.replace_expired ? "t" : "f", given.Take()}));
    for (int row = 0; row < lacking.rows(); ++row) {
      Problem(": role ", lacking.Text(row, 2), " may not use the sequence of its column ",
              lacking.Text(row, 0), ": GRANT USAGE ON SEQUENCE ", lacking.Text(row, 1), " TO ",
              lacking.Text(row, 2));
    }
    return absl::OkStatus();
  }

  absl::Status CheckColumns() {
    for (const ColumnFacts& column : source_.columns) CheckColumn(column);
    const std::string& archived_at = table_.archived_at;
    if (archived_at.empty()) return absl::OkStatus();
    const ColumnFacts* column = archive_.Find(archived_at);
    if (source_.Find(archived_at) != nullptr) {
      Problem(": its archived_at, ", archived_at,
              ", is a column of the table, too, whose value is kept; give another column");
    } else if (column == nullptr) {
      Problem(" has no column ", archived_at, ", its archived_at: ALTER TABLE ", name_,
              " ADD COLUMN ", QuoteName(archived_at), " timestamp with time zone");
    } else if (column->base.name != "timestamptz" || column->is_generated) {
      Problem(": column ", archived_at, ", its archived_at, is of type ", column->type,
              column->is_generated ? ", generated" : "", "; it must be timestamp with time zone");
    }
    return absl::OkStatus();
  }

  void CheckColumn(const ColumnFacts& from) {
    const ColumnFacts* to = archive_.Find(from.name);
    const std::string quoted = QuoteName(from.name);
    if (to == nullptr) {
      Problem(" has no column ", from.name, ", which the table has: ALTER TABLE ", name_,
              " ADD COLUMN ", quoted, " ", from.type);
    } else if (to->is_generated) {
      Problem(": column ", from.name, " is generated, and cannot be given a value: ALTER TABLE ",
              name_, " ALTER COLUMN ", quoted, " DROP EXPRESSION");
    } else if (!Keeps(from, *to)) {
      Problem(": column ", from.name, " is of type ", to->type, ", and may not keep all of ",
              from.type, ", as it is in the table: ALTER TABLE ", name_, " ALTER COLUMN ", quoted,
              " TYPE ", from.type);
    } else if (to->not_null && !from.not_null) {
      Problem(": column ", from.name, " may not be NULL, as it may in the table: ALTER TABLE ",
              name_, " ALTER COLUMN ", quoted, " DROP NOT NULL");
    }
  }

  absl::Status CheckNeeded() {
    TTL_ASSIGN_OR_RETURN(const auto needed,
                         Column(connection_, kNeededColumns, {absl::StrCat(archive_.oid)}));
    for (const std::string& name : needed) {
      if (source_.Find(name) != nullptr || name == table_.archived_at) continue;
      Problem(": column ", name,
              ", which the table does not have, may not be NULL and has no default: ALTER TABLE ",
              name_, " ALTER COLUMN ", QuoteName(name), " DROP NOT NULL");
    }
    return absl::OkStatus();
  }

  // A key may be used again, and its row may expire again.
  absl::Status CheckIndexes() {
    ArrayText moved;
    for (const ColumnFacts& column : source_.columns) moved.Add(column.name);
    TTL_ASSIGN_OR_RETURN(const auto indexes,
                         Column(connection_, absl::Substitute(kRefusingIndexes, PartitionsOf("$1")),
                                {absl::StrCat(archive_.oid), moved.Take()}));
    for (const std::string& index : indexes) {
      Problem(": ", index,
              " refuses a second row of the same values, so that a key that is used again stays in "
              "the table when it ends again; drop it, or add a column that the table does not "
              "have, such as archived_at");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRules() {
    TTL_ASSIGN_OR_RETURN(const auto rules,
                         Column(connection_, kInsertRules, {absl::StrCat(archive_.oid)}));
    if (rules.empty()) return absl::OkStatus();
    Problem(": rules rewrite each INSERT into it, so that it cannot be told what became of a row: ",
            absl::StrJoin(rules, ", "), "; make them triggers: DROP RULE ", rules.front(), " ON ",
            name_);
    return absl::OkStatus();
  }

  Connection& connection_;
  const TableConfig& table_;
  const std::string name_;
  bool is_table_ = false;
  TableFacts source_;
  TableFacts archive_;
  Names problems_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> WhyArchiveIsUnfit(Connection& connection,
                                                           const TableConfig& table) {
  return ArchiveCheck(connection, table).WhyUnfit();
}

absl::StatusOr<std::vector<std::string>> WhyArchiveMayRefuse(Connection& connection,
                                                             const TableConfig& table) {
  return ArchiveCheck(connection, table).WhyMayRefuse();
}

absl::StatusOr<ArchiveDefinition> ReadArchive(Connection& connection, const TableConfig& table) {
  TTL_ASSIGN_OR_RETURN(
      const auto found,
      connection.Query(
          absl::StrCat(
              "SELECT ", ArchiveSignature(table),
              ", c.attname FROM pg_attribute AS c JOIN pg_class AS t ON t.oid = c.attrelid "
              "JOIN pg_namespace AS n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND "
              "t.relname = $2 AND c.attnum > 0 AND NOT c.attisdropped ORDER BY c.attnum"),
          {table.schema, table.table}));
  ArchiveDefinition archive;
  for (int row = 0; row < found.rows(); ++row) {
    archive.signature = std::string(found.Text(row, 0));
    archive.columns.emplace_back(found.Text(row, 1));
  }
  // Must follow the signature, which would otherwise be that of a later definition.
  TTL_ASSIGN_OR_RETURN(archive.unfit, WhyArchiveIsUnfit(connection, table));
  return archive;
}

}  // namespace ttl::postgres
