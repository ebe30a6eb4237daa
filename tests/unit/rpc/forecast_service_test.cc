// GetForecast as operators see it.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/core/ttl_rules.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kOneHour = 3600;
constexpr int64_t kOneDay = 24 * kOneHour;

class ForecastServiceTest : public testing::Test {
 protected:
  ForecastServiceTest() {
    EXPECT_THAT(sidecar_.Create(kOneDay), IsOk());
    StoreView store;
    store.configured = true;
    store.reachable = true;
    store.knows_expire_at = true;
    sidecar_.published().PostStore(store);
  }

  static RpcSidecar::Options Options() {
    RpcSidecar::Options options;
    options.container_max_deletes_per_second = 10;
    return options;
  }

  absl::StatusOr<v1::GetForecastResponse> TryForecast(const std::string& text) {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetForecast,
                Proto<v1::GetForecastRequest>(text));
  }
  // The next `steps` steps of `seconds` each.
  v1::GetForecastResponse ForecastOf(const std::string& target, int64_t seconds, int64_t steps) {
    const auto forecast =
        TryForecast(absl::StrCat(target, " until { seconds: ", sidecar_.Now() + seconds * steps,
                                 " } step { seconds: ", seconds, " }"));
    EXPECT_THAT(forecast, IsOk());
    return forecast.value_or(v1::GetForecastResponse());
  }
  v1::GetForecastResponse ForecastOfC(int64_t seconds, int64_t steps,
                                      const std::string& more = "") {
    return ForecastOf("container: 'c' " + more, seconds, steps);
  }
  static std::vector<int64_t> ItemsOf(const v1::GetForecastResponse& forecast) {
    std::vector<int64_t> items;
    for (const v1::ForecastStep& step : forecast.steps()) items.push_back(step.items());
    return items;
  }

  // Items in the partition "p" of a container.
  void Report(const std::string& container, const std::string& items) {
    ASSERT_THAT(
        Call(sidecar_.items(), &v1::ItemService::Stub::TrackItems,
             Proto<v1::TrackItemsRequest>(absl::StrCat("container: '", container, "' ", items))),
        IsOk());
  }
  // `count` items of "c" that expire `ttl` seconds from now.
  void TrackMany(const std::string& prefix, int count, int64_t ttl) {
    std::string items;
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&items, "items { partition_key: 'p' id: '", prefix, i,
                      "' ts: ", sidecar_.Now(), " ttl: ", ttl, " } ");
    }
    Report("c", items);
  }
  void CreateOther(const std::string& text) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                     Proto<v1::CreateContainerRequest>("container { " + text + " }")),
                IsOk());
  }
  void Update(const std::string& text, const std::string& path) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                     Proto<v1::UpdateContainerRequest>(absl::StrCat(
                         "container { id: 'c' ", text, " } update_mask { paths: '", path, "' }"))),
                IsOk());
  }
  void Advance(int64_t seconds) {
    sidecar_.clock().Advance(absl::Seconds(seconds));
    sidecar_.guarded_clock().Tick();
  }

  RpcSidecar sidecar_{Options()};
};

TEST_F(ForecastServiceTest, CountsItemsByWhenTheyExpire) {
  const int64_t now = sidecar_.Now();
  ASSERT_THAT(sidecar_.Track("inherits", now), IsOk());
  ASSERT_THAT(sidecar_.Track("first second", now, 1), IsOk());
  ASSERT_THAT(sidecar_.Track("last second", now, kOneHour), IsOk());
  ASSERT_THAT(sidecar_.Track("next step", now, kOneHour + 1), IsOk());
  ASSERT_THAT(sidecar_.Track("never", now, -1), IsOk());
  Report("c", absl::StrCat("items { id: 'at' ts: ", now, " ttl: -1 expire_at: ", now + 5 * kOneHour,
                           " }"));
  const v1::GetForecastResponse forecast = ForecastOfC(kOneHour, 6);
  EXPECT_THAT(ItemsOf(forecast), ElementsAre(2, 1, 0, 0, 1, 0));
  EXPECT_EQ(forecast.judged_at().seconds(), now);
  EXPECT_EQ(forecast.steps(0).end_time().seconds(), now + kOneHour);
  EXPECT_TRUE(forecast.exact());
  EXPECT_TRUE(forecast.complete());
  EXPECT_FALSE(forecast.data_in_doubt());
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_NO_BACKLOG);
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 10);
}

TEST_F(ForecastServiceTest, ReachesBeyondADay) {
  ASSERT_THAT(sidecar_.Track("inherits", sidecar_.Now()), IsOk());
  ASSERT_THAT(sidecar_.Track("far", sidecar_.Now(), 40 * kOneDay), IsOk());
  const v1::GetForecastResponse forecast = ForecastOfC(10 * kOneDay, 5);
  EXPECT_THAT(ItemsOf(forecast), ElementsAre(1, 0, 0, 1, 0));
}

TEST_F(ForecastServiceTest, UnderAnotherPolicyNothingIsChanged) {
  ASSERT_THAT(sidecar_.Track("inherits", sidecar_.Now()), IsOk());
  ASSERT_THAT(sidecar_.Track("own", sidecar_.Now(), 2 * kOneHour), IsOk());
  EXPECT_THAT(ItemsOf(ForecastOfC(kOneHour, 3, "default_ttl: 60")), ElementsAre(1, 1, 0));
  EXPECT_THAT(ItemsOf(ForecastOfC(kOneHour, 3, "default_ttl: -1")), ElementsAre(0, 1, 0));
  EXPECT_THAT(ItemsOf(ForecastOfC(kOneHour, 3)), ElementsAre(0, 1, 0));
  Advance(100);
  const v1::GetForecastResponse forecast = ForecastOfC(kOneHour, 3, "default_ttl: 60");
  EXPECT_EQ(forecast.backlog_items(), 1);
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_AT_TIME);
  EXPECT_EQ(sidecar_.Check("inherits"), v1::VISIBILITY_VISIBLE);
}

TEST_F(ForecastServiceTest, WhileTtlIsOffNothingExpires) {
  ASSERT_THAT(sidecar_.Track("own", sidecar_.Now(), 60), IsOk());
  ASSERT_THAT(sidecar_.SetDefaultTtl(std::nullopt), IsOk());
  EXPECT_THAT(ItemsOf(ForecastOfC(kOneHour, 2)), ElementsAre(0, 0));
  // And under a policy that is tried, TTL is on.
  const v1::GetForecastResponse forecast = ForecastOfC(kOneHour, 2, "default_ttl: -1");
  EXPECT_THAT(ItemsOf(forecast), ElementsAre(1, 0));
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 10);
}

TEST_F(ForecastServiceTest, BytesAreLeftOutUntilAnItemHasASize) {
  const std::string item = absl::StrCat("partition_key: 'p' ttl: 60 ts: ", sidecar_.Now());
  Report("c", absl::StrCat("items { id: 'a' ", item, " }"));
  EXPECT_FALSE(ForecastOfC(kOneHour, 1).steps(0).has_bytes());
  Report("c", absl::StrCat("items { id: 'b' size_bytes: 30 ", item, " }"));
  EXPECT_EQ(ForecastOfC(kOneHour, 1).steps(0).bytes(), 30);
}

TEST_F(ForecastServiceTest, TheBacklogEndsAtTheAllowedRate) {
  TrackMany("due", 600, 1);
  Advance(10);
  TrackMany("soon", 300, 60);
  const v1::GetForecastResponse forecast = ForecastOfC(60, 10);
  EXPECT_EQ(forecast.backlog_items(), 600);
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_AT_TIME);
  // 900 items at 10 a second.
  EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 90);
  const v1::GetForecastResponse shorter = ForecastOfC(1, 89);
  EXPECT_EQ(shorter.backlog_end(), v1::BACKLOG_END_AFTER_FORECAST);
  EXPECT_FALSE(shorter.has_backlog_end_time());
}

TEST_F(ForecastServiceTest, ItemsInTheirDelayAreNoBacklog) {
  Update("delete_policy { delay { seconds: 100 } }", "delete_policy.delay");
  TrackMany("a", 20, 1);
  Advance(50);
  EXPECT_EQ(ForecastOfC(60, 10).backlog_items(), 0);
  Advance(50);
  EXPECT_EQ(ForecastOfC(60, 10).backlog_items(), 0);
  Advance(1);
  const v1::GetForecastResponse forecast = ForecastOfC(60, 10);
  EXPECT_EQ(forecast.backlog_items(), 20);
  EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 2);
  EXPECT_THAT(ItemsOf(forecast), Each(0));
}

TEST_F(ForecastServiceTest, WhatStopsDeletesStopsTheBacklogFromEnding) {
  TrackMany("a", 20, 1);
  Advance(10);
  ASSERT_THAT(Call(sidecar_.expiry(), &v1::ExpiryService::Stub::PauseDeletes,
                   Proto<v1::PauseDeletesRequest>("container: 'c' reason: 'r'")),
              IsOk());
  const v1::GetForecastResponse forecast = ForecastOfC(60, 10);
  EXPECT_EQ(forecast.backlog_items(), 20);
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_HELD);
  EXPECT_TRUE(forecast.has_allowed_deletes_per_second());
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 0);
}

TEST_F(ForecastServiceTest, LimitsAndHoldsCountWhereNothingIsDue) {
  EXPECT_EQ(ForecastOf("all_containers: true", 60, 2).allowed_deletes_per_second(), 10);
  // Items that expire in the forecast, and become due after it.
  Update("delete_policy { delay { seconds: 86400 } }", "delete_policy.delay");
  TrackMany("a", 20, 30);
  const v1::GetForecastResponse limited = ForecastOf("all_containers: true", 60, 2);
  EXPECT_THAT(ItemsOf(limited), ElementsAre(20, 0));
  EXPECT_TRUE(limited.has_allowed_deletes_per_second());
  EXPECT_EQ(limited.allowed_deletes_per_second(), 10);
  ASSERT_THAT(Call(sidecar_.expiry(), &v1::ExpiryService::Stub::PauseDeletes,
                   Proto<v1::PauseDeletesRequest>("container: 'c' reason: 'r'")),
              IsOk());
  const v1::GetForecastResponse held = ForecastOf("all_containers: true", 60, 2);
  EXPECT_TRUE(held.has_allowed_deletes_per_second());
  EXPECT_EQ(held.allowed_deletes_per_second(), 0);
  EXPECT_EQ(held.backlog_end(), v1::BACKLOG_END_NO_BACKLOG);
}

TEST_F(ForecastServiceTest, AHoldWithAnEndDelaysTheBacklogOnly) {
  TrackMany("a", 20, 1);
  Advance(10);
  const absl::Time held_until = absl::FromUnixSeconds(sidecar_.Now() + 70);
  StoreView store = sidecar_.published().Store();
  store.held_until = held_until;
  sidecar_.published().PostStore(store);
  for (const std::string target : {"container: 'c'", "all_containers: true"}) {
    const v1::GetForecastResponse forecast = ForecastOf(target, 60, 10);
    EXPECT_EQ(forecast.allowed_deletes_per_second(), 10) << target;
    EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_AT_TIME) << target;
    EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 72) << target;
  }
  EXPECT_EQ(ForecastOfC(60, 1).backlog_end(), v1::BACKLOG_END_AFTER_FORECAST);
  store.reachable = false;
  sidecar_.published().PostStore(store);
  EXPECT_EQ(ForecastOfC(60, 10).backlog_end(), v1::BACKLOG_END_HELD);
}

TEST_F(ForecastServiceTest, ABackoffDelaysTheBacklogOnly) {
  TrackMany("a", 20, 1);
  Advance(10);
  PaceView pace;
  pace.held_until = absl::FromUnixSeconds(sidecar_.Now() + 5);
  sidecar_.published().PostPace(sidecar_.storage()->containers().Find("c")->number, pace);
  const v1::GetForecastResponse forecast = ForecastOfC(60, 10);
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 10);
  EXPECT_EQ(forecast.backlog_end(), v1::BACKLOG_END_AT_TIME);
  EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 7);
}

TEST_F(ForecastServiceTest, AdoptedItemsWaitForTheirGrace) {
  RpcSidecar::Options options = Options();
  options.adoption_grace = absl::Seconds(60);
  RpcSidecar sidecar(options);
  ASSERT_THAT(sidecar.Create(kOneHour), IsOk());
  ASSERT_THAT(sidecar.Track("old", sidecar.Now() - kOneDay), IsOk());
  const auto forecast = Call(sidecar.expiry(), &v1::ExpiryService::Stub::GetForecast,
                             Proto<v1::GetForecastRequest>("container: 'c'"));
  ASSERT_THAT(forecast, IsOk());
  EXPECT_EQ(forecast->backlog_items(), 0);
  EXPECT_EQ(forecast->backlog_end(), v1::BACKLOG_END_NO_BACKLOG);
}

TEST_F(ForecastServiceTest, AllContainersAreSummedUp) {
  TrackMany("a", 20, 1);
  CreateOther("id: 'd' default_ttl: 60 delete_policy { max_deletes_per_second: 1 }");
  Report("d", absl::StrCat("items { id: 'x' ts: ", sidecar_.Now(), " ttl: 1 }",
                           "items { id: 'y' ts: ", sidecar_.Now(), " ttl: 1 }",
                           "items { id: 'z' ts: ", sidecar_.Now(), " ttl: 1 }",
                           "items { id: 'later' ts: ", sidecar_.Now(), " ttl: 20 }"));
  CreateOther("id: 'empty' default_ttl: 60");
  Advance(10);
  const v1::GetForecastResponse forecast = ForecastOf("all_containers: true", 60, 2);
  EXPECT_THAT(ItemsOf(forecast), ElementsAre(1, 0));
  EXPECT_EQ(forecast.backlog_items(), 23);
  // With the 10 of the container without items.
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 21);
  // The slower one decides: 3 items, and a 60th of one more each second, at 1 a second.
  EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 4);
}

TEST_F(ForecastServiceTest, TheLimitOnAllDeletesHoldsForTheSum) {
  TrackMany("a", 20, 1);
  CreateOther("id: 'd' default_ttl: 60");
  Report("d", absl::StrCat("items { id: 'x' ts: ", sidecar_.Now(), " ttl: 1 }"));
  Advance(10);
  ASSERT_THAT(Call(sidecar_.expiry(), &v1::ExpiryService::Stub::SetMaxDeletesPerSecond,
                   Proto<v1::SetMaxDeletesPerSecondRequest>("max_deletes_per_second: 1")),
              IsOk());
  const v1::GetForecastResponse forecast = ForecastOf("all_containers: true", 60, 2);
  EXPECT_EQ(forecast.allowed_deletes_per_second(), 1);
  EXPECT_EQ(forecast.backlog_end_time().seconds(), sidecar_.Now() + 21);
}

TEST_F(ForecastServiceTest, WithoutALimitTheStoreDecides) {
  RpcSidecar sidecar;
  ASSERT_THAT(sidecar.Create(1), IsOk());
  StoreView store;
  store.configured = true;
  store.reachable = true;
  sidecar.published().PostStore(store);
  ASSERT_THAT(sidecar.Track("a", sidecar.Now()), IsOk());
  sidecar.clock().Advance(absl::Seconds(10));
  sidecar.guarded_clock().Tick();
  const auto forecast = Call(sidecar.expiry(), &v1::ExpiryService::Stub::GetForecast,
                             Proto<v1::GetForecastRequest>("all_containers: true"));
  ASSERT_THAT(forecast, IsOk());
  EXPECT_FALSE(forecast->has_allowed_deletes_per_second());
  EXPECT_EQ(forecast->backlog_end(), v1::BACKLOG_END_UNLIMITED);
}

TEST_F(ForecastServiceTest, SaysHowFarItMayBeOff) {
  // One item a second spreads over more periods than are kept apart.
  std::string items;
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&items, "items { id: 'a", i, "' ts: ", sidecar_.Now() - i, " } ");
  }
  Report("c", items);
  items.clear();
  for (int i = 1000; i < 2000; ++i) {
    absl::StrAppend(&items, "items { id: 'a", i, "' ts: ", sidecar_.Now() - i, " } ");
  }
  Report("c", items);
  const v1::GetForecastResponse forecast = ForecastOfC(kOneDay - 1000, 1);
  EXPECT_FALSE(forecast.exact());
  EXPECT_NEAR(forecast.steps(0).items(), 1000, forecast.steps(0).error_bound_items());
  EXPECT_LE(forecast.steps(0).error_bound_items(), 2);
  EXPECT_TRUE(ForecastOfC(kOneDay + 1, 1).exact());
}

TEST_F(ForecastServiceTest, ReadsNoItemsHoweverManyThereAre) {
  TrackMany("due", 500, 1);
  Advance(10);
  TrackMany("soon", 500, 60);
  const OperationCounts before = sidecar_.storage()->Counts();
  EXPECT_EQ(ItemsOf(ForecastOfC(60, 2)), (std::vector<int64_t>{500, 0}));
  EXPECT_EQ(ForecastOf("all_containers: true", 60, 2).backlog_items(), 500);
  const OperationCounts after = sidecar_.storage()->Counts();
  EXPECT_EQ(after.gets, before.gets);
  // Whether an item waits for its next try is looked up once per container.
  EXPECT_LE(after.seeks, before.seeks + 2);
  EXPECT_EQ(after.steps, before.steps);
}

TEST_F(ForecastServiceTest, DataInDoubtIsSaid) {
  sidecar_.storage()->data_trust().Doubt("a test");
  EXPECT_TRUE(ForecastOfC(kOneHour, 1).data_in_doubt());
}

TEST_F(ForecastServiceTest, RefusesWhatItCannotForecast) {
  EXPECT_THAT(TryForecast("container: 'nowhere'"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
  EXPECT_THAT(TryForecast("container: 'c' until { seconds: 1 }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("until is")));
}

// Random items under policies that change, against a count of every item by the rules.
TEST_F(ForecastServiceTest, AgreesWithACountOfEveryItem) {
  std::mt19937 random(19);
  const auto below = [&random](int64_t bound) { return static_cast<int64_t>(random() % bound); };
  std::vector<ItemTimes> tracked;
  for (int round = 0; round < 4; ++round) {
    std::string items;
    for (int i = 0; i < 100; ++i) {
      ItemTimes times = {sidecar_.Now() - below(200)};
      if (below(3) == 0) times.ttl = below(4) == 0 ? kNeverExpires : 1 + below(1000);
      if (below(4) == 0) times.expire_at = sidecar_.Now() - 100 + below(1000);
      absl::StrAppend(&items, "items { id: 'r", round, "-", i, "' ts: ", times.ts);
      if (times.ttl.has_value()) absl::StrAppend(&items, " ttl: ", *times.ttl);
      if (times.expire_at.has_value()) absl::StrAppend(&items, " expire_at: ", *times.expire_at);
      absl::StrAppend(&items, " } ");
      tracked.push_back(times);
    }
    Report("c", items);
    for (const std::optional<int64_t> policy :
         {std::optional<int64_t>(300), std::optional<int64_t>(), std::optional<int64_t>(-1),
          std::optional<int64_t>(kOneDay), std::optional<int64_t>(100)}) {
      ASSERT_THAT(sidecar_.SetDefaultTtl(policy), IsOk());
      std::vector<int64_t> expected(20);
      for (const ItemTimes& times : tracked) {
        const std::optional<int64_t> end = ExpireTime(policy, times);
        if (!end.has_value() || *end <= sidecar_.Now()) continue;
        const int64_t step = (*end - sidecar_.Now() - 1) / 50;
        if (step < 20) ++expected[step];
      }
      const v1::GetForecastResponse forecast = ForecastOfC(50, 20);
      ASSERT_TRUE(forecast.exact());
      EXPECT_EQ(ItemsOf(forecast), expected);
    }
    Advance(37);
  }
}

}  // namespace
}  // namespace ttl
