// A container whose stored record cannot be read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <memory>
#include <string>

#include "service/storage/format/key_codec.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Replaces the record of a container in a closed database. Returns what was there.
std::string ReplaceRecord(StorageForTest& storage, uint64_t number, const std::string& record) {
  leveldb::Options options;
  options.env = &storage.env();
  leveldb::DB* opened = nullptr;
  EXPECT_TRUE(leveldb::DB::Open(options, "/ttl", &opened).ok());
  const std::unique_ptr<leveldb::DB> database(opened);
  std::string before;
  EXPECT_TRUE(database->Get({}, ContainerKey(number), &before).ok());
  EXPECT_TRUE(database->Put({}, ContainerKey(number), record).ok());
  return before;
}

// B08: it is not swept and hides nothing, the error names it and what is there, and the
// other containers run.
TEST(DamagedContainerTest, ADamagedContainerIsNotSweptAndOthersAre) {
  StorageForTest storage;
  const uint64_t number = storage.Create("bad", 60)->number;
  storage.Create("good", 60);
  storage.TrackOne("bad", "a", 1000);
  storage.TrackOne("good", "a", 1000);
  storage.Close();
  const std::string record = ReplaceRecord(storage, number, "abc");

  storage.Reopen();
  EXPECT_EQ(storage.Find("bad"), nullptr);
  EXPECT_THAT(storage->Problems(),
              ElementsAre(testing::AllOf(HasSubstr(std::to_string(number)), HasSubstr("616263"))));
  EXPECT_THAT(storage.DueIds("good", 2000), ElementsAre("a"));
  storage.TrackOne("good", "b", 1000);
  storage.FinishHousekeeping();
  EXPECT_FALSE(storage->CheckInvariants().ok()) << "the damage is not kept quiet";

  // Nothing of it is gone, should somebody repair it.
  storage.Close();
  ReplaceRecord(storage, number, record);
  storage.Reopen();
  EXPECT_THAT(storage->Problems(), IsEmpty());
  EXPECT_THAT(storage.DueIds("bad", 2000), ElementsAre("a"));
}

}  // namespace
}  // namespace ttl
