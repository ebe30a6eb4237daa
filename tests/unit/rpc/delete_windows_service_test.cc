// Windows of deletes as callers and operators see them. The clock starts on Friday 2027-01-15 at
// 08:00 UTC.
#include <algorithm>
#include <cstdint>
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kHourSeconds = 3600;
constexpr int64_t kDaySeconds = 24 * kHourSeconds;

class DeleteWindowsServiceTest : public testing::Test {
 protected:
  DeleteWindowsServiceTest() {
    EXPECT_THAT(sidecar_.Create(kDaySeconds), IsOk());
    StoreView store;
    store.configured = true;
    store.reachable = true;
    store.knows_expire_at = true;
    sidecar_.published().PostStore(store);
  }

  absl::StatusOr<v1::UpdateContainerResponse> TrySet(const std::string& windows,
                                                     bool validate_only = false) {
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                Proto<v1::UpdateContainerRequest>(absl::StrCat(
                    "container { id: 'c' delete_policy { windows { ", windows,
                    " } } } update_mask { paths: 'delete_policy.windows' } validate_only: ",
                    validate_only)));
  }
  void Set(const std::string& windows) { ASSERT_THAT(TrySet(windows), IsOk()); }

  void SetLimitOfAll(double limit) {
    v1::SetMaxDeletesPerSecondRequest request;
    request.set_max_deletes_per_second(limit);
    ASSERT_THAT(Call(sidecar_.expiry(), &v1::ExpiryService::Stub::SetMaxDeletesPerSecond, request),
                IsOk());
  }

  v1::ContainerExpiryStatus StatusOfC() {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus,
                Proto<v1::GetExpiryStatusRequest>("container: 'c'"))
        .value()
        .container();
  }
  v1::GetForecastResponse ForecastUntil(int64_t seconds) {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetForecast,
                Proto<v1::GetForecastRequest>(absl::StrCat(
                    "container: 'c' until { seconds: ", sidecar_.Now() + seconds, " }")))
        .value();
  }
  v1::ExplainItemResponse Explain(const std::string& id) {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::ExplainItem,
                Proto<v1::ExplainItemRequest>(
                    absl::StrCat("container: 'c' partition_key: 'p' id: '", id, "'")))
        .value();
  }
  // `count` items that expire in `seconds`, or have.
  void Track(int count, int64_t seconds) {
    for (int i = 0; i < count; ++i) {
      const int64_t ttl = std::max<int64_t>(seconds, 0) + 100;
      ASSERT_THAT(
          sidecar_.Track(absl::StrCat(seconds, "-", i), sidecar_.Now() + seconds - ttl, ttl),
          IsOk());
    }
  }

  RpcSidecar sidecar_;
};

TEST_F(DeleteWindowsServiceTest, ReadBackAsTheyWereGiven) {
  Set("windows { days: [DAY_OF_WEEK_SUNDAY, DAY_OF_WEEK_MONDAY] start: '22:00' end: '24:00' "
      "max_deletes_per_second: 5 } windows { start: '01:00' end: '00:30' } "
      "time_zone: 'America/New_York' max_deletes_per_second_outside: 0.5");
  v1::GetContainerRequest request;
  request.set_id("c");
  const auto container =
      Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer, request);
  ASSERT_THAT(container, IsOk());
  EXPECT_EQ(container->container().delete_policy().windows().ShortDebugString(),
            Proto<v1::DeleteWindows>(
                "windows { days: [DAY_OF_WEEK_MONDAY, DAY_OF_WEEK_SUNDAY] start: '22:00' "
                "end: '24:00' max_deletes_per_second: 5 } windows { start: '01:00' end: '00:30' } "
                "time_zone: 'America/New_York' max_deletes_per_second_outside: 0.5")
                .ShortDebugString());
}

TEST_F(DeleteWindowsServiceTest, AZoneThatTheMachineDoesNotHaveIsRefusedInAPreviewToo) {
  const std::string windows =
      "windows { start: '22:00' end: '06:00' } time_zone: 'Europe/Atlantis'";
  for (const bool validate_only : {true, false}) {
    EXPECT_THAT(TrySet(windows, validate_only),
                IsInvalid("windows.time_zone is \"Europe/Atlantis\"", "tzdata"));
  }
}

TEST_F(DeleteWindowsServiceTest, AContainerWithoutThemHasNoStatusOfThem) {
  EXPECT_FALSE(StatusOfC().has_windows());
  EXPECT_THAT(StatusOfC().holds(), IsEmpty());
}

TEST_F(DeleteWindowsServiceTest, TheHoldNamesTheNextStart) {
  Set("windows { days: DAY_OF_WEEK_MONDAY start: '03:00' end: '04:00' } "
      "time_zone: 'Europe/Berlin'");
  Track(1, -10);
  const v1::ContainerExpiryStatus status = StatusOfC();
  EXPECT_THAT(status.holds(), ElementsAre(v1::DELETE_HOLD_WINDOW));
  const int64_t monday = sidecar_.Now() + 3 * kDaySeconds - 6 * kHourSeconds;  // 03:00 in Berlin
  EXPECT_FALSE(status.windows().open());
  EXPECT_EQ(status.windows().max_deletes_per_second(), 0);
  EXPECT_EQ(status.windows().next_start().seconds(), monday);
  EXPECT_EQ(status.windows().next_change().seconds(), monday);
  EXPECT_EQ(status.allowed_deletes_per_second(), 0);
  EXPECT_THAT(Explain("-10-0").holds(), ElementsAre(v1::DELETE_HOLD_WINDOW));
  EXPECT_THAT(Explain("-10-0").explanation(),
              HasSubstr("the windows of the container allow no deletes now. The windows allow "
                        "deletes from 2027-01-18T02:00:00Z on."));
}

TEST_F(DeleteWindowsServiceTest, AnOpenOneIsNoHold) {
  Set("windows { start: '07:00' end: '09:00' max_deletes_per_second: 5 }");
  const v1::ContainerExpiryStatus status = StatusOfC();
  EXPECT_THAT(status.holds(), IsEmpty());
  EXPECT_TRUE(status.windows().open());
  EXPECT_EQ(status.windows().max_deletes_per_second(), 5);
  EXPECT_FALSE(status.windows().has_next_start());
  EXPECT_EQ(status.windows().next_change().seconds(), sidecar_.Now() + kHourSeconds);
  EXPECT_EQ(status.allowed_deletes_per_second(), 5);
}

TEST_F(DeleteWindowsServiceTest, ALimitOf0IsNotTheirs) {
  Set("windows { start: '22:00' end: '23:00' }");
  SetLimitOfAll(0);
  EXPECT_THAT(StatusOfC().holds(), ElementsAre(v1::DELETE_HOLD_ZERO_RATE));
}

TEST_F(DeleteWindowsServiceTest, WhetherTheySufficeIsWhatTheyAllowBesideWhatIsDue) {
  Track(30, -10);
  Track(20, kHourSeconds);
  Track(40, 8 * kDaySeconds);
  const struct {
    const char* windows;
    std::optional<int64_t> deletable;
    bool suffices;
  } kCases[] = {
      // 10 minutes once a week.
      {"windows { days: DAY_OF_WEEK_SUNDAY start: '00:00' end: '00:10' "
       "max_deletes_per_second: 0.1 }",
       60, true},
      {"windows { days: DAY_OF_WEEK_SUNDAY start: '00:00' end: '00:10' "
       "max_deletes_per_second: 0.0625 }",
       37, false},
      {"windows { days: DAY_OF_WEEK_SUNDAY start: '00:00' end: '00:10' }", std::nullopt, true},
      // The rate outside, for six days and a half hour, adds up.
      {"windows { days: DAY_OF_WEEK_SUNDAY start: '00:00' end: '24:00' "
       "max_deletes_per_second: 0 } max_deletes_per_second_outside: 0.0001",
       51, true},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.windows);
    Set(c.windows);
    const v1::WindowStatus windows = StatusOfC().windows();
    EXPECT_EQ(windows.due_items(), 50);
    EXPECT_EQ(windows.has_deletable_items(), c.deletable.has_value());
    EXPECT_EQ(windows.deletable_items(), c.deletable.value_or(0));
    EXPECT_EQ(windows.suffices(), c.suffices);
  }
}

TEST_F(DeleteWindowsServiceTest, TheLimitOnAllDeletesBoundsWhatTheyAllow) {
  Set("windows { days: DAY_OF_WEEK_SUNDAY start: '00:00' end: '01:00' }");
  SetLimitOfAll(2);
  EXPECT_EQ(StatusOfC().windows().deletable_items(), 7200);
}

TEST_F(DeleteWindowsServiceTest, TheForecastUsesTheWindowsToCome) {
  Track(90, -10);
  Set("windows { start: '10:00' end: '11:00' max_deletes_per_second: 0.02 }");
  // The window of today deletes 72 items.
  EXPECT_EQ(ForecastUntil(kHourSeconds).backlog_end(), v1::BACKLOG_END_AFTER_FORECAST);
  const v1::GetForecastResponse forecast = ForecastUntil(3 * kDaySeconds);
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_AT_TIME);
  EXPECT_EQ(forecast.backlog_end_time().seconds(),
            sidecar_.Now() + 2 * kHourSeconds + kDaySeconds + 18 * 50);
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 0);
}

TEST_F(DeleteWindowsServiceTest, WindowsThatNeverAllowDeletesHoldTheBacklog) {
  Track(1, -10);
  Set("windows { start: '10:00' end: '11:00' max_deletes_per_second: 0 }");
  EXPECT_EQ(ForecastUntil(kDaySeconds).backlog_end(), v1::BACKLOG_END_HELD);
  EXPECT_FALSE(StatusOfC().windows().has_next_start());
  EXPECT_FALSE(StatusOfC().windows().suffices());
  EXPECT_THAT(Explain("-10-0").explanation(), Not(HasSubstr("The windows allow deletes from")));
}

}  // namespace
}  // namespace ttl
