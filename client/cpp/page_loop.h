#ifndef TTL_CLIENT_CPP_PAGE_LOOP_H_
#define TTL_CLIENT_CPP_PAGE_LOOP_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ttl {

// Largest page that the API serves.
inline constexpr int32_t kLargestPage = 1000;

// Calls `fetch` for each page of a list, at first with an empty token; it returns the token of the
// next page, empty after the last one. INTERNAL if a page answers with its own token, which would
// never end.
absl::Status ForEachPage(
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& token)> fetch);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_PAGE_LOOP_H_
