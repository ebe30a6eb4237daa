#include "client/postgres/sql/check/mark_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/visibility.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr int kSampledRows = 10000;

// Parameters: oid of the table, name of the column.
constexpr absl::string_view kMarkFacts = R"(
  SELECT has_column_privilege($1::oid, $2, 'UPDATE'), current_user,
         (SELECT string_agg(format('%I', rulename), ', ' ORDER BY rulename) FROM pg_rewrite
          WHERE ev_class = $1::oid AND ev_type = '2' AND ev_enabled <> 'D'),
         (SELECT string_agg(format('%I', c.relname), ', ' ORDER BY c.relname)
          FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
               JOIN pg_attribute AS a ON a.attrelid = $1::oid AND a.attname = $2
          WHERE i.indrelid = $1::oid AND i.indisunique
            AND a.attnum = ANY ((string_to_array(i.indkey::text, ' ')::int2[])[1:i.indnkeyatts])),
         (SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) FROM pg_attribute
          WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped AND attname <> $2),
         (SELECT format_type(atttypid, atttypmod) FROM pg_attribute
          WHERE attrelid = $1::oid AND attname = $2),
         -- PostgreSQL 14 has the column as what depends, and 15 its expression.
         EXISTS (SELECT FROM pg_attribute AS m JOIN pg_attribute AS g ON g.attrelid = m.attrelid
                      JOIN pg_depend AS p ON p.refclassid = 'pg_class'::regclass
                        AND p.refobjid = m.attrelid AND p.refobjsubid = m.attnum
                        AND (p.classid = 'pg_class'::regclass AND p.objid = g.attrelid
                               AND p.objsubid = g.attnum
                             OR p.classid = 'pg_attrdef'::regclass AND p.objid IN (
                               SELECT oid FROM pg_attrdef
                               WHERE adrelid = g.attrelid AND adnum = g.attnum))
                 WHERE m.attrelid = $1::oid AND m.attname = $2 AND g.attgenerated <> ''))";

class MarkCheck {
 public:
  MarkCheck(Connection& connection, const TableDefinition& table, CatalogReport& report)
      : connection_(connection),
        table_(table),
        report_(report),
        name_(absl::StrCat("table ", table.config.schema, ".", table.configured_table)),
        sql_(QuoteQualified(table.config.schema, table.config.table)),
        column_(QuoteName(table.mark->name)) {}

  absl::Status Run() {
    for (const auto step : {&MarkCheck::ReadFacts, &MarkCheck::CheckValue, &MarkCheck::CheckUse,
                            &MarkCheck::CheckRows}) {
      if (absl::Status status = (this->*step)(); !status.ok() || !is_sound_) return status;
    }
    return absl::OkStatus();
  }

 private:
  template <typename... Parts>
  void Problem(const Parts&... parts) {
    is_sound_ = false;
    report_.LeaveOut(table_.config.container, absl::StrCat(name_, parts...));
  }

  absl::Status ReadFacts() {
    TTL_ASSIGN_OR_RETURN(
        const auto facts,
        connection_.Query(std::string(kMarkFacts), {absl::StrCat(table_.oid), table_.mark->name}));
    others_ = std::string(facts.Text(0, 4));
    declared_ = std::string(facts.Text(0, 5));
    has_generated_ = facts.Bool(0, 6);
    if (!facts.Bool(0, 0)) {
      const std::string role = QuoteName(facts.Text(0, 1));
      Problem(": role ", role, " may not set its mark_column: GRANT UPDATE (", column_, ") ON ",
              sql_, " TO ", role);
    }
    if (facts.Value(0, 2).has_value()) {
      Problem(
          ": rules rewrite each UPDATE of its rows, so that it cannot be told what became of "
          "them: ",
          facts.Text(0, 2), "; make them triggers");
    }
    if (facts.Value(0, 3).has_value()) {
      report_.warnings.push_back(
          absl::StrCat(name_, ": its mark_column is in the unique index ", facts.Text(0, 3),
                       "; a row that would be the second with the same values there is not marked, "
                       "and stays hidden"));
    }
    return absl::OkStatus();
  }

  // An explicit cast truncates a text that is too long, but an assignment refuses it. A domain has
  // its own conditions.
  absl::Status CheckValue() {
    const auto tried = connection_.Query(
        absl::StrCat("SELECT pg_typeof(value) IN ('varchar'::regtype, 'bpchar'::regtype) AND "
                     "rtrim(concat(value)) <> rtrim($1::text), value::",
                     declared_, " FROM (SELECT ", MarkValue(table_, "$1"), " AS value) AS marked"),
        {table_.config.mark_value});
    if (tried.ok() && !tried->Bool(0, 0)) return absl::OkStatus();
    if (!tried.ok() && !IsAboutTheStatement(tried.status())) return tried.status();
    Problem(": mark_value \"", table_.config.mark_value, "\" is not a value of its mark_column, ",
            table_.mark->name, ", which is of type ", table_.mark->type,
            tried.ok() ? "" : absl::StrCat(": ", SqlMessage(tried.status())));
    return absl::OkStatus();
  }

  // If the condition parses without the column, it does not use it. A generated column would have
  // its former value here; each mark is confirmed when it is made.
  absl::Status CheckUse() {
    if (has_generated_) return absl::OkStatus();
    const auto read =
        connection_.Query(absl::StrCat("EXPLAIN SELECT FROM (SELECT ", others_, " FROM ", sql_,
                                       ") AS t WHERE ", WhereCondition(table_.config)));
    if (!read.ok()) return IsAboutTheStatement(read.status()) ? absl::OkStatus() : read.status();
    Problem(": its where does not use its mark_column, ", table_.mark->name,
            ", so that a marked row would stay in it, and be marked again; give, for example, "
            "where: ",
            column_, " IS NULL");
    return absl::OkStatus();
  }

  absl::Status CheckRows() {
    if (has_generated_) return absl::OkStatus();
    const auto rows = connection_.Query(
        absl::Substitute("SELECT count(*) FROM (SELECT $0, $1 AS $2 FROM (SELECT * FROM $3 LIMIT "
                         "$4) AS t WHERE $5) AS t WHERE $5",
                         others_, MarkValue(table_, "$1"), column_, sql_, kSampledRows,
                         WhereCondition(table_.config)),
        {table_.config.mark_value});
    // A condition that fails for a row is not a problem of the mark.
    if (!rows.ok()) return IsAboutTheStatement(rows.status()) ? absl::OkStatus() : rows.status();
    if (rows->Number(0, 0) == 0) return absl::OkStatus();
    // The text must not depend on the number of rows, since texts are compared.
    Problem(": some of its first ", kSampledRows, " rows would still match its where once ",
            table_.mark->name, " is \"", table_.config.mark_value,
            "\", and be marked again; change the where or the mark_value");
    return absl::OkStatus();
  }

  Connection& connection_;
  const TableDefinition& table_;
  CatalogReport& report_;
  const std::string name_;
  const std::string sql_;
  const std::string column_;
  std::string declared_;        // type of the mark_column, which may be a domain
  std::string others_;          // the other columns, quoted
  bool has_generated_ = false;  // a column is generated from the mark_column
  bool is_sound_ = true;
};

// Limits the check of one table, so that a locked or slow table does not delay the others.
constexpr char kFormerLimits[] =
    "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')";

absl::Status SetLimits(Connection& connection, absl::string_view lock,
                       absl::string_view statement) {
  return connection
      .Execute(absl::StrCat("SET lock_timeout = ", QuoteText(lock),
                            "; SET statement_timeout = ", QuoteText(statement)))
      .status();
}

// Other errors of a statement on one table concern that table, such as a lock, or a function in its
// `where` that raises an exception.
bool IsAboutTheServer(const absl::Status& status) {
  return SqlState(status).empty() || absl::IsUnavailable(status);
}

}  // namespace

absl::Status CheckMark(Connection& connection, const TableDefinition& table,
                       CatalogReport& report) {
  if (!table.mark.has_value()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto former, connection.Query(kFormerLimits));
  TTL_RETURN_IF_ERROR(SetLimits(connection, "1s", "10s"));
  const absl::Status checked = MarkCheck(connection, table, report).Run();
  const absl::Status reset = SetLimits(connection, former.Text(0, 0), former.Text(0, 1));
  if (checked.ok()) return reset;
  if (IsAboutTheServer(checked)) return checked;
  report.warnings.push_back(
      absl::StrCat("table ", table.config.schema, ".", table.configured_table,
                   ": its mark could not be tried out: ", SqlMessage(checked)));
  return reset;
}

}  // namespace ttl::postgres
