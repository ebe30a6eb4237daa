#include "client/postgres/capture/scan_display.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(200);
constexpr absl::Duration kLogInterval = absl::Seconds(10);
constexpr int kBarWidth = 30;

// Statistics may lag behind: what is done is never more than all.
int Percent(const TableStatus& table) {
  if (table.estimated <= 0) return 0;
  return static_cast<int>(std::min(
      99.0, 100.0 * static_cast<double>(table.scanned) / static_cast<double>(table.estimated)));
}

}  // namespace

std::string ScanText(const TableStatus& table, double rate) {
  std::string text = absl::StrCat(table.container, ": ", table.scanned);
  if (table.estimated > 0) {
    absl::StrAppend(&text, " of about ", table.estimated, " rows (", Percent(table), " %)");
  } else {
    absl::StrAppend(&text, " rows");
  }
  if (rate <= 0) return text;
  absl::StrAppend(&text, ", ", std::llround(rate), " rows/s");
  const double left = static_cast<double>(table.estimated - table.scanned) / rate;
  if (left > 0)
    absl::StrAppend(&text, ", ", absl::FormatDuration(absl::Seconds(std::ceil(left))), " left");
  return text;
}

std::string ScanBar(const TableStatus& table, double rate) {
  const size_t full = static_cast<size_t>(Percent(table) * kBarWidth / 100);
  return absl::StrCat("[", std::string(full, '#'), std::string(kBarWidth - full, '.'), "] ",
                      ScanText(table, rate));
}

double ScanDisplay::Rate(absl::Time now) const {
  const double seconds = absl::ToDoubleSeconds(now - first_time_);
  return seconds < 1 ? 0 : static_cast<double>(table_.scanned - first_rows_) / seconds;
}

void ScanDisplay::Show(const TableStatus& table, absl::Time now) {
  if (scanning_ != table.container) {
    Finish(now);
    scanning_ = table.container;
    first_rows_ = table.scanned;
    first_time_ = now;
  }
  table_ = table;
  if (now - last_shown_ < (is_terminal_ ? kDrawInterval : kLogInterval)) return;
  last_shown_ = now;
  if (is_terminal_) {
    fprintf(stderr, "\r\033[K%s", ScanBar(table, Rate(now)).c_str());
  } else {
    spdlog::info("first scan of {}", ScanText(table, Rate(now)));
  }
}

void ScanDisplay::Finish(absl::Time now) {
  if (scanning_.empty()) return;
  if (is_terminal_) fprintf(stderr, "\r\033[K");
  if (table_.scan_done) {
    spdlog::info("first scan of {}: {} rows, done after {}", table_.container, table_.scanned,
                 absl::FormatDuration(absl::Trunc(now - first_time_, absl::Milliseconds(100))));
  }
  scanning_.clear();
  last_shown_ = absl::InfinitePast();
}

}  // namespace ttl::postgres
