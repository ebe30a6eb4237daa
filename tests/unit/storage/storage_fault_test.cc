#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/storage.h"
#include "tests/testing/reason_matcher.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

absl::Status TrackStatus(StorageForTest& storage, const std::string& id) {
  return storage.Track("c", {{KeyOf(id), {{kT, {}}, "", {}, 0}}}).status();
}

TEST(StorageFaultTest, TheFirstFailedWriteLatchesUntilTheDatabaseIsReopened) {
  StorageForTest storage;
  storage.Create("c", 60);
  ASSERT_TRUE(TrackStatus(storage, "before").ok());

  storage.env().FailWrites(true);
  EXPECT_EQ(TrackStatus(storage, "lost").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(storage->WriteHealth().code(), absl::StatusCode::kUnavailable);
  storage.env().FailWrites(false);
  // The disk is well again, but the log is not: still refused, reads go on.
  EXPECT_EQ(TrackStatus(storage, "lost too").code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(storage.FindItem("c", "before").has_value());
  EXPECT_FALSE(storage.FindItem("c", "lost too").has_value());

  storage.FinishHousekeeping();
  EXPECT_TRUE(storage->WriteHealth().ok());
  EXPECT_TRUE(TrackStatus(storage, "after").ok());
  storage.Reopen();
  EXPECT_TRUE(storage.FindItem("c", "before").has_value());
  EXPECT_TRUE(storage.FindItem("c", "after").has_value());
}

TEST(StorageFaultTest, WhileTheDiskIsIllReopeningIsTriedAgainAndAgain) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.env().FailWrites(true);
  EXPECT_FALSE(TrackStatus(storage, "a").ok());
  for (int i = 0; i < 3; ++i) {
    storage->RunHousekeeping();
    EXPECT_FALSE(storage->WriteHealth().ok());
  }
  storage.env().FailWrites(false);
  storage->RunHousekeeping();
  EXPECT_TRUE(storage->WriteHealth().ok());
  EXPECT_TRUE(TrackStatus(storage, "a").ok());
}

// A scan reads items while its cursor is open. It must not wait for a reopening that waits
// for the cursor.
TEST(StorageFaultTest, WhoHoldsACursorReadsOnWhileAReopeningWaits) {
  FaultEnv env;
  StorageOptions options;
  options.directory = "/ttl";
  options.env = &env;
  const auto database = *Database::Open(options);
  ASSERT_TRUE(database->Write({{"key", "value"}}).ok());
  env.FailWrites(true);
  ASSERT_FALSE(database->Write({{"lost", ""}}).ok());
  env.FailWrites(false);
  std::atomic<bool> reads_on = true;
  std::atomic<int64_t> reads = 0;
  absl::Notification reading;
  std::thread reader([&] {
    const auto cursor = database->ReadPrefix("key");
    while (reads_on) {
      EXPECT_EQ(database->Get("key").value(), "value");
      EXPECT_TRUE(database->WalkPrefix("key", "").Valid());
      if (++reads == 1) reading.Notify();
    }
    EXPECT_TRUE(cursor.Valid());
  });
  reading.WaitForNotification();
  std::atomic<bool> reopened = false;
  std::thread housekeeper([&] {
    EXPECT_TRUE(database->Reopen([] { return absl::OkStatus(); }).ok());
    reopened = true;
  });
  // A reader without a cursor waits for the reopening, and so shows that it has begun.
  std::thread other([&] {
    while (!reopened) EXPECT_TRUE(database->Get("key").ok());
  });
  for (int i = 0; i < 100; ++i) {
    const int64_t before = reads;
    if (!WaitUntil([&] { return reads > before; }, absl::Seconds(20), absl::Milliseconds(1))) {
      std::fprintf(stderr, "the reader waits for the reopening, which waits for the reader\n");
      std::abort();
    }
  }
  EXPECT_FALSE(reopened);
  reads_on = false;
  reader.join();
  housekeeper.join();
  other.join();
  EXPECT_TRUE(database->WriteHealth().ok());
}

// A failed write may be there all the same, and with it a container that was not known.
TEST(StorageFaultTest, WhoHearsOfAReopeningFindsEveryContainer) {
  StorageForTest storage;
  for (int i = 0; i < 500; ++i) storage.Create(absl::StrCat("c", i), 60);
  storage.env().FailFrom(FaultEnv::Fault::kFailedSync, 1);
  const auto refused = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    storage->containers().Create("late", ContainerSettings(), kTestNow, std::move(done));
  });
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  storage.env().FailWrites(false);
  storage->due_changes().Take();
  std::atomic<bool> stop = false;
  bool found_by_the_last = false;
  std::thread sweeper([&] {
    for (bool is_last = false; !is_last;) {
      is_last = stop;
      if (!storage->due_changes().Take().has_value()) {
        found_by_the_last = storage->containers().Find("late") != nullptr;
      }
    }
  });
  storage.FinishHousekeeping();
  stop = true;
  sweeper.join();
  EXPECT_TRUE(found_by_the_last);
  EXPECT_NE(storage.Find("late"), nullptr);
}

TEST(StorageFaultTest, TroubleThatGoesOnIsSaidOnce) {
  std::atomic<int> said = 0;
  StorageOptions options;
  options.log = [&](StorageOptions::LogLevel, absl::string_view line) {
    if (absl::StrContains(line, "housekeeping")) ++said;
  };
  StorageForTest storage(options);
  storage.Create("c", 60);
  // Without a purge record that can be read, nothing can be purged.
  ASSERT_TRUE(storage.Delete("c").ok());
  storage.Close();
  StorageOptions raw;
  raw.directory = "/ttl";
  raw.env = &storage.env();
  ASSERT_TRUE((*Database::Open(raw))->Write({{PurgeKey(1), "\xFF\xFF"}}).ok());
  storage.Reopen();
  for (int i = 0; i < 5; ++i) storage->RunHousekeeping();
  EXPECT_EQ(said, 1);
}

class StorageOnDiskTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Storage>> Open(StorageOptions options = {}) {
    options.directory = directory_.File("db");
    return Storage::Open(options);
  }

  static absl::StatusOr<ContainerPtr> Create(Storage& storage) {
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    return Await<absl::StatusOr<ContainerPtr>>(
        [&](auto done) { storage.containers().Create("c", settings, kTestNow, std::move(done)); });
  }

  static absl::Status Track(Storage& storage, int count, size_t etag_bytes) {
    std::vector<ItemReport> reports;
    for (int i = 0; i < count; ++i) {
      reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, std::string(etag_bytes, 'e'), {}, 0}});
    }
    return Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
             storage.items().Track(storage.containers().Find("c")->number, reports, AdoptionTerms(),
                                   std::move(done));
           })
        .status();
  }

  TempDir directory_;
};

// Field report B85.
TEST_F(StorageOnDiskTest, FullDisksStopReportsFirstAndChangesSecond) {
  StorageOptions options;
  options.report_floor_bytes = std::numeric_limits<int64_t>::max();
  auto storage = Open(options);
  ASSERT_TRUE(storage.ok()) << storage.status();
  ASSERT_TRUE(Create(**storage).ok());
  const absl::Status refused = Track(**storage, 1, 0);
  EXPECT_THAT(refused, HasReason(Reason::kVolumeFull));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("bytes free"));
  const KeyView key{"p", "0"};
  std::vector<FoundTimes> times;
  (*storage)->items().FindTimes(1, absl::MakeConstSpan(&key, 1), times);
  EXPECT_TRUE(times[0].ok());  // checks go on

  options.outcome_floor_bytes = std::numeric_limits<int64_t>::max();
  storage->reset();
  storage = Open(options);
  ASSERT_TRUE(storage.ok());
  const absl::Status paused = Await<absl::Status>(
      [&](auto done) { (*storage)->containers().SetPauseOfAll(std::nullopt, std::move(done)); });
  EXPECT_EQ(paused.code(), absl::StatusCode::kResourceExhausted);
}

// The disk takes some of a write and no more.
// Field report B85.
TEST_F(StorageOnDiskTest, AfterATruncatedWriteItReopensWithAllWritesBefore) {
  const auto storage = Open();
  ASSERT_TRUE(storage.ok());
  ASSERT_TRUE(Create(**storage).ok());
  ASSERT_TRUE(Track(**storage, 1, 0).ok());
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {40'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status refused = Track(**storage, 800, 100);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  (*storage)->RunHousekeeping();
  EXPECT_TRUE((*storage)->WriteHealth().ok()) << (*storage)->WriteHealth();
  EXPECT_TRUE(Track(**storage, 10, 0).ok());
  EXPECT_TRUE((*storage)->CheckInvariants().ok());
}

TEST_F(StorageOnDiskTest, ASecondOpeningIsRefusedAndSaysWhy) {
  const auto first = Open();
  ASSERT_TRUE(first.ok());
  const auto second = Open();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("this process has it open"));
}

// Field report B87: files cut short are noticed, not served as if whole.
// Cuts a MANIFEST, shorter than a block of LevelDB's log format, between two records.
void CutLastRecord(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr size_t kHeaderBytes = 7;  // checksum:4, length:2, type:1
  size_t last = 0;
  for (size_t record = 0; record + kHeaderBytes <= bytes.size();) {
    last = record;
    record += kHeaderBytes + static_cast<unsigned char>(bytes[record + 4]) +
              (static_cast<size_t>(static_cast<unsigned char>(bytes[record + 5])) << 8);
  }
  ASSERT_GT(last, 0u);
  std::filesystem::resize_file(path, last);
}

// Field report B87.
TEST_F(StorageOnDiskTest, DamagedFilesAreNoticedWhenOpening) {
  {
    const auto storage = Open();
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE(Create(**storage).ok());
    // More than LevelDB keeps in memory before it makes a table.
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(Track(**storage, 8000, 1000).ok());
  }
  {
    const auto storage = Open();
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE(Track(**storage, 10, 1000).ok());  // into the new log
  }
  const std::filesystem::path database = directory_.File("db");
  std::filesystem::path table;
  std::filesystem::path log;
  for (const auto& entry : std::filesystem::directory_iterator(database)) {
    if (entry.path().extension() == ".ldb") table = entry.path();
    if (entry.path().extension() == ".log") log = entry.path();
  }
  ASSERT_FALSE(table.empty());

  const auto manifest = [](const std::filesystem::path& copy) {
    std::string name;
    std::ifstream(copy / "CURRENT") >> name;
    return copy / name;
  };
  struct Damage {
    const char* name;
    std::function<void(const std::filesystem::path&)> make;
  };
  const Damage damages[] = {
      {"newest table to 0 bytes",
       [&](const auto& copy) { std::filesystem::resize_file(copy / table.filename(), 0); }},
      {"table without its footer",
       [&](const auto& copy) {
         const auto path = copy / table.filename();
         std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
       }},
      {"table deleted",
       [&](const auto& copy) { std::filesystem::remove(copy / table.filename()); }},
      {"CURRENT to 0 bytes",
       [&](const auto& copy) { std::filesystem::resize_file(copy / "CURRENT", 0); }},
      {"CURRENT deleted", [&](const auto& copy) { std::filesystem::remove(copy / "CURRENT"); }},
      {"CURRENT names a file that is not there",
       [&](const auto& copy) { std::ofstream(copy / "CURRENT") << "MANIFEST-999999\n"; }},
      {"MANIFEST deleted", [&](const auto& copy) { std::filesystem::remove(manifest(copy)); }},
      {"MANIFEST to 0 bytes",
       [&](const auto& copy) { std::filesystem::resize_file(manifest(copy), 0); }},
      {"MANIFEST without its last record",
       [&](const auto& copy) { CutLastRecord(manifest(copy)); }},
      {"log without its second half",
       [&](const auto& copy) {
         const auto path = copy / log.filename();
         std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
       }},
      {"MANIFEST overwritten",
       [&](const auto& copy) { std::ofstream(manifest(copy)) << std::string(500, 'x'); }},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.name);
    const std::filesystem::path copy = directory_.File("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(database, copy);
    damage.make(copy);
    StorageOptions options;
    options.directory = copy.string();
    EXPECT_EQ(Storage::Open(options).status().code(), absl::StatusCode::kDataLoss);
  }
}

// One bit, in a block that LevelDB can make sense of all the same.
TEST_F(StorageOnDiskTest, AFlippedBitIsNoticedWhenItsBlockIsReadAndNeverBelieved) {
  constexpr int kItems = 500;
  {
    const auto storage = Open();
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE(Create(**storage).ok());
    ASSERT_TRUE(Track(**storage, kItems, 100).ok());
  }
  ASSERT_TRUE(Open().ok());  // what was in the log is in a table now
  for (const auto& entry : std::filesystem::directory_iterator(directory_.File("db"))) {
    if (entry.path().extension() != ".ldb") continue;
    std::fstream table(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(std::filesystem::file_size(entry.path()) / 3);
    table.seekg(at);
    const char byte = static_cast<char>(table.get());
    table.seekp(at);
    table.put(static_cast<char>(byte ^ 1));
  }
  const auto storage = Open();
  ASSERT_TRUE(storage.ok()) << storage.status();
  int unreadable = 0;
  for (int i = 0; i < kItems; ++i) {
    const auto item = (*storage)->items().Find((*storage)->containers().Find("c")->number,
                                               KeyOf(absl::StrCat(i)));
    if (!item.ok()) {
      EXPECT_EQ(item.status().code(), absl::StatusCode::kDataLoss);
      ++unreadable;
      continue;
    }
    ASSERT_TRUE(item->has_value()) << i;
    EXPECT_EQ((*item)->version.times, (ItemTimes{kT, {}}));
    EXPECT_EQ((*item)->version.etag, std::string(100, 'e'));
  }
  EXPECT_GT(unreadable, 0);
}

TEST_F(StorageOnDiskTest, AParentThatDoesNotExistIsAClearError) {
  StorageOptions options;
  options.directory = directory_.File("no/such/parent");
  const auto storage = Storage::Open(options);
  ASSERT_FALSE(storage.ok());
  EXPECT_THAT(std::string(storage.status().message()), HasSubstr("no/such/parent"));
}

}  // namespace
}  // namespace ttl
