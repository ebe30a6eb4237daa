#include "service/server/sweep_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/testing/fake_health_service.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(SweepHealthTest, ServesWhileTheSweeperTakesItsSteps) {
  FakeHealthService health;
  SweepHealth sweep(health);
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
  sweep.Set(std::nullopt);
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
  sweep.Set(absl::Seconds(31));
  sweep.Set(absl::Seconds(32));
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", false)));
  sweep.Set(std::nullopt);
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
}

}  // namespace
}  // namespace ttl
