// Field report C01: the data directory goes away under the process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/storage/storage.h"
#include "service/storage/upkeep/recovery.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kT = 1'800'000'000;

class LostDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    StorageOptions options;
    options.directory = data_;
    storage_ = *Storage::Open(options);
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  storage_->containers().Create("c", {}, kTestNow, std::move(done));
                }).ok());
    ASSERT_TRUE(Track("before").ok());
  }

  absl::Status Track(const std::string& id) {
    return Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
             storage_->items().Track(storage_->containers().Find("c")->number,
                                     {{KeyOf(id), {{kT, {}}, "", {}, 0}}}, AdoptionTerms(),
                                     std::move(done));
           })
        .status();
  }

  bool IsTracked(const std::string& id) {
    const auto item = storage_->items().Find(storage_->containers().Find("c")->number, KeyOf(id));
    EXPECT_TRUE(item.ok()) << item.status();
    return item.ok() && item->has_value();
  }

  const TempDir dir_;
  const std::string data_ = dir_.File("db");
  std::unique_ptr<Storage> storage_;
};

TEST_F(LostDirectoryTest, NothingIsAcknowledgedIntoARemovedDirectoryAndNoneIsMadeInItsPlace) {
  std::filesystem::remove_all(data_);
  EXPECT_EQ(Track("lost").code(), absl::StatusCode::kUnavailable);
  for (int i = 0; i < 3; ++i) {
    storage_->CheckFiles();
    storage_->RunHousekeeping();
    EXPECT_THAT(std::string(storage_->WriteHealth().message()), HasSubstr(data_));
    EXPECT_EQ(Track("lost").code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_FALSE(std::filesystem::exists(data_));
  EXPECT_TRUE(IsTracked("before"));  // checks go on
}

TEST_F(LostDirectoryTest, ADirectoryThatIsMovedAwayIsNoticedAndTakenUpAgainWhenItIsBack) {
  std::filesystem::rename(data_, dir_.File("away"));
  storage_->CheckFiles();
  EXPECT_THAT(std::string(storage_->WriteHealth().message()), HasSubstr(data_));
  EXPECT_EQ(Track("late").code(), absl::StatusCode::kUnavailable);
  storage_->RunHousekeeping();
  EXPECT_FALSE(std::filesystem::exists(data_));
  EXPECT_FALSE(storage_->WriteHealth().ok());
  EXPECT_TRUE(IsTracked("before"));

  std::filesystem::rename(dir_.File("away"), data_);
  storage_->RunHousekeeping();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  EXPECT_TRUE(IsTracked("before"));
  EXPECT_TRUE(Track("after").ok());
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
}

TEST_F(LostDirectoryTest, AnotherDirectoryInItsPlaceIsNotWrittenTo) {
  std::filesystem::rename(data_, dir_.File("away"));
  std::filesystem::create_directory(data_);
  // More than LevelDB puts into one log.
  absl::Status status;
  for (int i = 0; i < 300 && status.ok(); ++i)
    status = Track(std::string(100'000, 'k') + absl::StrCat(i));
  EXPECT_FALSE(status.ok());
  storage_->CheckFiles();
  storage_->RunHousekeeping();
  EXPECT_THAT(std::string(storage_->WriteHealth().message()), HasSubstr(data_));
  EXPECT_TRUE(std::filesystem::is_empty(data_));
  EXPECT_TRUE(IsTracked("before"));
}

TEST_F(LostDirectoryTest, AnEmptiedDirectoryIsNotTakenForANewOne) {
  for (const auto& entry : std::filesystem::directory_iterator(data_)) {
    std::filesystem::remove_all(entry.path());
  }
  EXPECT_EQ(Track("lost").code(), absl::StatusCode::kUnavailable);
  for (int i = 0; i < 3; ++i) {
    storage_->CheckFiles();
    storage_->RunHousekeeping();
    EXPECT_THAT(std::string(storage_->WriteHealth().message()), HasSubstr(data_));
  }
  EXPECT_FALSE(std::filesystem::exists(data_ + "/CURRENT"));
  EXPECT_TRUE(IsTracked("before"));
}

void EmptyDirectory(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::filesystem::remove_all(entry.path());
  }
}

TEST_F(LostDirectoryTest, AStartInAnEmptiedDirectoryMakesNoNewDatabaseUnasked) {
  storage_->RunHousekeeping();
  storage_.reset();
  EmptyDirectory(data_);
  StorageOptions options;
  options.directory = data_;
  const absl::Status refused = Storage::Open(options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("emptied"));
  EXPECT_TRUE(std::filesystem::is_empty(data_));
  // Asked for, it is paused and in doubt.
  ASSERT_TRUE(ReplaceDamaged(options, std::string(refused.message()), kTestNow).ok());
  const auto replaced = Storage::Open(options);
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_TRUE((*replaced)->data_trust().in_doubt());
  EXPECT_TRUE((*replaced)->containers().PauseOfAll().has_value());
}

TEST_F(LostDirectoryTest, ADirectoryThatIsMadeAnewIsANewOne) {
  storage_->RunHousekeeping();
  storage_.reset();
  std::filesystem::remove_all(data_);
  StorageOptions options;
  options.directory = data_;
  EXPECT_TRUE(Storage::Open(options).ok());
  // It was not used yet, so that nothing was lost.
  EmptyDirectory(data_);
  EXPECT_TRUE(Storage::Open(options).ok());
}

// Without it another process could open the same data.
TEST_F(LostDirectoryTest, ARemovedLockIsNoticedAndMadeAgain) {
  std::filesystem::remove(data_ + "/LOCK");
  storage_->CheckFiles();
  EXPECT_THAT(std::string(storage_->WriteHealth().message()), HasSubstr(data_ + "/LOCK"));
  storage_->RunHousekeeping();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  EXPECT_TRUE(std::filesystem::exists(data_ + "/LOCK"));
  storage_->CheckFiles();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  EXPECT_TRUE(IsTracked("before"));
}

TEST_F(LostDirectoryTest, WhatIsInItsPlaceIsFine) {
  storage_->CheckFiles();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
}

}  // namespace
}  // namespace ttl
