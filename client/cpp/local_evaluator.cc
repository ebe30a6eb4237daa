#include "client/cpp/local_evaluator.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "client/cpp/client_channel.h"
#include "client/cpp/grpc_status.h"

namespace ttl {
namespace {

// Limits of the API.
constexpr absl::Duration kMinHeartbeat = absl::Milliseconds(100);
constexpr absl::Duration kMaxHeartbeat = absl::Minutes(1);

// CLOCK_BOOTTIME advances during suspension, after which earlier messages are stale.
std::chrono::nanoseconds BootClock() {
  timespec reading = {};
  clock_gettime(CLOCK_BOOTTIME, &reading);
  return std::chrono::seconds(reading.tv_sec) + std::chrono::nanoseconds(reading.tv_nsec);
}

LocalEvaluatorOptions WithClock(LocalEvaluatorOptions options) {
  if (!options.steady_clock) options.steady_clock = BootClock;
  return options;
}

}  // namespace

LocalEvaluator::LocalEvaluator(LocalEvaluatorOptions options)
    : options_(WithClock(std::move(options))),
      mirror_(options_.max_staleness, options_.when_unsure),
      stream_status_(absl::UnavailableError("the sidecar has not been reached yet")),
      watcher_(NewClientChannel(options_.client),
               std::clamp(options_.max_staleness / 3, kMinHeartbeat, kMaxHeartbeat),
               options_.knows_expire_at ? ContainerWatcher::ExpireAt::kTold
                                        : ContainerWatcher::ExpireAt::kLeftOut,
               {.on_message =
                    [this](const v1::WatchContainersResponse& message) {
                      mirror_.Apply(message, options_.steady_clock());
                      SetStreamStatus(absl::OkStatus());
                    },
                .on_end =
                    [this](const grpc::Status& status) {
                      mirror_.Disconnect();
                      SetStreamStatus(status.ok() ? absl::UnavailableError("the sidecar ended it")
                                                  : ToAbslStatus(status, options_.client.address,
                                                                 absl::InfiniteDuration()));
                    }}) {}

LocalEvaluator::~LocalEvaluator() = default;

const LocalEvaluator::Container& LocalEvaluator::Find(absl::string_view id) {
  return mirror_.Find(id);
}

LocalVerdict LocalEvaluator::Judge(const Container& container, const ItemTimes& item) const {
  return mirror_.Judge(container, item, Now());
}

absl::Time LocalEvaluator::Judge(const Container& container, absl::Span<const ItemTimes> items,
                                 absl::Span<LocalVerdict> verdicts) const {
  const PolicyMirror::JudgingTime now = Now();
  for (size_t i = 0; i < items.size(); ++i) {
    verdicts[i] = mirror_.Judge(container, items[i], now);
  }
  return now.now;
}

bool LocalEvaluator::IsSure() const { return Now().is_sure; }

absl::Status LocalEvaluator::StreamStatus() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stream_status_;
}

PolicyMirror::JudgingTime LocalEvaluator::Now() const {
  return mirror_.At(options_.steady_clock());
}

void LocalEvaluator::SetStreamStatus(absl::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_status_ = std::move(status);
}

}  // namespace ttl
