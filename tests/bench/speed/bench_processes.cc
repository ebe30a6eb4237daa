#include "tests/bench/speed/bench_processes.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "tests/testing/process.h"

namespace ttl::bench {
namespace {

constexpr absl::Duration kRawDeadline = absl::Hours(1);

std::string AddressOf(const std::string& directory, const std::string& name) {
  return absl::StrCat("unix:", directory, "/", name, ".sock");
}

SubprocessOptions CommandLine(const char* binary, const std::string& directory,
                              const std::string& name, std::vector<std::string> flags) {
  SubprocessOptions options;
  options.argv = {binary, "--listen", AddressOf(directory, name)};
  options.argv.insert(options.argv.end(), flags.begin(), flags.end());
  options.output_path = absl::StrCat(directory, "/", name, ".log");
  return options;
}

// Ready as soon as it takes connections.
absl::Status IsConnected(const std::shared_ptr<grpc::Channel>& channel) {
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  if (channel->WaitForConnected(deadline)) return absl::OkStatus();
  return absl::UnavailableError("it takes no connections");
}

}  // namespace

EchoProcess::EchoProcess(const std::string& directory, const std::string& api)
    : ServerProcess(AddressOf(directory, "echo-" + api),
                    CommandLine(ECHO_SERVER_BINARY, directory, "echo-" + api, {"--api", api}),
                    IsConnected) {}

StoreStubProcess::StoreStubProcess(const std::string& directory)
    : ServerProcess(AddressOf(directory, "store"),
                    CommandLine(STORE_STUB_BINARY, directory, "store", {}), IsConnected) {}

SidecarProcessOptions SidecarIn(const std::string& directory, std::vector<std::string> flags) {
  SidecarProcessOptions options;
  options.dir = directory;
  options.flags = std::move(flags);
  return options;
}

Server ServerOf(SidecarProcess& sidecar) {
  return {sidecar.channel(), sidecar.process()->pid(), /*is_echo=*/false};
}

Server ServerOf(EchoProcess& echo) {
  return {echo.channel(), echo.process()->pid(), /*is_echo=*/true};
}

absl::StatusOr<Sample> RunRawLevelDb(const std::string& directory,
                                     const std::vector<std::string>& arguments) {
  SubprocessOptions options;
  options.argv = {RAW_LEVELDB_BINARY};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.argv.insert(options.argv.end(), {"--dir", absl::StrCat(directory, "/raw.data")});
  options.output_path = absl::StrCat(directory, "/raw.out");
  std::filesystem::remove(options.output_path);
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process, Subprocess::Start(options));
  TTL_ASSIGN_OR_RETURN(const ExitStatus ended, process->Wait(kRawDeadline));
  std::ifstream output(options.output_path);
  Sample sample;
  if (ended.Succeeded() && output >> sample.value >> sample.server_cores) return sample;
  return absl::InternalError(
      absl::StrCat("raw_leveldb ", arguments.at(0), " failed; see ", options.output_path));
}

std::vector<std::string> WindowFlags(const Window& window) {
  return {"--warm-up-ms", absl::StrCat(window.warm_up.count()), "--length-ms",
          absl::StrCat(window.length.count())};
}

}  // namespace ttl::bench
