#include "tests/testing/sidecar_process.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tests/testing/channel.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

std::string PathOf(const SidecarProcessOptions& options, const char* suffix) {
  return absl::StrCat(options.dir, "/", options.name, suffix);
}

SubprocessOptions CommandLine(const SidecarProcessOptions& options) {
  SubprocessOptions command;
  command.argv = {TTL_SIDECAR_BINARY, "--listen-socket", PathOf(options, ".sock"), "--data-dir",
                  PathOf(options, ".data"),
                  // The least: what is reported as expired to a new container is deleted soon.
                  "--policy-grace-seconds", "1"};
  if (!options.store_address.empty()) {
    command.argv.insert(command.argv.end(), {"--store", options.store_address});
  }
  command.argv.insert(command.argv.end(), options.flags.begin(), options.flags.end());
  command.env = options.env;
  command.output_path = PathOf(options, ".log");
  command.error_fd = options.error_fd;
  return command;
}

absl::Status Ready(const std::shared_ptr<grpc::Channel>& channel) {
  return CheckHealth(channel, "readiness");
}

}  // namespace

SidecarProcess::SidecarProcess(const SidecarProcessOptions& options)
    : ServerProcess(absl::StrCat("unix:", PathOf(options, ".sock")), CommandLine(options), Ready),
      socket_path_(PathOf(options, ".sock")),
      data_dir_(PathOf(options, ".data")) {}

// The log of a process follows what it does, so its ports may not be there yet when it is ready.
std::vector<int> SidecarProcess::TcpPorts() const {
  std::string log;
  const auto is_logged = [&] {
    log = Log();
    log.erase(0, log.rfind("msg=\"starting\""));
    return absl::StrContains(log, "msg=\"ready\"") && !absl::StrContains(log, "msg=\"stopped\"");
  };
  std::vector<int> ports;
  if (!WaitUntil(is_logged)) return ports;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (!absl::StrContains(line, "msg=\"listening\" tcp=")) continue;
    const std::vector<absl::string_view> port = absl::StrSplit(line, " port=");
    const std::vector<absl::string_view> number = absl::StrSplit(port.back(), ' ');
    int value = 0;
    if (absl::SimpleAtoi(number.front(), &value)) ports.push_back(value);
  }
  return ports;
}

}  // namespace ttl
