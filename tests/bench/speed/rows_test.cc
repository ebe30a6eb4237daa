#include "tests/bench/speed/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace ttl::bench {
namespace {

// So short that the figures mean nothing; what is tested is that every answer is right.
RowOptions ShortOptions() {
  RowOptions options;
  options.rounds = {1, {std::chrono::milliseconds(5), std::chrono::milliseconds(30)}};
  options.items = 5000;
  return options;
}

class RowGroupTest : public testing::TestWithParam<RowGroup> {};

TEST_P(RowGroupTest, GetsRightAnswersOnly) {
  const absl::StatusOr<std::vector<Row>> rows = GetParam().measure(ShortOptions());
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_FALSE(rows->empty());
  for (const Row& row : *rows) {
    EXPECT_GT(row.ours.median, 0) << row.name;
    for (const Comparison& other : row.comparisons) EXPECT_GT(other.ratio.median, 0) << row.name;
  }
}

std::string NameOf(const testing::TestParamInfo<RowGroup>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllGroups, RowGroupTest, testing::ValuesIn(AllGroups()), NameOf);

}  // namespace
}  // namespace ttl::bench
