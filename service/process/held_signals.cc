#include "service/process/held_signals.h"

namespace ttl {
namespace {

constexpr int kHeld[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kHeld) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &former_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

int HeldSignals::pending() const {
  sigset_t waiting;
  sigpending(&waiting);
  for (const int signal : kHeld) {
    if (sigismember(&waiting, signal) == 1) return signal;
  }
  return 0;
}

}  // namespace ttl
