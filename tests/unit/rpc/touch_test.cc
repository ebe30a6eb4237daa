// TouchItems on a real socket, and what the other calls say of touched items.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ItemStub = v1::ItemService::Stub;

// A container "c" with a default_ttl of 60 s that allows touches.
class TouchTest : public testing::Test {
 protected:
  TouchTest() {
    EXPECT_THAT(sidecar_.Create(60), IsOk());
    SetAllowTouch(true);
  }

  void SetAllowTouch(bool allowed) {
    v1::UpdateContainerRequest request;
    request.mutable_container()->set_id("c");
    request.mutable_container()->set_allow_touch(allowed);
    request.mutable_update_mask()->add_paths("allow_touch");
    EXPECT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer, request),
                IsOk());
  }

  static std::string Keys(const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) {
      absl::StrAppend(&text, " keys { partition_key: 'p' id: '", id, "' }");
    }
    return text;
  }

  absl::StatusOr<v1::TouchItemsResponse> Send(const std::string& text) {
    return Call(sidecar_.items(), &ItemStub::TouchItems, Proto<v1::TouchItemsRequest>(text));
  }
  absl::StatusOr<v1::TouchItemsResponse> Touch(const std::vector<std::string>& ids,
                                               const std::string& more = "") {
    return Send(absl::StrCat("container: 'c'", Keys(ids), " ", more));
  }

  // What a check answers that carries the `_ts` and no ttl.
  v1::Visibility CheckCarried(const std::string& id, int64_t ts) {
    const auto response =
        Call(sidecar_.items(), &ItemStub::CheckVisibility,
             Proto<v1::CheckVisibilityRequest>(absl::StrCat(
                 "container: 'c' checks { partition_key: 'p' id: '", id, "' ts: ", ts, " }")));
    EXPECT_THAT(response, IsOk());
    return response->visibilities(0);
  }

  void Advance(int64_t seconds) {
    sidecar_.clock().Advance(absl::Seconds(seconds));
    sidecar_.guarded_clock().Tick();
  }

  RpcSidecar sidecar_;
};

TEST_F(TouchTest, ATouchedItemStaysVisibleUntilItsNewSecond) {
  const int64_t start = sidecar_.Now();
  ASSERT_THAT(sidecar_.Track("a", start), IsOk());
  Advance(50);
  const auto touched = Touch({"a"});
  ASSERT_THAT(touched, IsOk());
  EXPECT_THAT(touched->results(), ElementsAre(v1::TOUCH_RESULT_TOUCHED));
  EXPECT_THAT(touched->expire_times(), ElementsAre(start + 110));
  EXPECT_EQ(touched->touch_time(), start + 50);
  for (int run = 0; run < 2; ++run) {
    Advance(29);
    EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
    EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_VISIBLE);
    const auto view = sidecar_.Get("a");
    ASSERT_THAT(view, IsOk());
    EXPECT_EQ(view->touch_time(), start + 50);
    EXPECT_EQ(view->expire_time(), start + 110);
    EXPECT_EQ(view->effective_ttl(), 60);
    EXPECT_EQ(view->item().ts(), start);
    EXPECT_THAT(sidecar_.List(), ElementsAre("a"));
    sidecar_.Restart();
  }
  Advance(2);
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_EXPIRED) << "it is tracked";
  EXPECT_THAT(sidecar_.List(), IsEmpty());
  EXPECT_THAT(Touch({"a"})->results(), ElementsAre(v1::TOUCH_RESULT_EXPIRED));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED) << "it stays so";
}

TEST_F(TouchTest, EachKeyHasItsResultInTheOrderOfTheRequest) {
  const int64_t start = sidecar_.Now();
  ASSERT_THAT(sidecar_.Track("live", start), IsOk());
  ASSERT_THAT(sidecar_.Track("expired", start - 60), IsOk());
  ASSERT_THAT(sidecar_.Track("for ever", start, -1), IsOk());
  Advance(10);
  const auto touched = Touch({"expired", "nowhere", "live", "live", "for ever"},
                             "unless_touched_within { seconds: 5 }");
  ASSERT_THAT(touched, IsOk());
  EXPECT_THAT(
      touched->results(),
      ElementsAre(v1::TOUCH_RESULT_EXPIRED, v1::TOUCH_RESULT_NOT_TRACKED, v1::TOUCH_RESULT_TOUCHED,
                  v1::TOUCH_RESULT_RECENT, v1::TOUCH_RESULT_TOUCHED));
  EXPECT_THAT(touched->expire_times(), ElementsAre(start, 0, start + 70, start + 70, 0));
}

TEST_F(TouchTest, WithoutATrackedItemACarriedStateDoesNotExpire) {
  const int64_t start = sidecar_.Now();
  Advance(100);
  EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_UNTRACKED);
  SetAllowTouch(false);
  EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_UNTRACKED) << "it may have been touched";
  ASSERT_THAT(sidecar_.Track("a", start), IsOk());
  EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_EXPIRED);
  sidecar_.storage()->data_trust().Doubt("lost");
  EXPECT_EQ(CheckCarried("a", start), v1::VISIBILITY_UNTRACKED) << "the touch may be lost";
}

TEST_F(TouchTest, WhileItemsCannotBeJudgedNoneIsTouched) {
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("ours"), IsOk());
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const auto unavailable = [](const std::string& why) {
    return StatusIs(absl::StatusCode::kUnavailable, HasSubstr(why));
  };
  sidecar_.storage()->data_trust().Doubt("the data was lost");
  EXPECT_THAT(Touch({"a"}), unavailable("the data was lost"));
  sidecar_.storage()->data_trust().Confirm("the data was lost");
  ASSERT_THAT(sidecar_.levers().MeetStore("another"), IsOk());
  EXPECT_THAT(Touch({"a"}), unavailable("the primary store has to be confirmed"));
  ASSERT_THAT(sidecar_.levers().MeetStore("ours"), IsOk());
  EXPECT_THAT(Touch({"a"}), IsOk());
  sidecar_.clock().StepWall(absl::Hours(1));
  sidecar_.guarded_clock().Tick();
  EXPECT_THAT(Touch({"a"}), unavailable("the clock is suspect"));
}

TEST_F(TouchTest, ClientsAreToldNotToRetryWhatMayLastForHours) {
  const auto pushback = [&] {
    grpc::ClientContext context;
    EXPECT_FALSE(Call(sidecar_.items(), &ItemStub::TouchItems,
                      Proto<v1::TouchItemsRequest>("container: 'c'" + Keys({"a"})), &context)
                     .ok());
    const auto& metadata = context.GetServerTrailingMetadata();
    const auto found = metadata.find("grpc-retry-pushback-ms");
    return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
  };
  SetAllowTouch(false);
  EXPECT_EQ(pushback(), "") << "the code says it";
  SetAllowTouch(true);
  sidecar_.storage()->data_trust().Doubt("the data was lost");
  EXPECT_EQ(pushback(), "-1");
}

TEST_F(TouchTest, AContainerMustAllowIt) {
  SetAllowTouch(false);
  EXPECT_THAT(Touch({"a"}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                     HasSubstr("the items of \"c\" cannot be touched")));
  EXPECT_THAT(Send("container: 'nowhere' keys { id: 'a' }"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(TouchTest, ARequestThatIsNotValidNamesTheField) {
  std::string many = "container: 'c'";
  for (int i = 0; i < 1001; ++i) absl::StrAppend(&many, " keys { id: 'a' }");
  const std::string long_id(1024, 'x');
  const struct {
    std::string request;
    const char* message;
  } kCases[] = {
      {"container: 'c'", "keys has 0 entries: must have 1 to 1000"},
      {many, "keys has 1001 entries"},
      {"container: 'c'" + Keys({"a", long_id}), "keys[1].id is "},
      {"container: 'c'" + Keys({"a"}) + " unless_touched_within { seconds: -1 }",
       "unless_touched_within is -1 s and 0 ns: must be whole seconds, 0 to 31622400 s"},
      {"container: 'c'" + Keys({"a"}) + " unless_touched_within { seconds: 31622401 }",
       "unless_touched_within is 31622401 s"},
      {"container: 'c'" + Keys({"a"}) + " unless_touched_within { nanos: 1 }",
       "unless_touched_within is 0 s and 1 ns"},
  };
  for (const auto& c : kCases) EXPECT_THAT(Send(c.request), IsInvalid(c.message));
}

TEST_F(TouchTest, AWatcherThatDoesNotKnowTouchesIsNotToldOfTheContainer) {
  SetAllowTouch(false);
  const auto told = [this](bool knows) {
    grpc::ClientContext context;
    v1::WatchContainersRequest request;
    if (knows) request.add_rules(v1::JUDGING_RULE_TOUCH);
    const auto stream = sidecar_.containers().WatchContainers(&context, request);
    v1::WatchContainersResponse message;
    EXPECT_TRUE(stream->Read(&message));
    context.TryCancel();
    return message;
  };
  EXPECT_EQ(told(false).containers_size(), 0);
  ASSERT_EQ(told(true).containers_size(), 1);
  EXPECT_TRUE(told(true).containers(0).has_touches());
  EXPECT_FALSE(told(true).containers(0).allow_touch());
}

TEST_F(TouchTest, OnlyAStoreTouches) {
  RpcSidecar::Options options;
  options.roles = {Role::kReader, Role::kAdmin};
  RpcSidecar sidecar(options);
  EXPECT_THAT(Call(sidecar.items(), &ItemStub::TouchItems,
                   Proto<v1::TouchItemsRequest>("container: 'c' keys { id: 'a' }")),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace ttl
