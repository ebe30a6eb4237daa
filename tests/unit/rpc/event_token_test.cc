#include "service/rpc/mapping/event_token.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"

namespace ttl {
namespace {

TEST(EventTokenTest, ATokenIsReadAsItWasWritten) {
  for (const EventToken& token :
       {EventToken(), EventToken{1, 2, 3}, EventToken{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}}) {
    EXPECT_EQ(DecodeEventToken("token", EncodeEventToken(token)).value(), token);
  }
}

// Clients keep tokens: they must be read by every later version.
TEST(EventTokenTest, ItsBytesDoNotChange) {
  const EventToken token = {HashOfContainers({"a", "b"}), CombinedEpoch({9, 7}),
                            0x0102030405060708};
  EXPECT_EQ(token.containers, 0x9dbd0e0e67e641dc);
  EXPECT_EQ(token.epoch, 0x8037d32a50c2b92b);
  EXPECT_EQ(EncodeEventToken(token).substr(17), std::string("\1\2\3\4\5\6\7\10"));
}

TEST(EventTokenTest, OtherBytesAreRefused) {
  const std::string right = EncodeEventToken({1, 2, 3});
  for (const std::string& token :
       {std::string("x"), right.substr(1), right + "x", std::string("\2") + right.substr(1)}) {
    EXPECT_THAT(DecodeEventToken("containers.token", token),
                IsInvalid("containers.token", "bytes", "must be empty or the token"));
  }
}

TEST(EventTokenTest, TheOrderOfContainersDoesNotMatter) {
  EXPECT_EQ(HashOfContainers({"b", "a"}), HashOfContainers({"a", "b"}));
  EXPECT_EQ(CombinedEpoch({9, 7}), CombinedEpoch({7, 9}));
}

TEST(EventTokenTest, OtherContainersHaveAnotherHash) {
  for (const std::vector<std::string>& ids : std::vector<std::vector<std::string>>{
           {}, {"a"}, {"b"}, {"ab"}, {"a", "c"}, {"", "ab"}, {"a", "b", ""}}) {
    EXPECT_NE(HashOfContainers(ids), HashOfContainers({"a", "b"}));
  }
}

TEST(EventTokenTest, AnotherLogHasAnotherEpoch) {
  EXPECT_EQ(CombinedEpoch({7}), 7);
  for (const std::vector<uint64_t>& epochs :
       std::vector<std::vector<uint64_t>>{{}, {7}, {9}, {7, 10}, {7, 9, 9}}) {
    EXPECT_NE(CombinedEpoch(epochs), CombinedEpoch({7, 9}));
  }
}

}  // namespace
}  // namespace ttl
