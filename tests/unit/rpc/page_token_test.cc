#include "service/rpc/mapping/page_token.h"

#include <limits>
#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

TEST(ReadPageSizeTest, Table) {
  const struct {
    int32_t asked;
    size_t given;
  } kCases[] = {{0, 100},     {1, 1},       {100, 100},
                {1000, 1000}, {1001, 1000}, {std::numeric_limits<int32_t>::max(), 1000}};
  for (const auto& c : kCases) {
    const auto size = ReadPageSize(c.asked);
    ASSERT_THAT(size, IsOk()) << c.asked;
    EXPECT_EQ(*size, c.given) << c.asked;
  }
  EXPECT_THAT(ReadPageSize(-1), IsInvalid("page_size is -1", "1 to 1000"));
}

TEST(PageTokenTest, EmptyIsTheFirstPage) {
  EXPECT_EQ(ReadContainerPageToken("").value(), "");
  EXPECT_EQ(ReadItemPageToken("").value(), std::nullopt);
  EXPECT_EQ(ReadHoldPageToken("").value(), HoldPosition());
  EXPECT_EQ(ReadHeldKeyPageToken("").value(), std::nullopt);
}

TEST(PageTokenTest, ContainerIdsComeBack) {
  for (const std::string& id : {std::string("a"), std::string("salesdb/orders"),
                                std::string(255, 'x'), std::string("Bestellungen-Ä")}) {
    EXPECT_EQ(ReadContainerPageToken(ContainerPageToken(id)).value(), id);
  }
}

TEST(PageTokenTest, ItemKeysComeBackWhateverTheyHold) {
  const std::string zeros("\0\0", 2);
  for (const ItemKey& key :
       {ItemKey{"", ""}, ItemKey{"p", "i"}, ItemKey{"", "pi"}, ItemKey{zeros, "\xff"},
        ItemKey{"pi", ""}, ItemKey{std::string(2048, '\xff'), std::string(1023, '/')}}) {
    const ItemPosition position = {key, kNow + absl::Nanoseconds(123456789)};
    EXPECT_EQ(ReadItemPageToken(ItemPageToken(key, *position.judged_at)).value(), position);
    EXPECT_EQ(ReadHeldKeyPageToken(HeldKeyPageToken(key)).value(), key);
  }
}

TEST(PageTokenTest, PlacesInTheListOfHoldsComeBack) {
  for (const HoldPosition& position :
       {HoldPosition(), HoldPosition{"c", "h"}, HoldPosition{"salesdb/orders", "Fall 17-Ä"},
        HoldPosition{std::string(255, 'c'), std::string(255, 'h')}}) {
    EXPECT_EQ(ReadHoldPageToken(HoldPageToken(position)).value(), position);
  }
}

TEST(PageTokenTest, BrokenTokensOfHoldsAreRefused) {
  for (const std::string& token :
       {std::string("?"), absl::WebSafeBase64Escape("h"),
        absl::WebSafeBase64Escape("h\x05"
                                  "c"),
        HoldPageToken({"c", ""}), HoldPageToken({"", "h"}), HoldPageToken({"c", "a\nb"}),
        HoldPageToken({"c", std::string(256, 'h')}), ContainerPageToken("c"),
        HeldKeyPageToken({"p", "i"})}) {
    EXPECT_THAT(ReadHoldPageToken(token), IsInvalid("page_token", "next_page_token")) << token;
  }
  for (const std::string& token :
       {std::string("?"), absl::WebSafeBase64Escape("k"), absl::WebSafeBase64Escape("k1"),
        HeldKeyPageToken({"p", std::string(1024, 'i')}), ItemPageToken({"p", "i"}, kNow),
        HoldPageToken({"c", "h"})}) {
    EXPECT_THAT(ReadHeldKeyPageToken(token), IsInvalid("page_token", "next_page_token")) << token;
  }
}

TEST(PageTokenTest, PlacesInTheListOfSubscriptionsComeBack) {
  EXPECT_EQ(ReadSubscriptionPageToken("").value(), SubscriptionPosition());
  for (const SubscriptionPosition& position :
       {SubscriptionPosition{"c", "s"}, SubscriptionPosition{"salesdb/orders", "Versand 2-Ä"},
        SubscriptionPosition{std::string(255, 'c'), std::string(255, 's')}}) {
    EXPECT_EQ(ReadSubscriptionPageToken(SubscriptionPageToken(position)).value(), position);
  }
}

TEST(PageTokenTest, BrokenTokensOfSubscriptionsAreRefused) {
  for (const std::string& token :
       {std::string("?"), absl::WebSafeBase64Escape("u"), SubscriptionPageToken({"", ""}),
        SubscriptionPageToken({"c", ""}), SubscriptionPageToken({"", "s"}),
        SubscriptionPageToken({"c", "a\nb"}), SubscriptionPageToken({"c", std::string(256, 's')}),
        HoldPageToken({"c", "h"})}) {
    EXPECT_THAT(ReadSubscriptionPageToken(token), IsInvalid("page_token", "next_page_token"))
        << token;
  }
}

TEST(PageTokenTest, PlacesInTheListOfStuckItemsComeBack) {
  EXPECT_FALSE(ReadStuckPageToken("").value().has_value());
  for (const int64_t time : {int64_t{0}, int64_t{1'800'000'000}, INT64_MAX}) {
    const StuckPage::Position position{time, {std::string("p\0", 2), "i"}};
    const auto read = ReadStuckPageToken(StuckPageToken(position));
    ASSERT_THAT(read, IsOk()) << time;
    ASSERT_TRUE(read->has_value());
    EXPECT_EQ((*read)->next_try_time, time);
    EXPECT_EQ((*read)->key, position.key);
  }
}

TEST(PageTokenTest, BrokenTokensOfStuckItemsAreRefused) {
  for (const std::string& token :
       {std::string("?"), absl::WebSafeBase64Escape("s"), absl::WebSafeBase64Escape("s1234567"),
        absl::WebSafeBase64Escape("s12345678"), StuckPageToken({-1, {"p", "i"}}),
        ItemPageToken({"p", "i"}, kNow), ContainerPageToken("c")}) {
    EXPECT_THAT(ReadStuckPageToken(token), IsInvalid("page_token", "next_page_token")) << token;
  }
}

TEST(PageTokenTest, BrokenTokensAreRefused) {
  const std::string whole = ItemPageToken({"partition", "id"}, kNow);
  const std::string time(8, '\0');
  const std::string too_long_key =
      absl::WebSafeBase64Escape("j" + time + std::string("\x08\x01", 2) + std::string(2049, 'p'));
  const std::string too_long_id =
      absl::WebSafeBase64Escape("j" + time + std::string("\0\0", 2) + std::string(1024, 'i'));
  const std::string before_1970 = ItemPageToken({"p", "i"}, absl::FromUnixNanos(-1));
  for (const std::string& token :
       {std::string("?"), std::string("not base64!"), std::string("AAAA"), whole.substr(0, 4),
        too_long_key, too_long_id, before_1970, absl::WebSafeBase64Escape("i"),
        ContainerPageToken("c")}) {
    EXPECT_THAT(ReadItemPageToken(token), IsInvalid("page_token", "next_page_token")) << token;
  }
  const std::string with_control = ContainerPageToken("a\nb");
  for (const std::string& token :
       {std::string("?"), absl::WebSafeBase64Escape("c"), with_control, whole}) {
    EXPECT_THAT(ReadContainerPageToken(token), IsInvalid("page_token")) << token;
  }
}

}  // namespace
}  // namespace ttl
