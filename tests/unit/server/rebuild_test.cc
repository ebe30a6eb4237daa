#include "service/server/rebuild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "service/base/done.h"
#include "service/server/start_changes.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fault_env.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RebuildTest : public testing::Test {
 protected:
  RebuildTest() {
    config_.data_dir = temp_.File("data");
    config_.containers_file = temp_.File("containers.yaml");
  }

  absl::StatusOr<std::unique_ptr<Storage>> Open(RebuildMode mode) {
    config_.rebuild_from_store = mode;
    StorageOptions options;
    options.directory = config_.data_dir;
    return OpenForRebuild(config_, options, kTestNow);
  }

  // A run of the process that uses the database.
  void Use() {
    const auto storage = Open(RebuildMode::kNever);
    ASSERT_TRUE(storage.ok()) << storage.status();
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  (*storage)->containers().Create("c", {}, kTestNow, std::move(done));
                }).ok());
    (*storage)->RunHousekeeping();
  }

  void EmptyDirectory() {
    for (const auto& entry : std::filesystem::directory_iterator(config_.data_dir)) {
      std::filesystem::remove_all(entry.path());
    }
  }

  const TempDir temp_;
  ServerConfig config_;
};

TEST_F(RebuildTest, ANewDatabaseThatNothingRebuildsIsSaid) {
  CapturedLog log;
  ASSERT_NO_FATAL_FAILURE(Use());
  EXPECT_THAT(log.text(), HasSubstr("new database created"));
}

TEST_F(RebuildTest, AnEmptiedDirectoryIsRefusedIfNothingRebuildsIt) {
  ASSERT_NO_FATAL_FAILURE(Use());
  EmptyDirectory();
  const absl::Status refused = Open(RebuildMode::kNever).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the directory was emptied"));
}

TEST_F(RebuildTest, AnEmptiedDirectoryIsRebuiltPausedAndInDoubt) {
  ASSERT_NO_FATAL_FAILURE(Use());
  EmptyDirectory();
  const auto storage = Open(RebuildMode::kIfNeeded);
  ASSERT_TRUE(storage.ok()) << storage.status();
  EXPECT_THAT((*storage)->data_trust().doubt(), HasSubstr("emptied"));
  EXPECT_TRUE((*storage)->containers().PauseOfAll().has_value());
}

// What a start changes, on a storage whose volume takes no writes at first.
class StartChangesTest : public testing::Test {
 protected:
  StartChangesTest() : clock_(fake_clock_, std::nullopt) {
    storage_.Create("c", 60);
    config_.start_paused = true;
    entry_.id = "c";
    entry_.settings.policy.default_ttl = 3600;
    storage_.Close();
    storage_.env().FailWrites(true);
    storage_.Reopen();
  }

  FakeClock fake_clock_;
  GuardedClock clock_;
  StorageForTest storage_;
  ServerConfig config_;
  ContainerEntry entry_;
};

TEST_F(StartChangesTest, TheyWaitUntilStorageTakesWrites) {
  const std::string doubt = "started with --rebuild-from-store=always";
  storage_->data_trust().Doubt(doubt);
  StartChanges changes(config_, {entry_}, *storage_, clock_);
  for (int i = 0; i < 3; ++i) {
    const absl::Status waits = changes.Make();
    EXPECT_FALSE(waits.ok());
    EXPECT_TRUE(TakesNoWrites(waits)) << waits;
    storage_->RunHousekeeping();
  }
  EXPECT_EQ(storage_.Find("c")->settings.policy.default_ttl, 60);
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  EXPECT_EQ(changes.Make(), absl::OkStatus());
  EXPECT_EQ(storage_.Find("c")->settings.policy.default_ttl, 3600);
  EXPECT_TRUE(storage_->containers().PauseOfAll().has_value());
  storage_.Reopen();
  EXPECT_EQ(storage_->data_trust().doubt(), doubt);
}

TEST_F(StartChangesTest, WhatChangesNothingNeedsNoWrites) {
  config_.start_paused = false;
  EXPECT_EQ(StartChanges(config_, {}, *storage_, clock_).Make(), absl::OkStatus());
}

}  // namespace
}  // namespace ttl
