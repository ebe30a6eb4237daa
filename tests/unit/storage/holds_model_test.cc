// Holds against a model: no expiry is lost, nothing that is held is due, and what is stored is
// consistent, whatever happens in which order, restarts included.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/storage/holds.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

struct ModelHold {
  std::set<ItemKey> keys;                // by key
  std::optional<std::string> partition;  // by partition
  bool all = false;
  std::optional<int64_t> until;

  bool Covers(const ItemKey& key) const {
    return all || partition == key.partition_key || keys.contains(key);
  }
};

ItemKey AnyKey() {
  return {*rc::gen::element<std::string>("p", "q"), absl::StrCat(*rc::gen::inRange(0, 4))};
}

std::string AnyHold() { return *rc::gen::element<std::string>("1", "2", "3"); }

class HoldsRun {
 public:
  HoldsRun() { storage_.Create("c", 60); }

  void Step() {
    switch (*rc::gen::inRange(0, 15)) {
      case 0:
      case 1:
      case 2:
        return Track();
      case 3:
        return Untrack();
      case 4:
      case 5:
      case 6:
        return Place();
      case 7:
        return Release();
      case 8:
        EndReached();
        return;
      case 9:
      case 10:
        Sweep(/*deletes=*/*rc::gen::inRange(0, 3) == 0);
        return;
      case 11:
        storage_.SetDefaultTtl("c", *rc::gen::element<std::optional<int64_t>>(60, 5, -1, 1000));
        return;
      case 14:
        return ReplaceAllInOneCommit();
      case 12:
        now_ += *rc::gen::element<int64_t>(1, 30, 100, 2000);
        return;
      default:
        if (*rc::gen::inRange(0, 2) == 0) storage_.Reopen();
        for (int i = *rc::gen::inRange(0, 3); i > 0; --i) storage_->RunHousekeeping();
    }
  }

  void Check() {
    RC_ASSERT(storage_->CheckInvariants() == absl::OkStatus());
    for (const std::string partition : {"p", "q"}) {
      for (int i = 0; i < 4; ++i) {
        const ItemKey key = {partition, absl::StrCat(i)};
        RC_ASSERT(*storage_->holds().IsHeld(Number(), key) == IsHeld(key));
        RC_ASSERT(storage_->holds().Covering(Number(), key, 10)->size() == CountHolds(key));
      }
    }
    RC_ASSERT(storage_.Find("c")->has_holds == !holds_.empty());
    RC_ASSERT(storage_->holds().List(0, "", "", 100).size() == holds_.size());
  }

  // Once all holds have ended everything that is expired is found.
  void CheckNothingIsForgotten() {
    while (!holds_.empty()) ReleaseOne(holds_.begin()->first);
    storage_.FinishHousekeeping();
    RC_ASSERT(storage_->holds().Counts(Number()).items_set_aside == 0);
    RC_ASSERT(storage_->holds().Counts(Number()).ending == 0);
    now_ += 20'000;
    std::set<ItemKey> expired;
    for (const auto& [key, ts] : items_) {
      if (IsExpired(ts)) expired.insert(key);
    }
    RC_ASSERT(Sweep(/*deletes=*/true) == expired);
  }

 private:
  template <typename Result>
  static auto ExpectOk() {
    return [](const Result& result) { EXPECT_TRUE(result.ok()); };
  }

  uint64_t Number() { return storage_.Find("c")->number; }
  size_t CountHolds(const ItemKey& key) const {
    size_t count = 0;
    for (const auto& [id, hold] : holds_) count += hold.Covers(key) ? 1 : 0;
    return count;
  }
  bool IsHeld(const ItemKey& key) const { return CountHolds(key) > 0; }
  bool IsExpired(int64_t ts) {
    const std::optional<int64_t> ttl = storage_.Find("c")->settings.policy.default_ttl;
    return *ttl != -1 && ts + *ttl <= now_;
  }

  void Track() {
    const ItemKey key = AnyKey();
    const int64_t ts = now_ - *rc::gen::inRange<int64_t>(0, 20);
    const auto it = items_.find(key);
    if (it == items_.end() || it->second <= ts) items_[key] = ts;
    RC_ASSERT(storage_.Track("c", {{key, {{ts, {}}, "", {}, 0}}}).ok());
  }

  void Untrack() {
    const ItemKey key = AnyKey();
    items_.erase(key);
    RC_ASSERT(Await<absl::StatusOr<std::vector<UntrackOutcome>>>([&](auto done) {
                storage_->items().Untrack(Number(), {{key, now_, {}}}, std::move(done));
              }).ok());
  }

  void Place() {
    HoldRequest request;
    request.hold_id = AnyHold();
    request.reason = "audit";
    ModelHold hold;
    if (*rc::gen::inRange(0, 3) == 0) {
      hold.until = now_ + *rc::gen::inRange<int64_t>(1, 100);
      request.until = absl::FromUnixSeconds(*hold.until);
    }
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        hold.all = true;
        request.scope = AllItems();
        break;
      case 1:
        hold.partition = *rc::gen::element<std::string>("p", "q");
        request.scope = ItemsOfPartition{*hold.partition};
        break;
      default:
        hold.keys = {AnyKey(), AnyKey()};
        request.scope = ItemsByKey{{hold.keys.begin(), hold.keys.end()}};
    }
    const absl::StatusOr<PlacedHold> placed = Await<absl::StatusOr<PlacedHold>>([&](auto done) {
      storage_->holds().Place("c", request, absl::FromUnixSeconds(now_), std::move(done));
    });
    const auto present = holds_.find(request.hold_id);
    const bool fits = present == holds_.end() || (present->second.all == hold.all &&
                                                  present->second.partition == hold.partition);
    RC_ASSERT(placed.ok() == fits);
    if (!fits) return;
    if (present != holds_.end())
      hold.keys.insert(present->second.keys.begin(), present->second.keys.end());
    holds_[request.hold_id] = hold;
    RC_ASSERT(placed->hold->key_count == static_cast<int64_t>(hold.keys.size()));
  }

  // Each hold ends, and another one of its name is placed.
  void ReplaceAllInOneCommit() {
    storage_.env().HoldSyncs(true);
    storage_->containers().SetPauseOfAll(std::nullopt, ExpectOk<absl::Status>());
    storage_.env().AwaitHeldSync();
    for (auto& [id, hold] : holds_) {
      const absl::Time now = absl::FromUnixSeconds(now_);
      storage_->holds().Release("c", id, now, ExpectOk<absl::Status>());
      HoldRequest request;
      request.hold_id = id;
      request.reason = "audit";
      hold = {};
      hold.partition = "p";
      request.scope = ItemsOfPartition{"p"};
      storage_->holds().Place("c", request, now, ExpectOk<absl::StatusOr<PlacedHold>>());
    }
    storage_.env().HoldSyncs(false);
    // Comes after all of them.
    RC_ASSERT(!Await<absl::Status>([&](auto done) {
                 storage_->holds().Release("none", "none", kTestNow, std::move(done));
               }).ok());
  }

  void Release() {
    const std::string id = AnyHold();
    if (holds_.contains(id)) ReleaseOne(id);
  }
  void ReleaseOne(const std::string& id) {
    RC_ASSERT(Await<absl::Status>([&](auto done) {
                storage_->holds().Release("c", id, absl::FromUnixSeconds(now_), std::move(done));
              }).ok());
    holds_.erase(id);
  }

  void EndReached() {
    const auto is_over = [this](const auto& entry) {
      return entry.second.until.has_value() && *entry.second.until <= now_;
    };
    const auto over = static_cast<int64_t>(std::erase_if(holds_, is_over));
    RC_ASSERT(*Await<absl::StatusOr<int64_t>>([&](auto done) {
      storage_->holds().EndReached(absl::FromUnixSeconds(now_), std::move(done));
    }) == over);
  }

  // As the sweeper does it. Returns what it deleted.
  std::set<ItemKey> Sweep(bool deletes) {
    std::set<ItemKey> deleted;
    Holds& holds = storage_->holds();
    while (!holds.HoldsAll(Number())) {
      const DueScan scan = storage_.Scan("c", now_, 3);
      if (scan.due.empty() && scan.early.empty()) break;
      storage_.Tidy("c", scan.early);
      std::vector<HeldItem> held;
      std::vector<DeleteReport> reports;
      for (const DueItem& item : scan.due) {
        if (*holds.IsHeld(Number(), item.key)) {
          RC_ASSERT(IsHeld(item.key));
          held.push_back({item.key, item.item.generation});
        } else {
          RC_ASSERT(!IsHeld(item.key));
          DeleteReport& report = reports.emplace_back();
          report.key = item.key;
          report.generation = item.item.generation;
        }
      }
      const auto count = static_cast<int64_t>(held.size());
      RC_ASSERT(*Await<absl::StatusOr<int64_t>>([&](auto done) {
        holds.SetAside(Number(), std::move(held), std::move(done));
      }) == count);
      if (!deletes && count == 0) break;
      if (!deletes) continue;
      for (const DeleteReport& report : reports) {
        RC_ASSERT(IsExpired(items_.at(report.key)));
        items_.erase(report.key);
        deleted.insert(report.key);
      }
      storage_.Apply("c", std::move(reports));
    }
    return deleted;
  }

  StorageForTest storage_;
  int64_t now_ = kT;
  std::map<ItemKey, int64_t> items_;  // by ts
  std::map<std::string, ModelHold> holds_;
};

RC_GTEST_PROP(HoldsModelTest, NoExpiryIsLostAndNothingHeldIsDue, ()) {
  HoldsRun run;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    run.Step();
    run.Check();
  }
  run.CheckNothingIsForgotten();
}

}  // namespace
}  // namespace ttl
