#ifndef TTL_PRIMARY_STORE_H_
#define TTL_PRIMARY_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "ttl/store_features.h"
#include "ttl/stored_key.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// Base class of stores from which the sidecar deletes what has expired: a store says how it locks,
// reads and deletes; StoreServer, or NewStoreService() on a server of the store's own, adds the
// comparison that makes a delete conditional. The methods are called by several threads.
//
// WithLock(), Read() and Delete() return StoreBusyError() to put a batch off, of which nothing may
// be deleted then. After any other error of WithLock(), Delete() or Scan() the call fails with
// INTERNAL and the error's code and message: as the status of a call, other codes would say that
// this is another store or cannot be reached. Two stay as they are: RESOURCE_EXHAUSTED, after which
// the sidecar slows down, and NOT_FOUND of Scan().
class PrimaryStore {
 public:
  virtual ~PrimaryStore() = default;

  // Identity of the data, at most 256 bytes: the same after restarts, different after a restore
  // elsewhere.
  virtual std::string store_id() const = 0;

  // Must not change while the store is served.
  virtual StoreFeatures features() const { return {}; }

  // The clock that stamps `_ts`.
  virtual absl::Time Now() const;

  // Calls `work` while nobody else changes the items under `keys`, of which some may be the same.
  // May call it again once what the call before deleted is undone, as when a transaction is
  // retried; the last call counts. After an error the sidecar does not know whether items are
  // deleted, and retries later.
  virtual absl::Status WithLock(absl::string_view container, absl::Span<const StoredKey> keys,
                                absl::FunctionRef<void()> work) = 0;

  // The item as stored, expired or not; absent if there is none. Its key may be left out. An etag,
  // if items have one, must change with every write. After an error the delete of this item has
  // failed; the sidecar counts failures by message, so the same cause must give the same one.
  // Called within WithLock().
  virtual absl::StatusOr<std::optional<v1::Item>> Read(absl::string_view container,
                                                       const StoredKey& key) = 0;

  // Deletes them, all or none, and durably before WithLock() returns; they are different keys. Must
  // not be reported to the sidecar. After an error the sidecar does not know whether they are
  // deleted, and retries later. Called within WithLock(), after Read().
  virtual absl::Status Delete(absl::string_view container, absl::Span<const StoredKey> keys) = 0;

  // The next `limit` items of the container, with their keys, or all that are left, behind `after`
  // in an order of keys that never changes; without `after` from the first on. Expired items are
  // included, and nothing is locked. NOT_FOUND if there is no such container. Called only if
  // features().scans.
  virtual absl::StatusOr<std::vector<v1::Item>> Scan(absl::string_view container,
                                                     const std::optional<StoredKey>& after,
                                                     int limit);

  // The estimated number of items in the container, for showing the progress of a scan; absent if
  // the store does not know it.
  virtual std::optional<int64_t> EstimatedItems(absl::string_view container) const;

  // What a batch cost in request units, of which `deleted` items were deleted and `kept` were not;
  // absent: the container's request_units_per_delete counts.
  virtual std::optional<double> RequestCharge(int deleted, int kept) const;
};

}  // namespace ttl

#endif  // TTL_PRIMARY_STORE_H_
