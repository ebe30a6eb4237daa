#ifndef TTL_SERVICE_PROCESS_HELD_SIGNALS_H_
#define TTL_SERVICE_PROCESS_HELD_SIGNALS_H_

#include <csignal>

namespace ttl {

// While one lives, SIGINT, SIGQUIT, SIGTERM and SIGHUP wait, so that nobody is interrupted between
// a change and its undoing; what came meanwhile strikes when it goes. For the only thread of a
// process: another thread would be struck.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // One that waits; 0: none.
  int pending() const;

 private:
  sigset_t former_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_HELD_SIGNALS_H_
