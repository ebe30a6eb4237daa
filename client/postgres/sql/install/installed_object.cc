#include "client/postgres/sql/install/installed_object.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {

uint64_t Fingerprint(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string TableName(const TableDefinition& table) {
  return QuoteQualified(table.config.schema, table.config.table);
}

std::string QuoteBody(absl::string_view body) {
  std::string tag = "$ttl$";
  for (int i = 1; body.find(tag) != absl::string_view::npos; ++i)
    tag = absl::StrCat("$ttl", i, "$");
  return absl::StrCat(tag, body, tag);
}

std::string CommentMark(absl::string_view schema) {
  return absl::StrCat("ttl-postgres (", schema, "): ");
}

std::string MarkedComment(absl::string_view schema, absl::string_view purpose,
                          absl::string_view definition) {
  return absl::StrFormat("%s%s [%016x]", CommentMark(schema), purpose, Fingerprint(definition));
}

}  // namespace ttl::postgres
