// Items that say when they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/backup_file.h"
#include "tests/testing/storage_for_test.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kWritten = 1'800'000'000;

void Track(StorageForTest& storage, const std::string& id, const ItemTimes& times) {
  const auto tracked = storage.Track("c", {{KeyOf(id), {times, "", std::nullopt, 0}}});
  ASSERT_TRUE(tracked.ok()) << tracked.status();
  ASSERT_THAT(*tracked, ElementsAre(TrackOutcome::kTracked));
}

std::string BackUp(StorageForTest& storage) {
  const auto backup = storage->StartBackup(kTestNow).value();
  std::string bytes;
  for (std::string next = backup->Next().value(); !next.empty(); next = backup->Next().value()) {
    bytes += next;
  }
  return bytes;
}

// The format of the data as the records of a backup have it.
std::string DataFormat(StorageForTest& storage) {
  std::istringstream file(BackUp(storage));
  std::string format;
  EXPECT_TRUE(ReadBackup(file, "backup", [&](WriteSet changes) {
                for (const auto& [key, value] : changes) {
                  if (key == "mformat") format = *value;
                }
                return absl::OkStatus();
              }).ok());
  return format;
}

TEST(ExpireAtTest, ItIsKeptOverARestartAndGivenToChecks) {
  StorageForTest storage;
  storage.Create("c", 60);
  const ItemTimes times = {kWritten, 100, kWritten + 50};
  Track(storage, "a", times);
  Track(storage, "not legal, as while TTL is off", {kWritten, std::nullopt, 0});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(storage.FindItem("c", "a")->version.times, times);
    EXPECT_EQ(storage.FindTimes("c", "a").value(), times);
    EXPECT_EQ(storage.FindItem("c", "not legal, as while TTL is off")->version.times.expire_at, 0);
    EXPECT_TRUE(storage.Find("c")->has_expire_at);
    storage.Reopen();
  }
}

TEST(ExpireAtTest, AWriteWithoutOneTakesItAway) {
  StorageForTest storage;
  storage.Create("c", -1);
  Track(storage, "a", {kWritten, std::nullopt, kWritten + 50});
  Track(storage, "a", {kWritten, std::nullopt, std::nullopt});
  EXPECT_EQ(storage.FindTimes("c", "a").value(), ItemTimes{kWritten});
  EXPECT_THAT(storage.DueIds("c", kWritten + 1000), IsEmpty());
  EXPECT_TRUE(storage.Find("c")->has_expire_at) << "it has had one";
}

TEST(ExpireAtTest, TheFirstOneOfAContainerIsToldToItsWatchersAndTheOthersAreNot) {
  StorageForTest storage;
  const std::string etag = ContainerEtag(*storage.Create("c", -1));
  const uint64_t before = storage->containers().Revision();
  Track(storage, "a", {kWritten});
  EXPECT_EQ(storage->containers().Revision(), before);
  Track(storage, "a", {kWritten, std::nullopt, kWritten + 50});
  EXPECT_EQ(storage->containers().Revision(), before + 1);
  Track(storage, "b", {kWritten, std::nullopt, kWritten + 50});
  EXPECT_EQ(storage->containers().Revision(), before + 1);
  EXPECT_EQ(ContainerEtag(*storage.Find("c")), etag) << "nobody configured anything";
}

TEST(ExpireAtTest, ItemsAreDueAtTheEarlierOfBothAndInThatOrder) {
  StorageForTest storage;
  storage.Create("c", 10);
  Track(storage, "sliding", {kWritten, 30, kWritten + 1000});
  Track(storage, "but never beyond", {kWritten, 1000, kWritten + 20});
  Track(storage, "does not inherit", {kWritten, std::nullopt, kWritten + 40});
  Track(storage, "-1 with an end", {kWritten, -1, kWritten + 50});
  Track(storage, "in the past", {kWritten, std::nullopt, kWritten - 5000});
  Track(storage, "inherits", {kWritten});
  Track(storage, "not legal", {kWritten, 5, 0});
  EXPECT_THAT(storage.DueIds("c", kWritten), ElementsAre("in the past"));
  EXPECT_THAT(storage.DueIds("c", kWritten + 19), ElementsAre("in the past", "inherits"));
  EXPECT_THAT(
      storage.DueIds("c", kWritten + 49),
      ElementsAre("in the past", "inherits", "but never beyond", "sliding", "does not inherit"));
  EXPECT_THAT(storage.DueIds("c", kWritten + 50),
              ElementsAre("in the past", "inherits", "but never beyond", "sliding",
                          "does not inherit", "-1 with an end"));
  storage.SetDefaultTtl("c", std::nullopt);
  EXPECT_THAT(storage.DueIds("c", kWritten + 50), IsEmpty());
}

TEST(ExpireAtTest, AnEndThatMovesIsFoundAtItsNewTime) {
  StorageForTest storage;
  storage.Create("c", -1);
  Track(storage, "later", {kWritten, std::nullopt, kWritten + 50});
  Track(storage, "later", {kWritten, std::nullopt, kWritten + 900'000});
  Track(storage, "earlier", {kWritten, std::nullopt, kWritten + 900'000});
  Track(storage, "earlier", {kWritten, std::nullopt, kWritten + 60});
  EXPECT_THAT(storage.DueIds("c", kWritten + 60), ElementsAre("earlier"));
  EXPECT_THAT(storage.DueIds("c", kWritten + 900'000), ElementsAre("earlier", "later"));
}

// Such a table reports the same `_ts` for all: its distance from the end says nothing.
TEST(ExpireAtTest, AnEntryLagsByAnHourAtMostWhereWritesMoveIt) {
  StorageForTest storage;
  storage.Create("c", -1);
  Track(storage, "a", {1, std::nullopt, kWritten});
  Track(storage, "a", {1, std::nullopt, kWritten + 3601});
  const DueScan scan = storage.Scan("c", kWritten + 3600);
  EXPECT_TRUE(scan.due.empty());
  EXPECT_TRUE(scan.early.empty()) << "its entry is still where it was";
}

TEST(DataFormatTest, IsRaisedByTheFirstExpireAtAndByNothingElse) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", kWritten, 5);
  storage.Reopen();
  storage.SetDefaultTtl("c", 30);
  storage.TrackOne("c", "b", kWritten);
  EXPECT_EQ(DataFormat(storage), "1");
  Track(storage, "c", {kWritten, std::nullopt, kWritten + 5});
  EXPECT_EQ(DataFormat(storage), "2");
  storage.UntrackOne("c", "c", kWritten);
  storage.Reopen();
  EXPECT_EQ(DataFormat(storage), "2") << "an older program may have it open no more";
}

// The frames of a backup that are not changes.
std::vector<storage::v1::BackupFrame> HeadAndEnd(const std::string& bytes) {
  std::vector<storage::v1::BackupFrame> frames;
  size_t at = sizeof(kBackupMagic) - 1;
  while (at < bytes.size()) {
    uint32_t size = 0;
    for (int i = 3; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    storage::v1::BackupFrame frame;
    EXPECT_TRUE(frame.ParseFromString(bytes.substr(at + 8, size)));
    if (!frame.has_changes()) frames.push_back(frame);
    at += 8 + size;
  }
  return frames;
}

TEST(DataFormatTest, ABackupSaysTheNumberThatItNeeds) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", kWritten, 5);
  const auto before = HeadAndEnd(BackUp(storage));
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before[0].header().data_format(), 1);
  EXPECT_EQ(before[1].end().data_format(), 1);

  const auto backup = storage->StartBackup(kTestNow).value();
  std::string during = backup->Next().value();
  Track(storage, "b", {kWritten, std::nullopt, kWritten + 5});
  for (std::string next = backup->Next().value(); !next.empty(); next = backup->Next().value()) {
    during += next;
  }
  const auto raised = HeadAndEnd(during);
  ASSERT_EQ(raised.size(), 2u);
  EXPECT_EQ(raised[0].header().data_format(), 1);
  EXPECT_EQ(raised[1].end().data_format(), 2) << "a write during the backup raised it";
}

}  // namespace
}  // namespace ttl
