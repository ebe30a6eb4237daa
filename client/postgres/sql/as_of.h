#ifndef TTL_CLIENT_POSTGRES_SQL_AS_OF_H_
#define TTL_CLIENT_POSTGRES_SQL_AS_OF_H_

#include <string>

#include "absl/strings/string_view.h"

// The instant by which views, policies and functions judge rows: statement_timestamp(), unless the
// session has set ttl_postgres.as_of, so that several statements agree. The limits are those of
// CheckVisibilityRequest.as_of.
namespace ttl::postgres {

// An SQL expression of the instant. Without the setting no function of `schema` is called.
std::string JudgedAt(absl::string_view schema);

// Creates the function that reads the setting. It fails if the setting is not a time, more than an
// hour back or more than 5 seconds ahead, and returns at most statement_timestamp().
std::string AsOfFunctionSql(absl::string_view schema);

// The function as an argument of to_regprocedure().
std::string AsOfFunction(absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_AS_OF_H_
