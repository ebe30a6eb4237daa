#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECT_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

struct InstalledObject {
  std::string name;        // human-readable: view public.orders_live
  std::string target;      // as in COMMENT ON: VIEW "public"."orders_live"
  std::string definition;  // the statements that create it, without the last semicolon
  std::string comment;     // contains the mark and a fingerprint of the definition
};

// FNV-1a, which is the same in every build and process.
uint64_t Fingerprint(absl::string_view text);

// Common prefix of the comments of all installed objects.
std::string CommentMark(absl::string_view schema);

// Comment of the object that `definition` creates. Another definition has another comment.
std::string MarkedComment(absl::string_view schema, absl::string_view purpose,
                          absl::string_view definition);

// Quotes the body of a function or of DO with a dollar tag that it does not contain.
std::string QuoteBody(absl::string_view body);

// "schema"."table".
std::string TableName(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLED_OBJECT_H_
