#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/storage/database.h"
#include "service/storage/key_codec.h"
#include "service/storage/storage.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kT = 1'800'000'000;

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
             storage.items().Track(storage.containers().Find("c")->number, reports,
                                   std::move(done));
           })
        .status();
  }

  TempDir directory_;
};

TEST_F(StorageOnDiskTest, FullDisksStopReportsFirstAndChangesSecond) {
  StorageOptions options;
  options.report_floor_bytes = std::numeric_limits<int64_t>::max();
  auto storage = Open(options);
  ASSERT_TRUE(storage.ok()) << storage.status();
  ASSERT_TRUE(Create(**storage).ok());
  const absl::Status refused = Track(**storage, 1, 0);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("bytes free"));
  EXPECT_TRUE((*storage)->items().FindTimes(1, "p", "0").ok());  // checks go on

  options.outcome_floor_bytes = std::numeric_limits<int64_t>::max();
  storage->reset();
  storage = Open(options);
  ASSERT_TRUE(storage.ok());
  const absl::Status paused = Await<absl::Status>(
      [&](auto done) { (*storage)->containers().SetPauseOfAll(std::nullopt, std::move(done)); });
  EXPECT_EQ(paused.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StorageOnDiskTest, ASecondProcessIsRefusedAndSaysWhy) {
  const auto first = Open();
  ASSERT_TRUE(first.ok());
  const auto second = Open();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
}

// Field report B87: files cut short are noticed, not served as if whole.
TEST_F(StorageOnDiskTest, B87_DamagedFilesAreNoticedWhenOpening) {
  {
    const auto storage = Open();
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE(Create(**storage).ok());
    // More than LevelDB keeps in memory before it makes a table.
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(Track(**storage, 8000, 1000).ok());
  }
  ASSERT_TRUE(Open().ok());
  const std::filesystem::path database = directory_.File("db");
  std::filesystem::path table;
  for (const auto& entry : std::filesystem::directory_iterator(database)) {
    if (entry.path().extension() == ".ldb") table = entry.path();
  }
  ASSERT_FALSE(table.empty());

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

TEST_F(StorageOnDiskTest, AParentThatDoesNotExistIsAClearError) {
  StorageOptions options;
  options.directory = directory_.File("no/such/parent");
  const auto storage = Storage::Open(options);
  ASSERT_FALSE(storage.ok());
  EXPECT_THAT(std::string(storage.status().message()), HasSubstr("no/such/parent"));
}

}  // namespace
}  // namespace ttl
