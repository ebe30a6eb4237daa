#include "client/ttlctl/input/duration_text.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

struct DurationUnit {
  char name;
  int64_t seconds;
};

constexpr DurationUnit kDurationUnits[] = {
    {'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

absl::Status NoDuration(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" must be ", kDurationForms));
}

absl::Status TooLong(absl::string_view text) {
  return absl::OutOfRangeError(absl::StrCat("\"", text, "\" is too large"));
}

// Takes the digits at the beginning of `text` away.
absl::string_view TakeDigits(absl::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit);
  const absl::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool IsWholeNumber(absl::string_view text) {
  absl::ConsumePrefix(&text, "-");
  return !TakeDigits(text).empty() && text.empty();
}

}  // namespace

absl::StatusOr<int64_t> SecondsFromText(absl::string_view text) {
  int64_t seconds = 0;
  if (IsWholeNumber(text)) {
    if (absl::SimpleAtoi(text, &seconds)) return seconds;
    return TooLong(text);
  }
  absl::string_view rest = text;
  const DurationUnit* smallest = std::begin(kDurationUnits);
  do {
    const absl::string_view digits = TakeDigits(rest);
    const auto* const unit =
        std::find_if(smallest, std::end(kDurationUnits), [&rest](const DurationUnit& candidate) {
          return !rest.empty() && candidate.name == rest.front();
        });
    if (digits.empty() || unit == std::end(kDurationUnits)) return NoDuration(text);
    rest.remove_prefix(1);
    smallest = unit + 1;
    int64_t number = 0;
    int64_t product = 0;
    if (!absl::SimpleAtoi(digits, &number) ||
        __builtin_mul_overflow(number, unit->seconds, &product) ||
        __builtin_add_overflow(seconds, product, &seconds)) {
      return TooLong(text);
    }
  } while (!rest.empty());
  return seconds;
}

std::string TextFromSeconds(int64_t seconds) {
  std::string text;
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name == 'w' || seconds < unit.seconds) continue;  // 30d reads better than 4w2d
    absl::StrAppend(&text, seconds / unit.seconds, std::string(1, unit.name));
    seconds %= unit.seconds;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace ttl
