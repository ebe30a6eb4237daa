#include "client/postgres/capture/stream/wake_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ttl::postgres {

WakeEvent::WakeEvent() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ >= 0) return;
  perror("eventfd");
  abort();
}

WakeEvent::~WakeEvent() { close(event_); }

void WakeEvent::Notify() {
  const uint64_t one = 1;
  // The write can only fail because a notification is already pending.
  [[maybe_unused]] const ssize_t written = write(event_, &one, sizeof(one));
}

void WakeEvent::Wait(int fd, absl::Duration longest) {
  pollfd wait[] = {{.fd = event_, .events = POLLIN, .revents = 0},
                   {.fd = fd, .events = POLLIN, .revents = 0}};
  const int64_t millis = absl::ToInt64Milliseconds(absl::Ceil(longest, absl::Milliseconds(1)));
  poll(wait, 2, static_cast<int>(std::clamp<int64_t>(millis, 0, 60'000)));
  uint64_t notices = 0;
  [[maybe_unused]] const ssize_t read_bytes = read(event_, &notices, sizeof(notices));
}

}  // namespace ttl::postgres
