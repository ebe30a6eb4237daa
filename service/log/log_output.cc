// O_NONBLOCK belongs to the open file description, which all processes share that have inherited
// the descriptor: set on standard error, it would make writes of other processes fail. A pipe can
// be reopened by its name in /proc, which gives a description of our own. That needs write
// permission, which a process that has changed its user lacks; then poll() tells whether the pipe
// has room, and a write of up to PIPE_BUF bytes blocks only if another writer was faster. For
// sockets send() has a flag.

#include "service/log/log_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

ssize_t OrError(ssize_t result) { return result >= 0 ? result : -errno; }

}  // namespace

LogOutput::LogOutput(int descriptor)
    : descriptor_(descriptor), kind_([descriptor] {
        struct stat info = {};
        if (fstat(descriptor, &info) != 0) return Kind::kOther;
        if (S_ISFIFO(info.st_mode)) return Kind::kPipe;
        return S_ISSOCK(info.st_mode) ? Kind::kSocket : Kind::kOther;
      }()) {}

LogOutput::~LogOutput() {
  if (own_ >= 0) close(own_);
}

ssize_t LogOutput::Write(absl::string_view bytes) {
  switch (kind_) {
    case Kind::kPipe:
      return WriteToPipe(bytes);
    case Kind::kSocket:
      return OrError(send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    case Kind::kOther:
      return OrError(write(descriptor_, bytes.data(), bytes.size()));
  }
  return -EINVAL;
}

// A pipe without a reader cannot be opened, so this is retried each time.
ssize_t LogOutput::WriteToPipe(absl::string_view bytes) {
  if (own_ < 0) {
    own_ = open(absl::StrCat("/proc/self/fd/", descriptor_).c_str(),
                O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  }
  if (own_ >= 0) return OrError(write(own_, bytes.data(), bytes.size()));
  if (!HasRoom(absl::ZeroDuration())) return -EAGAIN;
  return OrError(write(descriptor_, bytes.data(), bytes.size()));
}

void LogOutput::AwaitRoom(absl::Duration timeout) { HasRoom(timeout); }

bool LogOutput::HasRoom(absl::Duration timeout) const {
  pollfd waited = {.fd = descriptor_, .events = POLLOUT, .revents = 0};
  return poll(&waited, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) != 0;
}

}  // namespace ttl
