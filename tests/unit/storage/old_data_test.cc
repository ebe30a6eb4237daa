// A data directory that the storage of commit 209fbae wrote, from before expire_at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/storage/storage.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kWritten = 1'800'000'000;

// The fact that commit 209fbae's Database::CheckFormat() reads, and the largest number that it
// takes. Both are written out here, so that a change of today's constants does not change them.
constexpr char kOldFormatKey[] = "mformat";
constexpr int64_t kOldFormat = 1;

// Whether that commit's storage opens the directory, by what is stored in it. Nobody may have it
// open.
bool OldProgramTakes(const std::string& directory) {
  leveldb::DB* opened = nullptr;
  const leveldb::Status status = leveldb::DB::Open(leveldb::Options(), directory, &opened);
  const std::unique_ptr<leveldb::DB> database(opened);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::string stored;
  EXPECT_TRUE(database->Get(leveldb::ReadOptions(), kOldFormatKey, &stored).ok());
  int64_t format = 0;
  EXPECT_TRUE(absl::SimpleAtoi(stored, &format)) << stored;
  return format <= kOldFormat;
}

// The storage on a copy of that directory.
class OldDataTest : public testing::Test {
 protected:
  OldDataTest() {
    std::filesystem::copy(OLD_DATA_DIRECTORY, temp_.File("data"));
    Open();
  }

  void Open() {
    storage_.reset();
    StorageOptions options;
    options.directory = directory_;
    options.report_floor_bytes = 0;
    options.outcome_floor_bytes = 0;
    auto opened = Storage::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    storage_ = *std::move(opened);
  }

  uint64_t Number(const std::string& container) {
    return storage_->containers().Find(container)->number;
  }

  std::optional<TrackedItem> Find(const std::string& container, const std::string& id) {
    return storage_->items().Find(Number(container), {"p", id}).value();
  }

  void Track(const std::string& container, const std::string& id, const ItemTimes& times) {
    const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
      storage_->items().Track(Number(container), {{{"p", id}, {times, "", 9, 0}}}, AdoptionTerms(),
                              std::move(done));
    });
    ASSERT_TRUE(tracked.ok()) << tracked.status();
    ASSERT_THAT(*tracked, ElementsAre(TrackOutcome::kTracked));
  }

  std::vector<std::string> DueIds(int64_t now) {
    const Container& container = *storage_->containers().Find("salesdb/carts");
    const DueRule rule = ComputeDueRule(container.settings.policy, {}, absl::FromUnixSeconds(now));
    const DueScan scan =
        storage_->expiry_index().ScanDue(container, rule, now, {1000, 1000, false}).value();
    std::vector<std::string> ids;
    for (const DueItem& item : scan.due) ids.push_back(item.key.id);
    return ids;
  }

  // Whether one can go back to that commit now. The storage is closed for the look.
  bool CanGoBack() {
    storage_.reset();
    const bool can = OldProgramTakes(directory_);
    Open();
    return can;
  }

  TempDir temp_;
  std::string directory_ = temp_.File("data");
  std::unique_ptr<Storage> storage_;
};

TEST_F(OldDataTest, ItOpensAndIsServed) {
  const Container& carts = *storage_->containers().Find("salesdb/carts");
  EXPECT_EQ(carts.settings.policy.default_ttl, 3600);
  EXPECT_FALSE(carts.has_expire_at);
  EXPECT_EQ(storage_->containers().Find("off")->settings.policy.default_ttl, std::nullopt);
  const ItemVersion inherits = {{kWritten, std::nullopt}, "e1", 1, 7};
  EXPECT_EQ(Find("salesdb/carts", "inherits")->version, inherits);
  const ItemVersion own = {{kWritten, 60}, "", 2, 7};
  EXPECT_EQ(Find("salesdb/carts", "own")->version, own);
  EXPECT_EQ(Find("off", "kept")->version.times, (ItemTimes{kWritten, 5}));
  EXPECT_THAT(DueIds(kWritten + 59), ElementsAre());
  EXPECT_THAT(DueIds(kWritten + 60), ElementsAre("own"));
  EXPECT_THAT(DueIds(kWritten + 3600), ElementsAre("own", "inherits"));
  EXPECT_TRUE(storage_->CheckInvariants().ok());
}

TEST_F(OldDataTest, ItsItemsCanBeGivenAnEndFromThenOn) {
  Track("salesdb/carts", "never", {kWritten, -1, kWritten + 30});
  Track("salesdb/carts", "own", {kWritten + 1, 5000, std::nullopt});
  Open();
  EXPECT_TRUE(storage_->containers().Find("salesdb/carts")->has_expire_at);
  EXPECT_THAT(DueIds(kWritten + 4000), ElementsAre("never", "inherits"));
  EXPECT_TRUE(storage_->CheckInvariants().ok());
}

TEST_F(OldDataTest, ItGoesBackToTheOldProgramUntilAnEndIsWritten) {
  EXPECT_TRUE(CanGoBack());
  Track("salesdb/carts", "own", {kWritten + 1, 5000, std::nullopt});
  Track("salesdb/carts", "new", {kWritten, std::nullopt, std::nullopt});
  EXPECT_TRUE(CanGoBack()) << "nothing was written that an older program would misread";
  Track("off", "kept", {kWritten + 1, 5, kWritten + 30});
  EXPECT_FALSE(CanGoBack()) << "while TTL is off, too: it may be switched on";
}

TEST_F(OldDataTest, ADirectoryOfTodayGoesBackToTheOldProgramUntilAnEndIsWritten) {
  directory_ = temp_.File("new");
  Open();
  const auto created = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    storage_->containers().Create("salesdb/carts", settings, absl::FromUnixSeconds(kWritten),
                                  std::move(done));
  });
  ASSERT_TRUE(created.ok()) << created.status();
  Track("salesdb/carts", "own", {kWritten, 60, std::nullopt});
  EXPECT_TRUE(CanGoBack());
  Track("salesdb/carts", "own", {kWritten + 1, std::nullopt, kWritten + 30});
  EXPECT_FALSE(CanGoBack());
  Track("salesdb/carts", "own", {kWritten + 2, 60, std::nullopt});
  EXPECT_FALSE(CanGoBack()) << "it is never lowered";
}

}  // namespace
}  // namespace ttl
