#include "client/ttlctl/text/shell_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/ttlctl/input/key_text.h"

namespace ttl {
namespace {

// Whether no shell gives the character a meaning inside a word. Not so "=": zsh replaces a word
// that begins with it.
bool IsPlain(char character) {
  return absl::ascii_isalnum(static_cast<unsigned char>(character)) ||
         absl::StrContains("_/.:@%+,-", character);
}

}  // namespace

std::string ShellWord(absl::string_view text) {
  const std::string escaped = KeyToText(text);
  if (escaped != absl::StrReplaceAll(text, {{"\\", "\\\\"}})) {
    return absl::StrCat("$'", absl::StrReplaceAll(escaped, {{"'", "\\'"}}), "'");
  }
  if (!text.empty() && std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string IdArguments(std::initializer_list<absl::string_view> ids) {
  const bool is_option = std::any_of(
      ids.begin(), ids.end(), [](absl::string_view id) { return absl::StartsWith(id, "-"); });
  return absl::StrCat(is_option ? "-- " : "",
                      absl::StrJoin(ids, " ", [](std::string* out, absl::string_view id) {
                        *out += ShellWord(id);
                      }));
}

}  // namespace ttl
