#ifndef TTL_SERVICE_CORE_WINDOWS_WINDOW_TEXT_H_
#define TTL_SERVICE_CORE_WINDOWS_WINDOW_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Times and days of windows as text. Pure functions.
namespace ttl {

// Parses "22:00", "00:00" to "24:00", into minutes after midnight. Absent for any other text.
std::optional<int> ParseTimeOfDay(absl::string_view text);

// "22:00".
std::string TimeOfDayText(int minutes);

// The days of the week by name, Monday first.
inline constexpr absl::string_view kDayNames[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

// Parses a day, "mon" to "sun", whatever the case; 0 is Monday. Absent for any other text.
std::optional<int> ParseDay(absl::string_view text);

// "mon", "wed", "sun" for the days of a DeleteWindow.
std::vector<std::string> DayNames(uint8_t days);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_WINDOW_TEXT_H_
