// UpdateContainer with validate_only.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

using ContainerStub = v1::ContainerService::Stub;

// A container "c" with a default_ttl of an hour. Ten items of it were written half an
// hour ago, two have a day to live of their own, and one is expired.
class ContainerPreviewTest : public testing::Test {
 protected:
  ContainerPreviewTest() {
    EXPECT_THAT(sidecar_.Create(3600), IsOk());
    Track("inherits", 10, std::nullopt);
    Track("own", 2, 86400);
    Track("expired", 1, 60);
    sidecar_.clock().Advance(absl::Minutes(30));
    sidecar_.guarded_clock().Tick();
  }

  void Track(const std::string& prefix, int count, std::optional<int64_t> ttl) {
    for (int i = 0; i < count; ++i) {
      EXPECT_THAT(sidecar_.Track(absl::StrCat(prefix, i), sidecar_.Now(), ttl), IsOk());
    }
  }

  absl::StatusOr<v1::UpdateContainerResponse> Update(const std::string& container,
                                                     const std::string& path, bool validate_only) {
    return Call(sidecar_.containers(), &ContainerStub::UpdateContainer,
                Proto<v1::UpdateContainerRequest>(
                    absl::StrCat("container { id: 'c' ", container, " } update_mask { paths: '",
                                 path, "' } validate_only: ", validate_only ? "true" : "false")));
  }
  absl::StatusOr<v1::UpdateContainerResponse> Preview(const std::string& container,
                                                      const std::string& path = "default_ttl") {
    return Update(container, path, true);
  }
  v1::Container Present() {
    return Call(sidecar_.containers(), &ContainerStub::GetContainer,
                Proto<v1::GetContainerRequest>("id: 'c'"))
        ->container();
  }

  RpcSidecar sidecar_;
};

TEST_F(ContainerPreviewTest, SaysWhatAShorterTtlWouldHide) {
  const auto preview = Preview("default_ttl: 1200");
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->preview().tracked_items(), 13);
  EXPECT_EQ(preview->preview().newly_expired_items(), 10);
  EXPECT_EQ(preview->preview().newly_visible_items(), 0);
  EXPECT_EQ(preview->preview().newly_due_items(), 10);
  EXPECT_EQ(preview->preview().error_bound_items(), 0);
  EXPECT_TRUE(preview->preview().complete());
  EXPECT_FALSE(preview->preview().brake_would_pull());
}

TEST_F(ContainerPreviewTest, SaysWhatALongerOneWouldBringAndWhen) {
  const auto preview = Preview("default_ttl: 7200");
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->preview().newly_expired_items(), 0);
  ASSERT_THAT(preview->preview().expiring_per_hour(), SizeIs(24));
  EXPECT_EQ(preview->preview().expiring_per_hour(0), 0);
  EXPECT_EQ(preview->preview().expiring_per_hour(1), 10);
}

TEST_F(ContainerPreviewTest, SaysWhatSwitchingTtlOffWouldShowAgain) {
  const auto preview = Preview("");
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->preview().newly_visible_items(), 1);
  EXPECT_EQ(preview->preview().newly_due_items(), 0);
}

TEST_F(ContainerPreviewTest, ADelayHidesNothingAndMakesNothingDue) {
  const auto preview = Preview("delete_policy { delay { seconds: 60 } }", "delete_policy.delay");
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->preview().newly_expired_items(), 0);
  EXPECT_EQ(preview->preview().newly_due_items(), 0);
}

// The brake that the change itself sets counts, as it does when the change is made.
TEST_F(ContainerPreviewTest, SaysWhetherTheBrakeWouldPull) {
  const auto pulls = [&](const std::string& brake) {
    const auto preview =
        Preview(absl::StrCat("default_ttl: 1200 delete_policy { brake { ", brake, " } }"), "*");
    EXPECT_THAT(preview, IsOk());
    return preview->preview().brake_would_pull();
  };
  EXPECT_TRUE(pulls("max_newly_due_items: 9"));
  EXPECT_FALSE(pulls("max_newly_due_items: 10"));
  EXPECT_TRUE(pulls("max_newly_due_percent: 76"));
  EXPECT_FALSE(pulls("max_newly_due_percent: 77"));
}

TEST_F(ContainerPreviewTest, ShowsTheContainerAsItWouldBeWithTheEtagOfNow) {
  const v1::Container present = Present();
  const auto preview = Preview("default_ttl: 1200");
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->container().default_ttl(), 1200);
  EXPECT_EQ(preview->container().etag(), present.etag());
  EXPECT_EQ(preview->container().update_time().seconds(), present.update_time().seconds());
}

TEST_F(ContainerPreviewTest, ChangesNothing) {
  const std::string before = Present().SerializeAsString();
  ASSERT_THAT(Preview("default_ttl: 1"), IsOk());
  EXPECT_EQ(Present().SerializeAsString(), before);
  EXPECT_EQ(sidecar_.Check("inherits0"), v1::VISIBILITY_VISIBLE);
  EXPECT_TRUE(sidecar_.storage().Find("c")->replaced_policies.empty());
}

TEST_F(ContainerPreviewTest, WaitsForNoDeleteOnItsWay) {
  DeleteGate& gate = sidecar_.storage()->delete_gate();
  const uint64_t number = sidecar_.storage().Find("c")->number;
  const std::optional<DeleteGate::Pass> pass = gate.TryEnter(number);
  EXPECT_THAT(Preview("default_ttl: 1"), IsOk());
  EXPECT_FALSE(gate.IsClosed(number));
}

TEST_F(ContainerPreviewTest, IsThereWhileStorageRefusesWrites) {
  sidecar_.storage().env().FailWrites(true);
  EXPECT_THAT(sidecar_.Track("x", sidecar_.Now()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Preview("default_ttl: 1"), IsOk());
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ContainerPreviewTest, RefusesWhatTheChangeWouldRefuse) {
  EXPECT_THAT(Preview("default_ttl: 0"), IsInvalid("default_ttl is 0"));
  EXPECT_THAT(Preview("", "nonsense"), IsInvalid("update_mask"));
  EXPECT_THAT(Preview("indexing_mode: INDEXING_MODE_NONE", "indexing_mode"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Preview("default_ttl: 1 etag: 'other'"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(Call(sidecar_.containers(), &ContainerStub::UpdateContainer,
                   Proto<v1::UpdateContainerRequest>("container { id: 'nowhere' } "
                                                     "update_mask { paths: 'default_ttl' } "
                                                     "validate_only: true")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
}

TEST_F(ContainerPreviewTest, ARealChangeHasNoPreview) {
  const auto updated = Update("default_ttl: 1200", "default_ttl", false);
  ASSERT_THAT(updated, IsOk());
  EXPECT_FALSE(updated->has_preview());
  EXPECT_EQ(sidecar_.Check("inherits0"), v1::VISIBILITY_EXPIRED);
}

}  // namespace
}  // namespace ttl
