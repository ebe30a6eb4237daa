#ifndef TTL_TESTS_TESTING_TEMP_DIR_H_
#define TTL_TESTS_TESTING_TEMP_DIR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// A directory of its own for one test, removed with all its contents on
// destruction. It lies directly in /tmp, so that Unix sockets in it stay far
// below the limit of about 107 bytes. Aborts if it cannot be made.
//
// Immutable after construction, so safe to share between threads.
class TempDir {
 public:
  TempDir();
  ~TempDir();

  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // Path of an entry of that name; nothing is created.
  std::string File(absl::string_view name) const;

 private:
  std::string path_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_TEMP_DIR_H_
