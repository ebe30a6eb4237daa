#include "service/storage/upkeep/recovery.h"

#include <leveldb/db.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/base/done.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/verifier.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kNow = 1'800'000'000;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A storage on disk, and the folders for what is made of it.
class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() { Open(); }

  void Open() {
    storage.reset();
    storage = Storage::Open(OptionsFor(temp.File("data"))).value();
  }

  StorageOptions OptionsFor(const std::string& directory) const {
    StorageOptions options;
    options.directory = directory;
    options.report_floor_bytes = 0;
    options.outcome_floor_bytes = 0;
    return options;
  }

  ContainerPtr Create(const std::string& id) {
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
             storage->containers().Create(id, settings, kTestNow, std::move(done));
           })
        .value();
  }

  static ItemReport Report(const std::string& id, int64_t ts) {
    ItemReport report{KeyOf(id), {}};
    report.version.times = {ts, id.size() % 2 == 0 ? std::optional<int64_t>(30) : std::nullopt};
    return report;
  }

  void Track(const ContainerPtr& container, std::vector<ItemReport> reports) {
    ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                  storage->items().Track(container->number, std::move(reports), AdoptionTerms(),
                                         std::move(done));
                }).ok());
  }
  void Track(const ContainerPtr& container, const std::string& id, int64_t ts) {
    Track(container, {Report(id, ts)});
  }
  // "item<first>", ... of as many seconds; `suffix` ends each id.
  void TrackMany(const ContainerPtr& container, int first, int count,
                 const std::string& suffix = "") {
    std::vector<ItemReport> reports;
    for (int i = first; i < first + count; ++i) {
      reports.push_back(Report(absl::StrCat("item", i, suffix), kNow - i));
    }
    Track(container, std::move(reports));
  }

  void Untrack(const ContainerPtr& container, const std::string& id) {
    ASSERT_TRUE(
        Await<absl::StatusOr<std::vector<UntrackOutcome>>>([&](auto done) {
          storage->items().Untrack(container->number, {{KeyOf(id), kNow, {}}}, std::move(done));
        }).ok());
  }

  // The whole file; `between` runs after each step.
  std::string BackUp(const std::function<void(int step)>& between = [](int) {}) {
    const auto backup = storage->StartBackup(kTestNow).value();
    std::string bytes;
    for (int step = 0;; ++step) {
      const std::string next = backup->Next().value();
      if (next.empty()) break;
      bytes += next;
      between(step);
    }
    WriteFile(temp.File("backup"), bytes);
    return bytes;
  }

  std::string Restored() const { return temp.File("restored"); }
  absl::Status Restore() const {
    return RestoreBackup(temp.File("backup"), OptionsFor(Restored()), kTestNow).status();
  }

  static std::vector<std::string> Ids(Storage& of, const std::string& container) {
    std::vector<std::string> ids;
    const ContainerPtr found = of.containers().Find(container);
    if (found == nullptr) return {"no container"};
    const auto items = of.items().List(found->number, std::nullopt, 100000);
    EXPECT_TRUE(items.ok()) << items.status();
    if (!items.ok()) return {"no items"};
    for (const auto& [key, item] : *items) {
      ids.push_back(absl::StrCat(key.id, "@", item.version.times.ts));
    }
    return ids;
  }

  static void FinishHousekeeping(Storage& of) {
    while (of.RunHousekeeping()) continue;
  }

  TempDir temp;
  std::unique_ptr<Storage> storage;
};

TEST_F(RecoveryTest, ARestoredDatabaseIsWhatWasBackedUpButPausedAndInDoubt) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 100);
  BackUp();
  ASSERT_TRUE(Restore().ok());

  const auto restored = Storage::Open(OptionsFor(Restored())).value();
  EXPECT_EQ(Ids(*restored, "orders"), Ids(*storage, "orders"));
  EXPECT_EQ(restored->containers().Find("orders")->settings, orders->settings);
  ASSERT_TRUE(restored->containers().PauseOfAll().has_value());
  EXPECT_THAT(restored->containers().PauseOfAll()->reason, HasSubstr("restored from a backup of"));
  EXPECT_THAT(restored->data_trust().doubt(), HasSubstr("restored"));
  FinishHousekeeping(*restored);
  EXPECT_EQ(restored->CheckInvariants(), absl::OkStatus());
  EXPECT_FALSE(storage->containers().PauseOfAll().has_value()) << "the original goes on";
}

TEST_F(RecoveryTest, WhatIsCommittedDuringABackupIsInItWhole) {
  const ContainerPtr orders = Create("orders");
  // Enough for several steps, so that changes fall before, into and behind what is copied.
  const std::string padding(700, 'x');
  TrackMany(orders, 100, 800, padding);
  int steps = 0;
  BackUp([&](int step) {
    steps = step;
    for (int i = 100 + step; i < 900; i += 200) {
      Track(orders, {Report(absl::StrCat("item", i, padding), kNow - step),
                     Report(absl::StrCat("new", step, "-", i), kNow)});
      Untrack(orders, absl::StrCat("item", i + 7, padding));
    }
    if (step == 1) Create("created meanwhile");
  });
  ASSERT_GE(steps, 3);
  ASSERT_TRUE(Restore().ok());
  const auto restored = Storage::Open(OptionsFor(Restored())).value();
  FinishHousekeeping(*restored);
  EXPECT_EQ(restored->CheckInvariants(), absl::OkStatus()) << "no commit is there by halves";
  EXPECT_NE(restored->containers().Find("created meanwhile"), nullptr);
  // The last step only drains: what was changed after the one before is in the file.
  const std::vector<std::string> ids = Ids(*restored, "orders");
  EXPECT_THAT(ids, Contains(absl::StrCat("new", steps - 1, "-", 100 + steps - 1, "@", kNow)));
  EXPECT_THAT(ids, Contains(absl::StrCat("new0-100@", kNow)));
}

TEST_F(RecoveryTest, ABackupUnderConstantWritesIsConsistent) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 1500);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      Track(orders, absl::StrCat("item", i * 7 % 1500), kNow - 1000 + i % 900);
      if (i % 3 == 0) Untrack(orders, absl::StrCat("item", i * 11 % 1500));
    }
  });
  for (int round = 0; round < 3; ++round) {
    BackUp();
    fs::remove_all(Restored());
    ASSERT_TRUE(Restore().ok());
    const auto restored = Storage::Open(OptionsFor(Restored())).value();
    FinishHousekeeping(*restored);
    EXPECT_EQ(restored->CheckInvariants(), absl::OkStatus());
  }
  stop = true;
  writer.join();
}

TEST_F(RecoveryTest, OneBackupAtATime) {
  const auto first = storage->StartBackup(kTestNow);
  EXPECT_EQ(storage->StartBackup(kTestNow).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RecoveryTest, ADamagedBackupFileIsRefusedAndMakesNothing) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 50);
  const std::string good = BackUp();
  const auto flipped = [&](size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    return bytes;
  };
  const struct {
    std::string name;
    std::string bytes;
    std::string says;
  } damages[] = {
      {"empty", "", "not a backup file"},
      {"another file", "PK\x03\x04 something else", "not a backup file"},
      {"cut in the header", good.substr(0, 20), "truncated"},
      {"cut in the middle", good.substr(0, good.size() / 2), "truncated"},
      {"without its last byte", good.substr(0, good.size() - 1), "truncated"},
      {"a flipped bit in the magic", flipped(3), "not a backup file"},
      {"a flipped bit in the header", flipped(20), "checksum"},
      {"a flipped bit in a record", flipped(good.size() / 2), "checksum"},
      {"a flipped bit in the end", flipped(good.size() - 2), "checksum"},
      {"doubled", good + good, "behind its end"},
      {"a byte more", good + "x", "behind its end"},
  };
  for (const auto& damage : damages) {
    WriteFile(temp.File("backup"), damage.bytes);
    const absl::Status status = Restore();
    EXPECT_FALSE(status.ok()) << damage.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(damage.says)) << damage.name;
    EXPECT_FALSE(fs::exists(Restored())) << damage.name;
  }
}

TEST_F(RecoveryTest, OnlyAnEmptyDirectoryIsRestoredInto) {
  BackUp();
  fs::create_directory(Restored());
  WriteFile(Restored() + "/file", "mine");
  EXPECT_EQ(Restore().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadFile(Restored() + "/file"), "mine");
  fs::remove(Restored() + "/file");
  fs::create_directory(Restored() + "/lost+found");
  EXPECT_EQ(Restore(), absl::OkStatus()) << "the root of a volume counts as empty";
}

TEST_F(RecoveryTest, WhatWasNotFinishedIsNotOpened) {
  storage.reset();
  WriteFile(temp.File("data/unfinished"), "");
  const auto opened = Storage::Open(OptionsFor(temp.File("data")));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("did not finish"));
}

// Damages of a data directory, and what is to be there after its repair.
class RepairTest : public RecoveryTest {
 protected:
  std::string FirstFile(const std::string& ending) const {
    for (const auto& entry : fs::directory_iterator(temp.File("data"))) {
      if (absl::EndsWith(entry.path().string(), ending)) return entry.path().string();
    }
    ADD_FAILURE() << "no file *" << ending;
    return "";
  }
  std::string Manifest() const {
    std::string current = ReadFile(temp.File("data/CURRENT"));
    current.pop_back();  // the end of the line
    return temp.File("data/" + current);
  }
  std::string RepairedDir() const { return temp.File("repaired"); }

  // Repairs, and returns what came of it, opened and put in order.
  std::unique_ptr<Storage> Repair(RepairReport* report = nullptr) {
    fs::remove_all(RepairedDir());
    const auto repaired = RepairCopy(temp.File("data"), OptionsFor(RepairedDir()), kTestNow);
    EXPECT_TRUE(repaired.ok()) << repaired.status();
    if (!repaired.ok()) return nullptr;
    if (report != nullptr) *report = *repaired;
    auto opened = Storage::Open(OptionsFor(RepairedDir()));
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return nullptr;
    FinishHousekeeping(**opened);
    EXPECT_EQ((*opened)->CheckInvariants(), absl::OkStatus());
    EXPECT_TRUE((*opened)->containers().PauseOfAll().has_value());
    EXPECT_TRUE((*opened)->data_trust().in_doubt());
    return *std::move(opened);
  }
};

TEST_F(RepairTest, ADamagedDirectoryGivesWhatCanBeReadAndStaysAsItIs) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 200);
  Open();  // from the log into a table
  for (int i = 0; i < 50; ++i) Untrack(orders, absl::StrCat("item", i));
  storage.reset();
  fs::copy(temp.File("data"), temp.File("sound"), fs::copy_options::recursive);
  const struct {
    std::string name;
    std::function<void()> damage;
  } damages[] = {
      {"none", [] {}},
      {"no CURRENT", [&] { fs::remove(temp.File("data/CURRENT")); }},
      {"CURRENT is nonsense", [&] { WriteFile(temp.File("data/CURRENT"), "nonsense\n"); }},
      {"CURRENT names nothing", [&] { WriteFile(temp.File("data/CURRENT"), "MANIFEST-999999\n"); }},
      {"no MANIFEST", [&] { fs::remove(Manifest()); }},
      {"MANIFEST is empty", [&] { WriteFile(Manifest(), ""); }},
      {"MANIFEST is cut", [&] { fs::resize_file(Manifest(), fs::file_size(Manifest()) - 3); }},
      {"MANIFEST is overwritten", [&] { WriteFile(Manifest(), std::string(500, 'x')); }},
  };
  for (const auto& damage : damages) {
    SCOPED_TRACE(damage.name);
    fs::remove_all(temp.File("data"));
    fs::copy(temp.File("sound"), temp.File("data"), fs::copy_options::recursive);
    damage.damage();
    RepairReport report;
    const auto repaired = Repair(&report);
    ASSERT_NE(repaired, nullptr);
    EXPECT_EQ(report.containers, 1);
    EXPECT_EQ(report.items, 150);
    EXPECT_EQ(repaired->containers().Find("orders")->settings, orders->settings);
    const auto created = Await<absl::StatusOr<ContainerPtr>>(
        [&](auto done) { repaired->containers().Create("next", {}, kTestNow, std::move(done)); });
    ASSERT_TRUE(created.ok());
    EXPECT_GT((*created)->number, repaired->containers().Find("orders")->index_number)
        << "no number is given out twice";
  }
}

// The recovered records of the container and of the format are older than a touch.
TEST_F(RepairTest, ATouchedItemTellsThatItsContainerHasTouches) {
  const ContainerPtr container = Create("c");
  Track(container, "a", kNow);
  const auto allow = [&](bool allowed) {
    ContainerSettings settings = container->settings;
    settings.allow_touch = allowed;
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  storage->containers().Update(
                      "c", [settings](const Container&) { return settings; }, kTestNow,
                      absl::ZeroDuration(), /*force=*/false, std::move(done));
                }).ok());
  };
  allow(true);
  TouchRequest request = {.keys = {KeyOf("a")}};
  ASSERT_TRUE(Await<absl::StatusOr<TouchedItems>>([&](auto done) {
                storage->touches().Touch(
                    container->number, request, [] { return SoundTime(kNow + 10); },
                    std::move(done));
              }).ok());
  storage.reset();
  const std::string format_key = MetaKey(kDataFormatFact);
  {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, temp.File("data"), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    ASSERT_TRUE(
        database->Put({}, ContainerKey(container->number), EncodeContainer(*container)).ok());
    ASSERT_TRUE(database->Put({}, format_key, "1").ok());
  }
  auto repaired = Repair();
  ASSERT_NE(repaired, nullptr);
  EXPECT_TRUE(repaired->containers().Find("c")->has_touches);
  const auto item = repaired->items().Find(container->number, KeyOf("a"));
  ASSERT_TRUE(item.ok() && item->has_value());
  EXPECT_EQ((*item)->version.times.touch_time, kNow + 10);
  repaired.reset();
  leveldb::DB* opened = nullptr;
  ASSERT_TRUE(leveldb::DB::Open({}, RepairedDir(), &opened).ok());
  const std::unique_ptr<leveldb::DB> database(opened);
  std::string format;
  ASSERT_TRUE(database->Get({}, format_key, &format).ok());
  EXPECT_EQ(format, "7");
}

// The record of the container is back as it was before, and its touched items are lost.
TEST_F(RepairTest, TheDataFormatTellsThatThereWasAContainerWithTouches) {
  const ContainerPtr container = Create("c");
  ContainerSettings settings = container->settings;
  settings.allow_touch = true;
  ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                storage->containers().Update(
                    "c", [settings](const Container&) { return settings; }, kTestNow,
                    absl::ZeroDuration(), /*force=*/false, std::move(done));
              }).ok());
  storage.reset();
  {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, temp.File("data"), &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    ASSERT_TRUE(
        database->Put({}, ContainerKey(container->number), EncodeContainer(*container)).ok());
  }
  auto repaired = Repair();
  ASSERT_NE(repaired, nullptr);
  EXPECT_TRUE(repaired->containers().Find("c")->has_touches);
}

TEST_F(RepairTest, ADamagedTableCostsOnlyWhatItHeld) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 200);
  Open();
  Track(orders, "written later", kNow);
  storage.reset();
  const std::string table = FirstFile(".ldb");
  std::string bytes = ReadFile(table);
  for (size_t i = 0; i < bytes.size() / 2; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  WriteFile(table, bytes);
  const auto repaired = Repair();
  ASSERT_NE(repaired, nullptr);
}

TEST_F(RepairTest, ADatabaseInUseIsNotTouched) {
  const auto repaired = RepairCopy(temp.File("data"), OptionsFor(RepairedDir()), kTestNow);
  EXPECT_EQ(repaired.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(repaired.status().message()), HasSubstr("stop it first"));
}

TEST_F(RecoveryTest, WhatIsNoDatabaseIsNotRepairedAndNotTouched) {
  const fs::path source = temp.File("documents");
  fs::create_directory(source);
  for (const char* name : {"passwd", "notes.log", ".ldb", "7.txt"}) {
    WriteFile((source / name).string(), "precious");
  }
  for (const std::string& directory : {source.string(), temp.File("missing")}) {
    const auto repaired = RepairCopy(directory, OptionsFor(temp.File("repaired")), kTestNow);
    EXPECT_EQ(repaired.status().code(), absl::StatusCode::kNotFound) << repaired.status();
    EXPECT_THAT(std::string(repaired.status().message()), HasSubstr(directory));
  }
  EXPECT_FALSE(fs::exists(source / "LOCK"));
  EXPECT_FALSE(fs::exists(temp.File("repaired")));
}

// Nothing but the database is taken along.
TEST_F(RepairTest, OtherFilesOfTheDirectoryAreLeftOut) {
  storage.reset();
  WriteFile(temp.File("data/notes.txt"), "mine");
  ASSERT_NE(Repair(), nullptr);
  EXPECT_TRUE(fs::exists(temp.File("data/notes.txt")));
  EXPECT_FALSE(fs::exists(temp.File("repaired/notes.txt")));
}

TEST_F(RecoveryTest, ADamagedDatabaseIsReplacedByOneThatIsPausedAndInDoubt) {
  Create("orders");
  storage.reset();
  for (int round = 0; round < 2; ++round) {
    fs::remove(temp.File("data/CURRENT"));
    const absl::Status damage = Storage::Open(OptionsFor(temp.File("data"))).status();
    ASSERT_EQ(damage.code(), absl::StatusCode::kDataLoss);
    ASSERT_EQ(ReplaceDamaged(OptionsFor(temp.File("data")), std::string(damage.message()),
                             absl::FromUnixSeconds(kNow)),
              absl::OkStatus());
    const auto fresh = Storage::Open(OptionsFor(temp.File("data")));
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    EXPECT_TRUE((*fresh)->containers().PauseOfAll().has_value());
    EXPECT_THAT((*fresh)->data_trust().doubt(), HasSubstr("it was damaged: "));
    EXPECT_EQ((*fresh)->containers().Find("orders"), nullptr);
    EXPECT_FALSE(fs::exists(temp.File("data/damaged/CURRENT")));
    EXPECT_FALSE(fs::is_empty(temp.File("data/damaged")));
  }
}

TEST_F(RecoveryTest, AReplacementThatDidNotFinishIsGoneOnWith) {
  Create("orders");
  storage.reset();
  fs::remove(temp.File("data/CURRENT"));
  WriteFile(temp.File("data/replacing-damaged"), "it is broken");
  fs::create_directory(temp.File("data/damaged"));
  // Of the damaged database; what has its name now is of the new one.
  WriteFile(temp.File("data/damaged/000003.log"), "old");
  WriteFile(temp.File("data/000003.log"), "new");
  const absl::Status damage = Storage::Open(OptionsFor(temp.File("data"))).status();
  ASSERT_EQ(damage, absl::DataLossError("it is broken"));
  ASSERT_EQ(ReplaceDamaged(OptionsFor(temp.File("data")), std::string(damage.message()),
                           absl::FromUnixSeconds(kNow)),
            absl::OkStatus());
  EXPECT_EQ(ReadFile(temp.File("data/damaged/000003.log")), "old");
  const auto fresh = Storage::Open(OptionsFor(temp.File("data")));
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  EXPECT_TRUE((*fresh)->containers().PauseOfAll().has_value());
  EXPECT_TRUE((*fresh)->data_trust().in_doubt());
}

TEST_F(RecoveryTest, ADatabaseInUseIsNotReplaced) {
  EXPECT_EQ(ReplaceDamaged(OptionsFor(temp.File("data")), "it is not", absl::FromUnixSeconds(kNow))
                .code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fs::exists(temp.File("data/CURRENT")));
}

std::vector<std::string> Verify(const Storage& storage) {
  const auto verifier = storage.StartVerification();
  for (auto next = verifier->Step(); next != Verifier::Next::kEnd; next = verifier->Step()) {
    if (next == Verifier::Next::kPause) absl::SleepFor(Verifier::kPause);
  }
  EXPECT_GT(verifier->records(), 0);
  return verifier->TakeProblems();
}

TEST_F(RecoveryTest, VerificationFindsNothingInASoundDatabase) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 300);
  EXPECT_THAT(Verify(*storage), IsEmpty());
}

TEST_F(RecoveryTest, VerificationIsNotMisledByWhatChangesMeanwhile) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 500);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      // Back and forth, so that entries move.
      Untrack(orders, absl::StrCat("item", i % 500));
      Track(orders, absl::StrCat("item", i % 500), kNow - i % 4000);
    }
  });
  for (int round = 0; round < 5; ++round) EXPECT_THAT(Verify(*storage), IsEmpty());
  stop = true;
  writer.join();
}

TEST_F(RecoveryTest, VerificationFindsADamagedBlockAndGoesOn) {
  const ContainerPtr orders = Create("orders");
  TrackMany(orders, 0, 2000);
  Open();
  storage.reset();
  for (const auto& entry : fs::directory_iterator(temp.File("data"))) {
    if (!absl::EndsWith(entry.path().string(), ".ldb")) continue;
    std::string bytes = ReadFile(entry.path());
    bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
    WriteFile(entry.path(), bytes);
  }
  const auto opened = Storage::Open(OptionsFor(temp.File("data")));
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::vector<std::string> problems = Verify(**opened);
  ASSERT_FALSE(problems.empty());
  EXPECT_THAT(problems[0], HasSubstr("orruption"));
}

}  // namespace
}  // namespace ttl
