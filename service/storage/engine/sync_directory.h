#ifndef TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_
#define TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"

namespace ttl {

// Makes the entries of `directory` durable: which files it has, and their names. UNAVAILABLE on
// error.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_
