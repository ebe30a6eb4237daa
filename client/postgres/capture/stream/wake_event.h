#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// Wakes a thread that waits for a file descriptor. Thread-safe.
class WakeEvent {
 public:
  WakeEvent();
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // Ends the current Wait(), or else the next one.
  void Notify();

  // Waits until `fd` is readable (-1: none), until Notify(), or for at most `longest`.
  void Wait(int fd, absl::Duration longest);

 private:
  const int event_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_
