#ifndef TTL_SERVICE_BASE_STATUS_MACROS_H_
#define TTL_SERVICE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expression` from the function unless it is OK.
#define TTL_RETURN_IF_ERROR(expression)                                              \
  do {                                                                               \
    if (absl::Status ttl_status = (expression); !ttl_status.ok()) return ttl_status; \
  } while (false)

#define TTL_STATUS_CONCAT_INNER_(a, b) a##b
#define TTL_STATUS_CONCAT_(a, b) TTL_STATUS_CONCAT_INNER_(a, b)

// Assigns the value of the StatusOr `expression` to `target`, which may declare
// a variable, or returns its status from the function.
#define TTL_ASSIGN_OR_RETURN(target, expression) \
  TTL_ASSIGN_OR_RETURN_INNER_(TTL_STATUS_CONCAT_(ttl_status_or_, __LINE__), target, expression)
// A declaration cannot be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TTL_ASSIGN_OR_RETURN_INNER_(temporary, target, expression) \
  auto temporary = (expression);                                   \
  if (!temporary.ok()) return std::move(temporary).status();       \
  target = *std::move(temporary)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // TTL_SERVICE_BASE_STATUS_MACROS_H_
