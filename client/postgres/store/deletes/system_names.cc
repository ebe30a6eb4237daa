#include "client/postgres/store/deletes/system_names.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {

absl::StatusOr<QueryResult> QueryBySystemNames(
    Connection& connection, const std::string& statement,
    const std::vector<Connection::Parameter>& parameters) {
  // OFFSET ensures that the old path is read before the new one is set.
  const auto path = connection.Execute(
      "SELECT pg_catalog.set_config('search_path', 'pg_catalog', true), old.path FROM (SELECT "
      "pg_catalog.current_setting('search_path') AS path OFFSET 0) AS old");
  if (!path.ok()) return path.status();
  auto answer = connection.Query(statement, parameters);
  if (!answer.ok()) return answer;
  const auto reset = connection.Execute(absl::StrCat("SELECT pg_catalog.set_config('search_path', ",
                                                     QuoteText(path->Text(0, 1)), ", true)"));
  return reset.ok() ? std::move(answer) : reset.status();
}

}  // namespace ttl::postgres
