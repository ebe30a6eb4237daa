#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// Ends a wait for a file descriptor from another thread. Thread-safe.
class WakeEvent {
 public:
  WakeEvent();
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // The wait under way, or else the next one, ends.
  void Notify();

  // Waits until `fd` can be read (-1: there is none), until Notify(), or for so long.
  void Wait(int fd, absl::Duration longest);

 private:
  const int event_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WAKE_EVENT_H_
