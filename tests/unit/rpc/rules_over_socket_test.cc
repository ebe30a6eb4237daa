// The TTL rules, one by one, through the services on a real socket. The clock is
// the test's; nothing sweeps.

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Ttl = std::optional<int64_t>;

class RulesTest : public testing::Test {
 protected:
  // What every path says of ("c", "p", `id`); fails if they disagree.
  bool IsVisible(const std::string& id) {
    const bool checked = sidecar_.Check(id) == v1::VISIBILITY_VISIBLE;
    const bool got = sidecar_.Get(id).ok();
    EXPECT_EQ(checked, got) << "CheckVisibility and GetItem disagree on " << id;
    const std::vector<std::string> listed = sidecar_.List();
    EXPECT_EQ(checked, std::count(listed.begin(), listed.end(), id) == 1)
        << "CheckVisibility and ListItems disagree on " << id;
    return checked;
  }

  void MustCreate(Ttl default_ttl) { ASSERT_THAT(sidecar_.Create(default_ttl), IsOk()); }
  void MustSet(Ttl default_ttl) { ASSERT_THAT(sidecar_.SetDefaultTtl(default_ttl), IsOk()); }
  void MustTrack(const std::string& id, int64_t ts, Ttl ttl = std::nullopt) {
    const auto result = sidecar_.Track(id, ts, ttl);
    ASSERT_THAT(result, IsOk());
    ASSERT_EQ(*result, v1::TRACK_RESULT_TRACKED);
  }
  void Advance(absl::Duration duration) {
    sidecar_.clock().Advance(duration);
    sidecar_.guarded_clock().Tick();
  }

  RpcSidecar sidecar_;
  const int64_t start_ = sidecar_.Now();
};

TEST_F(RulesTest, TheThreeByThreeTable) {
  MustCreate(std::nullopt);
  MustTrack("absent", start_);
  MustTrack("never", start_, -1);
  MustTrack("own", start_, 20);
  Advance(absl::Seconds(30));
  const struct {
    Ttl default_ttl;
    bool absent, never, own;
  } kRows[] = {
      {std::nullopt, true, true, true}, {-1, true, true, false}, {10, false, true, false},
      {40, true, true, false},          {-1, true, true, false}, {std::nullopt, true, true, true},
  };
  for (const auto& row : kRows) {
    MustSet(row.default_ttl);
    EXPECT_EQ(IsVisible("absent"), row.absent) << testing::PrintToString(row.default_ttl);
    EXPECT_EQ(IsVisible("never"), row.never) << testing::PrintToString(row.default_ttl);
    EXPECT_EQ(IsVisible("own"), row.own) << testing::PrintToString(row.default_ttl);
  }
}

// Rule 1.
// Field report B28.
TEST_F(RulesTest, ExpiredFromTheFirstInstantOfTheSecondOnEveryPath) {
  MustCreate(-1);
  MustTrack("a", start_, 10);
  Advance(absl::Milliseconds(9999));
  EXPECT_TRUE(IsVisible("a"));
  Advance(absl::Milliseconds(1));
  EXPECT_FALSE(IsVisible("a"));
  Advance(absl::Milliseconds(1));
  EXPECT_FALSE(IsVisible("a"));
}

TEST_F(RulesTest, TheLargestTtlNeitherWrapsNorExpiresAndSurvivesARestart) {
  MustCreate(-1);
  MustTrack("a", start_, 2147483647);
  MustTrack("b", start_, 630720000);
  sidecar_.Restart();
  EXPECT_TRUE(IsVisible("a"));
  EXPECT_EQ(sidecar_.Get("a")->remaining_seconds(), 2147483647);
  EXPECT_EQ(sidecar_.Get("b")->remaining_seconds(), 630720000);
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 2147483647);
}

// Rule 2. While TTL is off they are kept: illegal_ttl_test.cc.
// Field report B07.
TEST_F(RulesTest, ZeroAndOtherNegativesAreRefusedAndChangeNothing) {
  MustCreate(-1);
  MustTrack("a", start_, 20);
  for (const int64_t value :
       {int64_t{0}, int64_t{-2}, int64_t{-5}, int64_t{2147483648}, int64_t{4294967295},
        int64_t{4294967296 + 60}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(sidecar_.Track("a", start_ + 1, value),
                IsInvalid("items[0].ttl", absl::StrCat(value)));
    EXPECT_THAT(sidecar_.SetDefaultTtl(value), IsInvalid("default_ttl", absl::StrCat(value)));
  }
  const auto item = sidecar_.Get("a");
  ASSERT_THAT(item, IsOk());
  EXPECT_EQ(item->item().ts(), start_);
  EXPECT_EQ(item->item().ttl(), 20);
  const auto container = Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer,
                              Proto<v1::GetContainerRequest>("id: 'c'"));
  EXPECT_EQ(container->container().default_ttl(), -1);
}

// Field report B03.
TEST_F(RulesTest, NanosecondsAreRefusedMillisecondsMeanSeconds) {
  MustCreate(60);
  EXPECT_THAT(sidecar_.SetDefaultTtl(86400000000000), IsInvalid("default_ttl"));
  MustTrack("a", start_, 86400000);
  EXPECT_EQ(sidecar_.Get("a")->remaining_seconds(), 86400000);
  MustTrack("b", start_);
  EXPECT_EQ(sidecar_.Get("b")->remaining_seconds(), 60);
}

// Field report B15.
TEST_F(RulesTest, AnEpochSecondAsTtlIsKeptAnEpochMillisecondIsRefused) {
  MustCreate(-1);
  MustTrack("a", start_, 1767225600);
  EXPECT_TRUE(IsVisible("a"));
  EXPECT_THAT(sidecar_.Track("b", start_, 1767225600000), IsInvalid("items[0].ttl"));
}

TEST_F(RulesTest, TsInMillisecondsIsRefused) {
  MustCreate(-1);
  EXPECT_THAT(sidecar_.Track("a", start_ * 1000, 10), IsInvalid("items[0].ts", "milliseconds"));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_UNTRACKED);
}

// On this wire null cannot be said: JSON's null and a missing member are both the
// absent state, for items and for containers. Zero is neither.
// Field report B06.
TEST_F(RulesTest, NullIsAbsentAndZeroIsNot) {
  MustCreate(60);
  v1::TrackItemsRequest request;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  absl::StrCat(R"({"container": "c", "items": [{"partitionKey": "cA==",)",
                               R"("id": "YQ==", "ttl": null, "ts": ")", start_, R"("}]})"),
                  &request)
                  .ok());
  ASSERT_THAT(Call(sidecar_.items(), &v1::ItemService::Stub::TrackItems, request), IsOk());
  EXPECT_FALSE(sidecar_.Get("a")->item().has_ttl());
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 60);
  EXPECT_THAT(sidecar_.Track("a", start_, 0), IsInvalid("items[0].ttl is 0"));
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 60);
}

// Rule 3.
TEST_F(RulesTest, AnyWriteRestartsTheCountdownAndNothingElseDoes) {
  MustCreate(60);
  MustTrack("a", start_);
  Advance(absl::Seconds(40));
  IsVisible("a");
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 60);
  MustTrack("a", start_ + 40);
  Advance(absl::Seconds(59));
  EXPECT_TRUE(IsVisible("a"));
  Advance(absl::Seconds(1));
  EXPECT_FALSE(IsVisible("a"));
}

TEST_F(RulesTest, AWriteWithoutTtlGoesBackToTheDefault) {
  MustCreate(600);
  MustTrack("a", start_, 20);
  MustTrack("a", start_ + 1);
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 601);
  EXPECT_EQ(sidecar_.Get("a")->ttl_source(), v1::TTL_SOURCE_CONTAINER);
}

// Rule 4.
TEST_F(RulesTest, AChangeOfTheDefaultActsOnAllExistingItemsAtOnce) {
  MustCreate(1000);
  for (int i = 0; i < 50; ++i) MustTrack(absl::StrCat("i", i), start_);
  Advance(absl::Seconds(100));
  EXPECT_THAT(sidecar_.List(), SizeIs(50));
  MustSet(100);
  EXPECT_THAT(sidecar_.List(), IsEmpty());
  MustSet(101);
  EXPECT_THAT(sidecar_.List(), SizeIs(50));
}

TEST_F(RulesTest, ChangingTheDefaultCostsTheSameForAnyNumberOfItems) {
  MustCreate(1000);
  MustTrack("first", start_);
  const auto cost_of = [&](Ttl default_ttl) {
    const OperationCounts before = sidecar_.storage()->Counts();
    MustSet(default_ttl);
    const OperationCounts after = sidecar_.storage()->Counts();
    return after.gets + after.puts + after.deletes + after.seeks + after.steps - before.gets -
           before.puts - before.deletes - before.seeks - before.steps;
  };
  const int64_t with_one_item = cost_of(50);
  for (int i = 0; i < 200; ++i) MustTrack(absl::StrCat("i", i), start_);
  EXPECT_EQ(cost_of(60), with_one_item);
}

// Field report B13.
TEST_F(RulesTest, AnItemsTtlIsKeptWhileTtlIsOff) {
  MustCreate(std::nullopt);
  MustTrack("a", start_, 1);
  Advance(absl::Seconds(4000));
  EXPECT_TRUE(IsVisible("a"));
  EXPECT_FALSE(sidecar_.Get("a")->has_expire_time());
  MustSet(-1);
  EXPECT_FALSE(IsVisible("a"));
  MustSet(std::nullopt);
  EXPECT_TRUE(IsVisible("a"));
}

TEST_F(RulesTest, RemovingTheDefaultIsNotMinusOne) {
  MustCreate(-1);
  MustTrack("own", start_, 10);
  Advance(absl::Seconds(10));
  EXPECT_FALSE(IsVisible("own"));
  MustSet(std::nullopt);
  EXPECT_TRUE(IsVisible("own"));
}

TEST_F(RulesTest, HiddenItemsComeBackWhenTtlIsLengthened) {
  MustCreate(10);
  MustTrack("a", start_);
  Advance(absl::Seconds(20));
  EXPECT_FALSE(IsVisible("a"));
  MustSet(30);
  EXPECT_TRUE(IsVisible("a"));
}

// Rule 5.
TEST_F(RulesTest, HiddenAtItsSecondWhileAllDeletesArePaused) {
  MustCreate(10);
  ASSERT_THAT(Call(sidecar_.expiry(), &v1::ExpiryService::Stub::PauseDeletes,
                   Proto<v1::PauseDeletesRequest>("all_containers: true reason: 'test'")),
              IsOk());
  MustTrack("a", start_);
  Advance(absl::Seconds(10));
  EXPECT_FALSE(IsVisible("a"));
}

TEST_F(RulesTest, HiddenAtOnceAfterARestart) {
  MustCreate(10);
  MustTrack("a", start_);
  sidecar_.Restart();
  EXPECT_TRUE(IsVisible("a"));
  Advance(absl::Seconds(10));
  sidecar_.Restart();
  EXPECT_FALSE(IsVisible("a"));
}

// Rule 6.
TEST_F(RulesTest, AWriteOfAnExpiredKeyIsANewItem) {
  MustCreate(10);
  MustTrack("a", start_, 5);
  Advance(absl::Seconds(60));
  EXPECT_FALSE(IsVisible("a"));
  MustTrack("a", start_ + 60);
  EXPECT_TRUE(IsVisible("a"));
  EXPECT_EQ(sidecar_.Get("a")->expire_time(), start_ + 70);
  EXPECT_FALSE(sidecar_.Get("a")->item().has_ttl());
}

TEST_F(RulesTest, AnExpiredItemIsAnsweredExactlyAsAMissingOne) {
  MustCreate(10);
  MustTrack("a", start_);
  Advance(absl::Seconds(10));
  const absl::Status expired = sidecar_.Get("a").status();
  const auto untracked =
      Call(sidecar_.items(), &v1::ItemService::Stub::UntrackItems,
           Proto<v1::UntrackItemsRequest>(absl::StrCat(
               "container: 'c' items { partition_key: 'p' id: 'a' ts: ", start_, " }")));
  ASSERT_THAT(untracked, IsOk());
  EXPECT_EQ(sidecar_.Get("a").status(), expired);
}

// Rule 8.
TEST_F(RulesTest, AKeyIsPartitionKeyAndIdInsideOneContainer) {
  MustCreate(-1);
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>("container { id: 'd' default_ttl: -1 }")),
              IsOk());
  const auto track = [&](const std::string& key, int64_t ttl) {
    EXPECT_THAT(Call(sidecar_.items(), &v1::ItemService::Stub::TrackItems,
                     Proto<v1::TrackItemsRequest>(absl::StrCat(
                         "container: 'c' items { ts: ", start_, " ttl: ", ttl, " ", key, " }"))),
                IsOk());
  };
  track("partition_key: 'pi' id: ''", 10);
  track("partition_key: 'p' id: 'i'", 20);
  track("partition_key: '' id: 'pi'", 30);
  track("partition_key: 'p\\000' id: 'i'", 40);
  track("partition_key: 'p' id: '\\000i'", 50);
  const std::string checks =
      "checks { partition_key: 'pi' id: '' } checks { partition_key: 'p' id: 'i' } "
      "checks { partition_key: '' id: 'pi' } checks { partition_key: 'p\\000' id: 'i' } "
      "checks { partition_key: 'p' id: '\\000i' } checks { partition_key: 'p' id: 'I' }";
  const auto answer = Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility,
                           Proto<v1::CheckVisibilityRequest>("container: 'c' " + checks));
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->expire_times(),
              ElementsAre(start_ + 10, start_ + 20, start_ + 30, start_ + 40, start_ + 50, 0));
  const auto elsewhere = Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility,
                              Proto<v1::CheckVisibilityRequest>("container: 'd' " + checks));
  ASSERT_THAT(elsewhere, IsOk());
  EXPECT_THAT(elsewhere->visibilities(), testing::Each(v1::VISIBILITY_UNTRACKED));
}

// Rule 9.
TEST_F(RulesTest, WithoutAnExpiryIndexNothingMayExpire) {
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>(
                       "container { id: 'c' indexing_mode: INDEXING_MODE_NONE }")),
              IsOk());
  MustTrack("a", start_, 10);
  EXPECT_THAT(sidecar_.SetDefaultTtl(-1), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(sidecar_.SetDefaultTtl(60), StatusIs(absl::StatusCode::kFailedPrecondition));
  const auto update = [&](const std::string& text) {
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                Proto<v1::UpdateContainerRequest>(text));
  };
  const auto lazy = update(
      "container { id: 'c' indexing_mode: INDEXING_MODE_LAZY default_ttl: -1 } "
      "update_mask { paths: 'indexing_mode' paths: 'default_ttl' }");
  ASSERT_THAT(lazy, IsOk());
  EXPECT_EQ(lazy->container().indexing_mode(), v1::INDEXING_MODE_LAZY);
  EXPECT_EQ(lazy->container().index_progress().state(), v1::INDEX_STATE_BUILDING);
  Advance(absl::Seconds(10));
  EXPECT_FALSE(IsVisible("a"));  // exact while the index is being built
  sidecar_.storage().FinishHousekeeping();
  const auto built = Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer,
                          Proto<v1::GetContainerRequest>("id: 'c'"));
  EXPECT_EQ(built->container().index_progress().state(), v1::INDEX_STATE_READY);
  EXPECT_THAT(update("container { id: 'c' indexing_mode: INDEXING_MODE_NONE } "
                     "update_mask { paths: 'indexing_mode' }"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(update("container { id: 'c' indexing_mode: INDEXING_MODE_NONE } "
                     "update_mask { paths: 'indexing_mode' paths: 'default_ttl' }"),
              IsOk());
  EXPECT_TRUE(IsVisible("a"));
}

// Rule 10.
// Field report B31.
TEST_F(RulesTest, ListsDoNotCountExpiredItems) {
  MustCreate(-1);
  for (int i = 0; i < 10; ++i) MustTrack(absl::StrCat("i", i), start_, i < 4 ? 10 : 100);
  Advance(absl::Seconds(10));
  EXPECT_THAT(sidecar_.List(), SizeIs(6));
  EXPECT_THAT(sidecar_.List(/*show_expired=*/true), SizeIs(10));
  int visible = 0;
  for (int i = 0; i < 10; ++i) visible += IsVisible(absl::StrCat("i", i)) ? 1 : 0;
  EXPECT_EQ(visible, 6);
}

// Field report B30.
TEST_F(RulesTest, RemainingTimeIsBetweenZeroAndTtlThenNotFound) {
  MustCreate(-1);
  MustTrack("a", start_, 10);
  MustTrack("never", start_, -1);
  EXPECT_EQ(sidecar_.Get("a")->remaining_seconds(), 10);
  Advance(absl::Milliseconds(9600));
  EXPECT_EQ(sidecar_.Get("a")->remaining_seconds(), 1);
  Advance(absl::Milliseconds(400));
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  Advance(absl::Hours(1));
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  sidecar_.Restart();
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(sidecar_.Get("never")->has_remaining_seconds());
}

// Field report B12.
TEST_F(RulesTest, EachStateOfTheDefaultReadsBackExactlyAfterARestart) {
  MustCreate(std::nullopt);
  MustTrack("a", start_);
  Advance(absl::Seconds(100));
  for (const Ttl state : {Ttl(), Ttl(60), Ttl(-1), Ttl(), Ttl(60)}) {
    MustSet(state);
    sidecar_.Restart();
    const auto container = Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer,
                                Proto<v1::GetContainerRequest>("id: 'c'"));
    ASSERT_THAT(container, IsOk());
    EXPECT_EQ(container->container().has_default_ttl(), state.has_value());
    EXPECT_EQ(container->container().default_ttl(), state.value_or(0));
    EXPECT_EQ(IsVisible("a"), state != 60);
  }
}

// Field report B44.
TEST_F(RulesTest, AnUnrelatedEditLeavesTheDefaultUnset) {
  MustCreate(std::nullopt);
  for (int i = 0; i < 20; ++i) MustTrack(absl::StrCat("i", i), start_);
  Advance(absl::Seconds(100));
  const auto edited =
      Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
           Proto<v1::UpdateContainerRequest>(
               "container { id: 'c' default_ttl: 1 indexing_mode: INDEXING_MODE_LAZY } "
               "update_mask { paths: 'indexing_mode' }"));
  ASSERT_THAT(edited, IsOk());
  EXPECT_FALSE(edited->container().has_default_ttl());
  EXPECT_THAT(sidecar_.List(), SizeIs(20));
}

}  // namespace
}  // namespace ttl
