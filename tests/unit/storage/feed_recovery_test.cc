// Feeds in backups, after a restore, a repair and damage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/options.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/recovery.h"
#include "service/storage/upkeep/verifier.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A storage on disk with a container "c", whose feed has a subscription "s" and the EXPIRED of its
// item "a".
class FeedRecoveryTest : public testing::Test {
 protected:
  FeedRecoveryTest() {
    Open("data");
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    settings.feed = FeedSettings();
    EXPECT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  storage_->containers().Create("c", settings, kTestNow, std::move(done));
                }).ok());
    EXPECT_TRUE(Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
                  Subscription subscription;
                  subscription.name = "s";
                  storage_->feed().Subscribe("c", subscription, kTestNow, std::move(done));
                }).ok());
    Track("a");
  }

  StorageOptions OptionsFor(const std::string& name) const {
    StorageOptions options;
    options.directory = temp_.File(name);
    options.report_floor_bytes = 0;
    options.outcome_floor_bytes = 0;
    return options;
  }
  void Open(const std::string& name) {
    storage_.reset();
    storage_ = Storage::Open(OptionsFor(name)).value();
    storage_->feed().SetClock([] { return FeedMoment{kTestNow, kTestNow}; });
  }
  ContainerPtr Find() { return storage_->containers().Find("c"); }
  void Track(const std::string& key) {
    EXPECT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                  storage_->items().Track(Find()->number,
                                          {{KeyOf(key), {{kT - 100, {}}, "", {}, 0}}},
                                          AdoptionTerms(), std::move(done));
                }).ok());
  }
  void Untrack(const std::string& key) {
    EXPECT_TRUE(
        Await<absl::StatusOr<std::vector<UntrackOutcome>>>([&](auto done) {
          storage_->items().Untrack(Find()->number, {{KeyOf(key), kT, {}}}, std::move(done));
        }).ok());
  }
  bool IsAnnounced(const std::string& key) {
    const auto item = storage_->items().Find(Find()->number, KeyOf(key)).value();
    return item.has_value() && Find()->feed.IsAnnounced(item->expired_sequence);
  }
  absl::StatusOr<std::vector<EventKind>> Kinds(uint64_t after) {
    FeedQuery query;
    query.containers = {Find()};
    query.after = after;
    const absl::StatusOr<FeedPage> page = storage_->feed().Read(query);
    if (!page.ok()) return page.status();
    std::vector<EventKind> kinds;
    for (const FeedPage::Entry& entry : page->entries) kinds.push_back(entry.event.kind);
    return kinds;
  }
  uint64_t Epoch() { return storage_->feed().EpochOf(*Find()); }
  SubscriptionView View() { return storage_->feed().Find("c", "s").value(); }
  void BackUp() {
    const auto backup = storage_->StartBackup(kTestNow).value();
    std::ofstream file(temp_.File("backup"), std::ios::binary);
    for (std::string next = *backup->Next(); !next.empty(); next = *backup->Next()) file << next;
  }
  // Changes one record of the closed database.
  void ChangeRecord(const std::string& key, const std::string& value) {
    storage_.reset();
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, temp_.File("data"), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    ASSERT_TRUE(database->Put({}, key, value).ok());
  }
  void TrackMany(int count) {
    for (int i = 0; i < count; ++i) Track(NameOf(i));
  }
  // So long that each event behind another one has a block of its own.
  static std::string NameOf(int i) { return absl::StrCat("key", 1000 + i, std::string(1000, 'k')); }
  // Closes the database, whose records are in one file then, in the order of their keys.
  void CompactAll() {
    storage_.reset();
    leveldb::Options options;
    options.compression = leveldb::kNoCompression;
    options.block_size = 1024;  // the least
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, temp_.File("data"), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    database->CompactRange(nullptr, nullptr);
  }
  // Closes the database and damages the block that has the event of this item. The table of events
  // comes before the others that name it.
  void DamageEventOf(int item) {
    storage_.reset();
    ASSERT_TRUE(DamageFirst(NameOf(item)));
  }
  bool DamageFirst(const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator(temp_.File("data"))) {
      if (entry.path().extension() != ".ldb") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      const size_t at = bytes.find(text);
      if (at == std::string::npos) continue;
      file.seekp(static_cast<std::streamoff>(at));
      file.put('K');
      return static_cast<bool>(file.flush());
    }
    return false;
  }
  // Reads the log to its end in small pages, as "EXPIRED" and "RESYNC" without repetitions, and
  // counts the events.
  std::vector<EventKind> ReadToEnd(size_t& expired) {
    FeedQuery query;
    query.containers = {Find()};
    query.max_events = 7;
    query.after = storage_->feed().Figures(*Find()).dropped_sequence;
    std::vector<EventKind> kinds;
    for (bool more = true; more;) {
      const absl::StatusOr<FeedPage> page = storage_->feed().Read(query);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return kinds;
      for (const auto& [container, event] : page->entries) {
        EXPECT_GT(event.sequence, query.after);
        query.after = event.sequence;
        if (event.kind == EventKind::kExpired) ++expired;
        if (kinds.empty() || kinds.back() != event.kind) kinds.push_back(event.kind);
      }
      query.after = page->reached;
      more = page->more;
    }
    return kinds;
  }
  void DropAll() {
    storage_->feed().SetClock([] {
      const absl::Time later = kTestNow + absl::Hours(100);
      return FeedMoment{later, later};
    });
    for (int i = 0; i < 20; ++i) storage_->RunHousekeeping();
  }
  std::vector<std::string> Verify() {
    const auto verifier = storage_->StartVerification();
    while (verifier->Step() != Verifier::Next::kEnd) {
    }
    return verifier->TakeProblems();
  }

  TempDir temp_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(FeedRecoveryTest, ARestoredLogIsAnotherLogWithTheSameEvents) {
  const uint64_t epoch = Epoch();
  BackUp();
  ASSERT_TRUE(RestoreBackup(temp_.File("backup"), OptionsFor("restored"), kTestNow).ok());
  Open("restored");
  EXPECT_NE(Epoch(), epoch);
  EXPECT_TRUE(IsAnnounced("a"));
  EXPECT_THAT(*Kinds(0), ElementsAre(EventKind::kExpired));
  EXPECT_FALSE(View().has_lost_events);
  Untrack("a");
  EXPECT_THAT(*Kinds(0), ElementsAre(EventKind::kExpired, EventKind::kGone));
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  EXPECT_THAT(Verify(), IsEmpty());
}

TEST_F(FeedRecoveryTest, ARepairBeginsTheLogAnewAndKeepsSubscriptions) {
  const uint64_t epoch = Epoch();
  const uint64_t last = storage_->feed().LastSequence();
  storage_.reset();
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  Open("repaired");
  EXPECT_NE(Epoch(), epoch);
  EXPECT_TRUE(IsAnnounced("a"));
  EXPECT_EQ(ReasonOf(Kinds(last).status()), "EVENTS_DROPPED");
  EXPECT_TRUE(View().has_lost_events);
  Untrack("a");
  EXPECT_THAT(*Kinds(storage_->feed().Figures(*Find()).dropped_sequence),
              ElementsAre(EventKind::kGone));
  EXPECT_GT(storage_->feed().LastSequence(), last);
  while (storage_->RunHousekeeping()) {
  }
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  EXPECT_THAT(Verify(), IsEmpty());
}

TEST_F(FeedRecoveryTest, ARepairDoesNotBringBackAFeedThatWasSwitchedOff) {
  const ContainerPtr on = Find();
  storage_.reset();
  // As if the container were older than the purge.
  ChangeRecord(PurgeKey(on->feed.number), "");
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  Open("repaired");
  EXPECT_FALSE(Find()->feed.is_on());
  while (storage_->RunHousekeeping()) {
  }
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
}

TEST_F(FeedRecoveryTest, ASubscriptionThatCannotBeReadIsLeftOutAndReported) {
  ChangeRecord(SubscriptionKey(Find()->feed.number, "s"), "\xff");
  Open("data");
  EXPECT_THAT(storage_->Problems(),
              ElementsAre(HasSubstr("subscription \"s\" of container \"c\"")));
  EXPECT_FALSE(storage_->feed().Find("c", "s").has_value());
  EXPECT_THAT(*Kinds(0), ElementsAre(EventKind::kExpired));
  EXPECT_THAT(Verify(), ElementsAre(HasSubstr("subscription")));
}

// The same with a gate "g" that has acknowledged the EXPIRED of "a".
class GateRecoveryTest : public FeedRecoveryTest {
 protected:
  GateRecoveryTest() {
    CreateGate();
    told_ = (*storage_->items().Find(Find()->number, KeyOf("a")))->expired_sequence;
    EXPECT_TRUE(Await<absl::StatusOr<uint64_t>>([&](auto done) {
                  storage_->feed().Acknowledge("c", "g", Epoch(), told_, std::move(done));
                }).ok());
    EXPECT_TRUE(Gates().LetsPass(told_));
  }
  void CreateGate() {
    EXPECT_TRUE(Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
                  Subscription gate;
                  gate.name = "g";
                  gate.gate = true;
                  storage_->feed().Subscribe("c", gate, kTestNow, std::move(done));
                }).ok());
  }
  GateView Gates() { return storage_->feed().Gates(*Find()); }
  int64_t SetAside(const std::string& key) {
    const auto item = storage_->items().Find(Find()->number, KeyOf(key)).value();
    return Await<absl::StatusOr<int64_t>>([&](auto done) {
             storage_->feed().SetAside(Find()->number, {{KeyOf(key), item->generation, false}},
                                       std::move(done));
           })
        .value();
  }
  std::string StoredFormat() {
    storage_.reset();
    leveldb::DB* opened = nullptr;
    EXPECT_TRUE(leveldb::DB::Open({}, temp_.File("data"), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    std::string format;
    EXPECT_TRUE(database->Get({}, MetaKey("format"), &format).ok());
    return format;
  }

  uint64_t told_ = 0;
};

TEST_F(FeedRecoveryTest, WithoutAGateTheFormatOfTheDataIsThatOfFeeds) {
  storage_.reset();
  leveldb::DB* opened = nullptr;
  ASSERT_TRUE(leveldb::DB::Open({}, temp_.File("data"), &opened).ok());
  const std::unique_ptr<leveldb::DB> database(opened);
  std::string format;
  EXPECT_TRUE(database->Get({}, MetaKey("format"), &format).ok());
  EXPECT_EQ(format, "4");
}

TEST_F(GateRecoveryTest, TheFirstGateRaisesTheFormatOfTheData) { EXPECT_EQ(StoredFormat(), "6"); }

TEST_F(GateRecoveryTest, ARestoredGateHasAcknowledgedWhatTheBackupSays) {
  BackUp();
  ASSERT_TRUE(RestoreBackup(temp_.File("backup"), OptionsFor("restored"), kTestNow).ok());
  Open("restored");
  EXPECT_TRUE(Gates().has_gates);
  EXPECT_TRUE(Gates().LetsPass(told_));
  EXPECT_FALSE(Gates().LetsPass(told_ + 1));
}

TEST_F(GateRecoveryTest, AfterARepairEverythingIsAnnouncedAgain) {
  EXPECT_EQ(SetAside("a"), 0);
  Track("b");
  EXPECT_EQ(SetAside("b"), 1);
  storage_.reset();
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  Open("repaired");
  EXPECT_FALSE(Gates().LetsPass(told_));
  while (storage_->RunHousekeeping()) {
  }
  EXPECT_EQ(SetAside("a"), 1);
  EXPECT_EQ(SetAside("b"), 1);
  EXPECT_THAT(*Kinds(storage_->feed().Figures(*Find()).dropped_sequence),
              ElementsAre(EventKind::kExpired, EventKind::kExpired));
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  EXPECT_THAT(Verify(), IsEmpty());
}

TEST_F(GateRecoveryTest, WhereAGateCannotBeReadNothingPassesUntilItIsCreatedAgain) {
  ChangeRecord(SubscriptionKey(Find()->feed.number, "g"), "\xff");
  Open("data");
  EXPECT_TRUE(Gates().has_gates);
  EXPECT_FALSE(Gates().LetsPass(told_));
  EXPECT_EQ(SetAside("a"), 1);
  while (storage_->RunHousekeeping()) {
  }
  EXPECT_TRUE(storage_->feed().HasWaiting(*Find()));
  CreateGate();
  EXPECT_FALSE(Gates().LetsPass(told_)) << "it begins anew";
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                storage_->feed().Unsubscribe("c", "g", std::move(done));
              }).ok());
  EXPECT_TRUE(Gates().LetsPass(told_));
}

TEST_F(GateRecoveryTest, WhatAReaderCannotReadIsAnnouncedAgain) {
  Track("b");
  const uint64_t announced =
      (*storage_->items().Find(Find()->number, KeyOf("b")))->expired_sequence;
  ChangeRecord(EventKey(Find()->feed.number, announced), "\xff");
  Open("data");
  EXPECT_THAT(*Kinds(told_), ElementsAre(EventKind::kResync));
  ASSERT_TRUE(Await<absl::StatusOr<uint64_t>>([&](auto done) {
                storage_->feed().Acknowledge("c", "g", Epoch(), announced, std::move(done));
              }).ok());
  EXPECT_FALSE(Gates().LetsPass(announced));
  Open("data");
  EXPECT_FALSE(Gates().LetsPass(announced)) << "it was stored with the acknowledgement";
  EXPECT_EQ(SetAside("b"), 1);
  EXPECT_THAT(*Kinds(announced), ElementsAre(EventKind::kExpired));
}

TEST_F(GateRecoveryTest, NoGateIsGivenUpForAnEventThatCannotBeReadBeforeALaterOneIsOldEnough) {
  ASSERT_TRUE(Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
                Subscription gate;
                gate.name = "patient";
                gate.gate = true;
                gate.give_up_after_seconds = 3600;
                storage_->feed().Subscribe("c", gate, kTestNow, std::move(done));
              }).ok());
  ChangeRecord(EventKey(Find()->feed.number, told_), "\xff");
  Open("data");
  Track("b");
  while (storage_->RunHousekeeping()) {
  }
  EXPECT_EQ(storage_->feed().Find("c", "patient")->given_up_sequence, 0);
  EXPECT_FALSE(Gates().LetsPass(told_));
}

TEST_F(GateRecoveryTest, ARepairSaysThatAGateIsMissing) {
  ChangeRecord(SubscriptionKey(Find()->feed.number, "g"), "\xff");
  const auto report = RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->losses, testing::Contains(HasSubstr("a gated subscription of container c")));
}

TEST_F(GateRecoveryTest, EventsThatWereLostAtTheEndOfALogAreAnnouncedAgain) {
  TrackMany(2);
  CompactAll();
  DamageEventOf(1);
  Open("data");
  const uint64_t end = storage_->feed().LastSequence();
  EXPECT_EQ(Gates().again_up_to, end);
  EXPECT_EQ(SetAside(NameOf(1)), 1);
  EXPECT_THAT(*Kinds(end), ElementsAre(EventKind::kExpired));
  storage_->RunHousekeeping();
  Open("data");
  EXPECT_GE(Gates().again_up_to, end) << "it was stored";
}

TEST_F(FeedRecoveryTest, AnEventThatCannotBeReadIsReadAsResync) {
  const uint64_t sequence = (*storage_->items().Find(Find()->number, KeyOf("a")))->expired_sequence;
  ChangeRecord(EventKey(Find()->feed.number, sequence), "\xff");
  Open("data");
  Track("b");
  EXPECT_THAT(*Kinds(0), ElementsAre(EventKind::kResync, EventKind::kExpired));
  EXPECT_THAT(Verify(), testing::Contains(HasSubstr("event")));
}

// Damages of the log of 200 events, and what is read of it then.
TEST_F(FeedRecoveryTest, DamageOfALogIsReadAsResyncAndDroppedInTime) {
  constexpr auto kE = EventKind::kExpired;
  constexpr auto kR = EventKind::kResync;
  TrackMany(200);
  const uint64_t last = storage_->feed().LastSequence();
  const uint64_t epoch = Epoch();
  CompactAll();
  struct Case {
    int item;
    std::vector<EventKind> kinds;
    size_t expired;
    bool is_problem;
  };
  // One damage after another, the last one at the end of the log.
  for (const Case& test :
       {Case{150, {kE, kR, kE}, 200, false}, Case{50, {kE, kR, kE, kR, kE}, 199, false},
        Case{199, {kE, kR, kE, kR, kE, kR}, 198, true}}) {
    SCOPED_TRACE(test.item);
    DamageEventOf(test.item);
    Open("data");
    EXPECT_EQ(storage_->Problems().size(), test.is_problem ? 1 : 0);
    size_t expired = 0;
    EXPECT_EQ(ReadToEnd(expired), test.kinds);
    EXPECT_EQ(expired, test.expired);
  }
  EXPECT_THAT(storage_->Problems(), ElementsAre(HasSubstr("container \"c\"")));
  EXPECT_EQ(Epoch(), epoch);
  EXPECT_FALSE(View().has_lost_events);
  const uint64_t end = storage_->feed().LastSequence();
  EXPECT_GT(end, last);
  Track("new");
  Track("next");
  EXPECT_THAT(*Kinds(end), ElementsAre(kE, kE));
  Open("data");
  Track("newer");
  size_t expired = 0;
  EXPECT_THAT(ReadToEnd(expired), ElementsAre(kE, kR, kE, kR, kE, kR, kE, kR, kE));
  DropAll();
  EXPECT_EQ(storage_->feed().Figures(*Find()).events, 0);
  EXPECT_EQ(storage_->feed().Figures(*Find()).bytes, 0);
  EXPECT_TRUE(View().has_lost_events);
  EXPECT_THAT(ReadToEnd(expired), IsEmpty());
  Track("newest");
  EXPECT_THAT(ReadToEnd(expired), ElementsAre(kE));
}

TEST_F(FeedRecoveryTest, DamageAtTheEndOfALogIsPassedAndDropped) {
  TrackMany(2);
  CompactAll();
  DamageEventOf(1);
  Open("data");
  size_t expired = 0;
  EXPECT_THAT(ReadToEnd(expired), ElementsAre(EventKind::kExpired, EventKind::kResync));
  EXPECT_TRUE(storage_->feed().CountBehind(*Find(), 0, 10)->is_lower_bound);
  DropAll();
  EXPECT_THAT(ReadToEnd(expired), IsEmpty());
  Track("b");
  EXPECT_THAT(ReadToEnd(expired), ElementsAre(EventKind::kExpired));
}

TEST_F(FeedRecoveryTest, ARepairErasesAllEventsWhateverTheirNumber) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < 5000; ++i) {
    reports.push_back({KeyOf(absl::StrCat("many", i)), {{kT - 100, {}}, "", {}, 0}});
  }
  ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                storage_->items().Track(Find()->number, reports, AdoptionTerms(), std::move(done));
              }).ok());
  storage_.reset();
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  leveldb::DB* opened = nullptr;
  ASSERT_TRUE(leveldb::DB::Open({}, temp_.File("repaired"), &opened).ok());
  const std::unique_ptr<leveldb::DB> database(opened);
  const std::unique_ptr<leveldb::Iterator> events(database->NewIterator({}));
  events->Seek({&kEventTable, 1});
  EXPECT_FALSE(events->Valid() && events->key()[0] == kEventTable);
}

}  // namespace
}  // namespace ttl
