#include "client/postgres/sql/connect/quoting.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ttl::postgres {

std::string QuoteName(absl::string_view name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

std::string QuoteQualified(absl::string_view schema, absl::string_view name) {
  return absl::StrCat(QuoteName(schema), ".", QuoteName(name));
}

std::string QuoteText(absl::string_view text) {
  // standard_conforming_strings changes the meaning of a backslash, except in an E literal.
  const bool has_backslash = text.find('\\') != absl::string_view::npos;
  return absl::StrCat(has_backslash ? "E'" : "'",
                      absl::StrReplaceAll(text, {{"'", "''"}, {"\\", "\\\\"}}), "'");
}

}  // namespace ttl::postgres
