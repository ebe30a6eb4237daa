#include "client/postgres/store/socket_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl::postgres {

absl::StatusOr<SocketClaim> SocketClaim::Take(const std::string& address) {
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:")) return SocketClaim();
  absl::ConsumePrefix(&path, "//");
  const std::string lock = absl::StrCat(path, ".lock");
  const int file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // The socket cannot be created either, and that error is more specific.
  if (file < 0) return SocketClaim();
  SocketClaim claim(file);
  if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return claim;
  return absl::FailedPreconditionError(absl::StrCat("listen: another process listens on ", address,
                                                    " (it has locked ", lock,
                                                    "); it is left alone"));
}

SocketClaim::~SocketClaim() {
  if (file_ >= 0) close(file_);
}

SocketClaim::SocketClaim(SocketClaim&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

SocketClaim& SocketClaim::operator=(SocketClaim&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace ttl::postgres
