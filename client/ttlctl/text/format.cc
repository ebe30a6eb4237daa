#include "client/ttlctl/text/format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "service/base/time_text.h"

namespace ttl {

std::string FormatUnixSeconds(int64_t seconds) { return TimeText(absl::FromUnixSeconds(seconds)); }

std::string FormatSpan(absl::Duration duration) {
  if (duration < absl::ZeroDuration()) {
    const std::string span = FormatSpan(-duration);
    return span == "0s" ? span : absl::StrCat("-", span);
  }
  const int64_t tenths = absl::ToInt64Milliseconds(duration) / 100;
  if (tenths < 600 && tenths % 10 != 0) return absl::StrFormat("%d.%ds", tenths / 10, tenths % 10);

  struct Unit {
    int64_t seconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
  int64_t rest = absl::ToInt64Seconds(duration);
  for (size_t i = 0; i + 1 < std::size(kUnits); ++i) {
    if (rest < kUnits[i].seconds) continue;
    const int64_t large = rest / kUnits[i].seconds;
    const int64_t small = rest % kUnits[i].seconds / kUnits[i + 1].seconds;
    std::string text = absl::StrCat(large, kUnits[i].name);
    if (small != 0) absl::StrAppend(&text, " ", small, kUnits[i + 1].name);
    return text;
  }
  return absl::StrCat(rest, "s");
}

std::string FormatCount(int64_t count) {
  std::string text = absl::StrCat(count);
  const size_t first_digit = count < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string FormatRate(double per_second) {
  for (const int digits : {6, 15, 17}) {
    std::string text = absl::StrFormat("%.*g", digits, per_second);
    double parsed;
    if (absl::SimpleAtod(text, &parsed) && parsed == per_second) return text;
  }
  return absl::StrCat(per_second);
}

std::string FormatMeasured(double number) {
  constexpr double kMaxWhole = 1e15;
  if (number >= 99.95 && number < kMaxWhole) return FormatCount(std::llround(number));
  return absl::StrFormat("%.3g", number);
}

std::string FormatFields(const std::vector<std::pair<std::string, std::string>>& fields) {
  size_t width = 0;
  for (const auto& [label, value] : fields) width = std::max(width, DisplayWidth(label));
  const std::string indent = absl::StrCat("\n", std::string(width + 2, ' '));
  std::string text;
  for (const auto& [label, value] : fields) {
    absl::StrAppend(&text, label, std::string(width + 2 - DisplayWidth(label), ' '),
                    absl::StrReplaceAll(value, {{"\n", indent}}), "\n");
  }
  return text;
}

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", "\\x0a"}}); }

size_t DisplayWidth(absl::string_view text) {
  // Counts all bytes except UTF-8 continuation bytes.
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

}  // namespace ttl
