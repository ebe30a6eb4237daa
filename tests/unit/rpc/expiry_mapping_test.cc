#include "service/rpc/expiry_mapping.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(AllowedDeletesPerSecondTest, Table) {
  using Rate = std::optional<double>;
  const struct {
    Rate own, container_default, overall, allowed;
  } kCases[] = {
      {{}, {}, {}, {}},     {5.0, {}, {}, 5.0},   {{}, 7.0, {}, 7.0},    {{}, {}, 9.0, 9.0},
      {5.0, 7.0, 9.0, 5.0}, {8.0, 7.0, 9.0, 8.0}, {50.0, 7.0, 9.0, 9.0}, {{}, 70.0, 9.0, 9.0},
      {0.0, 7.0, 9.0, 0.0}, {5.0, 7.0, 0.0, 0.0},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(AllowedDeletesPerSecond(c.own, c.container_default, c.overall), c.allowed);
  }
}

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
  view.last_success_time = kNow;
  EXPECT_EQ(ToProto(view).store_id(), "store-1");
  EXPECT_EQ(ToProto(view).clock_skew().seconds(), -2);
}

TEST(ContainerStatusTest, EveryFigureHasItsPlace) {
  Container container;
  container.id = "c";
  container.index_number = 1;
  container.pause = Pause{"restore", kNow};
  container.replaced_policies = {{{}, kNow - absl::Seconds(1)},
                                 {{}, kNow + absl::Seconds(30)},
                                 {{}, kNow + absl::Seconds(20)}};
  ContainerSweepView sweep;
  sweep.deletes = {1, 2, 3, 4, 5, 6, 7, 8};
  sweep.early_entries = 9;
  const Backlog backlog{10000, true, absl::ToUnixSeconds(kNow) - 40};
  const v1::ContainerExpiryStatus status = MakeContainerStatus(
      container, backlog, sweep, {DeleteHold::kContainerPaused, DeleteHold::kNoStore}, 2.5,
      kNow + absl::Milliseconds(500));
  EXPECT_EQ(status.container(), "c");
  EXPECT_EQ(status.backlog(), 10000);
  EXPECT_TRUE(status.backlog_is_lower_bound());
  EXPECT_EQ(status.oldest_due_age().seconds(), 40);
  EXPECT_EQ(status.oldest_due_age().nanos(), 500'000'000);
  EXPECT_THAT(status.holds(),
              ElementsAre(v1::DELETE_HOLD_CONTAINER_PAUSED, v1::DELETE_HOLD_NO_STORE));
  EXPECT_EQ(status.pause().reason(), "restore");
  EXPECT_EQ(status.grace_until().seconds(), 1'800'000'030);
  EXPECT_EQ(status.allowed_deletes_per_second(), 2.5);
  EXPECT_EQ(status.deletes().sent(), 1);
  EXPECT_EQ(status.deletes().deleted(), 2);
  EXPECT_EQ(status.deletes().not_found(), 3);
  EXPECT_EQ(status.deletes().modified(), 4);
  EXPECT_EQ(status.deletes().not_expired(), 5);
  EXPECT_EQ(status.deletes().throttled(), 6);
  EXPECT_EQ(status.deletes().failed(), 7);
  EXPECT_EQ(status.deletes().unanswered(), 8);
  EXPECT_EQ(status.index_progress().state(), v1::INDEX_STATE_READY);
  EXPECT_EQ(status.early_entries(), 9);
}

TEST(ContainerStatusTest, WhatIsNotThereIsAbsent) {
  const v1::ContainerExpiryStatus status =
      MakeContainerStatus(Container(), Backlog(), ContainerSweepView(), {}, std::nullopt, kNow);
  EXPECT_FALSE(status.has_oldest_due_age());
  EXPECT_FALSE(status.has_pause());
  EXPECT_FALSE(status.has_grace_until());
  EXPECT_FALSE(status.has_allowed_deletes_per_second());
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
}

}  // namespace
}  // namespace ttl
