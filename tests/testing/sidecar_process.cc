#include "tests/testing/sidecar_process.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tests/testing/channel.h"

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

std::vector<int> SidecarProcess::TcpPorts() const {
  const std::string log = Log();
  const size_t start = log.rfind("msg=\"starting\"");
  std::vector<int> ports;
  if (start == std::string::npos) return ports;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(log).substr(start), '\n')) {
    if (!absl::StrContains(line, "msg=\"listening\" tcp=")) continue;
    const std::vector<absl::string_view> port = absl::StrSplit(line, " port=");
    const std::vector<absl::string_view> number = absl::StrSplit(port.back(), ' ');
    int value = 0;
    if (absl::SimpleAtoi(number.front(), &value)) ports.push_back(value);
  }
  return ports;
}

}  // namespace ttl
