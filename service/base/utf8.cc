#include "service/base/utf8.h"

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// Number of bytes of a sequence that starts with `lead`; 0 if none can.
size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool IsControl(int32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

}  // namespace

// Overlong forms and surrogates are not well-formed.
int32_t TakeCodePoint(absl::string_view& text) {
  static constexpr int32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return -1;
  int32_t code_point = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return -1;
    code_point = (code_point << 6) | (byte & 0x3F);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[length] || is_surrogate || code_point > 0x10FFFF) return -1;
  text.remove_prefix(length);
  return code_point;
}

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    if (TakeCodePoint(text) < 0) return false;
  }
  return true;
}

std::string UnmetByName(absl::string_view name, size_t max_bytes) {
  if (name.empty() || name.size() > max_bytes) {
    return absl::StrCat("must have 1 to ", max_bytes, " bytes");
  }
  while (!name.empty()) {
    const int32_t code_point = TakeCodePoint(name);
    if (code_point < 0) return "must be UTF-8";
    if (IsControl(code_point)) return "must not have control characters";
  }
  return "";
}

}  // namespace ttl
