#include "service/storage/engine/lock_owner.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace ttl {

std::optional<pid_t> LockOwner(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool is_known = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  if (!is_known || lock.l_pid <= 0) return std::nullopt;
  return lock.l_pid;
}

std::string DescribeLockOwner(const std::string& path) {
  const std::optional<pid_t> owner = LockOwner(path);
  return absl::StrCat("another process has it open",
                      owner.has_value() ? absl::StrCat(": pid ", *owner) : "");
}

}  // namespace ttl
