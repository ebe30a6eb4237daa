// What the services, on a real socket, show of expired items. tests/field_reports.md explains the
// numbers.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kDay = 86400;

void Advance(RpcSidecar& sidecar, absl::Duration duration) {
  sidecar.clock().Advance(duration);
  sidecar.guarded_clock().Tick();
}

// Says of ("c", "p", "a") what the store has just read.
v1::CheckVisibilityResponse CheckCarried(RpcSidecar& sidecar, int64_t ts,
                                         std::optional<int64_t> ttl) {
  const std::string ttl_text = ttl.has_value() ? absl::StrCat(" ttl: ", *ttl) : "";
  const auto response =
      Call(sidecar.items(), &v1::ItemService::Stub::CheckVisibility,
           Proto<v1::CheckVisibilityRequest>(absl::StrCat(
               "container: 'c' checks { partition_key: 'p' id: 'a' ts: ", ts, ttl_text, " }")));
  EXPECT_THAT(response, IsOk());
  return response.ok() ? *response : v1::CheckVisibilityResponse();
}

v1::Visibility Carried(RpcSidecar& sidecar, int64_t ts, std::optional<int64_t> ttl) {
  const v1::CheckVisibilityResponse response = CheckCarried(sidecar, ts, ttl);
  return response.visibilities_size() == 1 ? response.visibilities(0) : v1::VISIBILITY_UNSPECIFIED;
}

v1::ContainerExpiryStatus StatusOf(RpcSidecar& sidecar) {
  const auto response = Call(sidecar.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus,
                             Proto<v1::GetExpiryStatusRequest>("container: 'c'"));
  EXPECT_THAT(response, IsOk());
  return response.ok() ? response->container() : v1::ContainerExpiryStatus();
}

// Field report B05.
TEST(HiddenItemsTest, AnIllegalStoredTtlHidesNothingAndIsCounted) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(60), IsOk());
  const int64_t ts = sidecar.Now();
  Advance(sidecar, absl::Hours(1));
  EXPECT_EQ(Carried(sidecar, ts, std::numeric_limits<int64_t>::max()), v1::VISIBILITY_VISIBLE);
  const auto status = Call(sidecar.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus,
                           v1::GetExpiryStatusRequest());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->sidecar().impossible_checks(), 1);
}

// Field report B31.
TEST(HiddenItemsTest, NoCountIncludesExpiredItems) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(-1), IsOk());
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(sidecar.Track(absl::StrCat("i", i), sidecar.Now(), i < 4 ? 10 : 100), IsOk());
  }
  Advance(sidecar, absl::Seconds(10));
  const v1::ItemCounts counts = StatusOf(sidecar).items();
  EXPECT_EQ(counts.live_items(), 6);
  EXPECT_EQ(counts.expired_items(), 4);
  EXPECT_EQ(counts.error_bound_items(), 0);
  EXPECT_THAT(sidecar.List(), SizeIs(6));
}

// Absent in all reads while it is still there, and created anew as if it were not.
// Field report B32.
TEST(HiddenItemsTest, AnExpiredItemIsInvisibleAndDoesNotBlockItsKey) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(-1), IsOk());
  ASSERT_THAT(sidecar.Track("a", sidecar.Now(), 10), IsOk());
  Advance(sidecar, absl::Seconds(60));
  EXPECT_EQ(sidecar.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_THAT(sidecar.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(sidecar.List(), IsEmpty());
  const auto created = sidecar.Track("a", sidecar.Now(), 10);
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(*created, v1::TRACK_RESULT_TRACKED);
  EXPECT_EQ(sidecar.Check("a"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar.Get("a")->expire_time(), sidecar.Now() + 10);
  EXPECT_THAT(sidecar.List(), ElementsAre("a"));
}

// The second sidecar has never heard of the item; the check says what the store has.
// Field report B34.
TEST(HiddenItemsTest, ASecondSidecarWithAColdIndexHidesTheSameItems) {
  RpcSidecar warm;
  RpcSidecar cold;
  for (RpcSidecar* sidecar : {&warm, &cold}) ASSERT_THAT(sidecar->Create(600), IsOk());
  for (const std::optional<int64_t> ttl :
       {std::optional<int64_t>(), std::optional<int64_t>(-1), std::optional<int64_t>(10)}) {
    SCOPED_TRACE(testing::PrintToString(ttl));
    const int64_t ts = warm.Now();
    ASSERT_THAT(warm.Track("a", ts, ttl), IsOk());
    for (const int64_t age : {0, 9, 10, 11, 599, 600, 601}) {
      SCOPED_TRACE(age);
      const absl::Duration ahead = absl::Seconds(ts + age - warm.Now());
      Advance(warm, ahead);
      Advance(cold, ahead);
      const v1::Visibility seen = warm.Check("a");
      EXPECT_NE(seen, v1::VISIBILITY_UNTRACKED);
      EXPECT_EQ(Carried(warm, ts, ttl), seen);
      EXPECT_EQ(Carried(cold, ts, ttl), seen);
    }
  }
  EXPECT_EQ(cold.Check("a"), v1::VISIBILITY_UNTRACKED) << "nothing is made up either";
}

// Before it touches or changes an item a store asks whether it is there. What it asks
// does not bring the item back, whatever ttl it is about to write.
// Field report B36.
TEST(HiddenItemsTest, ACheckWithALongerTtlDoesNotReviveAnExpiredItem) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(-1), IsOk());
  const int64_t ts = sidecar.Now();
  ASSERT_THAT(sidecar.Track("a", ts, 10), IsOk());
  Advance(sidecar, absl::Seconds(60));
  EXPECT_EQ(Carried(sidecar, ts, 10), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(Carried(sidecar, ts - 1, 3600), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(sidecar.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(*sidecar.Track("a", ts - 1, 3600), v1::TRACK_RESULT_STALE);
  EXPECT_THAT(sidecar.Get("a"), StatusIs(absl::StatusCode::kNotFound));
}

// What would go is known before deletes are resumed.
// Field report B53.
TEST(HiddenItemsTest, TheStatusShowsHowManyItemsAreDueAfterARestore) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(-1), IsOk());
  ASSERT_THAT(Call(sidecar.expiry(), &v1::ExpiryService::Stub::PauseDeletes,
                   Proto<v1::PauseDeletesRequest>("all_containers: true reason: 'restored'")),
              IsOk());
  for (int i = 0; i < 20; ++i) {
    const int64_t age = i < 15 ? 30 * kDay : kDay;
    ASSERT_THAT(sidecar.Track(absl::StrCat("i", i), sidecar.Now() - age, 7 * kDay), IsOk());
  }
  const v1::ContainerExpiryStatus status = StatusOf(sidecar);
  EXPECT_EQ(status.backlog(), 15);
  EXPECT_EQ(status.items().expired_items(), 15);
  EXPECT_EQ(status.items().live_items(), 5);
  EXPECT_EQ(status.oldest_due_age().seconds(), 23 * kDay);
  EXPECT_THAT(status.holds(), Contains(v1::DELETE_HOLD_ALL_PAUSED));
}

// Neither a restart, nor another sidecar, nor another index begins the countdown anew.
// Field report B55.
TEST(HiddenItemsTest, TheCountdownContinuesAcrossRestartsAndSidecars) {
  RpcSidecar first;
  RpcSidecar second;
  const int64_t ts = first.Now();
  ASSERT_THAT(first.Create(-1), IsOk());
  ASSERT_THAT(second.Create(-1), IsOk());
  ASSERT_THAT(first.Track("a", ts, 600), IsOk());
  const auto expect_left = [&](RpcSidecar& sidecar, int64_t seconds) {
    const auto item = sidecar.Get("a");
    ASSERT_THAT(item, IsOk());
    EXPECT_EQ(item->expire_time(), ts + 600);
    EXPECT_EQ(item->remaining_seconds(), seconds);
    EXPECT_THAT(sidecar.storage().DueIds("c", ts + 599), IsEmpty());
    EXPECT_THAT(sidecar.storage().DueIds("c", ts + 600), ElementsAre("a"));
  };
  const auto pass_time = [&](absl::Duration duration) {
    Advance(first, duration);
    Advance(second, duration);
  };
  pass_time(absl::Seconds(200));
  first.Restart();
  expect_left(first, 400);

  pass_time(absl::Seconds(100));
  ASSERT_THAT(second.Track("a", ts, 600), IsOk());  // what the store has
  expect_left(second, 300);

  pass_time(absl::Seconds(100));
  ASSERT_THAT(first.Track("a", ts, 600), IsOk());
  expect_left(first, 200);

  pass_time(absl::Seconds(100));
  const auto set_mode = [&](const std::string& mode, const std::string& default_ttl) {
    ASSERT_THAT(Call(first.containers(), &v1::ContainerService::Stub::UpdateContainer,
                     Proto<v1::UpdateContainerRequest>(absl::StrCat(
                         "container { id: 'c' indexing_mode: ", mode, default_ttl,
                         " } update_mask { paths: 'indexing_mode' paths: 'default_ttl' }"))),
                IsOk());
    first.storage().FinishHousekeeping();
  };
  set_mode("INDEXING_MODE_NONE", "");
  set_mode("INDEXING_MODE_CONSISTENT", " default_ttl: -1");
  expect_left(first, 100);

  pass_time(absl::Milliseconds(99'999));
  EXPECT_EQ(first.Check("a"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(second.Check("a"), v1::VISIBILITY_VISIBLE);
  pass_time(absl::Milliseconds(1));
  EXPECT_EQ(first.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(second.Check("a"), v1::VISIBILITY_EXPIRED);
}

}  // namespace
}  // namespace ttl
