// A database on a volume that takes no writes, from a moment on or from the start.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kT = 1'800'000'000;
constexpr int kItems = 200;

std::map<std::string, std::string> Files(leveldb::Env& env) {
  std::map<std::string, std::string> files;
  std::vector<std::string> names;
  EXPECT_TRUE(env.GetChildren("/ttl", &names).ok());
  for (const std::string& name : names) {
    EXPECT_TRUE(leveldb::ReadFileToString(&env, "/ttl/" + name, &files[name]).ok()) << name;
  }
  return files;
}

class FullVolumeTest : public testing::Test {
 protected:
  // Nothing is found in the cache.
  FullVolumeTest()
      : storage_([] {
          StorageOptions options;
          options.record_cache_bytes = 0;
          return options;
        }()) {
    storage_.Create("c", 60);
    for (int i = 0; i < kItems; ++i) EXPECT_TRUE(Track(absl::StrCat(i)).ok());
  }

  absl::Status Track(const std::string& id) {
    return storage_.Track("c", {{KeyOf(id), {{kT, {}}, "", {}, 0}}}).status();
  }
  void ExpectAllFound() {
    for (int i = 0; i < kItems; ++i) {
      EXPECT_TRUE(storage_.FindItem("c", absl::StrCat(i)).has_value()) << i;
    }
  }

  StorageForTest storage_;
};

TEST_F(FullVolumeTest, WhileWritesFailReadsGoOn) {
  storage_.env().FailWrites(true);
  EXPECT_FALSE(Track("lost").ok());
  for (int i = 0; i < 3; ++i) {
    storage_->RunHousekeeping();
    EXPECT_FALSE(storage_->WriteHealth().ok());
    ExpectAllFound();
  }
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  EXPECT_TRUE(Track("after").ok());
  ExpectAllFound();
}

TEST_F(FullVolumeTest, ItStartsForReadsAndTakesWritesWhenTheVolumeDoes) {
  storage_.Close();
  storage_.env().FailWrites(true);
  storage_.Reopen();
  EXPECT_FALSE(storage_->WriteHealth().ok());
  EXPECT_FALSE(storage_->OutcomeHealth().ok());
  EXPECT_EQ(Track("refused").code(), absl::StatusCode::kUnavailable);
  for (int i = 0; i < 3; ++i) {
    storage_->RunHousekeeping();
    EXPECT_FALSE(storage_->WriteHealth().ok());
    ExpectAllFound();
  }
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  ExpectAllFound();
  EXPECT_TRUE(Track("after").ok());
  storage_.Reopen();
  ExpectAllFound();
  EXPECT_TRUE(storage_.FindItem("c", "after").has_value());
}

TEST_F(FullVolumeTest, WhatIsThereIsNotTouchedMeanwhile) {
  storage_.Close();
  const auto before = Files(storage_.env());
  for (int starts = 0; starts < 3; ++starts) {
    storage_.env().FailWrites(true);
    storage_.Reopen();
    ExpectAllFound();
    storage_.Close();
    const auto after = Files(storage_.env());
    // The first try to open as usual may leave files behind, but loses none.
    for (const auto& [name, contents] : before) {
      ASSERT_TRUE(after.contains(name)) << name;
      EXPECT_EQ(after.at(name), contents) << name;
    }
  }
  storage_.env().FailWrites(false);
  storage_.Reopen();
  EXPECT_EQ(storage_->WriteHealth(), absl::OkStatus());
  ExpectAllFound();
}

// A database in memory alone would be gone at the end, and answer until then.
TEST(FullVolumeStartTest, NoNewDatabaseIsMade) {
  FaultEnv env;
  env.FailWrites(true);
  StorageOptions options;
  options.directory = "/ttl";
  options.env = &env;
  EXPECT_EQ(Storage::Open(options).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ttl
