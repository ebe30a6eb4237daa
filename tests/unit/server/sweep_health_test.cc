#include "service/server/sweep_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/fake_health_service.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(SweepHealthTest, ServesWhileNothingIsWrong) {
  FakeHealthService health;
  SweepHealth sweep(health);
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
  sweep.Set({});
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
  sweep.Set({"it is stalled"});
  sweep.Set({"it is stalled", "deletes make no progress"});
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", false)));
  sweep.Set({});
  EXPECT_THAT(health.serving(), ElementsAre(Pair("sweep", true)));
}

}  // namespace
}  // namespace ttl
