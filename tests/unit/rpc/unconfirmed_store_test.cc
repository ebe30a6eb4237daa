// What is tracked belongs to one store. While another one may be connected, nobody is judged
// by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "service/base/done.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

class UnconfirmedStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sidecar_.Create(60).ok());
    ASSERT_TRUE(sidecar_.Track("expired", sidecar_.Now() - 100).ok());
    ASSERT_TRUE(sidecar_.Track("live", sidecar_.Now()).ok());
    ASSERT_THAT(sidecar_.levers().TakeFirstStore("ours"), IsOk());
    ASSERT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_EXPIRED);
  }

  v1::Visibility CheckCarrying(const std::string& id, int64_t ts) {
    v1::CheckVisibilityRequest request;
    request.set_container("c");
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key("p");
    check.set_id(id);
    check.set_ts(ts);
    const auto response = Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility, request);
    return response.ok() ? response->visibilities(0) : v1::VISIBILITY_UNSPECIFIED;
  }

  void ExpectOnlyCarriedStateCounts() {
    EXPECT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_UNTRACKED);
    EXPECT_EQ(sidecar_.Check("live"), v1::VISIBILITY_UNTRACKED);
    EXPECT_EQ(CheckCarrying("live", sidecar_.Now() - 100), v1::VISIBILITY_EXPIRED);
    EXPECT_EQ(CheckCarrying("expired", sidecar_.Now() - 10), v1::VISIBILITY_VISIBLE);
    EXPECT_THAT(sidecar_.Get("expired").status().message(), HasSubstr("has to be confirmed"));
  }

  RpcSidecar sidecar_;
};

TEST_F(UnconfirmedStoreTest, WhileTheStoreIsInDoubtOnlyCarriedStateCounts) {
  ASSERT_THAT(sidecar_.levers().DoubtStore("the store answered NOT_FOUND 1000 times in a row"),
              IsOk());
  ExpectOnlyCarriedStateCounts();
  Levers& levers = sidecar_.levers();
  ASSERT_THAT(Await<absl::Status>([&](auto done) { levers.ConfirmStore("ours", std::move(done)); }),
              IsOk());
  ASSERT_THAT(levers.EndRebuild(sidecar_.storage()->data_trust().doubt()), IsOk());
  EXPECT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_EXPIRED);
}

TEST_F(UnconfirmedStoreTest, TheNextRunDoesNotForgetThatItWasAnotherStore) {
  SidecarState& state = sidecar_.storage()->sidecar_state();
  ASSERT_TRUE(
      Await<absl::Status>([&](auto done) { state.SaveStoreId("ours", std::move(done)); }).ok());
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                state.SaveOtherStoreId("another", std::move(done));
              }).ok());
  sidecar_.Restart();
  ExpectOnlyCarriedStateCounts();
  ASSERT_THAT(sidecar_.levers().MeetStore("ours"), IsOk());
  EXPECT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_EXPIRED);
}

TEST_F(UnconfirmedStoreTest, WhileAnotherStoreIsConnectedOnlyCarriedStateCounts) {
  ASSERT_THAT(sidecar_.levers().MeetStore("another"), IsOk());
  ExpectOnlyCarriedStateCounts();
  ASSERT_THAT(sidecar_.levers().MeetStore("ours"), IsOk());
  EXPECT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_EXPIRED);
  ASSERT_THAT(sidecar_.levers().MeetStore("another"), IsOk());
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("another"), IsOk());
  EXPECT_EQ(sidecar_.Check("expired"), v1::VISIBILITY_EXPIRED);
}

}  // namespace
}  // namespace ttl
