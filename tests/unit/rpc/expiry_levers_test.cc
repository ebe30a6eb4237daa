// The levers of ExpiryService that came with budget, brake and confirmation.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/base/done.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using ExpiryStub = v1::ExpiryService::Stub;

class ExpiryLeversTest : public testing::Test {
 protected:
  ExpiryLeversTest() { EXPECT_THAT(sidecar_.Create(60), IsOk()); }

  static RpcSidecar::Options Options() {
    RpcSidecar::Options options;
    options.max_deletes_per_second = 1000;
    return options;
  }

  v1::GetExpiryStatusResponse Status() {
    return Call(sidecar_.expiry(), &ExpiryStub::GetExpiryStatus,
                Proto<v1::GetExpiryStatusRequest>("container: 'c'"))
        .value();
  }
  absl::StatusOr<v1::ReportUsageResponse> ReportUsage(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::ReportUsage, Proto<v1::ReportUsageRequest>(text));
  }
  absl::StatusOr<v1::ConfirmPolicyResponse> ConfirmPolicy(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::ConfirmPolicy,
                Proto<v1::ConfirmPolicyRequest>(text));
  }
  absl::StatusOr<v1::ConfirmStoreResponse> ConfirmStore(const std::string& store_id) {
    v1::ConfirmStoreRequest request;
    request.set_store_id(store_id);
    return Call(sidecar_.expiry(), &ExpiryStub::ConfirmStore, request);
  }
  absl::StatusOr<v1::SetMaxDeletesPerSecondResponse> SetLimit(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::SetMaxDeletesPerSecond,
                Proto<v1::SetMaxDeletesPerSecondRequest>(text));
  }
  absl::StatusOr<v1::ListStuckItemsResponse> ListStuck(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::ListStuckItems,
                Proto<v1::ListStuckItemsRequest>("container: 'c' " + text));
  }
  void Update(const std::string& text) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                     Proto<v1::UpdateContainerRequest>(text)),
                IsOk());
  }
  void Advance(absl::Duration duration) {
    sidecar_.clock().Advance(duration);
    sidecar_.guarded_clock().Tick();
  }
  std::optional<double> RequestRate() {
    return sidecar_.usage().RequestRate(sidecar_.storage().Find("c")->number,
                                        *sidecar_.clock().Read().boot);
  }

  // A store of that identity is connected.
  void Connect(const std::string& store_id) {
    StoreView store;
    store.configured = true;
    store.reachable = true;
    store.store_id = store_id;
    sidecar_.published().PostStore(store);
  }

  // `count` items of which one change of policy makes all due, which pulls the brake.
  void PullBrake(int count) {
    Update(
        "container { id: 'c' delete_policy { brake { max_newly_due_items: 2 } } } "
        "update_mask { paths: 'delete_policy.brake' }");
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(sidecar_.Track(absl::StrCat(i), sidecar_.Now()), IsOk());
    }
    Advance(absl::Seconds(30));
    ASSERT_THAT(sidecar_.SetDefaultTtl(10), IsOk());
  }

  // The delete of the item has failed, and is tried again at `retry_time`.
  void FailDelete(const std::string& id, int64_t retry_time, const std::string& error) {
    DeleteReport report;
    report.key = KeyOf(id);
    report.generation = sidecar_.storage().FindItem("c", id)->generation;
    report.kind = DeleteReport::Kind::kRetryLater;
    report.retry_time = retry_time;
    report.counts_as_attempt = true;
    report.error = error;
    ASSERT_EQ(sidecar_.storage().Apply("c", {report}), 1);
  }

  RpcSidecar sidecar_{Options()};
};

TEST_F(ExpiryLeversTest, AnUnknownContainerIsNotFound) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere"));
  EXPECT_THAT(ReportUsage("container: 'nowhere'"), not_found);
  EXPECT_THAT(ConfirmPolicy("container: 'nowhere'"), not_found);
  EXPECT_THAT(Call(sidecar_.expiry(), &ExpiryStub::ListStuckItems,
                   Proto<v1::ListStuckItemsRequest>("container: 'nowhere'")),
              not_found);
}

TEST_F(ExpiryLeversTest, ReportedUsageIsARatePerSecond) {
  ASSERT_THAT(ReportUsage("container: 'c' request_units: 30 reporter: 'a'"), IsOk());
  EXPECT_EQ(RequestRate(), 30);
  ASSERT_THAT(
      ReportUsage("container: 'c' request_units: 30 period { nanos: 500000000 } reporter: 'a'"),
      IsOk());
  EXPECT_EQ(RequestRate(), 60);
  ASSERT_THAT(ReportUsage("container: 'c' request_units: 0 reporter: 'b'"), IsOk());
  EXPECT_EQ(RequestRate(), 60);
}

TEST_F(ExpiryLeversTest, UsageOfADeadNamesakeIsNotThatOfTheNewContainer) {
  ASSERT_THAT(ReportUsage("container: 'c' request_units: 30"), IsOk());
  ASSERT_THAT(sidecar_.storage().Delete("c"), IsOk());
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  EXPECT_EQ(RequestRate(), std::nullopt);
}

TEST_F(ExpiryLeversTest, UsageThatCannotBeIsRefusedAndCountsForNothing) {
  for (const char* units : {"-1", "nan", "inf"}) {
    EXPECT_THAT(ReportUsage(absl::StrCat("container: 'c' request_units: ", units)),
                IsInvalid("request_units is "))
        << units;
  }
  EXPECT_THAT(ReportUsage("container: 'c' period {}"), IsInvalid("period is 0"));
  EXPECT_EQ(RequestRate(), std::nullopt);
}

TEST_F(ExpiryLeversTest, UsageNeedsTheSteadyClock) {
  sidecar_.clock().FailBoot();
  EXPECT_THAT(ReportUsage("container: 'c' request_units: 30"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("steady clock")));
}

TEST_F(ExpiryLeversTest, TheStatusShowsThePulledBrake) {
  Connect("store-1");
  PullBrake(3);
  const v1::ContainerExpiryStatus status = Status().container();
  EXPECT_EQ(status.brake().newly_due_items(), 3);
  EXPECT_EQ(status.brake().until().seconds(), sidecar_.Now() + 86400);
  EXPECT_THAT(status.holds(), Contains(v1::DELETE_HOLD_BRAKE));
  EXPECT_EQ(sidecar_.Check("0"), v1::VISIBILITY_EXPIRED);
}

TEST_F(ExpiryLeversTest, AConfirmedPolicyLetsTheBrakeGoAndWakesTheSweeper) {
  Connect("store-1");
  PullBrake(3);
  Advance(absl::Seconds(61));
  const auto confirmed = ConfirmPolicy("container: 'c'");
  ASSERT_THAT(confirmed, IsOk());
  EXPECT_EQ(confirmed->container().default_ttl(), 10);
  EXPECT_EQ(sidecar_.changes(), 1);
  const v1::ContainerExpiryStatus status = Status().container();
  EXPECT_FALSE(status.has_brake());
  EXPECT_THAT(status.holds(), IsEmpty());
  EXPECT_EQ(status.backlog(), 3);
  EXPECT_THAT(ConfirmPolicy("container: 'c'"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ExpiryLeversTest, OnlyThePolicyThatWasLookedAtIsConfirmed) {
  PullBrake(3);
  EXPECT_THAT(ConfirmPolicy("container: 'c' etag: 'other'"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_TRUE(Status().container().has_brake());
  EXPECT_EQ(sidecar_.changes(), 0);
}

TEST_F(ExpiryLeversTest, WithoutABrakeThereIsNothingToConfirm) {
  EXPECT_THAT(ConfirmPolicy("container: 'c'"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ExpiryLeversTest, AStoreInDoubtIsShownAndConfirmedForGood) {
  Connect("store-2");
  ASSERT_THAT(Await<absl::Status>([&](auto done) {
                sidecar_.storage()->sidecar_state().SaveStoreDoubt("its store_id changed",
                                                                   std::move(done));
              }),
              IsOk());
  sidecar_.Restart();
  EXPECT_EQ(Status().sidecar().store().unconfirmed(), "its store_id changed");
  EXPECT_THAT(Status().container().holds(), Contains(v1::DELETE_HOLD_STORE_UNCONFIRMED));
  EXPECT_THAT(Status().sidecar().health().reasons(),
              Contains(HasSubstr("has to be confirmed: its store_id changed")));

  EXPECT_THAT(ConfirmStore("store-1"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("\"store-2\"")));
  ASSERT_THAT(ConfirmStore("store-2"), IsOk());
  EXPECT_EQ(sidecar_.changes(), 1);
  EXPECT_THAT(Status().sidecar().data().reason(), HasSubstr("confirmation 1"));
  EXPECT_THAT(Status().container().holds(), Contains(v1::DELETE_HOLD_DATA_IN_DOUBT));
  EXPECT_EQ(Status().sidecar().store().unconfirmed(), "");
  EXPECT_THAT(Status().container().holds(), Not(Contains(v1::DELETE_HOLD_STORE_UNCONFIRMED)));
  EXPECT_EQ(sidecar_.levers().store_trust().store_id(), "store-2");
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.levers().store_trust().doubt(), "");
  EXPECT_EQ(sidecar_.levers().store_trust().store_id(), "store-2");
}

// The sweeper finds out that the store is another one, and posts why deletes wait.
TEST_F(ExpiryLeversTest, AnotherStoreIsConfirmedBeforeTheSweeperLooksAgain) {
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("store-1"), IsOk());
  StoreView store;
  store.configured = true;
  store.reachable = true;
  store.store_id = "store-2";
  store.unconfirmed = "the store's store_id is \"store-2\"";
  sidecar_.published().PostStore(store);
  EXPECT_EQ(Status().sidecar().store().unconfirmed(), store.unconfirmed);
  EXPECT_THAT(Status().container().holds(), Contains(v1::DELETE_HOLD_STORE_UNCONFIRMED));
  EXPECT_THAT(ConfirmStore("store-1"), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(ConfirmStore("store-2"), IsOk());
  EXPECT_EQ(Status().sidecar().store().unconfirmed(), "");
  EXPECT_THAT(ConfirmStore("store-2"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ExpiryLeversTest, AStoreThatIsNotInDoubtNeedsNoWord) {
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("store-1"), IsOk());
  Connect("store-1");
  EXPECT_THAT(ConfirmStore("store-1"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("needs no confirmation")));
}

TEST_F(ExpiryLeversTest, AStoreThatWasNeverSeenCannotBeConfirmed) {
  ASSERT_THAT(sidecar_.levers().DoubtStore("why"), IsOk());
  EXPECT_THAT(ConfirmStore(""), IsInvalid("store_id", "1 to 256 bytes"));
  EXPECT_THAT(ConfirmStore(std::string(257, 's')), IsInvalid("store_id", "257 bytes"));
  EXPECT_THAT(ConfirmStore("store-1"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not known yet")));
}

TEST_F(ExpiryLeversTest, StorageThatRefusesWritesConfirmsNothing) {
  Connect("store-1");
  ASSERT_THAT(sidecar_.levers().DoubtStore("why"), IsOk());
  sidecar_.storage().env().FailWrites(true);
  EXPECT_THAT(ConfirmStore("store-1"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(sidecar_.levers().store_trust().doubt(), "why");
  EXPECT_THAT(SetLimit("max_deletes_per_second: 5"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(sidecar_.levers().limit().Get(), 1000);
  EXPECT_EQ(sidecar_.changes(), 0);
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ExpiryLeversTest, TheLimitOnAllDeletesIsSetAtRunTimeAndKept) {
  const auto set = SetLimit("max_deletes_per_second: 0.5");
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->max_deletes_per_second(), 0.5);
  EXPECT_EQ(sidecar_.levers().limit().Get(), 0.5);
  EXPECT_EQ(sidecar_.changes(), 1);
  EXPECT_EQ(Status().sidecar().max_deletes_per_second(), 0.5);
  EXPECT_EQ(Status().container().allowed_deletes_per_second(), 0.5);
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.levers().limit().Get(), 0.5);
}

TEST_F(ExpiryLeversTest, ALimitOfZeroIsNoneAtAllAndAbsentIsNoLimit) {
  ASSERT_THAT(SetLimit("max_deletes_per_second: 0"), IsOk());
  EXPECT_THAT(Status().container().holds(), Contains(v1::DELETE_HOLD_ZERO_RATE));
  const auto unlimited = SetLimit("unlimited: true");
  ASSERT_THAT(unlimited, IsOk());
  EXPECT_FALSE(unlimited->has_max_deletes_per_second());
  EXPECT_FALSE(Status().sidecar().has_max_deletes_per_second());
  EXPECT_THAT(Status().container().holds(), Not(Contains(v1::DELETE_HOLD_ZERO_RATE)));
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.levers().limit().Get(), std::nullopt);
}

TEST_F(ExpiryLeversTest, TheServersOwnLimitComesBack) {
  ASSERT_THAT(SetLimit("max_deletes_per_second: 5"), IsOk());
  const auto set = SetLimit("server_default: true");
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->max_deletes_per_second(), 1000);
  EXPECT_EQ(sidecar_.levers().limit().Get(), 1000);
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.levers().limit().Get(), 1000);
}

TEST_F(ExpiryLeversTest, ALimitThatIsNoneIsRefusedAndChangesNothing) {
  for (const char* limit : {"-1", "nan", "inf"}) {
    EXPECT_THAT(SetLimit(absl::StrCat("max_deletes_per_second: ", limit)),
                IsInvalid("max_deletes_per_second is "))
        << limit;
  }
  EXPECT_THAT(SetLimit(""), IsInvalid("limit is absent"));
  EXPECT_THAT(SetLimit("unlimited: false"), IsInvalid("unlimited is false"));
  EXPECT_THAT(SetLimit("server_default: false"), IsInvalid("server_default is false"));
  EXPECT_EQ(sidecar_.levers().limit().Get(), 1000);
}

TEST_F(ExpiryLeversTest, StuckItemsInTheOrderOfTheirNextTry) {
  EXPECT_THAT(ListStuck("")->items(), IsEmpty());
  for (const char* id : {"fine", "early", "late"}) {
    ASSERT_THAT(sidecar_.Track(id, sidecar_.Now(), 10), IsOk());
  }
  Advance(absl::Seconds(10));
  FailDelete("late", sidecar_.Now() + 50, "row is locked");
  FailDelete("early", sidecar_.Now() + 20, "disk error");
  const auto stuck = ListStuck("");
  ASSERT_THAT(stuck, IsOk());
  ASSERT_THAT(stuck->items(), testing::SizeIs(2));
  EXPECT_EQ(stuck->items(0).partition_key(), "p");
  EXPECT_EQ(stuck->items(0).id(), "early");
  EXPECT_EQ(stuck->items(0).attempts(), 1);
  EXPECT_EQ(stuck->items(0).last_error(), "disk error");
  EXPECT_EQ(stuck->items(0).next_try_time(), sidecar_.Now() + 20);
  EXPECT_EQ(stuck->items(1).id(), "late");
  EXPECT_EQ(stuck->next_page_token(), "");
}

TEST_F(ExpiryLeversTest, StuckItemsComePageByPage) {
  for (int i = 0; i < 7; ++i) {
    ASSERT_THAT(sidecar_.Track(absl::StrCat(i), sidecar_.Now(), 10), IsOk());
  }
  Advance(absl::Seconds(10));
  // Many in one second, so that a page ends in the middle of it.
  for (int i = 0; i < 7; ++i) FailDelete(absl::StrCat(i), sidecar_.Now() + 20, "locked");
  for (const int page_size : {1, 3, 7, 100}) {
    std::vector<std::string> ids;
    std::string token;
    do {
      v1::ListStuckItemsRequest request;
      request.set_container("c");
      request.set_page_size(page_size);
      request.set_page_token(token);
      const auto page = Call(sidecar_.expiry(), &ExpiryStub::ListStuckItems, request);
      ASSERT_THAT(page, IsOk());
      EXPECT_LE(page->items_size(), page_size);
      for (const v1::StuckItem& item : page->items()) ids.push_back(item.id());
      token = page->next_page_token();
    } while (!token.empty());
    EXPECT_THAT(ids, ElementsAre("0", "1", "2", "3", "4", "5", "6")) << page_size;
  }
}

TEST_F(ExpiryLeversTest, PagesOfStuckItemsAreValidated) {
  EXPECT_THAT(ListStuck("page_size: -1"), IsInvalid("page_size is -1"));
  EXPECT_THAT(ListStuck("page_token: 'x'"), IsInvalid("page_token"));
}

TEST_F(ExpiryLeversTest, AnItemThatIsReportedAgainIsNotStuckAnyMore) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  Advance(absl::Seconds(10));
  FailDelete("a", sidecar_.Now() + 20, "locked");
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  EXPECT_THAT(ListStuck("")->items(), IsEmpty());
}

}  // namespace
}  // namespace ttl
