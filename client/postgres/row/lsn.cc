#include "client/postgres/row/lsn.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ttl::postgres {
namespace {

constexpr size_t kMaxDigits = 8;

bool ParseHalf(absl::string_view digits, uint32_t& half) {
  if (digits.empty() || digits.size() > kMaxDigits) return false;
  for (const char c : digits) {
    if (!absl::ascii_isxdigit(c)) return false;
  }
  return absl::SimpleHexAtoi(digits, &half);
}

}  // namespace

std::string FormatLsn(uint64_t lsn) {
  return absl::StrFormat("%X/%X", lsn >> 32, lsn & 0xffffffff);
}

absl::StatusOr<uint64_t> ParseLsn(absl::string_view text) {
  const size_t slash = text.find('/');
  uint32_t high = 0;
  uint32_t low = 0;
  if (slash == absl::string_view::npos || !ParseHalf(text.substr(0, slash), high) ||
      !ParseHalf(text.substr(slash + 1), low)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", absl::Utf8SafeCEscape(text),
                                                   "\" is not a position in the WAL, such as "
                                                   "16/B374D848"));
  }
  return uint64_t{high} << 32 | low;
}

}  // namespace ttl::postgres
