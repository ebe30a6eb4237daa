#include "tests/testing/wait.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ttl {

bool WaitUntil(absl::FunctionRef<bool()> predicate, absl::Duration deadline,
               absl::Duration poll_interval) {
  using SteadyClock = std::chrono::steady_clock;
  const auto end = SteadyClock::now() + absl::ToChronoNanoseconds(deadline);
  while (true) {
    const bool last = SteadyClock::now() >= end;
    if (predicate()) return true;
    if (last) return false;
    std::this_thread::sleep_until(std::min<SteadyClock::time_point>(
        end, SteadyClock::now() + absl::ToChronoNanoseconds(poll_interval)));
  }
}

}  // namespace ttl
