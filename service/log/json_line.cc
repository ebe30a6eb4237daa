// Callers write fields as text for logfmt: a value is in quotes with the escapes of C, or in braces
// with fields of its own, or bare. A bare value may contain spaces; it ends where the next key
// begins.

#include "service/log/json_line.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "service/log/log_key.h"

namespace ttl {
namespace {

// Braces deeper than this are text, so that the stack is bounded.
constexpr int kMaxDepth = 8;

// Length of the UTF-8 character that `text` begins with; 0 if it does not begin with one.
size_t CharacterLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2   ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is above U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Index of the quote that ends the string that begins at `begin`; the size of `text` if none does.
size_t EndOfQuotes(absl::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i;
    }
  }
  return text.size();
}

// Index of the brace that ends the object that `text` begins with; the size of `text` if none does.
size_t EndOfBraces(absl::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') i = EndOfQuotes(text, i);
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}' && --depth == 0) return i;
  }
  return text.size();
}

// The objects that `text` consists of, with a space between them; none if it is anything else.
std::vector<absl::string_view> ObjectsIn(absl::string_view text) {
  std::vector<absl::string_view> objects;
  while (true) {
    const size_t end = !text.empty() && text[0] == '{' ? EndOfBraces(text) : text.size();
    if (end == text.size()) return {};
    objects.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
    if (text.empty()) return objects;
    if (text[0] != ' ') return {};
    text.remove_prefix(1);
  }
}

// Length of the value that `text` begins with.
size_t ValueLength(absl::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') i = EndOfQuotes(text, i);
    if (i >= text.size()) break;
    if (text[i] == '{') ++depth;
    if (text[i] == '}') --depth;
    if (depth <= 0 && text[i] == ' ' && StartsWithKey(text.substr(i + 1))) return i;
  }
  return text.size();
}

void SkipDigits(absl::string_view& text) {
  while (!text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) {
    text.remove_prefix(1);
  }
}

// Whether `text` is a number in JSON's grammar, without an exponent.
bool IsJsonNumber(absl::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  const absl::string_view whole = text;
  SkipDigits(text);
  const size_t digits = whole.size() - text.size();
  if (digits == 0 || (digits > 1 && whole[0] == '0')) return false;
  if (text.empty()) return true;
  if (text[0] != '.' || text.size() == 1) return false;
  text.remove_prefix(1);
  SkipDigits(text);
  return text.empty();
}

std::string Unescaped(absl::string_view text) {
  std::string plain;
  return absl::CUnescape(text, &plain) && IsValidUtf8(plain) ? plain : std::string(text);
}

using Keys = absl::flat_hash_set<std::string>;

std::string Members(absl::string_view fields, Keys keys, int depth);

std::string Object(absl::string_view text, int depth) {
  return absl::StrCat("{", Members(text.substr(1, text.size() - 2), {}, depth + 1), "}");
}

std::string List(const std::vector<absl::string_view>& objects, int depth) {
  std::string list;
  for (const absl::string_view object : objects) {
    absl::StrAppend(&list, list.empty() ? "[" : ",", Object(object, depth));
  }
  return absl::StrCat(list, "]");
}

std::string Value(absl::string_view text, int depth) {
  const size_t last = text.size() - 1;
  if (text.empty()) return "\"\"";
  if (text[0] == '"' && last > 0 && EndOfQuotes(text, 0) == last) {
    return JsonString(Unescaped(text.substr(1, last - 1)));
  }
  if (depth < kMaxDepth) {
    const std::vector<absl::string_view> objects = ObjectsIn(text);
    if (objects.size() == 1) return Object(objects.front(), depth);
    if (objects.size() > 1) return List(objects, depth);
  }
  if (text == "none" || text == "absent") return "null";
  if (text == "true" || text == "false" || IsJsonNumber(text)) return std::string(text);
  return JsonString(text);
}

// Readers keep one of several members with the same key, so a later one gets another key.
std::string UniqueKey(absl::string_view key, Keys& keys) {
  std::string unique(key);
  while (!keys.insert(unique).second) unique += "_";
  return unique;
}

// `keys` are in the object already.
std::string Members(absl::string_view fields, Keys keys, int depth) {
  std::string members;
  while (!fields.empty()) {
    // Text that has no key, which no caller should write, is not lost.
    const size_t equals = StartsWithKey(fields) ? fields.find('=') : absl::string_view::npos;
    const absl::string_view key =
        equals == absl::string_view::npos ? "text" : fields.substr(0, equals);
    if (equals != absl::string_view::npos) fields.remove_prefix(equals + 1);
    const absl::string_view value = fields.substr(0, ValueLength(fields));
    absl::StrAppend(&members, members.empty() ? "" : ",", JsonString(UniqueKey(key, keys)), ":",
                    Value(value, depth));
    fields.remove_prefix(value.size() == fields.size() ? value.size() : value.size() + 1);
  }
  return members;
}

}  // namespace

std::string JsonString(absl::string_view text) {
  if (!IsValidUtf8(text)) return JsonString(absl::CHexEscape(text));
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&json, "\\", absl::string_view(&c, 1));
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&json, "\\u%04x", static_cast<unsigned>(c));
    } else {
      json.push_back(c);
    }
  }
  json.push_back('"');
  return json;
}

std::string JsonMembers(absl::string_view fields) {
  return Members(fields, {"ts", "level", "msg"}, 0);
}

}  // namespace ttl
