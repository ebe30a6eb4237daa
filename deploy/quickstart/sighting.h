#ifndef TTL_DEPLOY_QUICKSTART_SIGHTING_H_
#define TTL_DEPLOY_QUICKSTART_SIGHTING_H_

#include "absl/time/time.h"

namespace ttl::quickstart {

// What one answer of the store said of one document, and when it was judged.
// Where the answer names the instant, earliest and latest are both that instant;
// else they are those just before and just after the call.
struct Sighting {
  bool visible = false;
  absl::Time earliest;
  absl::Time latest;
};

// Whether the sighting is possible for a document that expires at `expire_time`
// (absl::InfiniteFuture() for never): seen before it only, missed from it on only.
inline bool AgreesWith(const Sighting& sighting, absl::Time expire_time) {
  return sighting.visible ? sighting.earliest < expire_time : sighting.latest >= expire_time;
}

}  // namespace ttl::quickstart

#endif  // TTL_DEPLOY_QUICKSTART_SIGHTING_H_
