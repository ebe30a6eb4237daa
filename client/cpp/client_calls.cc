#include "client/cpp/client_calls.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/grpc_status.h"
#include "grpc/support/time.h"
#include "ttl/client_channel.h"

namespace ttl {
namespace {

// A relative deadline, which steps of the wall clock do not affect.
gpr_timespec DeadlineIn(absl::Duration duration) {
  const int64_t milliseconds =
      std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, int64_t{365} * 24 * 3600 * 1000);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(milliseconds, GPR_TIMESPAN));
}

absl::Duration Since(std::chrono::steady_clock::time_point start) {
  return absl::FromChrono(std::chrono::steady_clock::now() - start);
}

// From 0 to 1.
double RandomFraction() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

bool MayBeSentTwice(CallKind kind) {
  return kind == CallKind::kRead || kind == CallKind::kOrderedReport || kind == CallKind::kHold ||
         kind == CallKind::kTouch;
}

}  // namespace

ClientCalls::ClientCalls(TtlClientOptions options)
    : options_(std::move(options)),
      process_(getpid()),
      channel_(NewClientChannel(options_)),
      items_(v1::ItemService::NewStub(channel_)),
      containers_(v1::ContainerService::NewStub(channel_)),
      expiry_(v1::ExpiryService::NewStub(channel_)),
      feed_(v1::FeedService::NewStub(channel_)),
      holds_(v1::HoldService::NewStub(channel_)),
      maintenance_(v1::MaintenanceService::NewStub(channel_)) {}

absl::Status ClientCalls::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the client of the sidecar at ", options_.address,
                   " was made before fork(); make one in the child"));
}

absl::Status ClientCalls::TimeoutError(absl::Duration deadline) const {
  if (channel_->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    return ToAbslStatus({grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"},
                        options_.address, deadline);
  }
  return ToAbslStatus({grpc::StatusCode::UNAVAILABLE,
                       absl::StrCat("no connection within ", absl::FormatDuration(deadline))},
                      options_.address, deadline);
}

absl::Status ClientCalls::StreamError(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  return ToAbslStatus(status, options_.address, absl::InfiniteDuration());
}

absl::Status ClientCalls::Attempt(absl::Duration deadline, CallKind kind, AttemptOnce once) const {
  if (absl::Status status = CheckProcess(); !status.ok()) return status;
  const bool waits = options_.wait_for_sidecar && kind != CallKind::kNow;
  const auto start = std::chrono::steady_clock::now();
  absl::Status unavailable;
  for (int number = 1;; ++number) {
    grpc::ClientContext context;
    context.set_deadline(DeadlineIn(deadline - Since(start)));
    // A call that must not be sent twice waits for a connection from the start. For others the
    // first attempt fails without one, which gives the reason.
    context.set_wait_for_ready(waits && (number > 1 || !MayBeSentTwice(kind)));
    const grpc::Status status = once(&context);
    if (status.ok()) return absl::OkStatus();
    const FailedAttempt failure = FailureOf(context, status, number);
    if (failure.code == grpc::StatusCode::DEADLINE_EXCEEDED) {
      // Prefer the reason why there was no answer over the mere timeout.
      return unavailable.ok() ? TimeoutError(deadline) : unavailable;
    }
    absl::Status error = ToAbslStatus(
        {failure.code, status.error_message(), status.error_details()}, options_.address, deadline);
    const auto pause =
        PauseBeforeRepeat(kind, failure, waits, deadline - Since(start), RandomFraction());
    if (!pause.has_value()) return error;
    if (failure.code == grpc::StatusCode::UNAVAILABLE) unavailable = std::move(error);
    absl::SleepFor(*pause);
  }
}

}  // namespace ttl
