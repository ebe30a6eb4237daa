#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_ARRAY_TEXT_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_ARRAY_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Builds the text of a PostgreSQL array as a parameter of an array type expects it:
// {"a","b\"c",NULL}.
class ArrayText {
 public:
  // `text` must not contain a zero byte.
  void Add(absl::string_view text);
  void Add(int64_t number);
  void AddNull();

  std::string Take();

 private:
  void Separate();

  std::string text_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_ARRAY_TEXT_H_
