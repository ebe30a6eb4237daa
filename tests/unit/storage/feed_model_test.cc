// The log of a feed against a model: what it has is what the rules say, in their order, whatever
// happens in which order: restarts, the feed switched off, the container created again, and, with
// files, restored backups and repairs. No sequence is used twice in one log, another log has
// another epoch, what is stored is consistent, so that each EXPIRED ends in at most one event and
// is the one of its item until then, and an older program refuses the data exactly if there was a
// feed.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/recovery.h"
#include "tests/testing/feed_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

constexpr int64_t kMaxAge = 500;

// Any of them, whatever the size of the test case, on which inRange() alone depends.
int64_t Below(int64_t bound) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(0, bound));
}

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

// What the model knows of the data, so what a backup of it brings back.
struct ModelData {
  int64_t default_ttl = 60;
  int64_t policy_time = 0;
  bool is_on = false;   // the feed
  bool was_on = false;  // it, or an earlier one
  bool was_repaired = false;
  bool in_doubt = false;
  std::optional<uint64_t> acknowledged = {};  // of the subscription; absent: there is none
  std::map<std::string, ModelItem> items;
  std::vector<ModelEvent> log;      // of all feeds of the container
  std::vector<uint64_t> sequences;  // of the events read
  uint64_t read = 0;                // the last of them, or what was dropped by a repair
};

// Runs in memory, or in directories of its own in `files`.
class FeedRun {
 public:
  explicit FeedRun(const TempDir* files) : files_(files), feeds_(OptionsIn(Directory())) {
    Create();
  }

  void Step() {
    switch (Below(18)) {
      case 0:
      case 1:
      case 2:
        return Track(AnyId(), feeds_.now - Below(40));
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
        feeds_.is_judging = !data_.in_doubt && Below(3) != 0;
        return;
      case 15:
        return UseSubscription();
      case 16:
        return Below(3) == 0 ? CreateAgain() : Switch();
      case 17:
        return Recover();
      default:
        if (Below(2) == 0) Reopen();
        for (int64_t i = Below(4); i > 0; --i) feeds_.storage()->RunHousekeeping();
    }
  }

  // Reads on, and compares.
  void Check() {
    if (data_.is_on) CheckLog();
    for (const auto& [id, item] : data_.items) {
      RC_ASSERT(feeds_.IsAnnounced("c", id) == item.announced.has_value());
    }
    CheckSubscription();
    RC_ASSERT(feeds_.storage()->CheckInvariants() == absl::OkStatus());
  }

  // Once all is announced and revived and no state is unknown, exactly the items that are expired
  // are announced.
  void CheckNothingIsForgotten() {
    if (!data_.is_on) Switch();
    Trust();
    feeds_.is_judging = true;
    feeds_.now += 2000;
    Announce();
    Revive();
    feeds_.is_judging = *rc::gen::arbitrary<bool>();
    for (const std::string& id : Ids()) TrackAgain(id);
    feeds_.is_judging = true;
    Announce();
    Check();
    for (const auto& [id, item] : data_.items)
      RC_ASSERT(item.announced.has_value() == IsExpired(item));
    feeds_.storage().FinishHousekeeping();
    int64_t announced = 0;
    for (const auto& [id, item] : data_.items) announced += item.announced.has_value() ? 1 : 0;
    RC_ASSERT(feeds_.feed().Figures(*feeds_.Find("c")).announced_items == announced);
  }

 private:
  static FeedSettings Settings() {
    FeedSettings settings;
    settings.max_age_seconds = kMaxAge;
    return settings;
  }
  static StorageOptions OptionsIn(const std::string& directory) {
    StorageOptions options;
    options.directory = directory;
    options.report_floor_bytes = 0;
    options.outcome_floor_bytes = 0;
    return options;
  }
  // Empty in memory.
  std::string Directory() const {
    return files_ == nullptr ? "" : files_->File(absl::StrCat(part_));
  }

  void CheckLog() {
    RC_ASSERT(feeds_.feed().EpochOf(*feeds_.Find("c")) == epoch_);
    for (const FeedEvent& event : feeds_.Events("c", data_.read)) {
      const size_t place = data_.sequences.size();
      RC_ASSERT(event.sequence > data_.read);
      data_.read = event.sequence;
      data_.sequences.push_back(event.sequence);
      RC_ASSERT(place < data_.log.size());
      const ModelEvent& expected = data_.log[place];
      RC_ASSERT(event.kind == expected.kind);
      RC_ASSERT(event.key.id == expected.id);
      RC_ASSERT(event.late == expected.late);
      RC_ASSERT(event.superseded == expected.superseded);
      const uint64_t ends = expected.ends.has_value() ? data_.sequences[*expected.ends] : 0;
      RC_ASSERT(event.expired_sequence == ends);
    }
    RC_ASSERT(data_.sequences.size() == data_.log.size());
  }

  // What is kept is the end of what was read.
  void CheckKept() {
    if (!data_.is_on) return;
    const std::vector<FeedEvent> kept = feeds_.Events("c", Dropped());
    RC_ASSERT(kept.size() <= data_.sequences.size());
    const size_t first = data_.sequences.size() - kept.size();
    for (size_t i = 0; i < kept.size(); ++i) {
      RC_ASSERT(kept[i].sequence == data_.sequences[first + i]);
      RC_ASSERT(kept[i].kind == data_.log[first + i].kind);
    }
  }

  void CheckSubscription() {
    const auto view = feeds_.feed().Find("c", "s");
    RC_ASSERT(view.has_value() == data_.acknowledged.has_value());
    if (!view.has_value()) return;
    RC_ASSERT(view->subscription.acknowledged_sequence == *data_.acknowledged);
    const auto is_lost = [&](uint64_t sequence) {
      return sequence > *data_.acknowledged && sequence <= Dropped();
    };
    const bool has_lost = std::any_of(data_.sequences.begin(), data_.sequences.end(), is_lost);
    // A repair cannot know what it has lost.
    RC_ASSERT(view->has_lost_events == has_lost || (view->has_lost_events && data_.was_repaired));
  }

  uint64_t Dropped() { return feeds_.feed().Figures(*feeds_.Find("c")).dropped_sequence; }

  // Another log than any before.
  void NoteNewEpoch() {
    if (!data_.is_on) return;
    epoch_ = feeds_.feed().EpochOf(*feeds_.Find("c"));
    RC_ASSERT(epochs_.insert(epoch_).second);
  }

  // --- The container, the feed and the subscription ---

  void Create() {
    const bool is_on = Below(4) != 0;
    feeds_.Create("c", 60, is_on ? std::optional<FeedSettings>(Settings()) : std::nullopt);
    data_.default_ttl = 60;
    data_.policy_time = 0;
    data_.items.clear();
    data_.acknowledged.reset();
    NoteSwitch(is_on);
  }

  void CreateAgain() {
    const auto erase = [&](bool force) {
      return Await<absl::Status>([&](auto done) {
        feeds_.storage()->containers().Delete("c", "", force, std::move(done));
      });
    };
    if (data_.acknowledged.has_value()) RC_ASSERT(!erase(/*force=*/false).ok());
    RC_ASSERT(erase(data_.acknowledged.has_value()).ok());
    Create();
  }

  void Switch() {
    if (data_.acknowledged.has_value()) RC_ASSERT(!feeds_.SetFeed("c", std::nullopt).ok());
    const bool is_on = !data_.is_on;
    const auto settings = is_on ? std::optional<FeedSettings>(Settings()) : std::nullopt;
    RC_ASSERT(feeds_.SetFeed("c", settings, data_.acknowledged.has_value()).ok());
    data_.acknowledged.reset();
    data_.policy_time = feeds_.now;
    for (auto& [id, item] : data_.items) item.announced.reset();
    NoteSwitch(is_on);
  }

  void NoteSwitch(bool is_on) {
    data_.is_on = is_on;
    data_.was_on = data_.was_on || is_on;
    NoteNewEpoch();
  }

  void UseSubscription() {
    if (!data_.is_on) return;
    if (!data_.acknowledged.has_value()) {
      const auto created = feeds_.Subscribe("c", "s");
      RC_ASSERT(created.ok());
      data_.acknowledged = created->subscription.acknowledged_sequence;
      // It begins behind the last event, and what comes later is behind that.
      RC_ASSERT(*data_.acknowledged >= data_.read);
      data_.read = *data_.acknowledged;
      return;
    }
    if (data_.sequences.empty()) return;
    const uint64_t sequence = *rc::gen::elementOf(data_.sequences);
    RC_ASSERT(!feeds_.Acknowledge("c", "s", sequence, epoch_ + 1).ok());
    const auto done = feeds_.Acknowledge("c", "s", sequence);
    RC_ASSERT(done.ok());
    data_.acknowledged = std::max(*data_.acknowledged, sequence);
    RC_ASSERT(*done == *data_.acknowledged);
  }

  // --- The files ---

  // An older program refuses them from the first feed on.
  void Reopen() {
    const auto records = feeds_.storage().Records(MetaKey(kDataFormatFact));
    int64_t format = kFirstDataFormat;
    if (!records.empty()) RC_ASSERT(absl::SimpleAtoi(records[0].second, &format));
    RC_ASSERT((format >= kFeedDataFormat) == data_.was_on);
    feeds_.Reopen();
  }

  void Recover() {
    if (data_.in_doubt && Below(2) == 0) return Trust();
    if (files_ == nullptr) return Reopen();
    switch (Below(3)) {
      case 0:
        return BackUp();
      case 1:
        return backup_.has_value() ? Restore() : BackUp();
      default:
        return Repair();
    }
  }

  void BackUp() {
    const auto backup = feeds_.storage()->StartBackup(absl::FromUnixSeconds(feeds_.now)).value();
    std::ofstream file(files_->File("backup"), std::ios::binary);
    for (std::string next = *backup->Next(); !next.empty(); next = *backup->Next()) file << next;
    backup_ = data_;
  }

  void Restore() {
    feeds_.storage().Close();
    ++part_;
    RC_ASSERT(RestoreBackup(files_->File("backup"), OptionsIn(Directory()),
                            absl::FromUnixSeconds(feeds_.now))
                  .ok());
    data_ = *backup_;
    GoOn();
    CheckKept();
  }

  // Perhaps of a log whose events were all dropped, so that no event has its last sequence.
  void Repair() {
    if (Below(2) == 0) {
      feeds_.now += 2 * kMaxAge;
      feeds_.storage().FinishHousekeeping();
    }
    const std::string damaged = Directory();
    feeds_.storage().Close();
    ++part_;
    RC_ASSERT(RepairCopy(damaged, OptionsIn(Directory()), absl::FromUnixSeconds(feeds_.now)).ok());
    data_.was_repaired = true;
    GoOn();
    if (!data_.is_on) return;
    RC_ASSERT(Dropped() >= data_.read);
    data_.read = Dropped();
    RC_ASSERT(feeds_.Events("c", Dropped()).empty());
  }

  void GoOn() {
    feeds_.ReopenIn(Directory());
    data_.in_doubt = true;
    feeds_.is_judging = false;
    NoteNewEpoch();
  }

  // The data has been compared with the store.
  void Trust() {
    SidecarState& state = feeds_.storage()->sidecar_state();
    const auto doubt = state.LoadDataDoubt();
    RC_ASSERT(doubt.ok() && doubt->has_value() == data_.in_doubt);
    if (!data_.in_doubt) return;
    RC_ASSERT(Await<absl::Status>([&](auto done) {
                state.ClearDataDoubt((*doubt)->reason, std::move(done));
              }).ok());
    data_.in_doubt = false;
    feeds_.is_judging = true;
    if (data_.is_on) data_.log.push_back({EventKind::kResync, ""});
  }

  // --- Items ---

  static std::string AnyId() { return absl::StrCat(Below(4)); }
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, item] : data_.items) ids.push_back(id);
    return ids;
  }

  bool IsExpired(const ModelItem& item) const {
    return data_.default_ttl != kNeverExpires && item.ts + data_.default_ttl <= feeds_.now;
  }
  void Tell(const std::string& id, ModelItem& item, bool late) {
    if (!data_.is_on || item.unknown || item.announced.has_value()) return;
    if (!feeds_.is_judging || !IsExpired(item)) return;
    item.announced = data_.log.size();
    const bool by_policy = item.ts + data_.default_ttl <= data_.policy_time;
    data_.log.push_back({EventKind::kExpired, id, late || by_policy});
  }
  // The version ends.
  void End(const std::string& id, EventKind kind) {
    ModelItem& item = data_.items.at(id);
    Tell(id, item, false);
    if (item.announced.has_value()) data_.log.push_back({kind, id, false, item.announced});
    item.announced.reset();
  }

  void Track(const std::string& id, int64_t ts) {
    RC_ASSERT(feeds_.storage().Track("c", {{KeyOf(id), {{ts, {}}, "", {}, 0}}}).ok());
    const auto it = data_.items.find(id);
    if (it != data_.items.end() && ts == it->second.ts) return LearnState(id);
    if (it != data_.items.end() && ts < it->second.ts && !it->second.unknown) return;
    if (it != data_.items.end()) End(id, EventKind::kReplaced);
    data_.items[id] = {ts};
    Tell(id, data_.items[id], true);
  }

  void TrackAgain(const std::string& id) {
    const auto it = data_.items.find(id);
    if (it != data_.items.end()) Track(id, it->second.ts);
  }

  // The same version is reported.
  void LearnState(const std::string& id) {
    ModelItem& item = data_.items.at(id);
    if (!std::exchange(item.unknown, false)) return;
    if (!feeds_.is_judging && item.announced.has_value()) End(id, EventKind::kReplaced);
    ReviveOne(id, item);
    Tell(id, item, true);
  }

  void ReviveOne(const std::string& id, ModelItem& item) {
    if (item.unknown || !item.announced.has_value() || !feeds_.is_judging || IsExpired(item))
      return;
    data_.log.push_back(
        {EventKind::kRevived, id, false, std::exchange(item.announced, std::nullopt)});
  }

  void Untrack(const std::string& id) {
    feeds_.storage().UntrackOne("c", id, ItemRemoval::kNewerThanAnyTs);
    if (!data_.items.contains(id)) return;
    End(id, EventKind::kGone);
    data_.items.erase(id);
  }

  void Announce() {
    feeds_.Announce("c", Ids());
    for (auto& [id, item] : data_.items) Tell(id, item, false);
  }

  void Revive() {
    feeds_.Revive("c", Ids());
    for (auto& [id, item] : data_.items) ReviveOne(id, item);
  }

  // A delete of an item that is announced, or whose state is unknown, was sent, and this is its
  // outcome.
  void Sweep(const std::string& id) {
    using Kind = DeleteReport::Kind;
    const auto it = data_.items.find(id);
    if (it == data_.items.end() || !(it->second.announced.has_value() || it->second.unknown))
      return;
    const std::optional<size_t> announced = it->second.announced;
    DeleteReport report = feeds_.Judge("c", id);
    switch (Below(6)) {
      case 0:
        it->second.unknown = false;  // the store had the version
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/true);
        End(id, EventKind::kPurged);
        data_.items.erase(id);
        return;
      case 1:
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/false);
        End(id, EventKind::kGone);
        data_.items.erase(id);
        return;
      case 2:
        report.current.times.ts = feeds_.now + 1;
        feeds_.Apply("c", report, Kind::kModified, /*deleted=*/false);
        End(id, EventKind::kReplaced);
        data_.items[id] = {feeds_.now + 1};
        Tell(id, data_.items[id], true);
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
          data_.log.push_back({EventKind::kPurged, id, false, announced, !stands});
        if (stands) it->second.announced.reset();
        return;
      }
      default:
        Track(id, it->second.ts + 1);
        feeds_.Apply("c", report, Kind::kGone, /*deleted=*/true);
        if (announced.has_value())
          data_.log.push_back({EventKind::kPurged, id, false, announced, true});
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
    if (default_ttl == data_.default_ttl) return;
    data_.default_ttl = default_ttl;
    data_.policy_time = feeds_.now;
    if (data_.is_on) data_.log.push_back({EventKind::kPolicyChanged, ""});
  }

  const TempDir* const files_;  // null: in memory
  int part_ = 0;                // the number of the directory in use
  FeedForTest feeds_;
  ModelData data_;
  std::optional<ModelData> backup_;
  uint64_t epoch_ = 0;  // of the present log
  std::set<uint64_t> epochs_;
};

void RunSteps(FeedRun& run, int64_t most) {
  for (int64_t i = Below(most); i >= 0; --i) {
    run.Step();
    run.Check();
  }
  run.CheckNothingIsForgotten();
}

RC_GTEST_PROP(FeedModelTest, TheLogIsWhatTheRulesSay, ()) {
  FeedRun run(/*files=*/nullptr);
  RunSteps(run, 60);
}

RC_GTEST_PROP(FeedModelTest, TheLogIsWhatTheRulesSayAfterRestoresAndRepairs, ()) {
  const TempDir files;
  FeedRun run(&files);
  RunSteps(run, 25);
}

}  // namespace
}  // namespace ttl
