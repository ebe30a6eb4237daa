#include "service/base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/stopwatch.h"

namespace ttl {
namespace {

// Closes a descriptor when it goes out of scope.
class OpenFile {
 public:
  // O_NONBLOCK, because opening a FIFO would wait for a writer.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Refusal(const std::string& path, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::Utf8SafeCEscape(path), "\" ", problem));
}

absl::Status CannotRead(const std::string& path, int error) {
  return Refusal(path, absl::StrCat("cannot be read: ", std::generic_category().message(error)));
}

// Whether data or the end of file arrives within `timeout`. A FIFO without a writer has neither.
bool AwaitBytes(int fd, absl::Duration timeout) {
  pollfd waited = {.fd = fd, .events = POLLIN, .revents = 0};
  const int64_t milliseconds =
      absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)));
  return poll(&waited, 1, static_cast<int>(std::max<int64_t>(milliseconds, 0))) == 1;
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, const SmallFileLimits& limits) {
  const Stopwatch stopwatch;
  const OpenFile file(path);
  if (file.fd() < 0) return CannotRead(path, errno);
  std::string text;
  while (text.size() <= limits.max_bytes) {
    const absl::Duration left = limits.timeout - absl::Nanoseconds(stopwatch.Nanoseconds());
    if (!AwaitBytes(file.fd(), left)) {
      return Refusal(path, absl::StrCat("did not come to an end within ",
                                        absl::FormatDuration(limits.timeout), "; give a file"));
    }
    char buffer[1 << 14];
    const ssize_t size = read(file.fd(), buffer, sizeof(buffer));
    if (size == 0) return text;
    if (size > 0) {
      text.append(buffer, static_cast<size_t>(size));
    } else if (errno != EINTR && errno != EAGAIN) {
      return CannotRead(path, errno);
    }
  }
  return Refusal(path, absl::StrCat("has more than ", limits.max_bytes, " bytes"));
}

}  // namespace ttl
