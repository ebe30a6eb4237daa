#ifndef TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_
#define TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// A type below all its domains, as the catalogue has it.
struct BaseType {
  std::string name;  // pg_type.typname; empty: a type that is not PostgreSQL's own
  bool is_enum = false;
  int modifier = -1;  // atttypmod or typtypmod; -1: none
};

// Whether equal values have the same text, whatever way they were written, and values have an
// order: what a key needs.
bool IsKeyType(const BaseType& type);

// The types that are, in words.
absl::string_view KeyTypes();

// Longest text of a value in bytes; absent: there is no limit.
std::optional<size_t> MaxTextBytes(const BaseType& type);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_
