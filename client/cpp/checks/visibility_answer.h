#ifndef TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWER_H_
#define TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// What a visibility check answered about one item.
struct VisibilityAnswer {
  // VISIBLE, EXPIRED or UNTRACKED, nothing else: a value that this client does
  // not know arrives as VISIBLE.
  v1::Visibility visibility = v1::VISIBILITY_VISIBLE;

  // First instant at which the item is expired, in whole Unix seconds; nullopt
  // if it never expires or nothing is known of it.
  std::optional<int64_t> expire_time;

  // The instant of the sidecar's clock that the item was judged at.
  absl::Time judged_at;

  // Whether the store must answer as if the item did not exist.
  bool expired() const { return visibility == v1::VISIBILITY_EXPIRED; }
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWER_H_
