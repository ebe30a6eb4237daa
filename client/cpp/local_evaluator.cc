#include "ttl/local_evaluator.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/container_watcher.h"
#include "client/cpp/grpc_status.h"
#include "client/cpp/policy_mirror.h"
#include "service/base/time_text.h"
#include "service/core/ttl_rules.h"
#include "ttl/client_channel.h"

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

ContainerWatcher::Rules RulesOf(const LocalEvaluatorOptions& options) {
  ContainerWatcher::Rules rules = {v1::JUDGING_RULE_SHOW_HELD, v1::JUDGING_RULE_TOUCH};
  if (options.knows_expire_at) rules.push_back(v1::JUDGING_RULE_EXPIRE_AT);
  return rules;
}

// The time by which to judge as of `as_of` at `now`.
absl::StatusOr<PolicyMirror::JudgingTime> TimeAsOf(absl::Time as_of,
                                                   PolicyMirror::JudgingTime now) {
  const bool is_legal = as_of <= now.now + LocalEvaluator::kMaxAsOfLead &&
                        as_of >= now.now - LocalEvaluator::kMaxAsOfAge;
  if (now.is_sure && !is_legal) {
    return absl::InvalidArgumentError(absl::StrCat(
        "as_of is ", ExactTimeText(as_of),
        ": must be at most 1 hour before and 5 seconds after the evaluator's time, which is ",
        ExactTimeText(now.now)));
  }
  now.judged_at = std::min(as_of, now.now);
  return now;
}

ItemTimes ToTimes(const JudgedItem& item) { return {item.ts, item.ttl, item.expire_at}; }

}  // namespace

// The mirror and the thread that keeps it up to date.
class LocalEvaluator::State {
 public:
  explicit State(LocalEvaluatorOptions options)
      : options_(WithClock(std::move(options))),
        mirror_(options_.max_staleness, options_.when_unsure),
        stream_status_(absl::UnavailableError("the sidecar has not been reached yet")),
        watcher_(NewClientChannel(options_.client),
                 std::clamp(options_.max_staleness / 3, kMinHeartbeat, kMaxHeartbeat),
                 RulesOf(options_),
                 {.on_message = [this](const v1::WatchContainersResponse& m) { Apply(m); },
                  .on_end = [this](const grpc::Status& status) { Disconnect(status); }}) {}

  PolicyMirror& mirror() { return mirror_; }

  PolicyMirror::JudgingTime Now() const { return mirror_.At(options_.steady_clock()); }

  absl::Status StreamStatus() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stream_status_;
  }

 private:
  void Apply(const v1::WatchContainersResponse& message) {
    mirror_.Apply(message, options_.steady_clock());
    SetStreamStatus(absl::OkStatus());
  }

  void Disconnect(const grpc::Status& status) {
    mirror_.Disconnect();
    SetStreamStatus(status.ok()
                        ? absl::UnavailableError("the sidecar ended it")
                        : ToAbslStatus(status, options_.client.address, absl::InfiniteDuration()));
  }

  void SetStreamStatus(absl::Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_status_ = std::move(status);
  }

  const LocalEvaluatorOptions options_;
  PolicyMirror mirror_;
  mutable std::mutex mutex_;
  absl::Status stream_status_;  // guarded by mutex_
  ContainerWatcher watcher_;    // last, because its thread uses all of the above
};

LocalEvaluator::LocalEvaluator(LocalEvaluatorOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

LocalEvaluator::~LocalEvaluator() = default;

const LocalEvaluator::Container& LocalEvaluator::Find(absl::string_view id) {
  return state_->mirror().Find(id);
}

LocalVerdict LocalEvaluator::Judge(const Container& container, const JudgedItem& item) const {
  return state_->mirror().Judge(container, ToTimes(item), state_->Now());
}

absl::Time LocalEvaluator::Judge(const Container& container, absl::Span<const JudgedItem> items,
                                 absl::Span<LocalVerdict> verdicts) const {
  const PolicyMirror::JudgingTime now = state_->Now();
  for (size_t i = 0; i < items.size(); ++i) {
    verdicts[i] = state_->mirror().Judge(container, ToTimes(items[i]), now);
  }
  return now.now;
}

absl::StatusOr<LocalVerdict> LocalEvaluator::JudgeAsOf(const Container& container,
                                                       const JudgedItem& item,
                                                       absl::Time as_of) const {
  LocalVerdict verdict = LocalVerdict::kUnknown;
  const absl::Status status =
      JudgeAsOf(container, absl::MakeConstSpan(&item, 1), absl::MakeSpan(&verdict, 1), as_of);
  if (!status.ok()) return status;
  return verdict;
}

absl::Status LocalEvaluator::JudgeAsOf(const Container& container,
                                       absl::Span<const JudgedItem> items,
                                       absl::Span<LocalVerdict> verdicts, absl::Time as_of) const {
  const absl::StatusOr<PolicyMirror::JudgingTime> time = TimeAsOf(as_of, state_->Now());
  if (!time.ok()) return time.status();
  for (size_t i = 0; i < items.size(); ++i) {
    verdicts[i] = state_->mirror().Judge(container, ToTimes(items[i]), *time);
  }
  return absl::OkStatus();
}

bool LocalEvaluator::IsSure() const { return state_->Now().is_sure; }

absl::Status LocalEvaluator::StreamStatus() const { return state_->StreamStatus(); }

}  // namespace ttl
