#ifndef TTL_SERVICE_SERVER_REBUILD_H_
#define TTL_SERVICE_SERVER_REBUILD_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/server/config/config.h"
#include "service/storage/storage.h"

namespace ttl {

// Opens the database as `config` says what is to become of one that is not whole: one
// that is damaged is set aside, and a new one begins whose deletes are paused, since a
// pause set before is not known any more; and one that is new, or to be rebuilt whatever
// it is, is put in doubt, durably, or where storage takes no writes in memory alone. A new
// one that nothing rebuilds is logged. Errors are those of Storage::Open; DATA_LOSS also if a
// damaged one cannot be rebuilt for want of a containers file.
absl::StatusOr<std::unique_ptr<Storage>> OpenForRebuild(const ServerConfig& config,
                                                        const StorageOptions& options,
                                                        absl::Time now);

// Makes the doubt of the data durable, if there is one and it is not.
absl::Status SaveDoubt(Storage& storage);

// Whether a change failed because storage takes none now, as on a volume that is full,
// read-only or broken.
bool TakesNoWrites(const absl::Status& status);

// OK, or why the sidecar is not ready: storage refuses writes, or is being rebuilt.
absl::Status ReadinessOf(const ServerConfig& config, Storage& storage);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_REBUILD_H_
