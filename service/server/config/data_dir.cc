#include "service/server/config/data_dir.h"

#include <errno.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <system_error>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"

namespace ttl {
namespace {

constexpr size_t kMaxPathBytes = 4096;
constexpr mode_t kOfOthers = S_IRWXG | S_IRWXO;

}  // namespace

void KeepNewFilesPrivate() { umask(umask(kOfOthers) | kOfOthers); }

absl::StatusOr<bool> MakeDataDir(const std::string& data_dir) {
  if (mkdir(data_dir.c_str(), S_IRWXU) == 0) return true;
  const int mkdir_error = errno;
  struct stat info = {};
  // Checked here, because LevelDB would only say that a file in it is missing.
  if (stat(data_dir.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data-dir: ", Quoted(data_dir, kMaxPathBytes),
                     " cannot be created: ", std::generic_category().message(mkdir_error),
                     "; give a directory, or a new name in a directory that exists"));
  }
  if ((info.st_mode & kOfOthers) != 0) {
    spdlog::warn("data directory is accessible to others: data_dir={} mode={:04o} expected=0700",
                 Quoted(data_dir, kMaxPathBytes), static_cast<unsigned>(info.st_mode & 07777));
  }
  return false;
}

}  // namespace ttl
