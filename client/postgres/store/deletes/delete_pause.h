#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// The share of one connection's time that deletes may use. They exceed it only if a batch takes
// longer than a third of kMaxDeletePause. Their further cost, in decoding and reporting, is
// proportional to their number.
inline constexpr double kDeleteShare = 0.25;
inline constexpr absl::Duration kMaxDeletePause = absl::Seconds(1);

// Returns how long the next batch of deletes must wait after one that took `took`. This keeps
// deletes to their share even without a rate limit, and slows them down as the database slows down.
// Pure.
absl::Duration DeletePause(absl::Duration took);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_
