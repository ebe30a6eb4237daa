#include "client/postgres/program/stop_signals.h"

#include <pthread.h>

#include <ctime>

namespace ttl::postgres {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

bool StopSignals::Await(absl::Duration timeout) {
  const timespec time = absl::ToTimespec(timeout);
  return sigtimedwait(&signals_, nullptr, &time) > 0;
}

int StopSignals::Await() {
  int signal = 0;
  sigwait(&signals_, &signal);
  return signal;
}

}  // namespace ttl::postgres
