#ifndef TTL_SERVICE_STORAGE_UPKEEP_INVARIANTS_H_
#define TTL_SERVICE_STORAGE_UPKEEP_INVARIANTS_H_

#include "absl/status/status.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/feed_log.h"

namespace ttl {

// INTERNAL unless the item has its entry in its container's index, and the log the EXPIRED that it
// names.
absl::Status CheckItem(const Database& database, const Container& container,
                       absl::string_view encoded, const StoredItem& item);

// INTERNAL unless the index entry of a container belongs to an item that names it.
absl::Status CheckEntry(const Database& database, const Container& container,
                        absl::string_view encoded);

// INTERNAL unless the record with this key, which is about the keys of holds, agrees with its
// counterpart.
absl::Status CheckHoldKey(const Database& database, absl::string_view encoded,
                          absl::string_view value);

// See Storage::CheckInvariants.
absl::Status CheckInvariants(const Database& database, const Catalog& catalog,
                             const Tallies& tallies, const FeedLog& feed_log);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_INVARIANTS_H_
