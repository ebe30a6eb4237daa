#include "client/postgres/capture/stream/source_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

const SourcePosition kKept{"7301", "00000001", 0x1000};

std::string Why(const SourcePosition& start, uint64_t wal_end = 0x9000) {
  return WhyChangesMayBeMissing(kKept, start, wal_end);
}

TEST(SourcePositionTest, ComesBackFromItsText) {
  const SourcePosition position{"7301234567890123456", "0000000A", 0x16B3748};
  EXPECT_EQ(FormatSourcePosition(position), "postgresql/7301234567890123456/0000000A/0/16B3748");
  EXPECT_EQ(ParseSourcePosition(FormatSourcePosition(position)), position);
  for (const char* text : {"", "postgresql", "postgresql/1/1", "postgresql/1/1/0", "mysql/1/1/0/1",
                           "postgresql/1/1/0/1/2"}) {
    EXPECT_EQ(ParseSourcePosition(text), std::nullopt) << text;
  }
}

TEST(SourcePositionTest, ASlotAtOrBeforeWhatIsKnownHasAllChanges) {
  EXPECT_EQ(Why({"7301", "00000001", 0x1000}), "");
  EXPECT_EQ(Why({"7301", "00000001", 0x0fff}), "");
  EXPECT_EQ(Why({"7301", "00000001", 0x1000}, 0x1000), "");
}

TEST(SourcePositionTest, ASlotBeyondWhatIsKnownHasNot) {
  EXPECT_THAT(Why({"7301", "00000001", 0x1001}), HasSubstr("begins at 0/1001, beyond 0/1000"));
}

TEST(SourcePositionTest, AnotherServerOrTimelineOrAShorterWalIsAnotherWal) {
  EXPECT_THAT(Why({"7302", "00000001", 0x10}), HasSubstr("7301, and this one has 7302"));
  EXPECT_THAT(Why({"7301", "00000002", 0x10}), HasSubstr("is on timeline 00000002"));
  EXPECT_THAT(Why({"7301", "00000001", 0x10}, 0x0fff), HasSubstr("WAL ends at 0/FFF, before"));
}

TEST(SourcePositionTest, ASidecarThatDoesNotSayMayKnowNothing) {
  EXPECT_THAT(WhyChangesMayBeMissing(std::nullopt, kKept, 0x9000), HasSubstr("does not say"));
}

}  // namespace
}  // namespace ttl::postgres
