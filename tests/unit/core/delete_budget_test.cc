#include "service/core/delete_budget.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "service/core/delete_rates.h"

namespace ttl {
namespace {

struct Case {
  std::string name;
  double provided;
  std::optional<double> configured_cost;
  double floor;
  std::optional<double> used;
  std::optional<double> learned_cost;
  double want;  // deletes per second
};

class DeleteBudgetTest : public testing::TestWithParam<Case> {};

TEST_P(DeleteBudgetTest, DeletesPerSecond) {
  const Case& c = GetParam();
  ContainerSettings settings;
  settings.request_units_per_second = c.provided;
  settings.request_units_per_delete = c.configured_cost;
  settings.min_deletes_per_second = c.floor;
  const std::optional<DeleteBudget> budget = ComputeDeleteBudget(settings, c.used, c.learned_cost);
  ASSERT_TRUE(budget.has_value());
  EXPECT_DOUBLE_EQ(budget->deletes_per_second, c.want);
  EXPECT_EQ(budget->request_units_per_second, c.provided);
  EXPECT_EQ(budget->used_by_requests, c.used);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DeleteBudgetTest,
    testing::Values(
        // name, provided, configured cost, floor, used, learned cost, want
        Case{"QuietStoreLeavesAll", 400, std::nullopt, 0, 0, std::nullopt, 400},
        Case{"RequestsLeaveTheRest", 400, std::nullopt, 0, 280, std::nullopt, 120},
        Case{"FullUseLeavesNothing", 400, std::nullopt, 0, 400, std::nullopt, 0},
        Case{"MoreThanFullUseLeavesNothing", 400, std::nullopt, 0, 900, std::nullopt, 0},
        Case{"UnknownCountsAsFullUse", 400, std::nullopt, 0, std::nullopt, std::nullopt, 0},
        Case{"ConfiguredCost", 400, 5, 0, 300, std::nullopt, 20},
        Case{"CostBelowOne", 400, 0.5, 0, 300, std::nullopt, 200},
        Case{"LearnedCostReplacesConfigured", 400, 5, 0, 300, 10, 10},
        Case{"FreeDeletesWaitAtFullUse", 400, std::nullopt, 0, 400, 0, 0},
        Case{"FreeDeletesWaitWhenUnknown", 400, std::nullopt, 7, std::nullopt, 0, 7},
        Case{"FloorAtFullUse", 400, std::nullopt, 7, 400, std::nullopt, 7},
        Case{"FloorWhenUnknown", 400, std::nullopt, 7, std::nullopt, std::nullopt, 7},
        Case{"FloorIsNotAddedToTheRest", 400, std::nullopt, 7, 300, std::nullopt, 100},
        Case{"FloorStaysInsideWhatIsProvided", 400, 1, 100, 400, 40, 10}),
    [](const auto& info) { return info.param.name; });

TEST(DeleteBudgetTest, WithoutThroughputUsageDoesNotMatter) {
  ContainerSettings settings;
  settings.request_units_per_delete = 5;
  settings.min_deletes_per_second = 1;
  EXPECT_FALSE(ComputeDeleteBudget(settings, 100, 3).has_value());
}

TEST(DeleteBudgetTest, ShowsTheCostInForce) {
  ContainerSettings settings;
  settings.request_units_per_second = 100;
  EXPECT_EQ(ComputeDeleteBudget(settings, 0, std::nullopt)->request_units_per_delete, 1);
  settings.request_units_per_delete = 5;
  EXPECT_EQ(ComputeDeleteBudget(settings, 0, std::nullopt)->request_units_per_delete, 5);
  EXPECT_EQ(ComputeDeleteBudget(settings, 0, 7)->request_units_per_delete, 7);
}

TEST(DeleteRatesTest, TheContainersOwnLimitReplacesTheDefaultAndTheGlobalOneBounds) {
  using Rate = std::optional<double>;
  const struct {
    Rate own, container_default, overall, allowed;
  } kCases[] = {
      {{}, {}, {}, {}},     {5.0, {}, {}, 5.0},   {{}, 7.0, {}, 7.0},    {{}, {}, 9.0, 9.0},
      {5.0, 7.0, 9.0, 5.0}, {8.0, 7.0, 9.0, 8.0}, {50.0, 7.0, 9.0, 9.0}, {{}, 70.0, 9.0, 9.0},
      {0.0, 7.0, 9.0, 0.0}, {5.0, 7.0, 0.0, 0.0},
  };
  for (const auto& c : kCases) {
    ContainerSettings settings;
    settings.max_deletes_per_second = c.own;
    const DeleteRates rates =
        ComputeDeleteRates(settings, c.container_default, c.overall, std::nullopt, std::nullopt);
    EXPECT_EQ(rates.limit, c.allowed);
    EXPECT_EQ(rates.Allowed(std::nullopt), c.allowed);
  }
}

TEST(DeleteRatesTest, WindowsOnlyLowerTheLimit) {
  using Rate = std::optional<double>;
  const struct {
    Rate own, container_default, overall, windows, allowed;
    bool closed;
  } kCases[] = {
      {{}, {}, {}, 5.0, 5.0, false},
      {9.0, {}, {}, 5.0, 5.0, false},
      {3.0, {}, {}, 5.0, 3.0, false},
      {{}, 3.0, {}, 5.0, 3.0, false},
      {{}, {}, 3.0, 5.0, 3.0, false},
      {{}, {}, {}, 0.0, 0.0, true},
      {9.0, {}, 9.0, 0.0, 0.0, true},
      {9.0, {}, {}, {}, 9.0, false},
      // Somebody else's 0 is not the windows'.
      {0.0, {}, {}, 0.0, 0.0, false},
      {{}, {}, 0.0, 0.0, 0.0, false},
  };
  for (const auto& c : kCases) {
    ContainerSettings settings;
    settings.max_deletes_per_second = c.own;
    const absl::Time next = absl::FromUnixSeconds(1'800'000'000);
    const DeleteRates rates =
        ComputeDeleteRates(settings, c.container_default, c.overall, std::nullopt, std::nullopt,
                           {.limit = c.windows, .next_start = next});
    EXPECT_EQ(rates.limit, c.allowed);
    EXPECT_EQ(rates.windows_open.has_value(), c.closed);
    EXPECT_EQ(rates.AllowedButWindows(std::nullopt),
              StricterLimit(c.own.has_value() ? c.own : c.container_default, c.overall));
  }
}

}  // namespace
}  // namespace ttl
