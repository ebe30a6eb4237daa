// The log of a feed against a model: what it has is what the rules say, in their order, whatever
// happens in which order, restarts included; no sequence is used twice, and what is stored is
// consistent, so that each EXPIRED ends in at most one event and is the one of its item until then.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "tests/testing/feed_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kMaxAge = 500;

struct ModelItem {
  int64_t ts = 0;
  std::optional<size_t> announced = {};  // the place of its EXPIRED in the log
  bool unknown = false;                  // its state
};

// What the model knows of an event.
struct ModelEvent {
  EventKind kind = EventKind::kExpired;
  std::string id;
  bool late = false;
  std::optional<size_t> ends = {};  // the place of an EXPIRED in the log
  bool superseded = false;
};

class FeedRun {
 public:
  FeedRun() {
    FeedSettings settings;
    settings.max_age_seconds = kMaxAge;
    feeds_.Create("c", default_ttl_, settings);
  }

  void Step() {
    switch (*rc::gen::inRange(0, 15)) {
      case 0:
      case 1:
      case 2:
        return Track(AnyId(), feeds_.now - *rc::gen::inRange<int64_t>(0, 40));
      case 14:
        return TrackAgain(AnyId());
      case 3:
        return Untrack(AnyId());
      case 4:
      case 5:
        return Announce();
      case 6:
        return Revive();
      case 7:
      case 8:
        return Sweep(AnyId());
      case 9:
        return SetTtl(*rc::gen::element<int64_t>(60, 5, -1, 1000));
      case 10:
      case 11:
        feeds_.now += *rc::gen::element<int64_t>(1, 5, 30, 100, 1000);
        return;
      case 12:
        feeds_.is_judging = *rc::gen::inRange(0, 3) != 0;
        return;
      default:
        if (*rc::gen::inRange(0, 2) == 0) feeds_.Reopen();
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i) feeds_.storage()->RunHousekeeping();
    }
  }

  // Reads on, and compares.
  void Check() {
    for (const FeedEvent& event : feeds_.Events("c", read_)) {
      const size_t place = sequences_.size();
      RC_ASSERT(event.sequence > read_);
      read_ = event.sequence;
      sequences_.push_back(event.sequence);
      RC_ASSERT(place < log_.size());
      const ModelEvent& expected = log_[place];
      RC_ASSERT(event.kind == expected.kind);
      RC_ASSERT(event.key.id == expected.id);
      RC_ASSERT(event.late == expected.late);
      RC_ASSERT(event.superseded == expected.superseded);
      const uint64_t ends = expected.ends.has_value() ? sequences_[*expected.ends] : 0;
      RC_ASSERT(event.expired_sequence == ends);
    }
    RC_ASSERT(sequences_.size() == log_.size());
    for (const auto& [id, item] : items_) {
      RC_ASSERT(feeds_.IsAnnounced("c", id) == item.announced.has_value());
    }
    RC_ASSERT(feeds_.storage()->CheckInvariants() == absl::OkStatus());
  }

  // Once all is announced and revived and no state is unknown, exactly the items that are expired
  // are announced.
  void CheckNothingIsForgotten() {
    feeds_.is_judging = true;
    feeds_.now += 2000;
    Announce();
    Revive();
    feeds_.is_judging = *rc::gen::arbitrary<bool>();
    for (const std::string& id : Ids()) TrackAgain(id);
    feeds_.is_judging = true;
    Announce();
    Check();
    for (const auto& [id, item] : items_) RC_ASSERT(item.announced.has_value() == IsExpired(item));
    feeds_.storage().FinishHousekeeping();
    int64_t announced = 0;
    for (const auto& [id, item] : items_) announced += item.announced.has_value() ? 1 : 0;
    RC_ASSERT(feeds_.feed().Figures(*feeds_.Find("c")).announced_items == announced);
  }

 private:
  static std::string AnyId() { return absl::StrCat(*rc::gen::inRange(0, 4)); }
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, item] : items_) ids.push_back(id);
    return ids;
  }

  bool IsExpired(const ModelItem& item) const {
    return default_ttl_ != kNeverExpires && item.ts + default_ttl_ <= feeds_.now;
  }
  void Tell(const std::string& id, ModelItem& item, bool late) {
    if (item.unknown || item.announced.has_value()) return;
    if (!feeds_.is_judging || !IsExpired(item)) return;
    item.announced = log_.size();
    const bool by_policy = item.ts + default_ttl_ <= policy_time_;
    log_.push_back({EventKind::kExpired, id, late || by_policy});
  }
  // The version ends.
  void End(const std::string& id, EventKind kind) {
    ModelItem& item = items_.at(id);
    Tell(id, item, false);
    if (item.announced.has_value()) log_.push_back({kind, id, false, item.announced});
    item.announced.reset();
  }

  void Track(const std::string& id, int64_t ts) {
    RC_ASSERT(feeds_.storage().Track("c", {{KeyOf(id), {{ts, {}}, "", {}, 0}}}).ok());
    const auto it = items_.find(id);
    if (it != items_.end() && ts == it->second.ts) return LearnState(id);
    if (it != items_.end() && ts < it->second.ts && !it->second.unknown) return;
    if (it != items_.end()) End(id, EventKind::kReplaced);
    items_[id] = {ts};
    Tell(id, items_[id], true);
  }

  void TrackAgain(const std::string& id) {
    const auto it = items_.find(id);
    if (it != items_.end()) Track(id, it->second.ts);
  }

  // The same version is reported.
  void LearnState(const std::string& id) {
    ModelItem& item = items_.at(id);
    if (!std::exchange(item.unknown, false)) return;
    if (!feeds_.is_judging && item.announced.has_value()) End(id, EventKind::kReplaced);
    ReviveOne(id, item);
    Tell(id, item, true);
  }

  void ReviveOne(const std::string& id, ModelItem& item) {
    if (item.unknown || !item.announced.has_value() || !feeds_.is_judging || IsExpired(item))
      return;
    log_.push_back({EventKind::kRevived, id, false, std::exchange(item.announced, std::nullopt)});
  }

  void Untrack(const std::string& id) {
    feeds_.storage().UntrackOne("c", id, ItemRemoval::kNewerThanAnyTs);
    if (!items_.contains(id)) return;
    End(id, EventKind::kGone);
    items_.erase(id);
  }

  void Announce() {
    feeds_.Announce("c", Ids());
    for (auto& [id, item] : items_) Tell(id, item, false);
  }

  void Revive() {
    feeds_.Revive("c", Ids());
    for (auto& [id, item] : items_) ReviveOne(id, item);
  }

  // A delete of an item that is announced, or whose state is unknown, was sent, and this is its
  // outcome.
  void Sweep(const std::string& id) {
    using Kind = DeleteReport::Kind;
    const auto it = items_.find(id);
    if (it == items_.end() || !(it->second.announced.has_value() || it->second.unknown)) return;
    const std::optional<size_t> announced = it->second.announced;
    DeleteReport report = feeds_.Judge("c", id);
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        it->second.unknown = false;  // the store had the version
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/true);
        End(id, EventKind::kPurged);
        items_.erase(id);
        return;
      case 1:
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/false);
        End(id, EventKind::kGone);
        items_.erase(id);
        return;
      case 2:
        report.current.times.ts = feeds_.now + 1;
        feeds_.Apply("c", report, Kind::kModified, /*deleted=*/false);
        End(id, EventKind::kReplaced);
        items_[id] = {feeds_.now + 1};
        Tell(id, items_[id], true);
        return;
      case 3:
        feeds_.Apply("c", report, Kind::kStateUnknown, /*deleted=*/false);
        it->second.unknown = true;
        return;
      case 4: {
        TrackAgain(id);
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/true);
        const bool stands = it->second.announced == announced;
        if (announced.has_value())
          log_.push_back({EventKind::kPurged, id, false, announced, !stands});
        if (stands) it->second.announced.reset();
        return;
      }
      default:
        Track(id, it->second.ts + 1);
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/true);
        if (announced.has_value()) log_.push_back({EventKind::kPurged, id, false, announced, true});
    }
  }

  void SetTtl(int64_t default_ttl) {
    const auto change = [default_ttl](const Container& present) {
      ContainerSettings next = present.settings;
      next.policy.default_ttl = default_ttl;
      return next;
    };
    RC_ASSERT(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                feeds_.storage()->containers().Update("c", change,
                                                      absl::FromUnixSeconds(feeds_.now),
                                                      absl::ZeroDuration(), false, std::move(done));
              }).ok());
    if (default_ttl == default_ttl_) return;
    default_ttl_ = default_ttl;
    policy_time_ = feeds_.now;
    log_.push_back({EventKind::kPolicyChanged, ""});
  }

  FeedForTest feeds_;
  int64_t default_ttl_ = 60;
  int64_t policy_time_ = 0;
  std::map<std::string, ModelItem> items_;
  std::vector<ModelEvent> log_;
  std::vector<uint64_t> sequences_;  // of the events read
  uint64_t read_ = 0;                // the last of them
};

RC_GTEST_PROP(FeedModelTest, TheLogIsWhatTheRulesSay, ()) {
  FeedRun run;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    run.Step();
    run.Check();
  }
  run.CheckNothingIsForgotten();
}

}  // namespace
}  // namespace ttl
