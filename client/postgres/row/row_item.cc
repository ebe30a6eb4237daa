#include "client/postgres/row/row_item.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "client/postgres/row/row_key.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

constexpr size_t kMaxPartitionKeyBytes = 2048;
constexpr size_t kMaxIdBytes = 1023;
constexpr int64_t kMillisecondsPerSecond = 1000;
// Suffix of an instant in the session settings of Connection.
constexpr absl::string_view kUtcSuffix = "+00";
// Maximum bytes of an invalid value in an error.
constexpr size_t kMaxShownBytes = 64;

std::string Shown(absl::string_view text) {
  const bool is_long = text.size() > kMaxShownBytes;
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, kMaxShownBytes)),
                      is_long ? "\"..." : "\"");
}

std::string ColumnName(const std::optional<ColumnDefinition>& column) {
  return absl::StrCat("column ", column.has_value() ? column->name : "?");
}

absl::StatusOr<int64_t> ParseWhole(absl::string_view text) {
  int64_t number = 0;
  // SimpleAtoi allows surrounding spaces, which PostgreSQL does not write.
  if (!text.empty() && !absl::ascii_isspace(text.front()) && !absl::ascii_isspace(text.back()) &&
      absl::SimpleAtoi(text, &number)) {
    return number;
  }
  return absl::InvalidArgumentError(absl::StrCat(Shown(text), " is not a 64-bit integer"));
}

int64_t FloorToSeconds(int64_t milliseconds) {
  const int64_t quotient = milliseconds / kMillisecondsPerSecond;
  return milliseconds % kMillisecondsPerSecond < 0 ? quotient - 1 : quotient;
}

int64_t CeilToSeconds(int64_t milliseconds) {
  const int64_t quotient = milliseconds / kMillisecondsPerSecond;
  return milliseconds % kMillisecondsPerSecond > 0 ? quotient + 1 : quotient;
}

absl::StatusOr<int64_t> ReadTsColumn(const TableDefinition& table,
                                     std::optional<absl::string_view> text) {
  if (!text.has_value()) return absl::InvalidArgumentError("is NULL: must be a time");
  if (table.ts_source == TsSource::kTimestamp) return ParseTimestamp(*text);
  if (table.ts_source == TsSource::kReading) {
    const bool is_instant = absl::EndsWith(*text, kUtcSuffix);
    return is_instant ? ParseTimestamp(*text) : ParseReading(*text, *table.zone);
  }
  absl::StatusOr<int64_t> number = ParseWhole(*text);
  if (!number.ok() || table.config.ts_unit == EpochUnit::kSeconds) return number;
  return FloorToSeconds(*number);
}

absl::StatusOr<int64_t> ReadTs(const TableDefinition& table, const RowTexts& row,
                               const RowVersion& version, absl::Time now) {
  if (table.ts_source == TsSource::kNone) return kMinTs;
  if (table.ts_source == TsSource::kCommitTime) {
    if (!version.commit_time.has_value()) {
      return absl::InvalidArgumentError("the time of the row's commit is no longer known");
    }
    const int64_t ts = absl::ToUnixSeconds(*version.commit_time);
    TTL_RETURN_IF_ERROR(ValidateTs("the time of the row's commit", ts, now));
    return ts;
  }
  const absl::StatusOr<int64_t> ts = ReadTsColumn(table, row.ts);
  if (!ts.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ColumnName(table.ts), " (_ts) ", ts.status().message()));
  }
  TTL_RETURN_IF_ERROR(ValidateTs(absl::StrCat(ColumnName(table.ts), " (_ts)"), *ts, now));
  return *ts;
}

absl::StatusOr<std::optional<int64_t>> ReadTtl(const TableDefinition& table, const RowTexts& row) {
  if (!row.ttl.has_value()) return std::optional<int64_t>();
  const absl::StatusOr<int64_t> ttl = ParseWhole(*row.ttl);
  if (!ttl.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ColumnName(table.ttl), " (ttl) ", ttl.status().message()));
  }
  if (IsLegalTtl(*ttl)) return *ttl;
  return ValidateTtl(absl::StrCat(ColumnName(table.ttl), " (ttl)"), *ttl);
}

// Consumes a number of `min` to `max` digits.
bool TakeDigits(absl::string_view& text, size_t min, size_t max, int64_t& number) {
  size_t count = 0;
  number = 0;
  while (count < text.size() && count < max && absl::ascii_isdigit(text[count])) {
    number = number * 10 + (text[count++] - '0');
  }
  text.remove_prefix(count);
  return count >= min;
}

bool TakeChar(absl::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// Maximum digits of the year, in a timestamp and in a date.
constexpr size_t kTimestampYearDigits = 6;
constexpr size_t kDateYearDigits = 7;

// Consumes a date; false if the text does not begin with a date of the calendar.
bool TakeDay(absl::string_view& text, size_t max_year_digits, absl::CivilDay& date) {
  int64_t year, month, day;
  if (!TakeDigits(text, 4, max_year_digits, year) || !TakeChar(text, '-') ||
      !TakeDigits(text, 2, 2, month) || !TakeChar(text, '-') || !TakeDigits(text, 2, 2, day)) {
    return false;
  }
  date = absl::CivilDay(year, month, day);
  return date.month() == month && date.day() == day;
}

// Consumes a date and time up to the fraction; false if the text does not begin with one of the
// calendar.
bool TakeSecond(absl::string_view& text, absl::CivilSecond& second) {
  absl::CivilDay day;
  int64_t hour, minute, sec;
  if (!TakeDay(text, kTimestampYearDigits, day) || !TakeChar(text, ' ') ||
      !TakeDigits(text, 2, 2, hour) || !TakeChar(text, ':') || !TakeDigits(text, 2, 2, minute) ||
      !TakeChar(text, ':') || !TakeDigits(text, 2, 2, sec)) {
    return false;
  }
  second = absl::CivilSecond(day) + hour * 3600 + minute * 60 + sec;
  return second.hour() == hour && second.minute() == minute && second.second() == sec;
}

absl::Status NoTime(absl::string_view text, const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(Shown(text), " is not a time: must be a ", what,
                                                 " after Christ and before infinity"));
}

struct ParsedSecond {
  absl::CivilSecond second;
  bool has_fraction = false;  // whether the fraction is not zero
};

// Parses a date and time, with an optional fraction, followed by `suffix`.
absl::StatusOr<ParsedSecond> ParseSecond(absl::string_view text, absl::string_view suffix) {
  absl::string_view rest = text;
  ParsedSecond parsed;
  bool is_timestamp = TakeSecond(rest, parsed.second);
  int64_t fraction = 0;
  if (is_timestamp && TakeChar(rest, '.')) is_timestamp = TakeDigits(rest, 1, 6, fraction);
  parsed.has_fraction = fraction > 0;
  if (is_timestamp && rest == suffix) return parsed;
  return NoTime(text, "timestamp");
}

// The instant that a date stands for.
absl::StatusOr<int64_t> ParseDay(const TableDefinition& table, absl::string_view text) {
  absl::string_view rest = text;
  absl::CivilDay day;
  if (!TakeDay(rest, kDateYearDigits, day) || !rest.empty()) return NoTime(text, "date");
  if (table.config.ends == DayEdge::kEnd) ++day;
  return table.expires_zone->InstantOf(absl::CivilSecond(day));
}

// The expire time in Unix seconds, rounded up; absent: the row never expires.
absl::StatusOr<std::optional<int64_t>> ReadEndColumn(const TableDefinition& table,
                                                     absl::string_view text) {
  if (table.end_source == EndSource::kEpochNumber) {
    TTL_ASSIGN_OR_RETURN(const int64_t number, ParseWhole(text));
    return table.config.expires_unit == EpochUnit::kSeconds ? number : CeilToSeconds(number);
  }
  if (text == "infinity") return std::nullopt;
  if (absl::EndsWith(text, kUtcSuffix)) {
    TTL_ASSIGN_OR_RETURN(const ParsedSecond parsed, ParseSecond(text, kUtcSuffix));
    return parsed.second - absl::CivilSecond(1970) + (parsed.has_fraction ? 1 : 0);
  }
  if (table.end_source == EndSource::kDate) return ParseDay(table, text);
  TTL_ASSIGN_OR_RETURN(const ParsedSecond parsed, ParseSecond(text, ""));
  return table.expires_zone->InstantOf(parsed.second) + (parsed.has_fraction ? 1 : 0);
}

absl::StatusOr<std::optional<int64_t>> ReadEnd(const TableDefinition& table, const RowTexts& row) {
  if (!row.expires.has_value()) return std::optional<int64_t>();
  const std::string name = absl::StrCat(ColumnName(table.expires), " (expire_at)");
  const absl::StatusOr<std::optional<int64_t>> end = ReadEndColumn(table, *row.expires);
  if (!end.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " ", end.status().message()));
  }
  TTL_RETURN_IF_ERROR(ValidateExpireAt(name, *end));
  return end;
}

// Sets the item's ttl and expire time. A row that never expires by its expires_column does not
// inherit a ttl.
absl::Status SetEnd(const TableDefinition& table, const RowTexts& row, v1::Item& item) {
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> ttl, ReadTtl(table, row));
  if (ttl.has_value()) item.set_ttl(*ttl);
  if (!table.expires.has_value()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> end, ReadEnd(table, row));
  const bool inherits = !row.expires.has_value() && table.config.expires_null == NullEnd::kInherits;
  if (end.has_value()) {
    item.set_expire_at(*end);
  } else if (!ttl.has_value() && !inherits) {
    item.set_ttl(kNeverExpires);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadKey(absl::string_view name,
                                    absl::Span<const absl::string_view> texts, size_t max_bytes) {
  std::string key = JoinKey(texts);
  if (key.size() <= max_bytes) return key;
  return absl::InvalidArgumentError(
      absl::StrCat("the ", name, " has ", key.size(), " bytes: must have ", max_bytes, " at most"));
}

// 0 (unknown) if the text is absent or not a valid size.
int64_t ReadSize(std::optional<absl::string_view> text) {
  if (!text.has_value()) return 0;
  const absl::StatusOr<int64_t> size = ParseWhole(*text);
  return size.ok() && *size > 0 ? *size : 0;
}

}  // namespace

Exemption ExemptionOf(const TableDefinition& table, const RowTexts& row) {
  if (!row.matches_where) return Exemption::kOutside;
  const bool is_null = table.ts.has_value() && !row.ts.has_value();
  if (is_null && table.config.null_means == NullMeans::kNever) return Exemption::kNullTime;
  return Exemption::kNone;
}

absl::StatusOr<v1::Item> RowToItem(const TableDefinition& table, const RowTexts& row,
                                   const RowVersion& version, absl::Time now) {
  if (!row.matches_where)
    return absl::InvalidArgumentError("the row does not match the table's where");
  TTL_ASSIGN_OR_RETURN(std::string partition_key,
                       ReadKey("partition key", row.partition_key, kMaxPartitionKeyBytes));
  TTL_ASSIGN_OR_RETURN(std::string id, ReadKey("id", row.id, kMaxIdBytes));
  TTL_ASSIGN_OR_RETURN(const int64_t ts, ReadTs(table, row, version, now));

  v1::Item item;
  item.set_partition_key(std::move(partition_key));
  item.set_id(std::move(id));
  item.set_ts(ts);
  TTL_RETURN_IF_ERROR(SetEnd(table, row, item));
  item.set_etag(version.xmin.data(), version.xmin.size());
  if (version.lsn > 0) item.set_sequence(version.lsn);
  item.set_size_bytes(ReadSize(row.size));
  return item;
}

absl::StatusOr<int64_t> ParseTimestamp(absl::string_view text) {
  TTL_ASSIGN_OR_RETURN(const ParsedSecond parsed, ParseSecond(text, kUtcSuffix));
  return parsed.second - absl::CivilSecond(1970);
}

absl::StatusOr<int64_t> ParseReading(absl::string_view text, const StatedZone& zone) {
  TTL_ASSIGN_OR_RETURN(const ParsedSecond parsed, ParseSecond(text, ""));
  return zone.InstantOf(parsed.second);
}

}  // namespace ttl::postgres
