#ifndef TTL_TOUCH_ANSWER_H_
#define TTL_TOUCH_ANSWER_H_

#include <cstdint>
#include <optional>

#include "ttl/v1/item_service.pb.h"

namespace ttl {

// What became of a touch.
struct TouchAnswer {
  // TOUCHED, RECENT, EXPIRED or NOT_TRACKED; may be a value that this client does not know.
  v1::TouchResult result = v1::TOUCH_RESULT_UNSPECIFIED;

  // The first instant at which the item is expired now, in Unix seconds; absent if the item never
  // expires or is not tracked.
  std::optional<int64_t> expire_time;

  // The time on the sidecar's clock as of which the item was judged, in Unix seconds: that of the
  // touch, if it was touched.
  int64_t touch_time = 0;

  // Whether the store must answer as if the item did not exist.
  bool expired() const { return result == v1::TOUCH_RESULT_EXPIRED; }
};

}  // namespace ttl

#endif  // TTL_TOUCH_ANSWER_H_
