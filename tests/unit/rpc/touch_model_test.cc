// Random touches, writes, checks, deletes in flight and restarts beside a simple model.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/rpc/checks/visibility.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

// What is known of items, kept in the most naive way. The times of a tracked item have its touch,
// those of the store have none.
struct TouchModel {
  std::optional<int64_t> default_ttl;
  std::map<std::string, ItemTimes> tracked;
  std::map<std::string, ItemTimes> stored;

  std::optional<int64_t> EndOf(const ItemTimes& item) const {
    if (!default_ttl.has_value()) return std::nullopt;
    const int64_t start = std::max(item.ts, item.touch_time);
    std::vector<int64_t> ends;
    if (item.ttl.has_value() && *item.ttl != -1) ends.push_back(start + *item.ttl);
    if (item.expire_at.has_value()) ends.push_back(*item.expire_at);
    const bool inherits = !item.ttl.has_value() && !item.expire_at.has_value();
    if (inherits && *default_ttl != -1) ends.push_back(start + *default_ttl);
    if (ends.empty()) return std::nullopt;
    return *std::min_element(ends.begin(), ends.end());
  }

  bool IsExpired(const ItemTimes& item, int64_t now) const {
    return EndOf(item).has_value() && *EndOf(item) <= now;
  }

  bool IsLive(const std::string& id, int64_t now) const {
    return tracked.contains(id) && !IsExpired(tracked.at(id), now);
  }

  // The store reports its item.
  void Report(const std::string& id) {
    const int64_t touch_time = tracked.contains(id) ? tracked.at(id).touch_time : 0;
    tracked[id] = stored.at(id);
    tracked[id].touch_time = touch_time;
  }
};

// One run: a store, the storage and the model side by side.
class TouchRun {
 public:
  TouchRun() {
    model_.default_ttl = 60;
    storage_.Create("c", 60);
    storage_.AllowTouch("c");
  }

  void Step() {
    switch (*rc::gen::inRange(0, 18)) {
      case 0:
      case 1:
      case 2:
        return Write();
      case 3:
        return ReportLate();
      case 4:
      case 5:
      case 6:
        return Touch();
      case 7:
        return Remove();
      case 8:
        return ChangePolicy();
      case 9:
      case 14:
      case 15:
        now_ += *rc::gen::element<int64_t>(1, 5, 20, 40, 100);
        return;
      case 10:
      case 16:
      case 17:
        return flight_.has_value() ? Land() : TakeOff();
      case 11:
        return TouchWhatExpiresMeanwhile();
      case 12:
        return *rc::gen::inRange(0, 2) == 0 ? Rebuild() : Reconcile();
      default:
        return Restart();
    }
  }

  void Check() {
    for (const std::string& id : Ids()) {
      const std::optional<TrackedItem> item = storage_.FindItem("c", id);
      RC_ASSERT(item.has_value() == model_.tracked.contains(id));
      if (item.has_value()) RC_ASSERT(item->version.times == model_.tracked.at(id));
      CheckVisibility(id);
    }
  }

  // In the end the store has nothing that is tracked and expired.
  void CheckAllIsSwept() {
    if (flight_.has_value()) Land();
    now_ += 20000;
    for (int i = 0; i < 100 && !(storage_.Scan("c", now_).due.empty() &&
                                 storage_.Scan("c", now_).early.empty());
         ++i) {
      TakeOff();
      Land(/*may_fail=*/false);
    }
    for (const auto& [id, times] : model_.tracked) RC_ASSERT(!model_.IsExpired(times, now_));
  }

 private:
  // A batch of deletes that was sent.
  struct Flight {
    DeleteGate::Pass pass;
    std::vector<DueItem> items;
  };

  static std::vector<std::string> Ids() { return {"a", "b", "c", "d"}; }
  static std::string AnyId() { return *rc::gen::elementOf(Ids()); }
  uint64_t Number() { return storage_.Find("c")->number; }

  void Report(const std::string& id) {
    RC_ASSERT(storage_.Track("c", {{KeyOf(id), {model_.stored.at(id), "", {}, 0}}}).ok());
    model_.Report(id);
  }

  // Some reports come later or never.
  void Write() {
    const std::string id = AnyId();
    model_.stored[id] = {
        now_, *rc::gen::element<std::optional<int64_t>>(std::nullopt, std::nullopt, -1, 5, 30),
        *rc::gen::element<std::optional<int64_t>>(std::nullopt, std::nullopt, now_ + 7, now_ - 1)};
    if (*rc::gen::inRange(0, 4) != 0) Report(id);
  }

  void ReportLate() {
    const std::string id = AnyId();
    if (model_.stored.contains(id)) Report(id);
  }

  void Remove() {
    const std::string id = AnyId();
    model_.stored.erase(id);
    model_.tracked.erase(id);
    storage_.UntrackOne("c", id, now_);
  }

  void ChangePolicy() {
    if (flight_.has_value()) Land();  // which the change would wait for
    model_.default_ttl = *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 10, 60, 200);
    storage_.SetDefaultTtl("c", model_.default_ttl);
  }

  void Restart() {
    flight_.reset();  // its outcome is lost
    storage_.Reopen();
  }

  void Touch() {
    const std::string id = AnyId();
    const int64_t within = *rc::gen::element<int64_t>(0, 0, 10);
    const auto touched = storage_.Touch("c", {id}, now_, within);
    RC_ASSERT(touched.ok());
    const TouchOutcome outcome = touched->items.at(0).outcome;
    if (!model_.tracked.contains(id)) return RC_ASSERT(outcome == TouchOutcome::kNotTracked);
    ItemTimes& times = model_.tracked.at(id);
    if (model_.IsExpired(times, now_)) return RC_ASSERT(outcome == TouchOutcome::kExpired);
    const bool is_recent = within > 0 && now_ - times.base() < within;
    RC_ASSERT(outcome == (is_recent ? TouchOutcome::kRecent : TouchOutcome::kTouched));
    if (!is_recent && now_ > times.base()) times.touch_time = now_;
    RC_ASSERT(touched->items.at(0).expire_time == model_.EndOf(times));
  }

  // The touch is judged in the last second of the item, and a sweep begins before it is committed.
  void TouchWhatExpiresMeanwhile() {
    const std::string id = AnyId();
    if (!model_.IsLive(id, now_) || flight_.has_value()) return;
    const std::optional<int64_t> end = model_.EndOf(model_.tracked.at(id));
    // A touch in the second of the last write moves nothing.
    if (!end.has_value() || *end - 1 <= model_.tracked.at(id).base()) return;
    now_ = *end - 1;
    bool is_judged = false;
    std::optional<DeleteGate::Pass> pass;
    DueScan scan;
    auto promise = std::make_shared<std::promise<absl::StatusOr<TouchedItems>>>();
    const auto read = [&] {
      if (std::exchange(is_judged, true)) return SoundTime(*end);
      now_ = *end;
      pass = storage_->delete_gate().TryEnter(Number());
      scan = storage_.Scan("c", now_, 3);
      return SoundTime(*end - 1);
    };
    storage_->touches().Touch(Number(), {{KeyOf(id)}}, read,
                              [promise](auto touched) { promise->set_value(std::move(touched)); });
    auto answer = promise->get_future();
    // A later commit is answered first.
    RC_ASSERT(storage_.Touch("c", {"nobody"}, now_).ok());
    RC_ASSERT(answer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    ExpectExpired(scan.due);
    flight_.emplace(Flight{*std::move(pass), std::move(scan.due)});
    model_.tracked.at(id).touch_time = *end - 1;
    Land();
    const TouchOutcome outcome = answer.get()->items.at(0).outcome;
    RC_ASSERT(outcome ==
              (model_.tracked.contains(id) ? TouchOutcome::kTouched : TouchOutcome::kNotTracked));
  }

  // What is sent is expired, whatever the index says.
  void ExpectExpired(const std::vector<DueItem>& due) const {
    for (const DueItem& item : due) {
      RC_ASSERT(model_.IsExpired(model_.tracked.at(item.key.id), now_));
    }
  }

  void TakeOff() {
    auto pass = storage_->delete_gate().TryEnter(Number());
    DueScan scan = storage_.Scan("c", now_, 3);
    ExpectExpired(scan.due);
    storage_.Tidy("c", std::move(scan.early));
    flight_.emplace(Flight{*std::move(pass), std::move(scan.due)});
  }

  // The store deletes what it still has in that version, and says so.
  void Land(bool may_fail = true) {
    std::vector<DeleteReport> reports;
    for (const DueItem& item : flight_->items) {
      if (may_fail && *rc::gen::inRange(0, 6) == 0) continue;  // no answer, and not deleted
      reports.push_back(Carry(item));
    }
    for (const DeleteReport& report : reports) Expect(report);
    storage_.Apply("c", std::move(reports));
    flight_.reset();
  }

  DeleteReport Carry(const DueItem& item) {
    DeleteReport report;
    report.key = item.key;
    report.generation = item.item.generation;
    const auto stored = model_.stored.find(item.key.id);
    if (stored != model_.stored.end() && !IsSameWrite(stored->second, item.item.version.times)) {
      report.kind = DeleteReport::Kind::kModified;
      report.current.times = stored->second;
      return report;
    }
    report.deleted = stored != model_.stored.end();
    model_.stored.erase(item.key.id);
    return report;
  }

  // Whatever was reported since is newer than the outcome.
  void Expect(const DeleteReport& report) {
    const std::optional<TrackedItem> present = storage_.FindItem("c", report.key.id);
    if (!present.has_value() || present->generation != report.generation) return;
    if (report.kind == DeleteReport::Kind::kGone) {
      model_.tracked.erase(report.key.id);
    } else {
      model_.Report(report.key.id);
    }
  }

  // Compares with the store; all that it has is tracked then.
  void Reconcile() {
    for (const auto& [id, times] : model_.stored) {
      const bool is_new = !model_.tracked.contains(id);
      ScanOne(id, times);
      model_.Report(id);
      if (is_new) model_.tracked.at(id).touch_time = now_;
    }
  }

  // Touches may be lost: all count as touched.
  void Rebuild() {
    storage_->data_trust().Doubt("lost");
    for (const std::string& id : Ids()) CheckVisibilityInDoubt(id);
    for (const auto& [id, times] : model_.stored) {
      ScanOne(id, times);
      model_.Report(id);
      model_.tracked.at(id).touch_time = now_;
    }
    storage_->data_trust().Confirm("lost");
  }

  void ScanOne(const std::string& id, const ItemTimes& times) {
    const absl::Time now = absl::FromUnixSeconds(now_);
    const AdoptionTerms terms = {now, now, absl::ZeroDuration(), true};
    ScannedItems& scanned = storage_->scanned_items();
    scanned.Begin(Number());
    scanned.BeginPage();
    RC_ASSERT(Await<absl::StatusOr<std::vector<ScanComparison>>>([&](auto done) {
                scanned.Apply(Number(), {{KeyOf(id), {times, "", {}, 0}}}, terms,
                              /*knows_expire_at=*/true, /*dry_run=*/false, std::move(done));
              }).ok());
    scanned.End();
  }

  v1::Visibility Judge(const std::string& id, const std::optional<ItemTimes>& carried) {
    const ttl::Check check = {"p", id, carried};
    const auto find = [&](absl::Span<const KeyView> keys, std::vector<FoundTimes>& times) {
      storage_->items().FindTimes(Number(), keys, times);
    };
    const absl::Time now = absl::FromUnixSeconds(now_);
    CheckAnswers answers;
    ImpossibleChecks impossible;
    RC_ASSERT(JudgeChecks(*storage_.Find("c"), find, {now, now}, absl::MakeConstSpan(&check, 1),
                          answers, impossible)
                  .ok());
    return answers.VisibilityAt(0);
  }

  void CheckVisibility(const std::string& id) {
    const auto seen = [](bool expired) {
      return expired ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE;
    };
    const bool is_tracked = model_.tracked.contains(id);
    RC_ASSERT(Judge(id, std::nullopt) == (is_tracked
                                              ? seen(model_.IsExpired(model_.tracked.at(id), now_))
                                              : v1::VISIBILITY_UNTRACKED));
    if (!model_.stored.contains(id)) return;
    ItemTimes times = model_.stored.at(id);
    if (!is_tracked) return CheckCarriedAlone(id, times);
    // At equal ts the later end counts, whose report may still come.
    const ItemTimes& known = model_.tracked.at(id);
    times.touch_time = known.touch_time;
    const bool ends_by_both = model_.IsExpired(times, now_) && model_.IsExpired(known, now_);
    const bool may_be_either = times.ts == known.ts && !IsSameWrite(times, known);
    const v1::Visibility carried = Judge(id, model_.stored.at(id));
    if (!may_be_either) RC_ASSERT(carried == seen(model_.IsExpired(times, now_)));
    if (ends_by_both) RC_ASSERT(carried == v1::VISIBILITY_EXPIRED);
  }

  void CheckCarriedAlone(const std::string& id, const ItemTimes& times) {
    RC_ASSERT(Judge(id, times) ==
              (model_.IsExpired(times, now_) ? v1::VISIBILITY_UNTRACKED : v1::VISIBILITY_VISIBLE));
  }

  void CheckVisibilityInDoubt(const std::string& id) {
    RC_ASSERT(Judge(id, std::nullopt) == v1::VISIBILITY_UNTRACKED);
    if (model_.stored.contains(id)) CheckCarriedAlone(id, model_.stored.at(id));
  }

  StorageForTest storage_;
  TouchModel model_;
  std::optional<Flight> flight_;  // ends before the storage
  int64_t now_ = kT;
};

RC_GTEST_PROP(TouchModelTest, RandomOperationsAgreeWithASimpleModel, ()) {
  TouchRun run;
  const int steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    run.Step();
    run.Check();
  }
  run.CheckAllIsSwept();
}

}  // namespace
}  // namespace ttl
