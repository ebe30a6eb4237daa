#include "tests/testing/server_process.h"

#include <signal.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "tests/testing/channel.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr size_t kLogTailBytes = 4000;

std::string Tail(const std::string& text) {
  return text.size() <= kLogTailBytes ? text : text.substr(text.size() - kLogTailBytes);
}

std::string Describe(const ExitStatus& status) {
  if (status.code.has_value()) return absl::StrCat("exit code ", *status.code);
  return absl::StrCat("signal ", *status.signal);
}

}  // namespace

ServerProcess::ServerProcess(std::string address, SubprocessOptions options, ReadyCheck ready)
    : address_(std::move(address)),
      options_(std::move(options)),
      ready_(std::move(ready)),
      channel_(NewTestChannel(address_)) {}

absl::Status ServerProcess::Start(absl::Duration deadline) {
  TTL_RETURN_IF_ERROR(Launch());
  return WaitReady(deadline);
}

absl::Status ServerProcess::Launch() {
  if (IsRunning()) return absl::FailedPreconditionError("the process is running already");
  absl::StatusOr<std::unique_ptr<Subprocess>> started = Subprocess::Start(options_);
  if (!started.ok()) return started.status();
  process_ = *std::move(started);
  return absl::OkStatus();
}

absl::Status ServerProcess::WaitReady(absl::Duration deadline) {
  absl::Status status = absl::UnknownError("not asked yet");
  WaitUntil(
      [&] {
        if (!IsRunning()) return true;
        status = ready_(channel_);
        return status.ok();
      },
      deadline, absl::Milliseconds(20));
  if (!IsRunning()) {
    return absl::AbortedError(
        absl::StrCat(options_.argv[0], " ended instead of serving:\n", Tail(Log())));
  }
  if (status.ok()) return status;
  return absl::DeadlineExceededError(absl::StrCat(options_.argv[0], " is not ready after ",
                                                  absl::FormatDuration(deadline), ": ",
                                                  status.ToString(), "\n", Tail(Log())));
}

absl::Status ServerProcess::Stop(absl::Duration deadline) {
  if (process_ == nullptr) return absl::FailedPreconditionError("the process was never started");
  TTL_RETURN_IF_ERROR(process_->Signal(SIGTERM));
  const absl::StatusOr<ExitStatus> ended = process_->Wait(deadline);
  if (!ended.ok()) return ended.status();
  if (ended->Succeeded()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(options_.argv[0], " ended with ", Describe(*ended),
                                          " after SIGTERM:\n", Tail(Log())));
}

void ServerProcess::Kill() {
  if (process_ != nullptr) process_->Kill();
}

absl::Status ServerProcess::Suspend() {
  if (process_ == nullptr) return absl::FailedPreconditionError("the process was never started");
  return process_->Suspend();
}

absl::Status ServerProcess::Resume() {
  if (process_ == nullptr) return absl::FailedPreconditionError("the process was never started");
  return process_->Resume();
}

bool ServerProcess::IsRunning() { return process_ != nullptr && process_->IsRunning(); }

std::string ServerProcess::Log() const {
  std::ostringstream text;
  text << std::ifstream(options_.output_path).rdbuf();
  return text.str();
}

}  // namespace ttl
