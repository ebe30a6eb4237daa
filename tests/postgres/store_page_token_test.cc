#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "client/postgres/store/page_token.h"

namespace ttl::postgres {
namespace {

using Key = std::vector<Connection::Parameter>;

TEST(StorePageTokenTest, AnyKeyComesBack) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& texts) {
    const Key key(texts.begin(), texts.end());
    const auto decoded = DecodePageToken(EncodePageToken(key), key.size());
    RC_ASSERT(decoded.ok());
    RC_ASSERT(*decoded == key);
  }));
}

TEST(StorePageTokenTest, AnyBytesAreReadOrRefused) {
  EXPECT_TRUE(rc::check([](const std::string& token) {
    const auto decoded = DecodePageToken(token, 2);
    RC_ASSERT(decoded.ok() || absl::IsInvalidArgument(decoded.status()));
  }));
}

TEST(StorePageTokenTest, RefusesTheTokenOfAnotherKey) {
  const std::string token = EncodePageToken({"eu", "42"});
  EXPECT_TRUE(DecodePageToken(token, 2).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(DecodePageToken(token, 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(DecodePageToken(token, 3).status()));
  for (const char* nonsense :
       {"5:abc", "x:abc", "abc", "-1:", "18446744073709551615:a", "3:abc3"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(DecodePageToken(nonsense, 1).status())) << nonsense;
  }
}

}  // namespace
}  // namespace ttl::postgres
