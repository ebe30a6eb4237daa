#include "service/storage/commit/tombstone_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string EntryKey(uint64_t index, IndexFamily family, int64_t time) {
  return EncodeIndexKey(index, family, time, {"p", "a"});
}

TEST(TombstoneCountsTest, CountsWhatIsErasedByContainerAndByFamily) {
  TombstoneCounts tombstones;
  tombstones.AddErased({{EncodeItemKey(1, {"p", "a"}), std::nullopt},
                        {EncodeItemKey(1, {"p", "b"}), std::nullopt},
                        {EncodeItemKey(1, {"p", "c"}), "put"},
                        {EncodeItemKey(2, {"p", "a"}), std::nullopt},
                        {EntryKey(1, IndexFamily::kTs, 5), std::nullopt},
                        {EntryKey(1, IndexFamily::kTs, 6), std::nullopt},
                        {EntryKey(1, IndexFamily::kTs, 7), std::nullopt},
                        {EntryKey(1, IndexFamily::kRetryTime, 7), std::nullopt},
                        {ContainerKey(1), std::nullopt}});
  EXPECT_THAT(tombstones.FindAtLeast(1), SizeIs(4));
  EXPECT_THAT(tombstones.FindAtLeast(2), SizeIs(2));
  ASSERT_THAT(tombstones.FindAtLeast(3), SizeIs(1));
  EXPECT_EQ(tombstones.FindAtLeast(3)[0].prefix, IndexFamilyPrefix(1, IndexFamily::kTs));
}

TEST(TombstoneCountsTest, ACompactionOfTheFrontLeavesTheCountOfTheWhole) {
  TombstoneCounts tombstones;
  const std::string prefix = IndexFamilyPrefix(1, IndexFamily::kTs);
  const auto erase_one = [&] {
    tombstones.AddErased({{EntryKey(1, IndexFamily::kTs, 5), std::nullopt}});
  };
  erase_one();
  tombstones.ClearFront(prefix);
  EXPECT_THAT(tombstones.FindAtLeast(1), IsEmpty());
  erase_one();
  ASSERT_THAT(tombstones.FindAtLeast(1), SizeIs(1));
  EXPECT_EQ(tombstones.FindAtLeast(1)[0].erased, 2);
  EXPECT_EQ(tombstones.FindAtLeast(1)[0].erased_in_front, 1);
  tombstones.Clear(prefix);
  EXPECT_THAT(tombstones.FindAtLeast(0), IsEmpty());
}

TEST(TombstoneCountsTest, OfADeadIndexOnlyWhatIsWorthACompactionIsRemembered) {
  TombstoneCounts tombstones;
  tombstones.AddErased({{EntryKey(1, IndexFamily::kTs, 5), std::nullopt},
                        {EntryKey(1, IndexFamily::kRetryTime, 5), std::nullopt},
                        {EntryKey(1, IndexFamily::kRetryTime, 6), std::nullopt},
                        {EntryKey(2, IndexFamily::kTs, 5), std::nullopt}});
  tombstones.ForgetFew(IndexPrefix(1), 2);
  EXPECT_THAT(tombstones.FindAtLeast(0), SizeIs(2));
  EXPECT_THAT(tombstones.FindAtLeast(2), SizeIs(1));
}

}  // namespace
}  // namespace ttl
