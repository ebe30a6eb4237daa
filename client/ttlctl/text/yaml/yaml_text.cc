#include "client/ttlctl/text/yaml/yaml_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

// yaml-cpp's emitter cannot do this: it leaves "true" without quotes, and prints U+FFFF as U+FFFD.
namespace ttl {
namespace {

using nlohmann::ordered_json;

// Words that YAML 1.1 takes for a boolean or for null, in any case.
constexpr std::array<absl::string_view, 9> kReservedWords = {"y",     "n",  "yes", "no",  "true",
                                                             "false", "on", "off", "null"};

// Whether all readers take the text for text without quotes: the names of fields, enum values and
// most ids. Numbers and times begin with a digit, a dot or a sign.
bool IsPlainText(absl::string_view text) {
  const auto is_plain = [](char byte) {
    return absl::ascii_isalnum(byte) || byte == '_' || byte == '-' || byte == '/' || byte == '.';
  };
  const auto is_text = [text](absl::string_view word) {
    return absl::EqualsIgnoreCase(word, text);
  };
  if (text.empty() || !absl::ascii_isalpha(text.front())) return false;
  return std::all_of(text.begin(), text.end(), is_plain) &&
         std::none_of(kReservedWords.begin(), kReservedWords.end(), is_text);
}

// Takes the first character of `text`, which is UTF-8, away and returns its bytes.
absl::string_view TakeCharacter(absl::string_view& text) {
  size_t size = 1;
  while (size < text.size() && (text[size] & 0xC0) == 0x80) ++size;
  const absl::string_view character = text.substr(0, size);
  text.remove_prefix(size);
  return character;
}

uint32_t CodePointOf(absl::string_view character) {
  constexpr uint8_t kLeadBits[] = {0x7F, 0x1F, 0x0F, 0x07};
  uint32_t code =
      static_cast<uint8_t>(character[0]) & kLeadBits[std::min<size_t>(character.size(), 4) - 1];
  for (const char byte : character.substr(1)) code = code << 6 | (byte & 0x3F);
  return code;
}

// Whether some reader refuses or changes the character even in double quotes: controls, separators
// of lines, the byte order mark and noncharacters. Or whether a terminal shows the text around it
// in another order, or not the character itself: marks of direction and characters without width.
bool NeedsEscape(uint32_t code) {
  const auto is_within = [code](uint32_t first, uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || is_within(0x7F, 0x9F) || is_within(0x200B, 0x200F) ||
         is_within(0x2028, 0x202E) || is_within(0x2060, 0x206F) || code == 0xFEFF ||
         (code & 0xFFFE) == 0xFFFE;
}

std::string InQuotes(absl::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const absl::string_view character = TakeCharacter(text);
    const uint32_t code = CodePointOf(character);
    if (code == '"' || code == '\\') {
      absl::StrAppend(&quoted, "\\", character);
    } else if (NeedsEscape(code)) {
      quoted += code > 0xFFFF ? absl::StrFormat("\\U%08X", code) : absl::StrFormat("\\u%04X", code);
    } else {
      absl::StrAppend(&quoted, character);
    }
  }
  return quoted + "\"";
}

std::string TextOf(const std::string& text) { return IsPlainText(text) ? text : InQuotes(text); }

// What fits on one line: a value that is not a list or a map, or an empty one.
bool IsScalar(const ordered_json& value) { return !value.is_structured() || value.empty(); }

// YAML 1.1 takes 1e-05 for text.
std::string FloatOf(const ordered_json& value) {
  std::string text = value.dump();
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

std::string ScalarOf(const ordered_json& value) {
  if (value.is_string()) return TextOf(value.get<std::string>());
  return value.is_number_float() ? FloatOf(value) : value.dump();
}

// The lines of a list or map that is not empty. The first one begins where the caller stands.
std::string BlockOf(const ordered_json& value, size_t indent) {
  std::string text;
  const std::string margin(indent, ' ');
  for (const auto& [key, member] : value.items()) {
    absl::StrAppend(&text, text.empty() ? "" : margin);
    if (value.is_array()) {
      absl::StrAppend(&text, "- ",
                      IsScalar(member) ? ScalarOf(member) + "\n" : BlockOf(member, indent + 2));
    } else if (IsScalar(member)) {
      absl::StrAppend(&text, TextOf(key), ": ", ScalarOf(member), "\n");
    } else {
      absl::StrAppend(&text, TextOf(key), ":\n", margin, "  ", BlockOf(member, indent + 2));
    }
  }
  return text;
}

}  // namespace

std::string ToYaml(const ordered_json& value) {
  return IsScalar(value) ? ScalarOf(value) + "\n" : BlockOf(value, 0);
}

}  // namespace ttl
