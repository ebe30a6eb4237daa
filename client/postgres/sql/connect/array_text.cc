#include "client/postgres/sql/connect/array_text.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl::postgres {

void ArrayText::Separate() { text_.push_back(text_.empty() ? '{' : ','); }

void ArrayText::Add(absl::string_view text) {
  Separate();
  text_.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') text_.push_back('\\');
    text_.push_back(c);
  }
  text_.push_back('"');
}

void ArrayText::Add(int64_t number) {
  Separate();
  absl::StrAppend(&text_, number);
}

void ArrayText::AddNull() {
  Separate();
  text_.append("NULL");
}

std::string ArrayText::Take() {
  if (text_.empty()) return "{}";
  text_.push_back('}');
  return std::exchange(text_, {});
}

}  // namespace ttl::postgres
