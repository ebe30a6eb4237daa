#include "client/ttlctl/input/key_text.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ttl {
namespace {

// The first character of some bytes: its code point and its length, 0 if it is not UTF-8.
struct Character {
  uint32_t code_point = 0;
  size_t size = 0;
};

size_t SizeByFirstByte(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

Character FrontCharacter(absl::string_view bytes) {
  const unsigned char first = bytes[0];
  const size_t size = SizeByFirstByte(first);
  if (size == 0 || size > bytes.size()) return {};
  if (size == 1) return {first, 1};
  uint32_t code_point = first & (0xFF >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const unsigned char next = bytes[i];
    if ((next & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (next & 0x3F);
  }
  const bool overlong = (size == 3 && code_point < 0x800) || (size == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (overlong || surrogate || code_point > 0x10FFFF) return {};
  return {code_point, size};
}

// Whether the character is safe for a terminal: not a control, nor a mark that reorders, joins or
// breaks the text around it.
bool IsPrintable(uint32_t code_point) {
  if (code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0)) return false;
  if (code_point >= 0x200B && code_point <= 0x200F) return false;
  if (code_point >= 0x2028 && code_point <= 0x202E) return false;
  return !(code_point >= 0x2060 && code_point <= 0x206F) && code_point != 0xFEFF;
}

void AppendEscaped(absl::string_view bytes, std::string* text) {
  for (const unsigned char byte : bytes) {
    absl::StrAppend(text, "\\x", absl::Hex(byte, absl::kZeroPad2));
  }
}

// Replaces unprintable characters by \xHH; newlines may be kept.
std::string Escaped(absl::string_view bytes, bool keep_lines) {
  std::string text;
  while (!bytes.empty()) {
    const auto [code_point, length] = FrontCharacter(bytes);
    const size_t size = length == 0 ? 1 : length;
    if (length > 0 && (IsPrintable(code_point) || (keep_lines && code_point == '\n'))) {
      absl::StrAppend(&text, bytes.substr(0, size));
    } else {
      AppendEscaped(bytes.substr(0, size), &text);
    }
    bytes.remove_prefix(size);
  }
  return text;
}

}  // namespace

std::string KeyToText(absl::string_view bytes) {
  return Escaped(absl::StrReplaceAll(bytes, {{"\\", "\\\\"}}), /*keep_lines=*/false);
}

std::string TerminalText(absl::string_view text) { return Escaped(text, /*keep_lines=*/true); }

absl::StatusOr<std::string> KeyFromText(absl::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text[0] != '\\') {
      bytes.push_back(text[0]);
      text.remove_prefix(1);
    } else if (text.size() >= 2 && text[1] == '\\') {
      bytes.push_back('\\');
      text.remove_prefix(2);
    } else if (text.size() >= 4 && text[1] == 'x' && absl::ascii_isxdigit(text[2]) &&
               absl::ascii_isxdigit(text[3])) {
      bytes += absl::HexStringToBytes(text.substr(2, 2));
      text.remove_prefix(4);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("the backslash in \"", text,
                       "\" begins no escape: write \\\\ for a backslash, \\xHH for a byte"));
    }
  }
  return bytes;
}

bool IsUtf8(absl::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = FrontCharacter(bytes).size;
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

}  // namespace ttl
