#ifndef TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_
#define TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// A base type, below all domains, as in the catalog.
struct BaseType {
  std::string name;  // pg_type.typname; empty: not a built-in type
  bool is_enum = false;
  int modifier = -1;  // atttypmod or typtypmod; -1: none
};

// Whether a key may have this type: equal values have equal text, whatever their input form, and
// values have an order.
bool IsKeyType(const BaseType& type);

// Whether PostgreSQL can hash values of a key type, as the lock of a group needs it.
bool IsGroupKeyType(const BaseType& type);

// Names the key types for a message.
absl::string_view KeyTypes();

// Maximum length of a value as text, in bytes; absent: unlimited.
std::optional<size_t> MaxTextBytes(const BaseType& type);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_KEY_TYPE_H_
