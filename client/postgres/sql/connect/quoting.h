#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_QUOTING_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_QUOTING_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Quotes any name as an SQL identifier: "or""der".
std::string QuoteName(absl::string_view name);

// "schema"."name".
std::string QuoteQualified(absl::string_view schema, absl::string_view name);

// Quotes any text as an SQL literal that does not depend on standard_conforming_strings.
std::string QuoteText(absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_QUOTING_H_
