#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

// Storage, clock, sweeper and store together under random operations, against the
// most naive model there is: restarts, steps of the wall clock, late and reordered
// reports, failing deletes and changes of policy are among the operations. The
// store's clock is the true time; the sidecar's wall clock is it plus a step.
class Run {
 public:
  Run() {
    harness_.storage.Create("c", std::nullopt);
    harness_.store.SetBeforeDelete(
        [this](const v1::DeleteItemsRequest& request, v1::DeleteItemsResponse& response) {
          return Judge(request, response);
        });
  }

  void Operate() {
    switch (*rc::gen::inRange(0, 13)) {
      case 0:
      case 1:
      case 2:
        return Write();
      case 3:
        return Report();
      case 4:
        return Delete();
      case 5:
        return ChangePolicy();
      case 6:
        return Advance(*rc::gen::element(1, 3, 10, 70));
      case 7:
        return Advance(*rc::gen::element(400, 5000));
      case 8:
        return StepWall(*rc::gen::element(-100000, -400, -8, -3, 0, 0, 3, 8, 400, 100000));
      case 9:
        return harness_.Restart();
      case 10:
        return Pause(!paused_);
      case 11:
        failing_ = !failing_;
        return;
      default:
        harness_.guarded_clock->Tick();
        Sweep();
    }
  }

  // Every answer agrees with the model at the instant it is judged at, for items
  // whose reports have arrived.
  void CheckVisibility() {
    const absl::Time now = harness_.guarded_clock->Read().now;
    if (WallIsTrue()) RC_ASSERT(now == TrueTime());
    for (const auto& [id, item] : store_) {
      if (unreported_.contains(id)) continue;
      const auto times = harness_.storage.FindTimes("c", id);
      RC_ASSERT(times.ok());
      RC_ASSERT(times->has_value());
      const auto expire_time = ExpireTime(default_ttl_, **times);
      RC_ASSERT(IsExpiredAt(expire_time, now) == Expired(item, absl::ToUnixSeconds(now)));
    }
  }

  // When all is well again, exactly what is live stays.
  void Settle() {
    failing_ = false;
    Pause(false);
    StepWall(0);
    while (!unreported_.empty()) Report();
    if (harness_.guarded_clock->Status().suspect) {
      Advance(1);
      if (harness_.guarded_clock->Status().suspect) {
        RC_ASSERT(harness_.guarded_clock->AcceptWall() == absl::OkStatus());
      }
    }
    Advance(20000);  // past every grace, hold and retry
    for (int i = 0; i < 3; ++i) {
      harness_.SweepFor(absl::Seconds(2));
    }
    std::set<std::string> live;
    for (const auto& [id, item] : store_) {
      if (!Expired(item, TrueSeconds())) live.insert(id);
    }
    std::set<std::string> left;
    for (const auto& [id, item] : store_) {
      if (harness_.store.Find("c", KeyOf(id)).has_value()) left.insert(id);
    }
    RC_ASSERT(left == live);
    RC_ASSERT(harness_.storage->CheckInvariants() == absl::OkStatus());
  }

 private:
  static constexpr int kIds = 8;

  absl::Time TrueTime() const { return *harness_.clock.Read().wall - step_; }
  int64_t TrueSeconds() const { return absl::ToUnixSeconds(TrueTime()); }
  bool WallIsTrue() const { return step_ == absl::ZeroDuration() && !ever_stepped_; }

  // The rules once more, on their own.
  bool Expired(const ItemVersion& item, int64_t seconds) const {
    if (!default_ttl_.has_value()) return false;
    const std::optional<int64_t>& end = item.times.expire_at;
    if (end.has_value() && seconds >= *end) return true;
    const int64_t ttl = item.times.ttl.value_or(end.has_value() ? -1 : *default_ttl_);
    return ttl != -1 && seconds >= item.times.ts + ttl;
  }

  // What the store sees of a batch: each item must be expired under the policy in
  // force, nothing may come while deletes are paused.
  std::optional<grpc::Status> Judge(const v1::DeleteItemsRequest& request,
                                    v1::DeleteItemsResponse& response) {
    for (const v1::ExpiredItem& item : request.items()) {
      ItemVersion version;
      version.times.ts = item.ts();
      if (item.has_ttl()) version.times.ttl = item.ttl();
      if (item.has_expire_at()) version.times.expire_at = item.expire_at();
      if (paused_ || !Expired(version, TrueSeconds())) ++wrong_deletes_;
    }
    if (!failing_) return std::nullopt;
    for (int i = 0; i < request.items_size(); ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_FAILED);
    }
    return grpc::Status::OK;
  }

  void Write() {
    const std::string id = absl::StrCat(*rc::gen::inRange(0, kIds));
    ItemVersion version;
    version.times.ts = TrueSeconds();
    version.times.ttl =
        *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 1, 5, 60, 4000, 2147483647);
    if (*rc::gen::inRange(0, 2) == 0) {
      version.times.expire_at =
          TrueSeconds() + *rc::gen::element<int64_t>(-100, 0, 1, 20, 300, 5000);
    }
    version.sequence = ++sequence_;
    harness_.store.Put("c", KeyOf(id), version);
    store_[id] = version;
    unreported_[id].push_back({KeyOf(id), version});
    if (*rc::gen::inRange(0, 4) != 0) Report();
  }

  // Reports arrive late and in any order.
  void Report() {
    if (unreported_.empty()) return;
    auto it = unreported_.begin();
    std::advance(it, *rc::gen::inRange<size_t>(0, unreported_.size()));
    while (!it->second.empty()) {
      const size_t next = *rc::gen::inRange<size_t>(0, it->second.size());
      RC_ASSERT(harness_.storage.Track("c", {it->second[next]}).ok());
      it->second.erase(it->second.begin() + static_cast<std::ptrdiff_t>(next));
    }
    unreported_.erase(it);
  }

  // A delete by the store itself; the report of it arrives at once.
  void Delete() {
    const std::string id = absl::StrCat(*rc::gen::inRange(0, kIds));
    const auto it = store_.find(id);
    if (it == store_.end() || unreported_.contains(id)) return;
    harness_.store.Erase("c", KeyOf(id));
    harness_.storage.UntrackOne("c", id, it->second.times.ts, ++sequence_);
    store_.erase(it);
  }

  void ChangePolicy() {
    default_ttl_ = *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 1, 30, 3000);
    harness_.storage.SetDefaultTtl("c", default_ttl_, absl::Seconds(60));
  }

  void Pause(bool paused) {
    harness_.storage.Pause("c", paused);
    paused_ = paused;
  }

  void Advance(int seconds) {
    harness_.clock.Advance(absl::Seconds(seconds));
    harness_.guarded_clock->Tick();
  }

  void StepWall(int seconds) {
    const absl::Duration wanted = absl::Seconds(seconds);
    harness_.clock.StepWall(wanted - step_);
    harness_.SetStoreClockOffset(-wanted);
    step_ = wanted;
    if (seconds != 0) ever_stepped_ = true;
  }

  void Sweep() {
    harness_.SweepNow();
    RC_ASSERT(wrong_deletes_ == 0);
    for (auto it = store_.begin(); it != store_.end();) {
      const bool gone = !harness_.store.Find("c", KeyOf(it->first)).has_value();
      if (gone) {
        // The promise above all: no live item is deleted.
        RC_ASSERT(Expired(it->second, TrueSeconds()));
        unreported_.erase(it->first);
      }
      it = gone ? store_.erase(it) : std::next(it);
    }
  }

  SweepHarness harness_;
  std::map<std::string, ItemVersion> store_;  // what the store should hold
  std::map<std::string, std::vector<ItemReport>> unreported_;
  std::optional<int64_t> default_ttl_;
  absl::Duration step_;
  bool ever_stepped_ = false;
  bool paused_ = false;
  bool failing_ = false;
  uint64_t sequence_ = 0;
  int wrong_deletes_ = 0;
};

RC_GTEST_PROP(SystemModelTest, RandomOperationsKeepThePromises, ()) {
  Run run;
  const int operations = *rc::gen::inRange(1, 80);
  for (int i = 0; i < operations; ++i) {
    run.Operate();
    run.CheckVisibility();
  }
  run.Settle();
}

}  // namespace
}  // namespace ttl
