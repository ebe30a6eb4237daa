#include "client/postgres/sql/end_column.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {
namespace {

constexpr absl::string_view kZero = "timestamptz '1970-01-01 00:00:00+00'";
constexpr absl::string_view kLast = "timestamptz '9999-12-31 23:59:59+00'";
constexpr absl::string_view kLastSecond = "253402300799";

// Converts an instant to the date that a column of dates with the same DayEdge is compared with.
std::string AsDay(const TableDefinition& table, absl::string_view instant) {
  return absl::StrCat("(", table.expires_zone->At(instant), "::date",
                      table.config.ends == DayEdge::kEnd ? " - 1)" : ")");
}

// Local times in a zone with a fixed offset have the order of the instants.
std::string AsStored(const TableDefinition& table, absl::string_view instant) {
  return table.end_source == EndSource::kDate ? AsDay(table, instant)
                                              : table.expires_zone->At(instant);
}

EndScale ScaleOfNumber(const TableDefinition& table, absl::string_view column,
                       absl::string_view now) {
  const bool is_millis = table.config.expires_unit == EpochUnit::kMilliseconds;
  return {.value = std::string(column),
          .second = absl::StrCat("floor(extract(epoch FROM ", now, "))::bigint",
                                 is_millis ? " * 1000" : ""),
          .zero = "0",
          .last = absl::StrCat(kLastSecond, is_millis ? "000" : ""),
          .always = "0",
          .has_infinity = false};
}

std::string IsInfinite(const TableDefinition& table, absl::string_view column) {
  const char* type = table.end_source == EndSource::kDate      ? "date"
                     : table.end_source == EndSource::kReading ? "timestamp"
                                                               : "timestamptz";
  return absl::StrCat(column, " = ", type, " 'infinity'");
}

}  // namespace

EndScale ScaleOfEnd(const TableDefinition& table, absl::string_view column, absl::string_view now) {
  if (table.end_source == EndSource::kEpochNumber) return ScaleOfNumber(table, column, now);
  EndScale scale{.value = InstantOfEnd(table, column),
                 .second = absl::StrCat("date_trunc('second', ", now, ")"),
                 .zero = std::string(kZero),
                 .last = std::string(kLast),
                 .always = "'-infinity'",
                 .has_infinity = true};
  if (!table.expires_zone.has_value() || !table.expires_zone->is_fixed()) return scale;
  scale.value = std::string(column);
  for (std::string* instant : {&scale.second, &scale.zero, &scale.last}) {
    *instant = AsStored(table, *instant);
  }
  return scale;
}

std::string InstantOfEnd(const TableDefinition& table, absl::string_view column) {
  switch (table.end_source) {
    case EndSource::kReading:
      return table.expires_zone->At(column);
    case EndSource::kDate:
      return table.expires_zone->At(table.config.ends == DayEdge::kEnd
                                        ? absl::StrCat("(", column, " + 1)::timestamp")
                                        : absl::StrCat(column, "::timestamp"));
    case EndSource::kTimestamp:
    case EndSource::kEpochNumber:
      break;
  }
  return std::string(column);
}

std::string ExpireAtOfRow(const TableDefinition& table, absl::string_view column) {
  if (table.end_source == EndSource::kEpochNumber) {
    const bool is_millis = table.config.expires_unit == EpochUnit::kMilliseconds;
    return absl::Substitute("CASE WHEN $0 > 0 AND $0 <= $1 THEN $2 WHEN $0 IS NOT NULL THEN 0 END",
                            column, ScaleOfEnd(table, column).last,
                            is_millis ? absl::StrCat("ceil(", column,
                                                     "::numeric / 1000::numeric)"
                                                     "::bigint")
                                      : absl::StrCat(column, "::bigint"));
  }
  return absl::Substitute(
      "CASE WHEN $0 > $1 AND $0 <= $2 THEN ceil(extract(epoch FROM $0))::bigint "
      "WHEN $0 < timestamptz 'infinity' THEN 0 END",
      InstantOfEnd(table, column), kZero, kLast);
}

std::string TtlByEnd(const TableDefinition& table, absl::string_view column) {
  const bool has_infinity = table.end_source != EndSource::kEpochNumber;
  std::string is_never = has_infinity ? IsInfinite(table, column) : "false";
  if (table.config.expires_null == NullEnd::kNever) {
    absl::StrAppend(&is_never, " OR ", column, " IS NULL");
  }
  return absl::StrCat("CASE WHEN ", is_never, " THEN -1::bigint END");
}

std::string IndexedEnd(const TableDefinition& table) {
  if (!table.expires_zone.has_value() || table.expires_zone->is_fixed()) return "";
  return InstantOfEnd(table, QuoteName(table.expires->name));
}

}  // namespace ttl::postgres
