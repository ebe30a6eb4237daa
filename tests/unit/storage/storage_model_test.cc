#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/core/due_rules.h"
#include "service/core/policy_effect.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kStart = 1'800'000'000;
constexpr int64_t kGrace = 100;
constexpr int kBystanders = 520;

// What the storage should know, kept in the most naive way.
class Model {
 public:
  struct Item {
    ItemTimes times;
    std::optional<uint64_t> sequence;
    uint64_t epoch = 0;         // in which it was reported
    int64_t adopted_until = 0;  // 0: it is not adopted
  };

  void SetDefaultTtl(std::optional<int64_t> default_ttl) { default_ttl_ = default_ttl; }

  // The store was confirmed: whatever was reported before is older than what comes.
  void BeginEpoch() { ++epoch_; }

  // What was adopted until now was confirmed.
  void Free(int64_t freed_until, int64_t now) {
    freed_until_ = freed_until;
    freed_at_ = now;
  }

  bool IsOlder(const std::string& id, int64_t ts, std::optional<uint64_t> sequence) const {
    const Item* before = Find(id);
    if (before == nullptr || before->epoch < epoch_) return false;
    if (sequence.has_value() && before->sequence.has_value()) return *sequence < *before->sequence;
    return ts < before->times.ts;
  }

  // Whether a scan that meets the item meets the version that is known. Its sequence does not
  // say: a table has none of its own and gives the position at which the item was read.
  bool IsSame(const std::string& id, const Item& item) const {
    const Item* before = Find(id);
    return before != nullptr && before->times == item.times;
  }

  // Whether such a scan has something new to say of the version.
  bool SaysMore(const std::string& id, const Item& item) const {
    const Item& before = items_.at(id);
    return before.epoch < epoch_ || item.sequence > before.sequence;
  }

  // Until when an item that is reported now may wait: any of these.
  std::set<int64_t> AdoptedUntil(const std::string& id, const ItemTimes& times, bool adopted,
                                 int64_t now) const {
    const bool is_new = now < kStart + kGrace;
    if ((!adopted && !is_new) || !IsExpired(times, now)) return {0};
    const int64_t fresh = std::max(now + kGrace, freed_until_ + 1);
    const Item* before = Find(id);
    if (before == nullptr) return {fresh};
    if (before->times == times) return {before->adopted_until};
    if (before->adopted_until > freed_until_) return {before->adopted_until};
    return {fresh};
  }

  void Put(const std::string& id, Item item) {
    item.epoch = epoch_;
    items_[id] = item;
  }

  // Upkeep has seen that it has waited for long enough.
  void EndAdoption(const std::string& id) { items_.at(id).adopted_until = 0; }

  void Forget(const std::string& id) { items_.erase(id); }

  // First second at which an adopted item may be deleted.
  int64_t AdoptionEnd(const Item& item) const {
    if (item.adopted_until > freed_until_) return item.adopted_until;
    return std::min(item.adopted_until, freed_at_);
  }

  std::set<std::string> Due(int64_t now) const {
    std::set<std::string> due;
    for (const auto& [id, item] : items_) {
      if (IsExpired(item.times, now) && AdoptionEnd(item) <= now) due.insert(id);
    }
    return due;
  }

  const Item* Find(const std::string& id) const {
    const auto it = items_.find(id);
    return it == items_.end() ? nullptr : &it->second;
  }
  const std::map<std::string, Item>& items() const { return items_; }

  int64_t CountExpired(int64_t now) const {
    return std::count_if(items_.begin(), items_.end(),
                         [&](const auto& entry) { return IsExpired(entry.second.times, now); });
  }

  int64_t CountToConfirm() const {
    return std::count_if(items_.begin(), items_.end(),
                         [](const auto& entry) { return entry.second.adopted_until != 0; });
  }

 private:
  bool IsExpired(const ItemTimes& times, int64_t now) const {
    if (!default_ttl_.has_value()) return false;
    if (times.ttl == 0 || times.expire_at == 0) return false;  // not legal
    if (times.expire_at.has_value() && *times.expire_at <= now) return true;
    const int64_t inherited = times.expire_at.has_value() ? -1 : *default_ttl_;
    const int64_t ttl = times.ttl.value_or(inherited);
    return ttl != -1 && times.ts + ttl <= now;
  }

  std::optional<int64_t> default_ttl_;
  uint64_t epoch_ = 0;
  int64_t freed_until_ = 0;
  int64_t freed_at_ = 0;
  std::map<std::string, Item> items_;
};

std::optional<int64_t> AnyTtl() {
  return *rc::gen::element<std::optional<int64_t>>(std::nullopt, -1, 1, 5, 60, 4000, 2147483647);
}

// Some are not legal, as in a container whose TTL was off.
std::optional<int64_t> AnyExpireAt(int64_t now) {
  if (*rc::gen::inRange(0, 2) == 0) return std::nullopt;
  return *rc::gen::element<int64_t>(0, 1, now - 10, now, now + 1, now + 30, now + 4000,
                                    kMaxExpireAt);
}

std::optional<uint64_t> AnySequence() {
  return *rc::gen::element<std::optional<uint64_t>>(std::nullopt, 1, 2, 3);
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
    switch (*rc::gen::inRange(0, 13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Track();
      case 10:
        return ScanStore();
      case 11:
        return ConfirmStore();
      case 12:
        return ConfirmAdopted();
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
    for (const auto& [id, expected] : model_.items()) {
      const auto item = storage_.FindItem("c", id);
      RC_ASSERT(item.has_value());
      RC_ASSERT(item->version.times == expected.times);
      RC_ASSERT(item->version.sequence == expected.sequence);
      RC_ASSERT(item->store_epoch == expected.epoch);
    }
    const auto all = storage_->items().List(storage_.Find("c")->number, std::nullopt, 1000);
    RC_ASSERT(all.ok());
    RC_ASSERT(all->size() == model_.items().size() + kBystanders);
    RC_ASSERT(storage_.Find("c")->has_expire_at == has_expire_at_);
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
          CountExpired(tally.histogram, container.settings.policy, absl::FromUnixSeconds(at));
      RC_ASSERT(expired.sum.items == model_.CountExpired(at));
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

  AdoptionTerms AnyTerms() const {
    const absl::Time now = absl::FromUnixSeconds(now_);
    return {now, now, absl::Seconds(kGrace), *rc::gen::arbitrary<bool>()};
  }

  Model::Item AnyItem() const {
    const int64_t ts = now_ - *rc::gen::inRange<int64_t>(0, 20);
    return {{ts, AnyTtl(), AnyExpireAt(now_)}, AnySequence()};
  }

  // Upkeep may have ended the adoption of an item that has waited for long enough.
  void NoteUpkeep(const std::string& id) {
    const Model::Item* expected = model_.Find(id);
    if (expected == nullptr) return;
    const int64_t adopted_until = storage_.FindItem("c", id)->adopted_until;
    if (adopted_until == expected->adopted_until) return;
    RC_ASSERT(adopted_until == 0);
    RC_ASSERT(model_.AdoptionEnd(*expected) <= now_);
    model_.EndAdoption(id);
  }

  void ExpectPut(const std::string& id, Model::Item item, const std::set<int64_t>& adopted_until) {
    item.adopted_until = storage_.FindItem("c", id)->adopted_until;
    RC_ASSERT(adopted_until.contains(item.adopted_until));
    model_.Put(id, item);
    has_expire_at_ = has_expire_at_ || item.times.expire_at.has_value();
  }

  void Track() {
    const std::string id = AnyId();
    const Model::Item item = AnyItem();
    const AdoptionTerms terms = AnyTerms();
    NoteUpkeep(id);
    const auto adopted_until = model_.AdoptedUntil(id, item.times, terms.adopted, now_);
    const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
      storage_->items().Track(Number(), {{KeyOf(id), {item.times, "", item.sequence, 0}}}, terms,
                              std::move(done));
    });
    RC_ASSERT(tracked.ok());
    const bool is_older = model_.IsOlder(id, item.times.ts, item.sequence);
    RC_ASSERT((tracked->at(0) == TrackOutcome::kStale) == is_older);
    if (!is_older) ExpectPut(id, item, adopted_until);
  }

  // One item, as a rebuild reads it from the store.
  void ScanStore() {
    const std::string id = AnyId();
    Model::Item item = AnyItem();
    AdoptionTerms terms = AnyTerms();
    terms.adopted = true;
    NoteUpkeep(id);
    const ItemTimes read = item.times;
    const bool knows_expire_at = *rc::gen::arbitrary<bool>();
    const Model::Item* known = model_.Find(id);
    if (!knows_expire_at && known != nullptr && !read.expire_at.has_value()) {
      item.times.expire_at = known->times.expire_at;
    }
    const auto adopted_until = model_.AdoptedUntil(id, item.times, terms.adopted, now_);
    ScannedItems& scanned = storage_->scanned_items();
    scanned.Begin(Number());
    scanned.BeginPage();
    const auto compared = Await<absl::StatusOr<std::vector<ScanComparison>>>([&](auto done) {
      scanned.Apply(Number(), {{KeyOf(id), {read, "", item.sequence, 0}}}, terms, knows_expire_at,
                    /*dry_run=*/false, std::move(done));
    });
    scanned.End();
    RC_ASSERT(compared.ok());
    const bool is_same = model_.IsSame(id, item);
    const bool is_older = !is_same && model_.IsOlder(id, item.times.ts, item.sequence);
    RC_ASSERT((compared->at(0).outcome == ScanOutcome::kSame) == is_same);
    RC_ASSERT((compared->at(0).outcome == ScanOutcome::kNewer) == is_older);
    // Whether it inherits, such a store cannot tell.
    const bool may_inherit_wrongly = !knows_expire_at && known == nullptr && has_expire_at_ &&
                                     !read.ttl.has_value() && !read.expire_at.has_value();
    if (may_inherit_wrongly) return RC_ASSERT(!storage_.FindItem("c", id).has_value());
    const bool is_put = is_same ? model_.SaysMore(id, item) : !is_older;
    if (is_put) ExpectPut(id, item, adopted_until);
  }

  void ConfirmStore() {
    RC_ASSERT(Await<absl::StatusOr<DataDoubt>>([&](auto done) {
                storage_->sidecar_state().ConfirmStore("store", std::move(done));
              }).ok());
    model_.BeginEpoch();
  }

  // All that was adopted is free from now on; what is adopted later is not.
  void ConfirmAdopted() {
    for (const auto& [id, item] : std::map(model_.items())) NoteUpkeep(id);
    const auto confirmed = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
      storage_->containers().ConfirmPolicy("c", "", absl::FromUnixSeconds(now_), std::move(done));
    });
    RC_ASSERT(confirmed.ok() == (model_.CountToConfirm() > 0));
    if (!confirmed.ok()) return;
    const int64_t freed_until = (*confirmed)->adoption.freed_until;
    for (const auto& [id, item] : model_.items()) RC_ASSERT(item.adopted_until <= freed_until);
    model_.Free(freed_until, now_);
  }

  void Untrack() {
    const std::string id = AnyId();
    const std::optional<uint64_t> sequence = AnySequence();
    const bool is_older = model_.IsOlder(id, now_, sequence);
    const UntrackOutcome outcome = storage_.UntrackOne("c", id, now_, sequence);
    RC_ASSERT((outcome == UntrackOutcome::kStale) == is_older);
    RC_ASSERT((outcome == UntrackOutcome::kUntracked) == (!is_older && model_.Find(id) != nullptr));
    if (!is_older) model_.Forget(id);
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

  uint64_t Number() { return storage_.Find("c")->number; }

  StorageForTest storage_;
  Model model_;
  int64_t now_ = kStart;
  bool has_expire_at_ = false;  // an item has ever had one
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
