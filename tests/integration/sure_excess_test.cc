#include "tests/integration/sure_excess.h"

#include <gtest/gtest.h>

#include <vector>

namespace ttl {
namespace {

DeleteBatch At(double seconds, int64_t items) { return {absl::Seconds(seconds), items}; }

// Batches of 10 at these instants.
std::vector<DeleteBatch> Batches(const std::vector<double>& instants) {
  std::vector<DeleteBatch> batches;
  for (const double instant : instants) batches.push_back(At(instant, 10));
  return batches;
}

// At a rate of 100 a second.
double Excess(const std::vector<double>& begun, const std::vector<double>& arrived) {
  return SureExcess(Batches(begun), Batches(arrived), 100);
}

TEST(SureExcessTest, IsThatOfTheInstantsWhereTheyAreKnown) {
  EXPECT_EQ(Excess({}, {}), 0);
  for (const std::vector<double>& instants : std::vector<std::vector<double>>{
           {5}, {0, 0.1, 0.2}, {0, 0}, {0, 50, 50.05, 90}, {7, 7.02, 7.04, 7.5}}) {
    EXPECT_NEAR(Excess(instants, instants), WorstExcess(Batches(instants), 100), 1e-6);
  }
}

TEST(SureExcessTest, WhatIsHeldUpOnItsWayIsNoExcess) {
  // All arrive at once, after a time in which the machine stood still.
  EXPECT_DOUBLE_EQ(Excess({0, 0.1, 0.2, 0.3}, {3, 3, 3, 3}), 0);
  EXPECT_DOUBLE_EQ(Excess({0, 0.1, 0.2, 0.3, 0.4}, {0, 0.1, 0.35, 0.35, 0.4}), 10);
}

TEST(SureExcessTest, WhatIsBegunEarlyIsNoExcess) {
  // The sender's clock was behind for a while.
  EXPECT_DOUBLE_EQ(Excess({0, 0.1, 0.1, 0.1, 0.4}, {0, 0.1, 0.2, 0.3, 0.4}), 10);
}

TEST(SureExcessTest, ARateThatIsNotKeptShowsThroughAllOfThat) {
  std::vector<double> begun;
  std::vector<double> arrived;
  for (int i = 0; i < 100; ++i) {
    begun.push_back(i * 0.05 - 0.03);  // twice the rate
    arrived.push_back(i * 0.05 + 0.2);
  }
  EXPECT_GT(Excess(begun, arrived), 450);
}

}  // namespace
}  // namespace ttl
