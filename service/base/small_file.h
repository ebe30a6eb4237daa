#ifndef TTL_SERVICE_BASE_SMALL_FILE_H_
#define TTL_SERVICE_BASE_SMALL_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ttl {

// Limits for reading a settings file.
struct SmallFileLimits {
  size_t max_bytes = size_t{1} << 20;
  absl::Duration timeout = absl::Seconds(5);  // for the whole file
};

// Reads a settings file, which may be a pipe. Returns within the timeout whatever `path` is, unless
// the file system hangs. INVALID_ARGUMENT, naming the path, if the file cannot be read, is too
// long, or does not arrive in time.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          const SmallFileLimits& limits = {});

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_SMALL_FILE_H_
