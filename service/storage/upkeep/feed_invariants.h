#ifndef TTL_SERVICE_STORAGE_UPKEEP_FEED_INVARIANTS_H_
#define TTL_SERVICE_STORAGE_UPKEEP_FEED_INVARIANTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/core/container.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/feed_log.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

// INTERNAL unless the EXPIRED that an announced item names is in the log, or was dropped.
absl::Status CheckAnnounced(const Database& database, const Container& container,
                            absl::string_view encoded, const StoredItem& item);

// INTERNAL or DATA_LOSS unless the record of a feed with this key can be read.
absl::Status CheckFeedRecord(absl::string_view encoded, absl::string_view value);

// The part of Storage::CheckInvariants that is about the tables of feeds.
absl::Status CheckFeeds(const Database& database, const Catalog& catalog, const FeedLog& log);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_FEED_INVARIANTS_H_
