#include "client/postgres/sql/connect/array_text.h"

#include <gtest/gtest.h>

namespace ttl::postgres {
namespace {

TEST(ArrayTextTest, IsAnArrayAsPostgresqlReadsIt) {
  ArrayText array;
  array.Add("plain");
  array.Add("");
  array.Add("a\"b\\c,d{e}");
  array.Add("NULL");
  array.AddNull();
  array.Add(-7);
  EXPECT_EQ(array.Take(), R"({"plain","","a\"b\\c,d{e}","NULL",NULL,-7})");
}

TEST(ArrayTextTest, NothingIsAnEmptyArray) {
  ArrayText array;
  EXPECT_EQ(array.Take(), "{}");
  array.Add(1);
  EXPECT_EQ(array.Take(), "{1}");
  EXPECT_EQ(array.Take(), "{}");
}

}  // namespace
}  // namespace ttl::postgres
