#include "service/rpc/mapping/expiry_mapping.h"

#include "gtest/gtest.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

TEST(ClockStatusTest, FailedReadingsAreAbsent) {
  ClockStatus status;
  status.time.now = kNow;
  EXPECT_EQ(ToProto(status).state(), v1::CLOCK_STATE_SOUND);
  EXPECT_FALSE(ToProto(status).has_wall());
  EXPECT_FALSE(ToProto(status).has_steady());
  EXPECT_FALSE(ToProto(status).has_suspect_since());
  status.suspect = true;
  status.reason = "apart";
  status.wall = kNow;
  status.steady = kNow + absl::Hours(1);
  status.suspect_since = kNow - absl::Hours(1);
  const v1::ClockStatus proto = ToProto(status);
  EXPECT_EQ(proto.state(), v1::CLOCK_STATE_SUSPECT);
  EXPECT_EQ(proto.reason(), "apart");
  EXPECT_EQ(proto.wall().seconds(), 1'800'000'000);
  EXPECT_EQ(proto.steady().seconds(), 1'800'003'600);
  EXPECT_EQ(proto.suspect_since().seconds(), 1'799'996'400);
}

TEST(StoreStatusTest, NothingIsKnownBeforeTheFirstAnswer) {
  const v1::StoreStatus before = ToProto(StoreView());
  EXPECT_FALSE(before.reachable());
  EXPECT_FALSE(before.has_clock_skew());
  EXPECT_FALSE(before.has_last_success_time());
  EXPECT_FALSE(before.has_held_until());
  StoreView view;
  view.reachable = true;
  view.store_id = "store-1";
  view.clock_skew = absl::Seconds(-2);
  view.unconfirmed = "another id";
  view.last_success_time = kNow;
  EXPECT_EQ(ToProto(view).store_id(), "store-1");
  EXPECT_EQ(ToProto(view).clock_skew().seconds(), -2);
  EXPECT_EQ(ToProto(view).unconfirmed(), "another id");
}

TEST(DeleteHoldTest, TheNumbersAreThoseOfTheApi) {
  EXPECT_EQ(static_cast<int>(DeleteHold::kTtlOff), v1::DELETE_HOLD_TTL_OFF);
  EXPECT_EQ(static_cast<int>(DeleteHold::kContainerPaused), v1::DELETE_HOLD_CONTAINER_PAUSED);
  EXPECT_EQ(static_cast<int>(DeleteHold::kAllPaused), v1::DELETE_HOLD_ALL_PAUSED);
  EXPECT_EQ(static_cast<int>(DeleteHold::kZeroRate), v1::DELETE_HOLD_ZERO_RATE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kRate), v1::DELETE_HOLD_RATE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kClockSuspect), v1::DELETE_HOLD_CLOCK_SUSPECT);
  EXPECT_EQ(static_cast<int>(DeleteHold::kStore), v1::DELETE_HOLD_STORE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kClockSkew), v1::DELETE_HOLD_CLOCK_SKEW);
  EXPECT_EQ(static_cast<int>(DeleteHold::kGrace), v1::DELETE_HOLD_GRACE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kStorage), v1::DELETE_HOLD_STORAGE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kChangeUnderWay), v1::DELETE_HOLD_CHANGE_UNDER_WAY);
  EXPECT_EQ(static_cast<int>(DeleteHold::kIndexBuilding), v1::DELETE_HOLD_INDEX_BUILDING);
  EXPECT_EQ(static_cast<int>(DeleteHold::kNoStore), v1::DELETE_HOLD_NO_STORE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kBudget), v1::DELETE_HOLD_BUDGET);
  EXPECT_EQ(static_cast<int>(DeleteHold::kBrake), v1::DELETE_HOLD_BRAKE);
  EXPECT_EQ(static_cast<int>(DeleteHold::kStoreUnconfirmed), v1::DELETE_HOLD_STORE_UNCONFIRMED);
  EXPECT_EQ(static_cast<int>(DeleteHold::kPushBack), v1::DELETE_HOLD_PUSH_BACK);
  EXPECT_EQ(static_cast<int>(DeleteHold::kBackoff), v1::DELETE_HOLD_BACKOFF);
}

}  // namespace
}  // namespace ttl
