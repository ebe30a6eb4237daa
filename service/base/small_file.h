#ifndef TTL_SERVICE_BASE_SMALL_FILE_H_
#define TTL_SERVICE_BASE_SMALL_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ttl {

// Bounds on the reading of a file of settings.
struct SmallFileLimits {
  size_t max_bytes = size_t{1} << 20;
  absl::Duration timeout = absl::Seconds(5);  // for all of it
};

// Reads a file of settings, a pipe included: whatever `path` leads to, it ends within the
// timeout (but for a file system that does not answer). INVALID_ARGUMENT, with the path, if
// it cannot be read, is too long, or does not come in time.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          const SmallFileLimits& limits = {});

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_SMALL_FILE_H_
