#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/ttlctl/ttlctl.h"

int main(int argc, char** argv) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on
  // a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const ttl::Terminal terminal{std::cin, std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(ttl::RunTtlctl(arguments, terminal));
}
