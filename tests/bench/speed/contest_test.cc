#include "tests/bench/speed/contest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace ttl::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Says in `calls` that it was asked, and returns one value after the other.
Measurement Scripted(std::string name, std::vector<double> values,
                     std::shared_ptr<std::vector<std::string>> calls) {
  auto next = std::make_shared<size_t>(0);
  return [=](const Window&) -> absl::StatusOr<Sample> {
    calls->push_back(name);
    return Sample{values.at((*next)++), 0.5, 0.25};
  };
}

TEST(ContestTest, MeasuresInTurnAndEverySecondRoundInReverse) {
  auto calls = std::make_shared<std::vector<std::string>>();
  const Contest contest{"n",
                        "w",
                        "u",
                        Scripted("ours", {1, 1}, calls),
                        {{"echo", Scripted("echo", {1, 1}, calls), {}}}};
  ASSERT_TRUE(Hold(contest, {2, {}}).ok());
  EXPECT_THAT(*calls, ElementsAre("ours", "echo", "echo", "ours"));
}

TEST(ContestTest, ComparesRoundByRound) {
  auto calls = std::make_shared<std::vector<std::string>>();
  const Target target{Target::Kind::kAtLeast, 0.9};
  const Contest contest{"n",
                        "w",
                        "u",
                        Scripted("ours", {10, 60, 30}, calls),
                        {{"echo", Scripted("echo", {10, 100, 60}, calls), target}}};
  const absl::StatusOr<Row> row = Hold(contest, {3, {}});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->ours.median, 30);
  ASSERT_EQ(row->comparisons.size(), 1u);
  EXPECT_EQ(row->comparisons[0].value.median, 60);
  EXPECT_EQ(row->comparisons[0].ratio.min, 0.5);
  EXPECT_EQ(row->comparisons[0].ratio.median, 0.6);
  EXPECT_EQ(row->comparisons[0].ratio.max, 1);
  EXPECT_EQ(row->comparisons[0].Met(), false);
  EXPECT_THAT(row->note, HasSubstr("ours 0.50 + 0.25, echo 0.50 + 0.25"));
}

TEST(ContestTest, AnErrorNamesWhoFailed) {
  auto calls = std::make_shared<std::vector<std::string>>();
  const Contest contest{
      "n",
      "w",
      "u",
      Scripted("ours", {1}, calls),
      {{"echo", [](const Window&) { return absl::DataLossError("wrong answer"); }, {}}}};
  const absl::StatusOr<Row> row = Hold(contest, {1, {}});
  EXPECT_EQ(row.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(row.status().message(), "echo: wrong answer");
}

}  // namespace
}  // namespace ttl::bench
