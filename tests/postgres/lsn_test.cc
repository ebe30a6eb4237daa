#include "client/postgres/row/lsn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>

namespace ttl::postgres {
namespace {

TEST(LsnTest, LooksAsPostgresqlWritesIt) {
  EXPECT_EQ(FormatLsn(0), "0/0");
  EXPECT_EQ(FormatLsn(0x16B374D848), "16/B374D848");
  EXPECT_EQ(FormatLsn(std::numeric_limits<uint64_t>::max()), "FFFFFFFF/FFFFFFFF");
}

TEST(LsnTest, NonsenseIsRefused) {
  for (const char* text : {"", "/", "1/", "/1", "1", "1/2/3", "G/0", "0x1/2", "-1/2", " 1/2",
                           "1/2 ", "100000000/0", "0/100000000"}) {
    EXPECT_EQ(ParseLsn(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

RC_GTEST_PROP(LsnProperty, ReadsWhatItWrites, (uint64_t lsn)) {
  const auto read = ParseLsn(FormatLsn(lsn));
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == lsn);
}

}  // namespace
}  // namespace ttl::postgres
