#include "service/server/connection_guards.h"

#include <dlfcn.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "service/server/closed_connections.h"

namespace ttl {
namespace {

using Verdict = FrameGuard::Verdict;

struct Guards {
  FrameLimits limits;
  std::vector<FrameGuard> of_files;  // each is used by whom the file belongs to
  int of_tls;                        // index of what OpenSSL keeps with a connection
};

// Null until GuardConnections(). Never destroyed: connections may outlive main().
std::atomic<Guards*> guards = nullptr;

FrameGuard* GuardOf(int file) {
  Guards* const all = guards.load(std::memory_order_acquire);
  if (all == nullptr || file < 0 || static_cast<size_t>(file) >= all->of_files.size()) {
    return nullptr;
  }
  return &all->of_files[static_cast<size_t>(file)];
}

// NOLINTNEXTLINE(google-runtime-int): as OpenSSL wants it.
void FreeGuard(void*, void* guard, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<FrameGuard*>(guard);
}

// Made when it is first read from. Null on the client's side of a connection.
FrameGuard* GuardOf(SSL* connection) {
  Guards* const all = guards.load(std::memory_order_acquire);
  if (all == nullptr || SSL_is_server(connection) == 0) return nullptr;
  if (void* const guard = SSL_get_ex_data(connection, all->of_tls)) {
    return static_cast<FrameGuard*>(guard);
  }
  auto* const guard = new FrameGuard(all->limits);
  SSL_set_ex_data(connection, all->of_tls, guard);
  return guard;
}

std::optional<CloseReason> ReasonToClose(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHeaderBlockTooLarge:
      return CloseReason::kHeaderBlockTooLarge;
    case Verdict::kSettingsNotAcknowledged:
      return CloseReason::kSettingsNotAcknowledged;
    case Verdict::kTooManyResets:
      return CloseReason::kTooManyResets;
    case Verdict::kTooManyPings:
      return CloseReason::kTooManyPings;
    case Verdict::kKeeps:
      break;
  }
  return std::nullopt;
}

// Whether the connection may stay; one that may not is counted.
bool Keeps(FrameGuard& guard, const void* data, size_t size) {
  // As coarse as it may be: it is asked at every read.
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const std::optional<CloseReason> reason =
      ReasonToClose(guard.Take({static_cast<const char*>(data), size}, now.tv_sec));
  if (reason.has_value()) CountClosedConnection(*reason);
  return !reason.has_value();
}

// The same for `size` bytes in the parts of a message.
bool Keeps(FrameGuard& guard, const msghdr& message, size_t size) {
  for (size_t i = 0; size > 0; ++i) {
    const size_t part = std::min(size, message.msg_iov[i].iov_len);
    if (!Keeps(guard, message.msg_iov[i].iov_base, part)) return false;
    size -= part;
  }
  return true;
}

}  // namespace

void GuardConnections(int64_t file_bound, const FrameLimits& limits) {
  auto* const all = new Guards{
      .limits = limits,
      .of_files = std::vector<FrameGuard>(static_cast<size_t>(file_bound)),
      .of_tls = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeGuard),
  };
  guards.store(all, std::memory_order_release);
}

void BeginGuard(int connection) {
  if (FrameGuard* const guard = GuardOf(connection)) *guard = FrameGuard(guards.load()->limits);
}

}  // namespace ttl

extern "C" ssize_t recvmsg(int file, msghdr* message, int flags) {
  const ssize_t received = syscall(SYS_recvmsg, file, message, flags);
  if (received <= 0 || flags != 0) return received;
  ttl::FrameGuard* const guard = ttl::GuardOf(file);
  if (guard == nullptr || ttl::Keeps(*guard, *message, static_cast<size_t>(received))) {
    return received;
  }
  shutdown(file, SHUT_RDWR);
  return 0;
}

extern "C" int SSL_read(SSL* connection, void* buffer, int size) {
  static const auto read =
      reinterpret_cast<int (*)(SSL*, void*, int)>(dlsym(RTLD_NEXT, "SSL_read"));
  const int received = read(connection, buffer, size);
  if (received <= 0) return received;
  ttl::FrameGuard* const guard = ttl::GuardOf(connection);
  if (guard == nullptr || ttl::Keeps(*guard, buffer, static_cast<size_t>(received))) {
    return received;
  }
  return -1;
}

// The number may be that of another file at once, which nobody need guard.
extern "C" int close(int file) {
  if (ttl::FrameGuard* const guard = ttl::GuardOf(file)) *guard = ttl::FrameGuard();
  return static_cast<int>(syscall(SYS_close, file));
}
