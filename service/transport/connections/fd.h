#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_FD_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_FD_H_

#include <unistd.h>

#include <utility>

namespace ttl {

// Owns a file descriptor and closes it when destroyed. Negative: none.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }

  // Gives ownership to the caller.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_FD_H_
