#ifndef TTL_FIELD_VIOLATION_H_
#define TTL_FIELD_VIOLATION_H_

#include <string>

namespace ttl {

// An invalid field of a request.
struct FieldViolation {
  std::string field;        // its path in the request, such as "items[3].ttl"
  std::string description;  // its value, and what is allowed

  friend bool operator==(const FieldViolation& a, const FieldViolation& b) {
    return a.field == b.field && a.description == b.description;
  }
};

}  // namespace ttl

#endif  // TTL_FIELD_VIOLATION_H_
