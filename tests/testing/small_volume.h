#ifndef TTL_TESTS_TESTING_SMALL_VOLUME_H_
#define TTL_TESTS_TESTING_SMALL_VOLUME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// A file system of its own in memory, that can be filled. It is seen by this process and
// by those that it starts, and goes with them: no other is troubled. Needs root or user
// namespaces. For the main thread, and without root before there are others.
class SmallVolume {
 public:
  // UNAVAILABLE if nothing may be mounted here.
  static absl::StatusOr<std::unique_ptr<SmallVolume>> Mount(int64_t mib);
  ~SmallVolume();
  SmallVolume(const SmallVolume&) = delete;
  SmallVolume& operator=(const SmallVolume&) = delete;

  const std::string& path() const { return directory_.path(); }

  // Fills it up to so many free bytes; gives back what was filled.
  absl::Status Fill(int64_t free_bytes);
  void Empty();

  // Mounts it anew, for reads only or for writes too. Fails while a file is open for writing.
  absl::Status SetReadOnly(bool read_only);

 private:
  SmallVolume() = default;
  std::string Filler() const { return directory_.File("filler"); }

  const TempDir directory_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SMALL_VOLUME_H_
