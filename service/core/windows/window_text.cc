#include "service/core/windows/window_text.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace ttl {
namespace {

constexpr int kMinutesPerHour = 60;

}  // namespace

std::optional<int> ParseTimeOfDay(absl::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const size_t digit : {0, 1, 3, 4}) {
    if (!absl::ascii_isdigit(text[digit])) return std::nullopt;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 24 || minutes >= kMinutesPerHour || (hours == 24 && minutes > 0)) return std::nullopt;
  return hours * kMinutesPerHour + minutes;
}

std::string TimeOfDayText(int minutes) {
  return absl::StrFormat("%02d:%02d", minutes / kMinutesPerHour, minutes % kMinutesPerHour);
}

std::optional<int> ParseDay(absl::string_view text) {
  int day = 0;
  for (const absl::string_view name : kDayNames) {
    if (absl::EqualsIgnoreCase(text, name)) return day;
    ++day;
  }
  return std::nullopt;
}

std::vector<std::string> DayNames(uint8_t days) {
  std::vector<std::string> names;
  int day = 0;
  for (const absl::string_view name : kDayNames) {
    if ((days >> day++ & 1) != 0) names.emplace_back(name);
  }
  return names;
}

}  // namespace ttl
