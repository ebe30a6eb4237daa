#include "service/log/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

constexpr size_t kMaxDetailBytes = 1024;

std::string Detail(absl::string_view message) {
  return absl::CHexEscape(message.substr(0, kMaxDetailBytes));
}

void LogGrpc(gpr_log_func_args* args) {
  const auto level =
      args->severity == GPR_LOG_SEVERITY_ERROR ? spdlog::level::warn : spdlog::level::debug;
  spdlog::log(level, "grpc: detail=\"{}\"", Detail(args->message));
}

void LogProtobuf(google::protobuf::LogLevel severity, const char* /*file*/, int /*line*/,
                 const std::string& message) {
  const auto level =
      severity == google::protobuf::LOGLEVEL_INFO ? spdlog::level::debug : spdlog::level::warn;
  spdlog::log(level, "protobuf: detail=\"{}\"", Detail(message));
}

}  // namespace

void CatchLibraryLogs() {
  gpr_set_log_function(LogGrpc);
  google::protobuf::SetLogHandler(LogProtobuf);
}

}  // namespace ttl
