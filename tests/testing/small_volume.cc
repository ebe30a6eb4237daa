#include "tests/testing/small_volume.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

absl::Status Error(absl::string_view doing) {
  return absl::UnavailableError(absl::StrCat(doing, ": ", std::strerror(errno)));
}

// Mounts made from now on are seen by nobody else.
absl::Status LeaveCommonMounts() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) {
    return Error("leaving the common mounts");
  }
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return absl::OkStatus();
  return Error("making mounts private");
}

}  // namespace

absl::StatusOr<std::unique_ptr<SmallVolume>> SmallVolume::Mount(int64_t mib) {
  static const absl::Status left = LeaveCommonMounts();  // once is enough
  if (!left.ok()) return left;
  std::unique_ptr<SmallVolume> volume(new SmallVolume());
  const std::string size = absl::StrCat("size=", mib, "m");
  if (mount("tmpfs", volume->path().c_str(), "tmpfs", 0, size.c_str()) != 0) {
    return Error("mounting a volume in memory");
  }
  return volume;
}

SmallVolume::~SmallVolume() { umount2(path().c_str(), MNT_DETACH); }

absl::Status SmallVolume::Fill(int64_t free_bytes) {
  const int file = open(Filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return Error("opening the filler");
  const std::vector<char> bytes(4096, 'x');
  absl::Status status;
  struct statvfs volume;
  while (status.ok() && fstatvfs(file, &volume) == 0) {
    const int64_t left = static_cast<int64_t>(volume.f_bavail * volume.f_frsize) - free_bytes;
    if (left <= 0) break;
    const auto count = static_cast<size_t>(std::min<int64_t>(left, 4096));
    if (write(file, bytes.data(), count) < 0 && errno != ENOSPC) status = Error("filling");
  }
  close(file);
  return status;
}

absl::Status SmallVolume::SetReadOnly(bool read_only) {
  const unsigned long flags = MS_REMOUNT | (read_only ? MS_RDONLY : 0);
  if (mount("tmpfs", path().c_str(), "tmpfs", flags, nullptr) == 0) return absl::OkStatus();
  return Error("mounting the volume anew");
}

void SmallVolume::Empty() { unlink(Filler().c_str()); }

}  // namespace ttl
