// Adopted items (TrackItemsRequest.adopted) as callers and operators see them.
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
using ::testing::HasSubstr;
using ::testing::Not;

using Stub = v1::ExpiryService::Stub;

class AdoptionServiceTest : public testing::Test {
 protected:
  AdoptionServiceTest() { EXPECT_THAT(sidecar_.Create(60), IsOk()); }

  static RpcSidecar::Options Options() {
    RpcSidecar::Options options;
    options.adoption_grace = absl::Seconds(60);
    return options;
  }

  void Advance(absl::Duration duration) {
    sidecar_.clock().Advance(duration);
    sidecar_.guarded_clock().Tick();
  }

  void TrackOld(const std::string& id, bool adopted) {
    const auto tracked =
        Call(sidecar_.items(), &v1::ItemService::Stub::TrackItems,
             Proto<v1::TrackItemsRequest>(absl::StrCat(
                 "container: 'c' adopted: ", adopted ? "true" : "false",
                 " items { partition_key: 'p' id: '", id, "' ts: ", sidecar_.Now() - 1000, " }")));
    ASSERT_THAT(tracked, IsOk());
  }

  v1::ContainerExpiryStatus Status() {
    return Call(sidecar_.expiry(), &Stub::GetExpiryStatus,
                Proto<v1::GetExpiryStatusRequest>("container: 'c'"))
        .value()
        .container();
  }

  v1::ExplainItemResponse Explain(const std::string& id) {
    return Call(sidecar_.expiry(), &Stub::ExplainItem,
                Proto<v1::ExplainItemRequest>(
                    absl::StrCat("container: 'c' partition_key: 'p' id: '", id, "'")))
        .value();
  }

  absl::Status Confirm() {
    return Call(sidecar_.expiry(), &Stub::ConfirmPolicy,
                Proto<v1::ConfirmPolicyRequest>("container: 'c'"))
        .status();
  }

  RpcSidecar sidecar_{Options()};
};

// Behind what one page of the list counts.
TEST_F(AdoptionServiceTest, ABacklogByTheTalliesLeavesOutWhatStillWaits) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < 10000; ++i) reports.push_back({KeyOf(absl::StrCat(i)), {}});
  for (ItemReport& report : reports) report.version.times.ts = sidecar_.Now();
  for (const char* id : {"a", "b"}) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                     Proto<v1::CreateContainerRequest>(
                         absl::StrCat("container { id: '", id, "' default_ttl: 60 }"))),
                IsOk());
    ASSERT_THAT(sidecar_.storage().Track(id, reports), IsOk());
  }
  Advance(absl::Hours(1));
  for (int i = 0; i < 190; ++i) TrackOld(absl::StrCat(i), /*adopted=*/i < 100);
  for (const int64_t backlog : {90, 190}) {
    const auto list =
        Call(sidecar_.expiry(), &Stub::ListExpiryStatuses, v1::ListExpiryStatusesRequest());
    ASSERT_THAT(list, IsOk());
    ASSERT_EQ(list->containers_size(), 3);
    EXPECT_EQ(list->containers(2).backlog(), backlog);
    EXPECT_TRUE(list->containers(2).backlog_is_lower_bound());
    Advance(absl::Seconds(61));
  }
}

TEST_F(AdoptionServiceTest, AnAdoptedItemIsHiddenAtOnceAndSaysWhatItWaitsFor) {
  Advance(absl::Hours(1));
  TrackOld("a", /*adopted=*/true);
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(Status().backlog(), 0);
  EXPECT_THAT(Status().holds(), Contains(v1::DELETE_HOLD_GRACE));
  EXPECT_EQ(Status().grace_until().seconds(), sidecar_.Now() + 60);
  EXPECT_EQ(Explain("a").due_time(), sidecar_.Now() + 60);
  EXPECT_THAT(Explain("a").explanation(), HasSubstr("the grace of an item that was already due"));
  Advance(absl::Seconds(60));
  EXPECT_EQ(Status().backlog(), 1);
  EXPECT_THAT(Status().holds(), Not(Contains(v1::DELETE_HOLD_GRACE)));
  EXPECT_EQ(Status().oldest_due_age().seconds(), 0) << "it is not late";
  EXPECT_FALSE(Status().has_grace_until());
}

TEST_F(AdoptionServiceTest, ReportsToANewContainerAreAdoptedAndLaterOnesAreNot) {
  TrackOld("a", /*adopted=*/false);
  EXPECT_EQ(Status().backlog(), 0);
  Advance(absl::Seconds(60));
  TrackOld("b", /*adopted=*/false);
  EXPECT_EQ(Status().backlog(), 2);
  EXPECT_EQ(Explain("b").due_time(), sidecar_.Now() - 940);
}

TEST_F(AdoptionServiceTest, AConfirmationFreesThemAndIsRefusedWhereNothingWaits) {
  EXPECT_THAT(Confirm(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no adopted item waits")));
  TrackOld("a", /*adopted=*/true);
  EXPECT_THAT(Confirm(), IsOk());
  EXPECT_EQ(Status().backlog(), 1);
  EXPECT_THAT(Status().holds(), Not(Contains(v1::DELETE_HOLD_GRACE)));
  sidecar_.Restart();
  EXPECT_EQ(Status().backlog(), 1);
  TrackOld("b", /*adopted=*/true);
  EXPECT_EQ(Status().backlog(), 1) << "what was adopted later waits";
}

TEST_F(AdoptionServiceTest, APulledBrakeIsShownUntilItIsConfirmed) {
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                   Proto<v1::UpdateContainerRequest>(
                       "container { id: 'c' default_ttl: 60 delete_policy { brake { "
                       "max_newly_due_items: 1 release_after { seconds: 600 } } } } "
                       "update_mask { paths: 'delete_policy' }")),
              IsOk());
  TrackOld("a", /*adopted=*/true);
  TrackOld("b", /*adopted=*/true);
  const ContainerPtr container = sidecar_.storage().Find("c");
  const auto pulled = Await<absl::StatusOr<bool>>([&](auto done) {
    sidecar_.storage()->containers().PullBrakeIfTooManyAdopted(
        container->number, sidecar_.guarded_clock().Read().now, std::move(done));
  });
  EXPECT_THAT(pulled, IsOk());
  Advance(absl::Seconds(300));
  EXPECT_EQ(Status().brake().newly_due_items(), 2);
  EXPECT_THAT(Status().holds(), Contains(v1::DELETE_HOLD_BRAKE));
  EXPECT_EQ(Status().backlog(), 0);
  EXPECT_THAT(Explain("a").explanation(), HasSubstr("brake, which adopted items pulled"));
  EXPECT_THAT(Confirm(), IsOk());
  EXPECT_FALSE(Status().has_brake());
  EXPECT_EQ(Status().backlog(), 2);
}

}  // namespace
}  // namespace ttl
