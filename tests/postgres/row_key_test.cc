#include "client/postgres/row/row_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace ttl::postgres {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Join(const std::vector<std::string>& texts) {
  const std::vector<absl::string_view> views(texts.begin(), texts.end());
  return JoinKey(views);
}

// Columns that are made of what has a meaning in a key, mostly.
rc::Gen<std::vector<std::string>> Columns(size_t count) {
  const auto letter = rc::gen::weightedOneOf<char>(
      {{3, rc::gen::element('/', '\\')}, {1, rc::gen::arbitrary<char>()}});
  return rc::gen::container<std::vector<std::string>>(count,
                                                      rc::gen::container<std::string>(letter));
}

TEST(RowKeyTest, OneColumnIsItsTextAsItIs) {
  EXPECT_EQ(Join({R"(a/b\c)"}), R"(a/b\c)");
  EXPECT_EQ(Join({""}), "");
  EXPECT_THAT(*SplitKey(R"(a/b\)", 1), ElementsAre(R"(a/b\)"));
}

TEST(RowKeyTest, NoColumnIsEmpty) {
  EXPECT_EQ(Join({}), "");
  EXPECT_THAT(*SplitKey("", 0), IsEmpty());
  EXPECT_EQ(SplitKey("a", 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RowKeyTest, ColumnsAreJoinedBySlashes) {
  EXPECT_EQ(Join({"eu", "42"}), "eu/42");
  EXPECT_EQ(Join({"a/b", "c"}), R"(a\/b/c)");
  EXPECT_EQ(Join({R"(a\)", "b"}), R"(a\\/b)");
  EXPECT_EQ(Join({"", ""}), "/");
}

TEST(RowKeyTest, KeyOfOtherColumnsIsRefused) {
  for (const char* key : {"", "a", "a/b/c", R"(a\/b)", R"(a/b\)", R"(a\x/b)"}) {
    EXPECT_EQ(SplitKey(key, 2).status().code(), absl::StatusCode::kInvalidArgument) << key;
  }
}

RC_GTEST_PROP(RowKeyProperty, SplitsWhatItJoins, ()) {
  const auto count = *rc::gen::inRange<size_t>(0, 6);
  const auto texts = *Columns(count);
  const auto split = SplitKey(Join(texts), count);
  RC_ASSERT(split.ok());
  RC_ASSERT(*split == texts);
}

RC_GTEST_PROP(RowKeyProperty, RowsThatDifferHaveKeysThatDiffer, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 4);
  const auto one = *Columns(count);
  const auto other = *Columns(count);
  RC_ASSERT((Join(one) == Join(other)) == (one == other));
}

// No two keys stand for one row.
RC_GTEST_PROP(RowKeyProperty, JoinsWhatItSplits, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 4);
  const std::string key = *rc::gen::map(Columns(1), [](auto texts) { return texts[0]; });
  const auto split = SplitKey(key, count);
  if (split.ok()) RC_ASSERT(Join(*split) == key);
}

}  // namespace
}  // namespace ttl::postgres
