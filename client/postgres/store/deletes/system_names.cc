#include "client/postgres/store/deletes/system_names.h"

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {

absl::StatusOr<QueryResult> QueryBySystemNames(
    Connection& connection, const std::string& statement,
    const std::vector<Connection::Parameter>& parameters) {
  // OFFSET ensures that the old path is read before the new one is set.
  TTL_ASSIGN_OR_RETURN(
      const auto path,
      connection.Execute(
          "SELECT pg_catalog.set_config('search_path', 'pg_catalog', true), old.path FROM (SELECT "
          "pg_catalog.current_setting('search_path') AS path OFFSET 0) AS old"));
  TTL_ASSIGN_OR_RETURN(QueryResult answer, connection.Query(statement, parameters));
  TTL_RETURN_IF_ERROR(connection
                          .Execute(absl::StrCat("SELECT pg_catalog.set_config('search_path', ",
                                                QuoteText(path.Text(0, 1)), ", true)"))
                          .status());
  return answer;
}

}  // namespace ttl::postgres
