#include "tests/bench/speed/item_names.h"

#include <gtest/gtest.h>

#include <set>

#include "service/storage/format/key_codec.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kItem = 98'765'432;

TEST(ItemNamesTest, RenumberedKeysAreThoseOfTheOtherItem) {
  std::string partition_key = PartitionKeyOf(7);
  RenumberPartitionKey(partition_key, kItem);
  EXPECT_EQ(partition_key, PartitionKeyOf(kItem));
  std::string id = IdOf(7);
  RenumberId(id, kItem);
  EXPECT_EQ(id, IdOf(kItem));
  std::string joined = JoinedKeyOf(7);
  RenumberJoinedKey(joined.data() + joined.size(), kItem);
  EXPECT_EQ(joined, JoinedKeyOf(kItem));
}

TEST(ItemNamesTest, RenumberedKeysOfTheDatabaseAreThoseOfTheOtherItem) {
  std::string key = EncodeItemKey(3, {PartitionKeyOf(7), IdOf(7)});
  RenumberDatabaseKey(key, kItem);
  EXPECT_EQ(key, EncodeItemKey(3, {PartitionKeyOf(kItem), IdOf(kItem)}));
  std::string entry = EncodeIndexKey(4, IndexFamily::kTs, 5, {PartitionKeyOf(7), IdOf(7)});
  RenumberDatabaseKey(entry, kItem);
  EXPECT_EQ(entry, EncodeIndexKey(4, IndexFamily::kTs, 5, {PartitionKeyOf(kItem), IdOf(kItem)}));
}

TEST(ItemNamesTest, ScatteredNumbersAreAllDifferentAndApart) {
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 100'000; ++i) seen.insert(Scattered(i));
  EXPECT_EQ(seen.size(), 100'000u);
  EXPECT_GT(Scattered(2) - Scattered(1), 1'000'000u);
}

}  // namespace
}  // namespace ttl::bench
