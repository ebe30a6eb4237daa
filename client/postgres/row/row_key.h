#ifndef TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_
#define TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ttl::postgres {

// Builds a partition key or id from the texts of its columns. One column: its text, unchanged.
// Several: joined by "/", with a "\" before each "/" or "\" in a text: eu/42, a\/b/c. None: empty.
std::string JoinKey(absl::Span<const absl::string_view> texts);

// Splits a key into its texts. INVALID_ARGUMENT if JoinKey() does not build `key` from `columns`
// columns.
absl::StatusOr<std::vector<std::string>> SplitKey(absl::string_view key, size_t columns);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_KEY_H_
