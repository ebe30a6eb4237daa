#ifndef TTL_SERVICE_SERVER_LOOP_SIGNALS_H_
#define TTL_SERVICE_SERVER_LOOP_SIGNALS_H_

#include "service/base/wake_signal.h"

namespace ttl {

// One signal for each background loop of a sidecar. They are made before the loops and outlive
// them all, so that any part may wake any loop. Thread-safe.
struct LoopSignals {
  WakeSignal clock;
  WakeSignal housekeeping;
  WakeSignal sweep;
  WakeSignal announce;
  WakeSignal reconcile;
  WakeSignal start_changes;
  WakeSignal readiness;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_LOOP_SIGNALS_H_
