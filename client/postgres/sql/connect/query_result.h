#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Rows that a statement returned, as text. Views of values live as long as this.
class QueryResult {
 public:
  explicit QueryResult(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  int columns() const { return PQnfields(result_.get()); }

  // Absent: NULL, and where there is no such row or column.
  std::optional<absl::string_view> Value(int row, int column) const;
  // NULL is empty.
  absl::string_view Text(int row, int column) const;
  // A value that is no integer of 64 bits is 0, as is NULL.
  int64_t Number(int row, int column) const;
  bool Bool(int row, int column) const { return Text(row, column) == "t"; }

  // Rows that an INSERT, UPDATE or DELETE touched.
  int64_t affected() const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_QUERY_RESULT_H_
