#ifndef TTL_SERVICE_RPC_STATUS_DUE_ITEMS_H_
#define TTL_SERVICE_RPC_STATUS_DUE_ITEMS_H_

#include <cstdint>

#include "service/core/container.h"
#include "service/storage/storage.h"

namespace ttl {

// How many due items of the container the sweep has set aside, because of a hold or until gated
// subscriptions have acknowledged.
int64_t SetAsideItems(Storage& storage, const Container& container);

// How many of `due` items, counted by the histogram, are not set aside; at least one if the index
// has one.
int64_t FreeDueItems(Storage& storage, const Container& container, int64_t due,
                     int64_t now_seconds);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_DUE_ITEMS_H_
