// Holds in backups, after a restore, a repair and damage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/base/done.h"
#include "service/storage/format/data_format.h"
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

// A storage on disk with two containers, "r" requires holds, with a hold on the key "a" each.
class HoldsRecoveryTest : public testing::Test {
 protected:
  HoldsRecoveryTest() {
    Open("data");
    Create("c", /*requires_holds=*/false);
    Create("r", /*requires_holds=*/true);
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
  }

  void Create(const std::string& id, bool requires_holds) {
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    settings.requires_holds = requires_holds;
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  storage_->containers().Create(id, settings, kTestNow, std::move(done));
                }).ok());
  }
  void Update(const std::string& id, bool requires_holds) {
    ContainerSettings settings = Find(id)->settings;
    settings.requires_holds = requires_holds;
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  storage_->containers().Update(
                      id, [settings](const Container&) { return settings; }, kTestNow,
                      absl::ZeroDuration(), /*force=*/false, std::move(done));
                }).ok());
  }
  ContainerPtr Find(const std::string& id) { return storage_->containers().Find(id); }
  void Track(const std::string& id, const std::string& key) {
    ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                  storage_->items().Track(Find(id)->number,
                                          {{KeyOf(key), {{kT - 100, {}}, "", {}, 0}}},
                                          AdoptionTerms(), std::move(done));
                }).ok());
  }
  void Place(const std::string& id, const std::string& hold_id, const std::string& key) {
    HoldRequest request;
    request.hold_id = hold_id;
    request.reason = "audit";
    request.scope = ItemsByKey{{KeyOf(key)}};
    ASSERT_TRUE(Await<absl::StatusOr<PlacedHold>>([&](auto done) {
                  storage_->holds().Place(id, request, kTestNow, std::move(done));
                }).ok());
  }
  void Release(const std::string& id, const std::string& hold_id) {
    ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                  storage_->holds().Release(id, hold_id, kTestNow, std::move(done));
                }).ok());
  }
  void Accept(const std::string& id) {
    ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                  storage_->holds().Accept(id, kTestNow, std::move(done));
                }).ok());
  }
  void SetAside(const std::string& id, const std::string& key) {
    const uint64_t number = Find(id)->number;
    const uint64_t generation = (*storage_->items().Find(number, KeyOf(key)))->generation;
    EXPECT_EQ(*Await<absl::StatusOr<int64_t>>([&](auto done) {
      storage_->holds().SetAside(number, {{KeyOf(key), generation}}, std::move(done));
    }),
              1);
  }
  absl::StatusOr<bool> IsHeld(const std::string& id, const std::string& key) {
    return storage_->holds().IsHeld(Find(id)->number, KeyOf(key));
  }
  bool InDoubt(const std::string& id) {
    return storage_->FactsForDeletes(Find(id)->number).holds_in_doubt;
  }
  size_t CountDue(const std::string& id) {
    const DueRule rule = ComputeDueRule(Find(id)->settings.policy, {}, kTestNow);
    return storage_->expiry_index().ScanDue(*Find(id), rule, kT, {100, 100})->due.size();
  }
  void FinishHousekeeping() {
    while (storage_->RunHousekeeping()) {
    }
  }

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
  std::string Read(const std::string& name, const std::string& key) {
    storage_.reset();
    leveldb::DB* opened = nullptr;
    EXPECT_TRUE(leveldb::DB::Open({}, temp_.File(name), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    std::string value;
    EXPECT_TRUE(database->Get({}, key, &value).ok());
    return value;
  }

  TempDir temp_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(HoldsRecoveryTest, ARestoreBringsHoldsBackAndDoubtsThatTheyAreComplete) {
  Track("c", "a");
  Place("c", "h", "a");
  SetAside("c", "a");
  Accept("r");
  EXPECT_FALSE(InDoubt("r"));
  BackUp();
  ASSERT_TRUE(RestoreBackup(temp_.File("backup"), OptionsFor("restored"), kTestNow).ok());
  Open("restored");
  EXPECT_TRUE(*IsHeld("c", "a"));
  EXPECT_EQ(CountDue("c"), 0);
  EXPECT_EQ(storage_->holds().Find(Find("c")->number, "h")->reason, "audit");
  EXPECT_TRUE(InDoubt("r"));
  EXPECT_FALSE(InDoubt("c"));
  Accept("r");
  EXPECT_FALSE(InDoubt("r"));
  FinishHousekeeping();
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  Release("c", "h");
  FinishHousekeeping();
  EXPECT_EQ(CountDue("c"), 1);
}

// Holds may have been placed after the backup was made, whatever its containers required then.
TEST_F(HoldsRecoveryTest, HoldsRequiredFirstAfterARestoreAreInDoubt) {
  Update("c", /*requires_holds=*/true);
  EXPECT_FALSE(InDoubt("c")) << "nothing that was known here can be missing";
  Update("c", /*requires_holds=*/false);
  BackUp();
  ASSERT_TRUE(RestoreBackup(temp_.File("backup"), OptionsFor("restored"), kTestNow).ok());
  Open("restored");
  EXPECT_FALSE(InDoubt("c"));
  Update("c", /*requires_holds=*/true);
  EXPECT_TRUE(InDoubt("c"));
  Accept("c");
  EXPECT_FALSE(InDoubt("c"));
  Update("c", /*requires_holds=*/true);
  EXPECT_FALSE(InDoubt("c"));
}

TEST_F(HoldsRecoveryTest, ARepairKeepsHoldsAndDoubtsThatTheyAreComplete) {
  Track("c", "a");
  Place("c", "h", "a");
  Place("c", "over", "b");
  SetAside("c", "a");
  Release("c", "over");
  Accept("r");
  storage_.reset();
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  Open("repaired");
  EXPECT_TRUE(*IsHeld("c", "a"));
  EXPECT_FALSE(*IsHeld("c", "b"));
  EXPECT_TRUE(Find("c")->has_holds);
  EXPECT_TRUE(InDoubt("r"));
  FinishHousekeeping();
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  // The index is a new one, so the sweep sets the item aside again.
  EXPECT_EQ(CountDue("c"), 1);
  SetAside("c", "a");
  EXPECT_EQ(CountDue("c"), 0);
}

TEST_F(HoldsRecoveryTest, ARepairMakesTheKeysOfHoldsAgree) {
  Place("c", "h", "a");
  const uint64_t container = Find("c")->number;
  const uint64_t hold = storage_->holds().Find(container, "h")->number;
  ChangeRecord(HoldKeysKey(container, hold, KeyOf("b")), "");  // of a write that was lost in part
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  Open("repaired");
  EXPECT_TRUE(*IsHeld("c", "a"));
  EXPECT_TRUE(*IsHeld("c", "b"));
  EXPECT_EQ(storage_->holds().Find(container, "h")->key_count, 2);
  FinishHousekeeping();
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
}

TEST_F(HoldsRecoveryTest, DamagedDataIsReplacedByDataWhoseHoldsAreInDoubt) {
  Accept("r");
  storage_.reset();
  ASSERT_TRUE(ReplaceDamaged(OptionsFor("data"), "gone", kTestNow).ok());
  Open("data");
  Create("r", /*requires_holds=*/true);
  EXPECT_TRUE(InDoubt("r"));
}

TEST_F(HoldsRecoveryTest, WhereAHoldCannotBeReadNothingIsDeleted) {
  Place("c", "h", "a");
  Place("r", "h", "a");
  Accept("r");
  const uint64_t container = Find("c")->number;
  const uint64_t hold = storage_->holds().Find(container, "h")->number;
  ChangeRecord(HoldKey(container, hold), "\xff");
  Open("data");
  EXPECT_THAT(storage_->Problems(), ElementsAre(HasSubstr("a hold of container \"c\"")));
  EXPECT_TRUE(InDoubt("c"));
  EXPECT_FALSE(InDoubt("r"));
  EXPECT_TRUE(*IsHeld("r", "a"));
  const auto verifier = storage_->StartVerification();
  while (verifier->Step() != Verifier::Next::kEnd) {
  }
  EXPECT_THAT(verifier->TakeProblems(), testing::Contains(HasSubstr("hold")));
}

// Whoever accepts the holds of a container has placed again those that are missing.
TEST_F(HoldsRecoveryTest, AcceptEndsTheDoubtOfAHoldThatCannotBeRead) {
  Place("c", "h", "a");
  Place("c", "other", "b");
  const uint64_t container = Find("c")->number;
  const std::string record = HoldKey(container, storage_->holds().Find(container, "h")->number);
  ChangeRecord(record, "\xff");
  Open("data");
  ASSERT_TRUE(InDoubt("c"));
  Accept("c");
  EXPECT_FALSE(InDoubt("c"));
  EXPECT_THAT(storage_->Problems(), IsEmpty());
  EXPECT_TRUE(*IsHeld("c", "b"));
  Open("data");
  EXPECT_FALSE(InDoubt("c"));
  EXPECT_FALSE(*IsHeld("c", "a"));
  EXPECT_TRUE(*IsHeld("c", "b"));
}

TEST_F(HoldsRecoveryTest, WhereAnItemCannotBeReadTheOthersAreHeld) {
  Track("c", "a");
  Track("c", "b");
  ChangeRecord(EncodeItemKey(Find("c")->number, KeyOf("a")), "\xff");
  Open("data");
  HoldRequest request;
  request.hold_id = "h";
  request.reason = "audit";
  request.scope = ItemsByKey{{KeyOf("a"), KeyOf("b"), KeyOf("d")}};
  const auto placed = Await<absl::StatusOr<PlacedHold>>(
      [&](auto done) { storage_->holds().Place("c", request, kTestNow, std::move(done)); });
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_THAT(placed->results, ElementsAre(PlaceHoldResult::kHeld, PlaceHoldResult::kHeld,
                                           PlaceHoldResult::kNotTracked));
  EXPECT_TRUE(*IsHeld("c", "a"));
}

TEST_F(HoldsRecoveryTest, AnEndedHoldThatCannotBeReadDoesNotStopTheClearingOfOthers) {
  Track("c", "b");
  Place("c", "1", "a");
  Place("c", "2", "b");
  SetAside("c", "b");
  const uint64_t container = Find("c")->number;
  const uint64_t first = storage_->holds().Find(container, "1")->number;
  ChangeRecord(HoldKeysPrefix(container, first) + "\x01", "");
  Open("data");
  Release("c", "1");
  Release("c", "2");
  for (int i = 0; i < 100; ++i) storage_->RunHousekeeping();
  EXPECT_EQ(storage_->holds().Counts(container).ending, 1) << "the first one waits";
  EXPECT_EQ(CountDue("c"), 1);
}

TEST_F(HoldsRecoveryTest, WhereTheHoldsOfAKeyCannotBeReadItIsNotFree) {
  Place("c", "h", "a");
  ChangeRecord(KeyHoldsKey(Find("c")->number, KeyOf("a")), "\xff");
  Open("data");
  EXPECT_TRUE(absl::IsDataLoss(IsHeld("c", "a").status()));
  EXPECT_FALSE(*IsHeld("c", "b"));
}

TEST_F(HoldsRecoveryTest, TheVerifierComparesKeysWithHolds) {
  Place("c", "h", "a");
  const uint64_t container = Find("c")->number;
  ChangeRecord(HoldKeysKey(container, 99, KeyOf("a")), "");
  Open("data");
  const auto verifier = storage_->StartVerification();
  while (verifier->Step() != Verifier::Next::kEnd) {
  }
  EXPECT_THAT(verifier->TakeProblems(),
              ElementsAre(HasSubstr("a key is under a hold that does not exist")));
}

// An older program would delete what is held.
TEST_F(HoldsRecoveryTest, TheFormatIsRaisedByTheFirstUseAndNeverLowered) {
  const std::string format = MetaKey(kDataFormatFact);
  EXPECT_EQ(Read("data", format), "3") << "a container requires holds";
  Open("fresh");
  Create("c", /*requires_holds=*/false);
  EXPECT_EQ(Read("fresh", format), "1");
  Open("fresh");
  Place("c", "h", "a");
  EXPECT_EQ(Read("fresh", format), "3");
  Open("fresh");
  ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                storage_->items().Track(Find("c")->number,
                                        {{KeyOf("a"), {{kT, {}, kT + 10}, "", {}, 0}}},
                                        AdoptionTerms(), std::move(done));
              }).ok());
  EXPECT_EQ(Read("fresh", format), "3");
}

}  // namespace
}  // namespace ttl
