#include "service/storage/commit/graveyard.h"

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

TEST(GraveyardTest, CountsWhatIsErasedByContainerAndByFamily) {
  Graveyard graveyard;
  graveyard.Bury({{EncodeItemKey(1, {"p", "a"}), std::nullopt},
                  {EncodeItemKey(1, {"p", "b"}), std::nullopt},
                  {EncodeItemKey(1, {"p", "c"}), "put"},
                  {EncodeItemKey(2, {"p", "a"}), std::nullopt},
                  {EntryKey(1, IndexFamily::kTs, 5), std::nullopt},
                  {EntryKey(1, IndexFamily::kTs, 6), std::nullopt},
                  {EntryKey(1, IndexFamily::kTs, 7), std::nullopt},
                  {EntryKey(1, IndexFamily::kRetryTime, 7), std::nullopt},
                  {ContainerKey(1), std::nullopt}});
  EXPECT_THAT(graveyard.FindFull(1), SizeIs(4));
  EXPECT_THAT(graveyard.FindFull(2), SizeIs(2));
  ASSERT_THAT(graveyard.FindFull(3), SizeIs(1));
  EXPECT_EQ(graveyard.FindFull(3)[0].prefix, IndexFamilyPrefix(1, IndexFamily::kTs));
}

TEST(GraveyardTest, ACompactionOfTheFrontLeavesTheCountOfTheWhole) {
  Graveyard graveyard;
  const std::string prefix = IndexFamilyPrefix(1, IndexFamily::kTs);
  const auto bury = [&] { graveyard.Bury({{EntryKey(1, IndexFamily::kTs, 5), std::nullopt}}); };
  bury();
  graveyard.ClearFront(prefix);
  EXPECT_THAT(graveyard.FindFull(1), IsEmpty());
  bury();
  ASSERT_THAT(graveyard.FindFull(1), SizeIs(1));
  EXPECT_EQ(graveyard.FindFull(1)[0].erased, 2);
  EXPECT_EQ(graveyard.FindFull(1)[0].erased_in_front, 1);
  graveyard.Clear(prefix);
  EXPECT_THAT(graveyard.FindFull(0), IsEmpty());
}

TEST(GraveyardTest, OfADeadIndexOnlyWhatIsWorthACompactionIsRemembered) {
  Graveyard graveyard;
  graveyard.Bury({{EntryKey(1, IndexFamily::kTs, 5), std::nullopt},
                  {EntryKey(1, IndexFamily::kRetryTime, 5), std::nullopt},
                  {EntryKey(1, IndexFamily::kRetryTime, 6), std::nullopt},
                  {EntryKey(2, IndexFamily::kTs, 5), std::nullopt}});
  graveyard.ForgetFew(IndexPrefix(1), 2);
  EXPECT_THAT(graveyard.FindFull(0), SizeIs(2));
  EXPECT_THAT(graveyard.FindFull(2), SizeIs(1));
}

}  // namespace
}  // namespace ttl
