#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_TTL_CONDITION_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_TTL_CONDITION_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "documentstore/storage/v1/record.pb.h"
#include "documentstore/v1/document_service.pb.h"

namespace documentstore {

// The end of a document, which is the first second at which it is expired, if it has none.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The end of a document that is written at `ts` (Unix seconds) and has a ttl of its own, in a
// container whose TTL is on.
int64_t EndOf(const storage::v1::DocumentRecord& record, int64_t ts);

// OK if `condition` lets a write move the end of a document from `present` to `next`; ABORTED if
// not. UNAVAILABLE if that depends on the present end, which is nullopt because the sidecar does
// not know it; INVALID_ARGUMENT if there is no such condition.
absl::Status RequireCondition(v1::TtlCondition condition, std::optional<int64_t> present,
                              int64_t next);

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_TTL_CONDITION_H_
