#ifndef TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_
#define TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"

namespace ttl {

// Makes durable which files `directory` has and how they are named. UNAVAILABLE if it cannot.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_SYNC_DIRECTORY_H_
