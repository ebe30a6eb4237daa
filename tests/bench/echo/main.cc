// What gRPC itself costs: the methods of the data path without anything behind them.
//
//   echo_server --listen unix:PATH [--api async|callback|sync]
//
// Requests are parsed and answered with answers made in advance that are as large as the
// sidecar's. Runs until it is killed. Without a health service: it would bring threads
// with it that cost the others a third of what they can do.
#include <CLI/CLI.hpp>
#include <string>

#include "absl/synchronization/mutex.h"
#include "tests/bench/echo/async_echo.h"
#include "tests/bench/echo/callback_echo.h"
#include "tests/bench/echo/sync_echo.h"

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  std::string address;
  std::string api = "async";
  CLI::App app("A bare echo of the sidecar's data path");
  app.add_option("--listen", address, "gRPC address, unix:PATH")->required();
  app.add_option("--api", api, "Server API")->check(CLI::IsMember({"async", "callback", "sync"}));
  CLI11_PARSE(app, argc, argv);
  if (api == "callback") return ttl::bench::ServeByCallbacks(address) ? 0 : 1;
  if (api == "sync") return ttl::bench::ServeSync(address) ? 0 : 1;
  return ttl::bench::ServeAsync(address) ? 0 : 1;
}
