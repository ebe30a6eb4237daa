#ifndef TTL_TESTS_TESTING_SMALL_VOLUME_H_
#define TTL_TESTS_TESTING_SMALL_VOLUME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// A file system in memory that can be filled. It is visible to this process and its children only,
// and disappears with them. Needs root or user namespaces. Must be used on the main thread, and,
// without root, before other threads start.
class SmallVolume {
 public:
  // UNAVAILABLE if mounting is not permitted.
  static absl::StatusOr<std::unique_ptr<SmallVolume>> Mount(int64_t mib);
  ~SmallVolume();
  SmallVolume(const SmallVolume&) = delete;
  SmallVolume& operator=(const SmallVolume&) = delete;

  const std::string& path() const { return directory_.path(); }

  // Fills the volume except for a number of free bytes; frees that space again.
  absl::Status Fill(int64_t free_bytes);
  void Empty();

  // Remounts the volume read-only, or for writing. Fails while a file is open for writing.
  absl::Status SetReadOnly(bool read_only);

 private:
  SmallVolume() = default;
  std::string Filler() const { return directory_.File("filler"); }

  const TempDir directory_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SMALL_VOLUME_H_
