#include "client/postgres/sql/connect/query_result.h"

#include "absl/strings/numbers.h"

namespace ttl::postgres {

std::optional<absl::string_view> QueryResult::Value(int row, int column) const {
  if (row < 0 || row >= rows() || column < 0 || column >= columns()) return std::nullopt;
  if (PQgetisnull(result_.get(), row, column)) return std::nullopt;
  return absl::string_view(PQgetvalue(result_.get(), row, column),
                           static_cast<size_t>(PQgetlength(result_.get(), row, column)));
}

absl::string_view QueryResult::Text(int row, int column) const {
  return Value(row, column).value_or(absl::string_view());
}

int64_t QueryResult::Number(int row, int column) const {
  int64_t number = 0;
  return absl::SimpleAtoi(Text(row, column), &number) ? number : 0;
}

int64_t QueryResult::affected() const {
  int64_t count = 0;
  return absl::SimpleAtoi(PQcmdTuples(result_.get()), &count) ? count : 0;
}

}  // namespace ttl::postgres
