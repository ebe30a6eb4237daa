#include "client/postgres/sql/visibility.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/as_of.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_condemned.h"

namespace ttl::postgres {
namespace {

// SQL for the times of one type of column.
struct TimeScale {
  // Start of the next second. floor(ts) + ttl > floor(now) is equivalent to ts >= next_second -
  // ttl, which leaves the column alone on its side, so that an index can be used.
  std::string next_second;
  std::string second;
  std::string ttl_type;  // cast of a ttl, so that ttl * second does not overflow
  std::string first;     // the earliest legal _ts; an earlier one never expires
  std::string always;    // no later than any legal _ts, even after a ttl is subtracted
};

// `now` is the instant by which rows are judged.
TimeScale TimestampScale(absl::string_view now) {
  return {.next_second = absl::StrCat("date_trunc('second', ", now, ") + interval '1 second'"),
          .second = "interval '1 second'",
          .ttl_type = "",
          .first = "timestamptz '1970-01-01 00:00:01+00'",
          .always = "'-infinity'"};
}

// Local times in a zone with a fixed offset keep the order and the distances of the instants.
TimeScale ReadingScale(const StatedZone& zone, absl::string_view now) {
  TimeScale scale = TimestampScale(now);
  scale.next_second = zone.At(absl::StrCat("(", scale.next_second, ")"));
  scale.first = zone.At(scale.first);
  return scale;
}

TimeScale SecondsScale(absl::string_view now) {
  return {.next_second = absl::StrCat("floor(extract(epoch FROM ", now, "))::bigint + 1"),
          .second = "1",
          .ttl_type = "::bigint",
          .first = "1",
          .always = "0"};
}

TimeScale MillisecondsScale(absl::string_view now) {
  return {.next_second = absl::StrCat("(floor(extract(epoch FROM ", now, "))::bigint + 1) * 1000"),
          .second = "1000",
          .ttl_type = "::bigint",
          .first = "1000",
          .always = "0"};
}

bool HasFixedReadings(const TableDefinition& table) {
  return table.ts_source == TsSource::kReading && table.zone->is_fixed();
}

TimeScale ScaleOf(const TableDefinition& table, absl::string_view schema) {
  const std::string now = JudgedAt(schema);
  if (HasFixedReadings(table)) return ReadingScale(*table.zone, now);
  if (table.ts_source != TsSource::kEpochNumber) return TimestampScale(now);
  return table.config.ts_unit == EpochUnit::kSeconds ? SecondsScale(now) : MillisecondsScale(now);
}

// Returns `limit` if the default_ttl of the container satisfies `condition`, else `always`. The
// aggregate returns a row even without a policy.
std::string OfPolicy(absl::string_view limit, absl::string_view condition, absl::string_view always,
                     absl::string_view container, absl::string_view schema) {
  return absl::StrCat("(SELECT coalesce(max(", limit, "), ", always, ") FROM ",
                      QuoteQualified(schema, "policy"), " AS p WHERE p.container = ", container,
                      " AND p.default_ttl ", condition, ")");
}

// The earliest visible `_ts` of a row that inherits its ttl.
std::string Inherited(const TimeScale& scale, absl::string_view container,
                      absl::string_view schema) {
  return OfPolicy(absl::StrCat(scale.next_second, " - p.default_ttl * ", scale.second), "> 0",
                  scale.always, container, schema);
}

// The earliest visible `_ts` of a row with its own ttl.
std::string Own(const TimeScale& scale, absl::string_view ttl, absl::string_view container,
                absl::string_view schema) {
  return absl::StrCat(OfPolicy(scale.next_second, "IS NOT NULL", scale.always, container, schema),
                      " - ", ttl, scale.ttl_type, " * ", scale.second);
}

constexpr absl::string_view kLegal = " BETWEEN 1 AND 2147483647";

std::string Column(absl::string_view row, absl::string_view name) {
  return row.empty() ? QuoteName(name) : absl::StrCat(row, ".", QuoteName(name));
}

std::string TsOf(const TableDefinition& table, absl::string_view schema, absl::string_view row) {
  if (table.ts_source == TsSource::kReading && !HasFixedReadings(table)) {
    return InstantOfColumn(table, Column(row, table.ts->name));
  }
  if (table.ts.has_value()) return Column(row, table.ts->name);
  return CommitTimeOfRow(schema);
}

// Whether a row that inherits its ttl is visible. A commit time may be NULL, but is never before
// 1970; a column may be NULL or before 1970.
std::string VisibleByPolicy(const TableDefinition& table, absl::string_view ts,
                            absl::string_view limit, absl::string_view first) {
  if (!table.ts.has_value()) return absl::StrCat("coalesce(", ts, " >= ", limit, ", true)");
  return absl::StrCat("(", ts, " >= ", limit, " OR ", ts, " < ", first,
                      table.ts->nullable ? absl::StrCat(" OR ", ts, " IS NULL") : "", ")");
}

// Parts of the condition of a table with an expires_column.
struct EndParts {
  EndScale end;
  std::string limit;      // a later expire time is live
  std::string inherited;  // a row without an expire time is live by default_ttl; may be empty
  std::string no_ts;      // the row has no legal _ts and never expires; may be empty
};

EndParts PartsOf(const TableDefinition& table, absl::string_view schema, absl::string_view row) {
  const std::string container = QuoteText(table.config.container);
  EndParts parts;
  parts.end = ScaleOfEnd(table, Column(row, table.expires->name), JudgedAt(schema));
  parts.limit = OfPolicy(parts.end.second, "IS NOT NULL", parts.end.always, container, schema);
  if (!table.ts.has_value()) return parts;
  const TimeScale scale = ScaleOf(table, schema);
  const std::string ts = TsOf(table, schema, row);
  parts.no_ts = absl::StrCat(ts, " < ", scale.first);
  if (table.ts->nullable) absl::StrAppend(&parts.no_ts, " OR ", ts, " IS NULL");
  if (table.config.expires_null == NullEnd::kInherits) {
    parts.inherited = absl::StrCat(ts, " >= ", Inherited(scale, container, schema));
  }
  return parts;
}

// Consists of comparisons that indexes can answer one by one.
std::string VisibleByEnd(const TableDefinition& table, absl::string_view schema,
                         absl::string_view row) {
  const EndParts parts = PartsOf(table, schema, row);
  const std::string& value = parts.end.value;
  std::string visible =
      absl::StrCat(value, " > ", parts.limit, " OR ", value, " <= ", parts.end.zero);
  if (!parts.inherited.empty()) {
    // A NULL would make the first half NULL instead of false.
    visible = absl::StrCat(value, " IS NOT NULL AND (", visible, ") OR ", value, " IS NULL AND ",
                           parts.inherited);
  } else if (table.expires->nullable) {
    absl::StrAppend(&visible, " OR ", value, " IS NULL");
  }
  if (!parts.no_ts.empty()) absl::StrAppend(&visible, " OR ", parts.no_ts);
  return absl::StrCat("(", visible, ")");
}

// A row is visible until the earlier of `_ts` + ttl and its expire time, and always if one of them
// is illegal.
std::string VisibleByTtlAndEnd(const TableDefinition& table, absl::string_view schema,
                               absl::string_view row) {
  const EndParts parts = PartsOf(table, schema, row);
  const EndScale& end = parts.end;
  const std::string ttl = Column(row, table.ttl->name);
  const std::string own =
      Own(ScaleOf(table, schema), ttl, QuoteText(table.config.container), schema);
  const std::string inherits = parts.inherited.empty()
                                   ? ""
                                   : absl::StrCat("\n    WHEN ", ttl, " IS NULL AND ", end.value,
                                                  " IS NULL THEN ", parts.inherited);
  return absl::StrCat("coalesce(CASE\n    WHEN ", parts.no_ts, " THEN true\n    WHEN NOT (", ttl,
                      kLegal, " OR ", ttl, " = -1) THEN true\n    WHEN ", end.value,
                      " <= ", end.zero, " THEN true\n    WHEN ", end.value, " > ", end.last,
                      end.has_infinity ? absl::StrCat(" AND ", end.value, " < 'infinity'") : "",
                      " THEN true\n    WHEN ", ttl, " > 0 AND ", TsOf(table, schema, row), " < ",
                      own, " THEN false", inherits, "\n    ELSE ", end.value, " > ", parts.limit,
                      "\n  END, true)");
}

std::string VisibleByTime(const TableDefinition& table, absl::string_view schema,
                          absl::string_view row) {
  if (table.expires.has_value()) {
    return table.ttl.has_value() ? VisibleByTtlAndEnd(table, schema, row)
                                 : VisibleByEnd(table, schema, row);
  }
  const TimeScale scale = ScaleOf(table, schema);
  const std::string container = QuoteText(table.config.container);
  const std::string ts = TsOf(table, schema, row);
  const std::string inherited = Inherited(scale, container, schema);
  if (!table.ttl.has_value()) return VisibleByPolicy(table, ts, inherited, scale.first);
  // CASE and not OR: PostgreSQL may evaluate the operands of OR in any order, and an illegal ttl
  // would make the expression overflow.
  const std::string ttl = Column(row, table.ttl->name);
  const std::string too_early =
      table.ts.has_value() ? absl::StrCat("\n    WHEN ", ts, " < ", scale.first, " THEN true") : "";
  return absl::StrCat("coalesce(CASE", too_early, "\n    WHEN ", ttl, " IS NULL THEN ", ts,
                      " >= ", inherited, "\n    WHEN ", ttl, kLegal, " THEN ", ts,
                      " >= ", Own(scale, ttl, container, schema), "\n    ELSE true\n  END, true)");
}

// A live row shows its group without a call of the function.
std::string VisibleIfNotCondemned(const TableDefinition& table, absl::string_view schema,
                                  absl::string_view row) {
  std::vector<std::string> key;
  for (const ColumnDefinition& column : table.id) key.push_back(Column(row, column.name));
  const std::string is_live =
      absl::StrCat(GroupIsLiveName(table, schema), "(", absl::StrJoin(key, ", "), ")");
  if (!HasTimes(table)) return is_live;
  return absl::StrCat("(", VisibleByTime(table, schema, row), " OR ", is_live, ")");
}

// The function of the group would pass over all condemned rows for each of them, so they are
// excluded first.
std::string VisibleByGroup(const TableDefinition& table, absl::string_view schema,
                           absl::string_view row) {
  return absl::StrCat("(", IsNotCondemnedForReaders(table, schema, row), " AND ",
                      VisibleIfNotCondemned(table, schema, row), ")");
}

}  // namespace

// The parenthesis is on its own line, since the `where` may end with a comment.
std::string WhereCondition(const TableConfig& table) {
  return absl::StrCat("(", table.where, "\n)");
}

std::string VisibleCondition(const TableDefinition& table, absl::string_view schema,
                             absl::string_view row) {
  if (IsGroup(table)) return VisibleByGroup(table, schema, row);
  std::string by_time = VisibleByTime(table, schema, row);
  if (table.config.where.empty()) return by_time;
  return absl::StrCat("(", WhereCondition(table.config), " IS NOT TRUE OR ", by_time, ")");
}

std::string VisibleInPolicy(const TableDefinition& table, absl::string_view schema) {
  if (IsGroup(table)) return VisibleIfNotCondemned(table, schema, "");
  return VisibleCondition(table, schema, "");
}

std::string SecondsOfTs(const TableDefinition& table) {
  switch (table.ts_source) {
    case TsSource::kNone:
      return "1";
    case TsSource::kCommitTime:
      return absl::StrCat("floor(extract(epoch FROM ", CommitTimeOfRow(table.own_schema),
                          "))::bigint");
    case TsSource::kTimestamp:
    case TsSource::kReading:
      return absl::Substitute(
          "CASE WHEN isfinite($0) THEN floor(extract(epoch FROM $0))::bigint END",
          InstantOfColumn(table, Column("t", table.ts->name)));
    case TsSource::kEpochNumber:
      break;
  }
  if (table.config.ts_unit == EpochUnit::kSeconds)
    return absl::StrCat(Column("t", table.ts->name), "::bigint");
  return absl::Substitute("floor($0::numeric / 1000::numeric)::bigint",
                          Column("t", table.ts->name));
}

std::string OwnVisibleCondition(const TableDefinition& table, absl::string_view schema,
                                absl::string_view row) {
  return VisibleByTime(table, schema, row);
}

std::string InstantOfColumn(const TableDefinition& table, absl::string_view column) {
  return table.zone.has_value() ? table.zone->At(column) : absl::StrCat(column, "::timestamptz");
}

// The list of transactions is read once per statement, so that a row that no rewrite wrote costs no
// function call.
std::string CommitTimeOfRow(absl::string_view own_schema) {
  constexpr absl::string_view kOfWriter = "pg_catalog.pg_xact_commit_timestamp(t.xmin)";
  if (own_schema.empty()) return std::string(kOfWriter);
  return absl::StrCat("CASE WHEN t.xmin = ANY (ARRAY(SELECT unnest(r.xids) FROM ",
                      QuoteQualified(own_schema, "rewrites"), " AS r)) THEN ",
                      QuoteQualified(own_schema, "commit_time"),
                      "(t.tableoid, t.ctid, t.xmin) ELSE ", kOfWriter, " END");
}

std::string ExpiredExpression(const JudgedValues& values, absl::string_view schema) {
  const TimeScale scale = TimestampScale(JudgedAt(schema));
  return absl::StrCat("coalesce(CASE\n    WHEN ", values.ts, " < ", scale.first,
                      " THEN false\n    WHEN ", values.ttl, " IS NULL THEN ", values.ts, " < ",
                      Inherited(scale, values.container, schema), "\n    WHEN ", values.ttl, kLegal,
                      " THEN ", values.ts, " < ", Own(scale, values.ttl, values.container, schema),
                      "\n    ELSE false\n  END, false)");
}

std::string FirstVisibleTs(absl::string_view container, absl::string_view schema) {
  return Inherited(TimestampScale(JudgedAt(schema)), container, schema);
}

}  // namespace ttl::postgres
