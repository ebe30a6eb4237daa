#include "service/server/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/testing/fake_health_service.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::Pair;

class ReadinessTest : public testing::Test {
 protected:
  void ExpectReady(bool ready) const {
    EXPECT_THAT(health_.serving(), ElementsAre(Pair("", ready), Pair("liveness", true),
                                               Pair("readiness", ready), Pair("startup", true)));
  }

  FakeHealthService health_;
  std::optional<Readiness> readiness_{std::in_place, health_};
};

// Field report B103.
TEST_F(ReadinessTest, IsLiveBeforeItIsReady) {
  ExpectReady(false);
  readiness_->Set(absl::OkStatus());
  ExpectReady(true);
}

TEST_F(ReadinessTest, IsNotReadyButLiveWhileStorageRefusesWrites) {
  readiness_->Set(absl::OkStatus());
  readiness_->Set(absl::UnavailableError("disk full"));
  ExpectReady(false);
  readiness_->Set(absl::OkStatus());
  ExpectReady(true);
}

TEST_F(ReadinessTest, IsNotReadyButLiveWhileStopping) {
  readiness_->Set(absl::OkStatus());
  readiness_.reset();
  ExpectReady(false);
}

}  // namespace
}  // namespace ttl
