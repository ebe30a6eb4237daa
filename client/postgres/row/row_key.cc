#include "client/postgres/row/row_key.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ttl::postgres {
namespace {

void AppendEscaped(absl::string_view text, std::string& key) {
  for (const char c : text) {
    if (c == '/' || c == '\\') key.push_back('\\');
    key.push_back(c);
  }
}

absl::Status NotAKey(absl::string_view key, size_t columns, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::Utf8SafeCEscape(key), "\" is not a key of ", columns, " columns: ", why));
}

absl::StatusOr<std::vector<std::string>> SplitEscaped(absl::string_view key, size_t columns) {
  std::vector<std::string> texts(1);
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '/') {
      texts.emplace_back();
      continue;
    }
    if (key[i] == '\\') {
      ++i;
      if (i == key.size() || (key[i] != '/' && key[i] != '\\')) {
        return NotAKey(key, columns, "after a backslash comes / or \\");
      }
    }
    texts.back().push_back(key[i]);
  }
  if (texts.size() != columns) return NotAKey(key, columns, absl::StrCat("has ", texts.size()));
  return texts;
}

}  // namespace

std::string JoinKey(absl::Span<const absl::string_view> texts) {
  if (texts.empty()) return "";
  if (texts.size() == 1) return std::string(texts[0]);
  std::string key;
  size_t bytes = texts.size();
  for (const absl::string_view text : texts) bytes += text.size();
  key.reserve(bytes);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) key.push_back('/');
    AppendEscaped(texts[i], key);
  }
  return key;
}

absl::StatusOr<std::vector<std::string>> SplitKey(absl::string_view key, size_t columns) {
  if (columns > 1) return SplitEscaped(key, columns);
  std::vector<std::string> texts;
  if (columns == 1) {
    texts.emplace_back(key);
  } else if (!key.empty()) {
    return NotAKey(key, columns, "must be empty");
  }
  return texts;
}

}  // namespace ttl::postgres
