#ifndef TTL_SERVICE_BASE_PINNED_PATH_H_
#define TTL_SERVICE_BASE_PINNED_PATH_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ttl {

// Remembers the file, directory or socket at a path, to detect later that it was removed, moved,
// replaced or covered by a mount. Keeps a descriptor, so that the inode number is not reused;
// closing it releases no file locks of the process. Thread-safe.
class PinnedPath {
 public:
  // Returns the errors of open(2), by absl::ErrnoToStatus().
  static absl::StatusOr<PinnedPath> Take(std::string path);

  ~PinnedPath();
  PinnedPath(PinnedPath&& other) noexcept;
  PinnedPath& operator=(PinnedPath&& other) noexcept;

  // UNAVAILABLE, naming the path, if the path does not lead to the same file any more.
  absl::Status Check() const;

 private:
  PinnedPath(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;  // -1: moved from
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_PINNED_PATH_H_
