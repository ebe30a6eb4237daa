#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using Fault = FaultEnv::Fault;

constexpr int64_t kTtl = 60;
constexpr int kReports = 30;
constexpr int kFaultsTried = 24;  // each report is a sync and two appends

enum class After { kDiskIsWell, kPowerCut };

class EnvFaultTest : public testing::TestWithParam<std::tuple<Fault, After>> {
 protected:
  // Reports items until all were, whether that is acknowledged or not. Returns the
  // acknowledged ones.
  static std::vector<std::string> Report(StorageForTest& storage) {
    std::vector<std::string> acknowledged;
    for (int i = 0; i < kReports; ++i) {
      const std::string id = absl::StrCat(100 + i);
      const ItemReport report = {KeyOf(id), {{kT, {}}, "etag", {}, 0}};
      if (storage.Track("c", {report}).ok()) acknowledged.push_back(id);
    }
    return acknowledged;
  }

  static void Recover(StorageForTest& storage, After after) {
    if (after == After::kDiskIsWell) {
      storage.env().FailWrites(false);
      storage.FinishHousekeeping();
      return;
    }
    storage.Close();
    storage.env().FailWrites(false);
    storage.env().DropUnsynced();
    storage.Reopen();
  }
};

TEST_P(EnvFaultTest, WhicheverWriteFailsWhatWasAcknowledgedStaysAndExpires) {
  const auto [fault, after] = GetParam();
  for (int nth = 1; nth <= kFaultsTried; ++nth) {
    SCOPED_TRACE(nth);
    StorageForTest storage;
    storage.Create("c", kTtl);
    storage.env().FailFrom(fault, nth);
    const std::vector<std::string> acknowledged = Report(storage);
    ASSERT_LT(acknowledged.size(), static_cast<size_t>(kReports));
    EXPECT_FALSE(storage->WriteHealth().ok());

    Recover(storage, after);
    EXPECT_TRUE(storage->WriteHealth().ok());
    EXPECT_EQ(storage->CheckInvariants(), absl::OkStatus());
    for (const std::string& id : acknowledged) {
      EXPECT_TRUE(storage.FindItem("c", id).has_value()) << id;
    }
    // Of the one that failed nobody knows; all others were never written.
    const std::vector<std::string> due = storage.DueIds("c", kT + kTtl);
    EXPECT_GE(due.size(), acknowledged.size());
    EXPECT_LE(due.size(), acknowledged.size() + 1);
    EXPECT_EQ(Report(storage).size(), static_cast<size_t>(kReports));
  }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Fault, After>>& info) {
  const auto [fault, after] = info.param;
  const char* const faults[] = {"FailedSync", "ShortWrite", "NoSpace"};
  return absl::StrCat(faults[static_cast<int>(fault)],
                      after == After::kPowerCut ? "ThenPowerCut" : "");
}

INSTANTIATE_TEST_SUITE_P(Faults, EnvFaultTest,
                         testing::Combine(testing::Values(Fault::kFailedSync, Fault::kShortWrite,
                                                          Fault::kNoSpace),
                                          testing::Values(After::kDiskIsWell, After::kPowerCut)),
                         NameOf);

TEST(FaultEnvTest, APowerCutTakesWhatWasNotSynced) {
  FaultEnv env;
  leveldb::WritableFile* file = nullptr;
  ASSERT_TRUE(env.NewWritableFile("/f", &file).ok());
  ASSERT_TRUE(file->Append("kept").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append(" lost").ok());
  delete file;
  ASSERT_TRUE(env.RenameFile("/f", "/g").ok());
  env.DropUnsynced();
  std::string contents;
  ASSERT_TRUE(leveldb::ReadFileToString(&env, "/g", &contents).ok());
  EXPECT_EQ(contents, "kept");
}

}  // namespace
}  // namespace ttl
