#include "tests/testing/sidecar_process.h"

#include "absl/strings/str_cat.h"
#include "tests/testing/channel.h"

namespace ttl {
namespace {

std::string PathOf(const SidecarProcessOptions& options, const char* suffix) {
  return absl::StrCat(options.dir, "/", options.name, suffix);
}

SubprocessOptions CommandLine(const SidecarProcessOptions& options) {
  SubprocessOptions command;
  command.argv = {TTL_SIDECAR_BINARY, "--listen-socket", PathOf(options, ".sock"), "--data-dir",
                  PathOf(options, ".data")};
  if (!options.store_address.empty()) {
    command.argv.insert(command.argv.end(), {"--store", options.store_address});
  }
  command.argv.insert(command.argv.end(), options.flags.begin(), options.flags.end());
  command.env = options.env;
  command.output_path = PathOf(options, ".log");
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

}  // namespace ttl
