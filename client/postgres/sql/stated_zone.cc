#include "client/postgres/sql/stated_zone.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {
namespace {

constexpr int kMinuteSeconds = 60;
constexpr int kHourSeconds = 3600;
constexpr int kMaxOffsetHours = 15;

// Parses an offset such as "+02:00" into seconds; absent if the text is not an offset.
std::optional<int> ParseOffset(absl::string_view text) {
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  for (const size_t digit : {1, 2, 4, 5}) {
    if (!absl::ascii_isdigit(text[digit])) return std::nullopt;
  }
  const int hours = (text[1] - '0') * 10 + (text[2] - '0');
  const int minutes = (text[4] - '0') * 10 + (text[5] - '0');
  if (hours > kMaxOffsetHours || minutes > 59) return std::nullopt;
  const int seconds = hours * kHourSeconds + minutes * kMinuteSeconds;
  return text[0] == '-' ? -seconds : seconds;
}

// Other texts could be read as a file name or as the local zone of this machine.
bool IsName(absl::string_view text) {
  const auto fits = [](char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  };
  return !text.empty() && absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(), fits) && text != "localtime" &&
         !absl::StartsWith(text, "Fixed/");
}

bool HasTransitions(const absl::TimeZone& zone) {
  absl::TimeZone::CivilTransition transition;
  return zone.NextTransition(absl::InfinitePast(), &transition);
}

}  // namespace

StatedZone::StatedZone(std::string name, absl::TimeZone zone)
    : name_(std::move(name)), zone_(zone), is_fixed_(!HasTransitions(zone)) {}

absl::StatusOr<StatedZone> StatedZone::Load(const std::string& name) {
  if (const auto offset = ParseOffset(name); offset.has_value()) {
    return StatedZone(name, absl::FixedTimeZone(*offset));
  }
  absl::TimeZone zone;
  if (IsName(name) && absl::LoadTimeZone(name, &zone)) return StatedZone(name, zone);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name,
                   "\" is not a time zone that this machine knows; give a name of the time zone "
                   "database (package tzdata), such as Europe/Berlin, case counts, or UTC, or an "
                   "offset such as +02:00"));
}

int64_t StatedZone::InstantOf(absl::CivilSecond reading) const {
  const absl::TimeZone::TimeInfo info = zone_.At(reading);
  return absl::ToUnixSeconds(std::max(info.pre, info.post));
}

std::string StatedZone::At(absl::string_view time) const {
  if (!is_fixed_) return absl::StrCat("(", time, " AT TIME ZONE ", QuoteText(name_), ")");
  // An interval, since the sign of an offset in a text is that of POSIX, positive west of
  // Greenwich.
  const int offset = zone_.At(absl::UnixEpoch()).offset;
  const int seconds = std::abs(offset);
  return absl::StrFormat("(%s AT TIME ZONE interval '%c%02d:%02d')", time, offset < 0 ? '-' : '+',
                         seconds / kHourSeconds, seconds % kHourSeconds / kMinuteSeconds);
}

}  // namespace ttl::postgres
