#include "client/postgres/sql/connect/quoting.h"

#include <gtest/gtest.h>

namespace ttl::postgres {
namespace {

TEST(QuotingTest, NamesAreQuotedWithTheirQuotesDoubled) {
  EXPECT_EQ(QuoteName("orders"), R"("orders")");
  EXPECT_EQ(QuoteName("Or der"), R"("Or der")");
  EXPECT_EQ(QuoteName(R"(or"der)"), R"("or""der")");
  EXPECT_EQ(QuoteName(R"(")"), R"("""")");
  EXPECT_EQ(QuoteQualified("a.b", R"(c"d)"), R"("a.b"."c""d")");
}

TEST(QuotingTest, TextsAreQuotedWithTheirQuotesAndBackslashesDoubled) {
  EXPECT_EQ(QuoteText(""), "''");
  EXPECT_EQ(QuoteText("it's"), "'it''s'");
  EXPECT_EQ(QuoteText(R"(C:\temp)"), R"(E'C:\\temp')");
  EXPECT_EQ(QuoteText(R"(\')"), R"(E'\\''')");
}

}  // namespace
}  // namespace ttl::postgres
