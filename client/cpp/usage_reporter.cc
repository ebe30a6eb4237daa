#include "client/cpp/usage_reporter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"

namespace ttl {
namespace {

using std::chrono::nanoseconds;

// Longest period of a report. Usage that had to wait longer is reported at its average rate.
constexpr nanoseconds kMaxPeriod = std::chrono::minutes(1);

std::string RandomName() {
  std::random_device random;
  const auto word = [&random] { return static_cast<uint64_t>(random()); };
  return absl::StrFormat("%016x", word() << 32 | word());
}

}  // namespace

UsageReporter::UsageReporter(nanoseconds interval, Send send)
    : interval_(interval),
      send_(std::move(send)),
      reporter_(RandomName()),
      last_report_(std::chrono::steady_clock::now()) {}

UsageReporter::~UsageReporter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void UsageReporter::Add(absl::string_view container, double request_units) {
  if (!std::isfinite(request_units) || request_units < 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = containers_.find(container);
  if (known != containers_.end()) {
    known->second.units += request_units;
    return;
  }
  if (containers_.size() >= kMaxContainers) return;
  if (!thread_.joinable()) {
    last_report_ = std::chrono::steady_clock::now();
    thread_ = std::thread([this] { Run(); });
  }
  // The container was not used between the last report and now.
  containers_[container] = {request_units, last_report_};
}

void UsageReporter::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, interval_, [this] { return stop_; })) {
    lock.unlock();
    ReportAll();
    lock.lock();
  }
}

void UsageReporter::ReportAll() {
  const Instant now = std::chrono::steady_clock::now();
  bool reachable = true;
  for (const auto& [container, usage] : TakeAll(now)) {
    // If the sidecar does not answer one report, the others are not sent.
    reachable = reachable && ReportOne(container, usage, now);
    if (!reachable) PutBack(container, usage);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;
  }
}

bool UsageReporter::ReportOne(const std::string& container, const Usage& usage, Instant now) {
  const nanoseconds period = std::max(nanoseconds(1), nanoseconds(now - usage.since));
  const double told =
      std::min(1.0, static_cast<double>(kMaxPeriod.count()) / static_cast<double>(period.count()));
  const nanoseconds told_period = std::min(period, kMaxPeriod);
  v1::ReportUsageRequest request;
  request.set_container(container);
  request.set_request_units(usage.units * told);
  request.mutable_period()->set_seconds(told_period.count() / 1'000'000'000);
  request.mutable_period()->set_nanos(static_cast<int32_t>(told_period.count() % 1'000'000'000));
  request.set_reporter(reporter_);
  switch (send_(request).code()) {
    case absl::StatusCode::kOk:
      return true;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
      Drop(container);
      return true;
    default:
      return false;
  }
}

absl::flat_hash_map<std::string, UsageReporter::Usage> UsageReporter::TakeAll(Instant now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  absl::flat_hash_map<std::string, Usage> taken = containers_;
  for (auto& [container, usage] : containers_) usage = {0, now};
  last_report_ = now;
  return taken;
}

void UsageReporter::PutBack(const std::string& container, const Usage& usage) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Usage& present = containers_[container];
  present.units += usage.units;
  present.since = usage.since;
}

void UsageReporter::Drop(const std::string& container) {
  const std::lock_guard<std::mutex> lock(mutex_);
  containers_.erase(container);
}

}  // namespace ttl
