#ifndef TTL_TESTS_BENCH_SPEED_BENCH_PROCESSES_H_
#define TTL_TESTS_BENCH_SPEED_BENCH_PROCESSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/speed/grpc_load.h"
#include "tests/bench/speed/sample.h"
#include "tests/testing/server_process.h"
#include "tests/testing/sidecar_process.h"

namespace ttl::bench {

// The bare echo. `api` is async, callback or sync; the last two are unary only.
class EchoProcess : public ServerProcess {
 public:
  explicit EchoProcess(const std::string& directory, const std::string& api = "async");
};

// A store that has deleted everything at once.
class StoreStubProcess : public ServerProcess {
 public:
  explicit StoreStubProcess(const std::string& directory);
};

// Of a sidecar with its files in `directory`.
SidecarProcessOptions SidecarIn(const std::string& directory, std::vector<std::string> flags = {});

// Running ones, as loads know them.
Server ServerOf(SidecarProcess& sidecar);
Server ServerOf(EchoProcess& echo);

// Runs raw_leveldb (see tests/bench/raw/main.cc) to its end.
absl::StatusOr<Sample> RunRawLevelDb(const std::string& directory,
                                     const std::vector<std::string>& arguments);

// The flags of raw_leveldb for a window.
std::vector<std::string> WindowFlags(const Window& window);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_BENCH_PROCESSES_H_
