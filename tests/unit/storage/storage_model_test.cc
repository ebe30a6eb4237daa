#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/core/due_rules.h"
#include "service/core/policy_effect.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kStart = 1'800'000'000;
constexpr int kBystanders = 520;

// What the storage should know, kept in the most naive way.
class Model {
 public:
  void SetDefaultTtl(std::optional<int64_t> default_ttl) { default_ttl_ = default_ttl; }

  bool Track(const std::string& id, const ItemTimes& times) {
    const auto it = items_.find(id);
    if (it != items_.end() && times.ts < it->second.ts) return false;
    items_[id] = times;
    return true;
  }

  void Forget(const std::string& id) { items_.erase(id); }

  std::set<std::string> Due(int64_t now) const {
    std::set<std::string> due;
    for (const auto& [id, times] : items_) {
      if (IsDue(times, now)) due.insert(id);
    }
    return due;
  }

  const std::map<std::string, ItemTimes>& items() const { return items_; }

  int64_t CountDue(int64_t now) const { return static_cast<int64_t>(Due(now).size()); }

 private:
  bool IsDue(const ItemTimes& times, int64_t now) const {
    if (!default_ttl_.has_value()) return false;
    const int64_t ttl = times.ttl.value_or(*default_ttl_);
    return ttl != -1 && times.ts + ttl <= now;
  }

  std::optional<int64_t> default_ttl_;
  std::map<std::string, ItemTimes> items_;
};

std::optional<int64_t> AnyTtl() {
  return *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 1, 5, 60, 4000, 2147483647);
}

std::string AnyId() { return absl::StrCat(*rc::gen::inRange(0, 12)); }

// One run: random operations on storage and model side by side, restarts among
// them, with the sweep as the sweeper does it.
class Run {
 public:
  Run() {
    storage_.Create("c", std::nullopt);
    // Items that never expire, so many, in the middle of the others, that the walk which
    // counts items after a restart takes two steps.
    std::vector<ItemReport> reports;
    for (int i = 0; i < kBystanders; ++i) {
      reports.push_back({KeyOf(absl::StrCat("5-", i)), {{kStart, kNeverExpires}, "", {}, 0}});
    }
    RC_ASSERT(storage_.Track("c", std::move(reports)).ok());
  }

  void Step() {
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Track();
      case 4:
        return Untrack();
      case 5:
        return ChangePolicy();
      case 6:
        return Sweep();
      case 7:
        return Fail();
      case 8:
        now_ += *rc::gen::element<int64_t>(1, 10, 100, 5000);
        return;
      default:
        return Restart();
    }
  }

  void Check() {
    RC_ASSERT(storage_->CheckInvariants() == absl::OkStatus());
    for (const auto& [id, times] : model_.items()) {
      const auto item = storage_.FindItem("c", id);
      RC_ASSERT(item.has_value());
      RC_ASSERT(item->version.times == times);
    }
    const auto all = storage_->items().List(storage_.Find("c")->number, std::nullopt, 1000);
    RC_ASSERT(all.ok());
    RC_ASSERT(all->size() == model_.items().size() + kBystanders);
    CheckTallies();
  }

  // Everything due is found in the end, whatever happened to the index.
  void CheckNothingIsForgotten() {
    now_ += 20000;  // past every retry
    const std::set<std::string> due = model_.Due(now_);
    std::set<std::string> swept;
    while (true) {
      const DueScan scan = storage_.Scan("c", now_, 3);
      if (scan.due.empty() && scan.early.empty()) break;
      storage_.Tidy("c", scan.early);
      for (const std::string& id : Delete(scan)) swept.insert(id);
    }
    RC_ASSERT(swept == due);
  }

 private:
  // Always: the totals. Once all is counted: what is expired, now and at other times.
  void CheckTallies() {
    const Container& container = *storage_.Find("c");
    const TallyView tally = storage_->tallies().View(container.number);
    RC_ASSERT(tally.tracked.items == static_cast<int64_t>(model_.items().size()) + kBystanders);
    if (!tally.complete) return;
    for (const int64_t at : {now_, now_ + 5, now_ + 4000, now_ + 100'000}) {
      const ItemEstimate expired =
          CountExpired(tally.spread, container.settings.policy, absl::FromUnixSeconds(at));
      RC_ASSERT(expired.sum.items == model_.CountDue(at));
      RC_ASSERT(expired.error_bound_items == 0);
    }
  }

  // A restart; afterwards housekeeping may get far, a little, or nowhere.
  void Restart() {
    if (*rc::gen::inRange(0, 3) == 0) storage_.Reopen();
    const int steps = *rc::gen::inRange(0, 3);
    for (int i = 0; i < steps; ++i) storage_->RunHousekeeping();
    CheckTallies();
  }

  void Track() {
    const std::string id = AnyId();
    const ItemTimes times{now_ - *rc::gen::inRange<int64_t>(0, 20), AnyTtl()};
    const bool tracked = storage_.TrackOne("c", id, times.ts, times.ttl) == TrackOutcome::kTracked;
    RC_ASSERT(tracked == model_.Track(id, times));
  }

  void Untrack() {
    const std::string id = AnyId();
    if (storage_.UntrackOne("c", id, now_) == UntrackOutcome::kUntracked) model_.Forget(id);
  }

  void ChangePolicy() {
    const std::optional<int64_t> ttl = AnyTtl();
    storage_.SetDefaultTtl("c", ttl);
    model_.SetDefaultTtl(ttl);
  }

  std::vector<std::string> Delete(const DueScan& scan) {
    std::vector<std::string> ids;
    std::vector<DeleteReport> reports;
    for (const DueItem& item : scan.due) {
      RC_ASSERT(model_.Due(now_).contains(item.key.id));
      DeleteReport report;
      report.key = item.key;
      report.generation = item.item.generation;
      reports.push_back(report);
      ids.push_back(item.key.id);
      model_.Forget(item.key.id);
    }
    storage_.Apply("c", reports);
    return ids;
  }

  void Sweep() {
    const DueScan scan = storage_.Scan("c", now_, 4, 8);
    storage_.Tidy("c", scan.early);
    Delete(scan);
  }

  void Fail() {
    std::vector<DeleteReport> reports;
    for (const DueItem& item : storage_.Scan("c", now_, 2).due) {
      DeleteReport report;
      report.key = item.key;
      report.generation = item.item.generation;
      report.kind = DeleteReport::Kind::kRetryLater;
      report.retry_time = now_ + 50;
      reports.push_back(report);
    }
    storage_.Apply("c", reports);
  }

  StorageForTest storage_;
  Model model_;
  int64_t now_ = kStart;
};

RC_GTEST_PROP(StorageModelTest, RandomOperationsAgreeWithASimpleModel, ()) {
  Run run;
  const int steps = *rc::gen::inRange(1, 120);
  for (int i = 0; i < steps; ++i) run.Step();
  run.Check();
  run.CheckNothingIsForgotten();
}

}  // namespace
}  // namespace ttl
