#include "service/storage/engine/sync_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ttl {

absl::Status SyncDirectory(const std::string& directory) {
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = file >= 0 && fsync(file) == 0 ? 0 : errno;
  if (file >= 0) close(file);
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("syncing ", directory, ": ", std::generic_category().message(error)));
}

}  // namespace ttl
