#ifndef TTL_SERVICE_BASE_PINNED_PATH_H_
#define TTL_SERVICE_BASE_PINNED_PATH_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ttl {

// A path and the file, directory or socket that it leads to, so that others can be told from
// it: those removed, moved away, replaced or covered by a mount. Holds what it led to, so
// that nothing else gets its inode number; no lock of a file is lost with it. Thread-safe.
class PinnedPath {
 public:
  // The errors of open(2), as absl::ErrnoToStatus gives them.
  static absl::StatusOr<PinnedPath> Take(std::string path);

  ~PinnedPath();
  PinnedPath(PinnedPath&& other) noexcept;
  PinnedPath& operator=(PinnedPath&& other) noexcept;

  // OK if the path leads to the same still; UNAVAILABLE, with the path, if not.
  absl::Status Check() const;

 private:
  PinnedPath(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;  // -1: moved from
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_PINNED_PATH_H_
