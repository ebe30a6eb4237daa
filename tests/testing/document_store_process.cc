#include "tests/testing/document_store_process.h"

#include <grpcpp/client_context.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

std::string PathOf(const DocumentStoreProcessOptions& options, const char* suffix) {
  return absl::StrCat(options.dir, "/", options.name, suffix);
}

std::string AddressOf(const DocumentStoreProcessOptions& options) {
  return absl::StrCat("unix:", PathOf(options, ".sock"));
}

SubprocessOptions CommandLine(const DocumentStoreProcessOptions& options) {
  SubprocessOptions command;
  command.argv = {DOCUMENT_STORE_BINARY,   "--listen",   AddressOf(options),      "--sidecar",
                  options.sidecar_address, "--data-dir", PathOf(options, ".data")};
  command.argv.insert(command.argv.end(), options.flags.begin(), options.flags.end());
  command.env = options.env;
  command.output_path = PathOf(options, ".log");
  command.error_fd = options.error_fd;
  return command;
}

absl::Status AnswersStoreInfo(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  context.set_wait_for_ready(true);
  v1::GetStoreInfoResponse response;
  const grpc::Status status = v1::PrimaryStoreService::NewStub(channel)->GetStoreInfo(
      &context, v1::GetStoreInfoRequest(), &response);
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace

DocumentStoreProcess::DocumentStoreProcess(const DocumentStoreProcessOptions& options)
    : ServerProcess(AddressOf(options), CommandLine(options), AnswersStoreInfo),
      data_dir_(PathOf(options, ".data")) {}

}  // namespace ttl
