#ifndef TTL_SERVICE_SERVER_REBUILD_H_
#define TTL_SERVICE_SERVER_REBUILD_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/server/config/config.h"
#include "service/storage/storage.h"

namespace ttl {

// Opens the database, and prepares a rebuild according to `config.rebuild_from_store`.
// A damaged database is set aside and replaced by a new one with paused deletes, because a
// pause set before is lost. A database that is new, or always to be rebuilt, is put in doubt:
// durably, or in memory only if storage refuses writes. A new database that will not be
// rebuilt is logged. Errors are those of Storage::Open; DATA_LOSS also if a damaged database
// cannot be rebuilt because there is no containers file.
absl::StatusOr<std::unique_ptr<Storage>> OpenForRebuild(const ServerConfig& config,
                                                        const StorageOptions& options,
                                                        absl::Time now);

// Makes it durable that the data is in doubt, if it is and that is not yet durable.
absl::Status SaveDoubt(Storage& storage);

// Whether `status` is the error of a change that storage refused because it accepts no
// writes now, as on a volume that is full, read-only or broken.
bool TakesNoWrites(const absl::Status& status);

// OK if the sidecar is ready; else why not: storage refuses writes or is being rebuilt.
absl::Status ReadinessOf(const ServerConfig& config, Storage& storage);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_REBUILD_H_
