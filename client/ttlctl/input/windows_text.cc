#include "client/ttlctl/input/windows_text.h"

#include <cstddef>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/ttlctl/text/format.h"
#include "service/core/windows/window_text.h"

namespace ttl {
namespace {

constexpr int kDaysPerWeek = 7;

// "mon" or "fri-mon".
bool AddDays(absl::string_view text, std::set<int>& days) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  const std::optional<int> first = ParseDay(ends.front());
  const std::optional<int> last = ParseDay(ends.back());
  if (ends.size() > 2 || !first.has_value() || !last.has_value()) return false;
  for (int day = *first; day != *last; day = (day + 1) % kDaysPerWeek) days.insert(day);
  days.insert(*last);
  return true;
}

bool ReadDayList(absl::string_view text, v1::DeleteWindow& window) {
  std::set<int> days;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (!AddDays(part, days)) return false;
  }
  for (const int day : days) {
    window.add_days(static_cast<v1::DayOfWeek>(day + v1::DAY_OF_WEEK_MONDAY));
  }
  return true;
}

bool ReadTimes(absl::string_view text, v1::DeleteWindow& window) {
  const std::vector<absl::string_view> times = absl::StrSplit(text, '-');
  if (times.size() != 2) return false;
  window.set_start(std::string(times[0]));
  window.set_end(std::string(times[1]));
  return ParseTimeOfDay(times[0]).has_value() && ParseTimeOfDay(times[1]).has_value();
}

bool ReadWindowRate(absl::string_view text, v1::DeleteWindow& window) {
  double rate = 0;
  if (!absl::SimpleAtod(absl::StripSuffix(text, "/s"), &rate)) return false;
  window.set_max_deletes_per_second(rate);
  return true;
}

std::optional<v1::DeleteWindow> OneWindowFromText(absl::string_view text) {
  v1::DeleteWindow window;
  std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  size_t next = 0;
  if (!words.empty() && absl::ascii_isalpha(words[0][0])) {
    if (!ReadDayList(words[next++], window)) return std::nullopt;
  }
  if (next == words.size() || !ReadTimes(words[next++], window)) return std::nullopt;
  if (next < words.size() && !ReadWindowRate(words[next++], window)) return std::nullopt;
  return next == words.size() ? std::optional(window) : std::nullopt;
}

// "mon-fri,sun "; empty for every day.
std::string DaysText(const v1::DeleteWindow& window) {
  std::set<int> days;
  for (const int day : window.days()) days.insert(day - v1::DAY_OF_WEEK_MONDAY);
  if (days.empty() || days.size() == kDaysPerWeek) return "";
  std::vector<std::string> parts;
  for (int day = 0; day < kDaysPerWeek; ++day) {
    if (days.count(day) == 0) continue;
    int last = day;
    while (days.count(last + 1) > 0) ++last;
    parts.emplace_back(kDayNames[day]);
    if (last > day) absl::StrAppend(&parts.back(), last > day + 1 ? "-" : ",", kDayNames[last]);
    day = last;
  }
  return absl::StrCat(absl::StrJoin(parts, ","), " ");
}

}  // namespace

absl::StatusOr<std::vector<v1::DeleteWindow>> WindowsFromText(absl::string_view text) {
  std::vector<v1::DeleteWindow> windows;
  for (const absl::string_view part : absl::StrSplit(text, ';')) {
    const auto window = OneWindowFromText(absl::StripAsciiWhitespace(part));
    if (!window.has_value()) return absl::InvalidArgumentError(absl::StrCat("\"", part, "\""));
    windows.push_back(*window);
  }
  return windows;
}

std::string WindowText(const v1::DeleteWindow& window) {
  std::string text = absl::StrCat(DaysText(window), window.start(), "-", window.end());
  if (window.has_max_deletes_per_second()) {
    absl::StrAppend(&text, " ", FormatRate(window.max_deletes_per_second()), "/s");
  }
  return text;
}

std::string WindowsText(const v1::DeleteWindows& windows) {
  return absl::StrJoin(windows.windows(), "; ",
                       [](std::string* out, const v1::DeleteWindow& window) {
                         absl::StrAppend(out, WindowText(window));
                       });
}

}  // namespace ttl
