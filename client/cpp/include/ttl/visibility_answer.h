#ifndef TTL_VISIBILITY_ANSWER_H_
#define TTL_VISIBILITY_ANSWER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// The answer to a visibility check.
struct VisibilityAnswer {
  // VISIBLE, EXPIRED or UNTRACKED. A value that this client does not know is replaced by VISIBLE.
  v1::Visibility visibility = v1::VISIBILITY_VISIBLE;

  // The first instant at which the item is expired, in Unix seconds; absent if the item never
  // expires or is not known.
  std::optional<int64_t> expire_time;

  // The time on the sidecar's clock at which the item was judged.
  absl::Time judged_at;

  // Whether the store must answer as if the item did not exist.
  bool expired() const { return visibility == v1::VISIBILITY_EXPIRED; }
};

}  // namespace ttl

#endif  // TTL_VISIBILITY_ANSWER_H_
