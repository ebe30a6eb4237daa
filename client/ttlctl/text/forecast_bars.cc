#include "client/ttlctl/text/forecast_bars.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/ttlctl/text/count_text.h"
#include "client/ttlctl/text/format.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

constexpr size_t kMaxColumns = 80;
constexpr size_t kMinBarColumns = 10;

std::string CountOf(const v1::ForecastStep& step) {
  return absl::StrCat(step.error_bound_items() == 0 ? "" : "~", FormatCount(step.items()));
}

// Items that the allowed rate can delete in a step of that length; all of them without a limit.
int64_t DeletableItems(const v1::GetForecastResponse& forecast, absl::Duration length,
                       int64_t items) {
  if (!forecast.has_allowed_deletes_per_second()) return items;
  const double most = forecast.allowed_deletes_per_second() * absl::ToDoubleSeconds(length);
  return most >= static_cast<double>(items) ? items : static_cast<int64_t>(most);
}

// Columns for `items` if `most` takes up all of `columns`; at least one for any item.
size_t ColumnsFor(int64_t items, int64_t most, size_t columns) {
  if (items == 0) return 0;
  const double share = static_cast<double>(items) / static_cast<double>(most);
  return std::max<size_t>(1, std::llround(share * static_cast<double>(columns)));
}

std::string Bar(int64_t items, int64_t deletable, int64_t most, size_t columns) {
  const size_t all = ColumnsFor(items, most, columns);
  if (deletable >= items) return std::string(all, '#');
  const size_t in_time = std::min(all - 1, ColumnsFor(deletable, most, columns));
  return absl::StrCat(std::string(in_time, '#'), std::string(all - in_time, '!'));
}

std::string StepLines(const v1::GetForecastResponse& forecast, bool& is_beyond) {
  int64_t most = 0;
  size_t width = 0;
  for (const v1::ForecastStep& step : forecast.steps()) {
    most = std::max(most, step.items());
    width = std::max(width, CountOf(step).size());
  }
  std::string lines;
  absl::Time begin = ToTime(forecast.judged_at());
  for (const v1::ForecastStep& step : forecast.steps()) {
    const absl::Time end = ToTime(step.end_time());
    const std::string count = CountOf(step);
    const std::string head = absl::StrCat("until ", FormatUnixSeconds(absl::ToUnixSeconds(end)),
                                          "  ", std::string(width - count.size(), ' '), count);
    const size_t columns = kMaxColumns > head.size() + 2 + kMinBarColumns
                               ? kMaxColumns - head.size() - 2
                               : kMinBarColumns;
    const int64_t deletable = DeletableItems(forecast, end - begin, step.items());
    is_beyond = is_beyond || deletable < step.items();
    const std::string bar = Bar(step.items(), deletable, most, columns);
    absl::StrAppend(&lines, head, bar.empty() ? "" : "  ", bar, "\n");
    begin = end;
  }
  return lines;
}

std::string EndText(const v1::GetForecastResponse& forecast) {
  const absl::Time end = ToTime(forecast.backlog_end_time());
  switch (forecast.backlog_end()) {
    case v1::BACKLOG_END_NO_BACKLOG:
      return "no backlog";
    case v1::BACKLOG_END_AT_TIME:
      return absl::StrCat("about ", FormatUnixSeconds(absl::ToUnixSeconds(end)), ", in ",
                          FormatSpan(end - ToTime(forecast.judged_at())));
    case v1::BACKLOG_END_AFTER_FORECAST:
      return "after the end of the forecast, at the current rate";
    case v1::BACKLOG_END_HELD:
      return "unknown: deletes are held (see ttlctl status)";
    case v1::BACKLOG_END_UNLIMITED:
      return "as fast as the store deletes (no limit)";
    default:
      return "not known";
  }
}

std::string ItemsInAll(const v1::GetForecastResponse& forecast) {
  int64_t items = 0;
  int64_t bytes = 0;
  bool has_bytes = false;
  bool is_exact = true;
  for (const v1::ForecastStep& step : forecast.steps()) {
    items += step.items();
    bytes += step.bytes();
    has_bytes = has_bytes || step.has_bytes();
    is_exact = is_exact && step.error_bound_items() == 0;
  }
  std::string text = absl::StrCat(is_exact ? "" : "about ", FormatCount(items), " items");
  if (has_bytes) absl::StrAppend(&text, ", ", FormatCount(bytes), " bytes");
  if (!forecast.complete())
    absl::StrAppend(&text, "\nitems are still being counted after the start");
  return text;
}

}  // namespace

std::string ForecastBars(const v1::GetForecastResponse& forecast) {
  bool is_beyond = false;
  std::string text = StepLines(forecast, is_beyond);
  std::string rate =
      LimitText(forecast.has_allowed_deletes_per_second(), forecast.allowed_deletes_per_second());
  if (is_beyond) absl::StrAppend(&rate, "; !: exceeds what can be deleted in the step");
  absl::StrAppend(
      &text, "\n",
      FormatFields({{"expiring", ItemsInAll(forecast)},
                    {"backlog", absl::StrCat(AboutText(forecast.backlog_items(),
                                                       forecast.backlog_error_bound_items()),
                                             " items")},
                    {"allowed", rate},
                    {"backlog ends", EndText(forecast)}}));
  return text;
}

}  // namespace ttl
