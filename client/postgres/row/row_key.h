#ifndef TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_
#define TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ttl::postgres {

// A partition key or an id made of the texts of its columns. One column: its text as it is.
// Several: joined by "/", a "/" or "\" in a text with a "\" before it: eu/42, a\/b/c. None:
// empty.
std::string JoinKey(absl::Span<const absl::string_view> texts);

// The texts again. INVALID_ARGUMENT if `key` is not what JoinKey() makes of so many columns.
absl::StatusOr<std::vector<std::string>> SplitKey(absl::string_view key, size_t columns);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_
