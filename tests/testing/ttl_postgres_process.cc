#include "tests/testing/ttl_postgres_process.h"

#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/channel.h"
#include "tests/testing/process.h"

namespace ttl {
namespace {

constexpr absl::Duration kCommandDeadline = absl::Seconds(60);

std::string PathOf(const TtlPostgresProcessOptions& options, const char* suffix) {
  return absl::StrCat(options.dir, "/", options.name, suffix);
}

std::string WriteConfig(const TtlPostgresProcessOptions& options) {
  const std::string path = PathOf(options, ".yaml");
  std::ofstream(path) << "database: \"" << options.conninfo << "\"\n"
                      << "sidecar: " << options.sidecar_address << "\n"
                      << "listen: " << TtlPostgresProcess::AddressOf(options) << "\n"
                      << options.yaml;
  return path;
}

SubprocessOptions CommandLine(const std::string& config_path, const std::string& log_path,
                              const std::vector<std::string>& arguments) {
  SubprocessOptions command;
  command.argv = {TTL_POSTGRES_BINARY, "--config", config_path};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.output_path = log_path;
  return command;
}

SubprocessOptions RunOptions(const TtlPostgresProcessOptions& options) {
  SubprocessOptions command = CommandLine(WriteConfig(options), PathOf(options, ".log"), {"run"});
  command.error_fd = options.error_fd;
  return command;
}

absl::Status Ready(const std::shared_ptr<grpc::Channel>& channel) {
  return CheckHealth(channel, "readiness");
}

}  // namespace

TtlPostgresProcess::TtlPostgresProcess(const TtlPostgresProcessOptions& options)
    : ServerProcess(AddressOf(options), RunOptions(options), Ready),
      config_path_(PathOf(options, ".yaml")),
      log_path_(PathOf(options, ".log")) {}

std::string TtlPostgresProcess::AddressOf(const TtlPostgresProcessOptions& options) {
  return absl::StrCat("unix:", PathOf(options, ".sock"));
}

void TtlPostgresProcess::Reconfigure(const TtlPostgresProcessOptions& options) {
  WriteConfig(options);
}

absl::Status TtlPostgresProcess::RunCommand(const std::vector<std::string>& arguments) {
  const auto process = Subprocess::Start(CommandLine(config_path_, log_path_, arguments));
  if (!process.ok()) return process.status();
  const auto ended = (*process)->Wait(kCommandDeadline);
  if (!ended.ok()) return ended.status();
  if (ended->Succeeded()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("ttl-postgres ", absl::StrJoin(arguments, " "), " failed: ", Log()));
}

}  // namespace ttl
