#ifndef TTL_CLIENT_POSTGRES_PROGRAM_STOP_SIGNALS_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_STOP_SIGNALS_H_

#include <csignal>

#include "absl/time/time.h"

namespace ttl::postgres {

// SIGTERM and SIGINT, blocked from construction on: in this thread, and in those it starts
// later. To be made before any other thread; for one thread.
class StopSignals {
 public:
  StopSignals();

  // Waits for one of them for at most `timeout`. False: none came.
  bool Await(absl::Duration timeout);
  // Waits for one of them; returns which.
  int Await();

 private:
  sigset_t signals_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_STOP_SIGNALS_H_
