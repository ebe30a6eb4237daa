// Windows of containers on disk: restarts, backups, repairs, and the format of the data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/storage.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/recovery.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

ContainerSettings AtNight(const std::string& zone) {
  ContainerSettings settings;
  settings.policy.default_ttl = 60;
  settings.windows = DeleteWindows{{{0x1f, 22 * 60, 6 * 60, 500.0}}, zone, 2};
  return settings;
}

// A storage on disk with the container "c", which has windows.
class DeleteWindowsTest : public testing::Test {
 protected:
  DeleteWindowsTest() {
    Open("data");
    const auto created = Create("c", AtNight("Europe/Berlin"));
    EXPECT_TRUE(created.ok()) << created;
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
  absl::Status Create(const std::string& id, const ContainerSettings& settings) {
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
             storage_->containers().Create(id, settings, kTestNow, std::move(done));
           })
        .status();
  }
  absl::Status Update(const std::string& id, const ContainerSettings& settings) {
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
             storage_->containers().Update(
                 id, [settings](const Container&) { return settings; }, kTestNow,
                 absl::ZeroDuration(), /*force=*/false, std::move(done));
           })
        .status();
  }
  ContainerPtr Find(const std::string& id) { return storage_->containers().Find(id); }

  std::unique_ptr<leveldb::DB> OpenDatabase(const std::string& name) {
    storage_.reset();
    leveldb::DB* opened = nullptr;
    EXPECT_TRUE(leveldb::DB::Open({}, temp_.File(name), &opened).ok());
    return std::unique_ptr<leveldb::DB>(opened);
  }
  std::string FormatOf(const std::string& name) {
    std::string value;
    EXPECT_TRUE(OpenDatabase(name)->Get({}, MetaKey(kDataFormatFact), &value).ok());
    return value;
  }

  TempDir temp_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(DeleteWindowsTest, AreKeptOverARestart) {
  Open("data");
  EXPECT_EQ(Find("c")->settings, AtNight("Europe/Berlin"));
}

TEST_F(DeleteWindowsTest, AreInABackup) {
  auto backup = storage_->StartBackup(kTestNow).value();
  std::ofstream file(temp_.File("backup"), std::ios::binary);
  for (std::string next = *backup->Next(); !next.empty(); next = *backup->Next()) file << next;
  file.close();
  backup.reset();  // before the storage is closed
  ASSERT_TRUE(RestoreBackup(temp_.File("backup"), OptionsFor("restored"), kTestNow).ok());
  Open("restored");
  EXPECT_EQ(Find("c")->settings, AtNight("Europe/Berlin"));
  EXPECT_EQ(FormatOf("restored"), "5");
}

// An older program would delete outside of the windows.
TEST_F(DeleteWindowsTest, RaiseTheFormatAndNothingLowersIt) {
  ASSERT_TRUE(Update("c", ContainerSettings()).ok());
  EXPECT_EQ(FormatOf("data"), "5");
  Open("fresh");
  ContainerSettings settings;
  settings.requires_holds = true;
  ASSERT_TRUE(Create("c", settings).ok());
  EXPECT_EQ(FormatOf("fresh"), "3");
  Open("fresh");
  ASSERT_TRUE(Update("c", AtNight("")).ok());
  EXPECT_EQ(FormatOf("fresh"), "5");
  Open("fresh");
  ASSERT_TRUE(Update("c", settings).ok());
  EXPECT_EQ(FormatOf("fresh"), "5") << "the highest that was needed";
}

TEST_F(DeleteWindowsTest, ARepairFindsTheFormatThatTheyNeed) {
  ASSERT_TRUE(OpenDatabase("data")->Put({}, MetaKey(kDataFormatFact), "1").ok());
  ASSERT_TRUE(RepairCopy(temp_.File("data"), OptionsFor("repaired"), kTestNow).ok());
  EXPECT_EQ(FormatOf("repaired"), "5");
  Open("repaired");
  EXPECT_EQ(Find("c")->settings, AtNight("Europe/Berlin"));
}

TEST_F(DeleteWindowsTest, AZoneThatIsNotThereIsRefused) {
  const absl::Status created = Create("d", AtNight("Europe/Atlantis"));
  EXPECT_TRUE(absl::IsInvalidArgument(created)) << created;
  const absl::Status updated = Update("c", AtNight("Europe/Atlantis"));
  EXPECT_TRUE(absl::IsInvalidArgument(updated)) << updated;
  EXPECT_THAT(std::string(updated.message()), HasSubstr("time_zone is \"Europe/Atlantis\""));
}

// As after a move to an image without the package tzdata.
TEST_F(DeleteWindowsTest, AZoneThatIsGoneAtAStartKeepsNothingElseFromWorking) {
  Container container = *Find("c");
  container.settings = AtNight("Europe/Atlantis");
  const std::string record = EncodeContainer(container);
  ASSERT_TRUE(OpenDatabase("data")->Put({}, ContainerKey(container.number), record).ok());
  Open("data");
  ASSERT_NE(Find("c"), nullptr);
  ContainerSettings settings = AtNight("Europe/Atlantis");
  settings.policy.default_ttl = 3600;
  EXPECT_TRUE(Update("c", settings).ok()) << "the windows stay as they are";
  settings.windows->max_deletes_per_second_outside = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(Update("c", settings)));
  settings.windows.reset();
  EXPECT_TRUE(Update("c", settings).ok());
}

}  // namespace
}  // namespace ttl
