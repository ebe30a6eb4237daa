#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Rows that a statement returned, as text. A returned string_view is valid as long as this object.
class QueryResult {
 public:
  explicit QueryResult(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  int columns() const { return PQnfields(result_.get()); }

  // Absent if the value is NULL, or the row or column does not exist.
  std::optional<absl::string_view> Value(int row, int column) const;
  // Empty if the value is NULL.
  absl::string_view Text(int row, int column) const;
  // 0 if the value is NULL or not a 64-bit integer.
  int64_t Number(int row, int column) const;
  bool Bool(int row, int column) const { return Text(row, column) == "t"; }

  // Number of rows that an INSERT, UPDATE or DELETE affected.
  int64_t affected() const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_
