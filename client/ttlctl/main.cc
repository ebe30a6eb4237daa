#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/ttlctl/ttlctl.h"

namespace {

int RowsOfOutput() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on
  // a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // gRPC's own log is redundant: errors are in the status of the command.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  // Never shut down: gRPC 1.51 sometimes waits ten seconds for a poller when its last object goes.
  grpc_init();
  const ttl::Terminal terminal{std::cin,
                               std::cout,
                               std::cerr,
                               isatty(STDERR_FILENO) == 1,
                               isatty(STDIN_FILENO) == 1,
                               isatty(STDOUT_FILENO) == 1,
                               RowsOfOutput};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(ttl::RunTtlctl(arguments, terminal));
}
