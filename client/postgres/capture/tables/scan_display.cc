#include "client/postgres/capture/tables/scan_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(200);
constexpr absl::Duration kLogInterval = absl::Seconds(10);
constexpr size_t kLongestBar = 30;
constexpr size_t kShortestBar = 5;
constexpr int kUsualColumns = 80;

// Capped below 100, because the statistics may be stale.
int Percent(const TableStatus& table) {
  if (table.estimated <= 0) return 0;
  return static_cast<int>(std::min(
      99.0, 100.0 * static_cast<double>(table.scanned) / static_cast<double>(table.estimated)));
}

// A logger writes each line whole; each of its messages replaces the previous one.
std::shared_ptr<spdlog::logger> TerminalLogger() {
  auto logger = std::make_shared<spdlog::logger>(
      "bar", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "\r\033[K%v", spdlog::pattern_time_type::local, ""));
  return logger;
}

// Read for each bar, because the window may be resized.
int TerminalColumns() {
  winsize size = {};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kUsualColumns;
}

// Cuts `text` to at most `bytes`, at a character boundary.
void CutUtf8(std::string& text, size_t bytes) {
  if (text.size() <= bytes) return;
  while (bytes > 0 && (text[bytes] & 0xc0) == 0x80) --bytes;
  text.resize(bytes);
}

// Empty if there is not enough room.
std::string Bar(int percent, size_t room) {
  constexpr size_t kFrame = 3;  // "[] "
  const size_t width = std::min(kLongestBar, room - std::min(room, kFrame));
  if (width < kShortestBar) return "";
  const size_t full = static_cast<size_t>(percent) * width / 100;
  return absl::StrCat("[", std::string(full, '#'), std::string(width - full, '.'), "] ");
}

// A shorter form than the one of ScanText().
std::string ShareText(const TableStatus& table) {
  return table.estimated > 0 ? absl::StrCat(Percent(table), " % of about ", table.estimated)
                             : absl::StrCat(table.scanned);
}

std::string RateText(const TableStatus& table, double rate) {
  if (rate <= 0) return "";
  std::string text = absl::StrCat(", ", std::llround(rate), " rows/s");
  const double left = static_cast<double>(table.estimated - table.scanned) / rate;
  if (left > 0)
    absl::StrAppend(&text, ", ", absl::FormatDuration(absl::Seconds(std::ceil(left))), " left");
  return text;
}

}  // namespace

std::string ScanText(const TableStatus& table, double rate) {
  std::string text = absl::StrCat(table.container, ": ", table.scanned);
  if (table.estimated > 0) {
    absl::StrAppend(&text, " of about ", table.estimated, " rows (", Percent(table), " %)");
  } else {
    absl::StrAppend(&text, " rows");
  }
  return text + RateText(table, rate);
}

std::string ScanBar(const TableStatus& table, double rate, int columns) {
  const size_t room = static_cast<size_t>(std::max(columns - 1, 0));
  std::string text =
      absl::StrCat(table.container, ": ", ShareText(table), " rows", RateText(table, rate));
  CutUtf8(text, room);
  return Bar(Percent(table), room - text.size()) + text;
}

ScanDisplay::ScanDisplay(bool is_terminal) : terminal_(is_terminal ? TerminalLogger() : nullptr) {}

void ScanDisplay::Show(const TableStatus& table, absl::Time now) {
  if (!IsShowing(table.container)) Begin(table, now);
  if (now - last_shown_ < (terminal_ != nullptr ? kDrawInterval : kLogInterval)) return;
  last_shown_ = now;
  const double rate = Rate(table, now);
  if (terminal_ != nullptr) {
    terminal_->info(ScanBar(table, rate, TerminalColumns()));
  } else {
    spdlog::info("first scan of {}", ScanText(table, rate));
  }
}

void ScanDisplay::Begin(const TableStatus& table, absl::Time now) {
  scanning_ = table.container;
  first_rows_ = table.scanned;
  first_time_ = now;
  last_shown_ = absl::InfinitePast();
}

double ScanDisplay::Rate(const TableStatus& table, absl::Time now) const {
  const double seconds = absl::ToDoubleSeconds(now - first_time_);
  return seconds < 1 ? 0 : static_cast<double>(table.scanned - first_rows_) / seconds;
}

void ScanDisplay::Finish(const TableStatus& table, absl::Time now) {
  Erase();
  scanning_.clear();
  spdlog::info("first scan of {}: {} rows, done after {}", table.container, table.scanned,
               absl::FormatDuration(absl::Trunc(now - first_time_, absl::Milliseconds(100))));
}

void ScanDisplay::Erase() {
  if (terminal_ != nullptr && !scanning_.empty()) terminal_->info("");
}

}  // namespace ttl::postgres
