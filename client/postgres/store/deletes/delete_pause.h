#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// The share of one connection's time that deletes may take, while a batch takes no longer than a
// third of the longest pause. What they cost besides, in decoding
// and reporting, goes with their number.
inline constexpr double kDeleteShare = 0.25;
inline constexpr absl::Duration kMostDeletePause = absl::Seconds(1);

// For how long the next batch of deletes has to wait after one that took `took`: so that they keep
// to their share, also where nothing limits their rate, and become slower as the database does.
// Pure.
absl::Duration DeletePause(absl::Duration took);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_PAUSE_H_
