// Judging as of an earlier instant, as callers see it.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"
#include "service/base/proto_time.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ItemStub = v1::ItemService::Stub;

class AsOfTest : public testing::Test {
 protected:
  AsOfTest() { EXPECT_THAT(sidecar_.Create(60), IsOk()); }

  absl::Time Now() { return *sidecar_.clock().Read().wall; }

  absl::StatusOr<v1::CheckVisibilityResponse> Check(absl::Time as_of,
                                                    const std::string& state = "") {
    auto request = Proto<v1::CheckVisibilityRequest>(
        absl::StrCat("container: 'c' checks { partition_key: 'p' id: 'a' ", state, " }"));
    *request.mutable_as_of() = ToProto(as_of);
    return Call(sidecar_.items(), &ItemStub::CheckVisibility, request);
  }
  v1::Visibility VisibilityAt(absl::Time as_of, const std::string& state = "") {
    const auto response = Check(as_of, state);
    EXPECT_THAT(response, IsOk());
    if (!response.ok()) return v1::VISIBILITY_UNSPECIFIED;
    EXPECT_EQ(FromProto(response->judged_at()), as_of);
    return response->visibilities(0);
  }

  absl::StatusOr<v1::ListItemsResponse> List(const std::string& text,
                                             const std::string& token = "") {
    auto request = Proto<v1::ListItemsRequest>("container: 'c' " + text);
    request.set_page_token(token);
    return Call(sidecar_.items(), &ItemStub::ListItems, request);
  }
  static std::string AsOf(absl::Time time) {
    return absl::StrCat(" as_of { ", ToProto(time).ShortDebugString(), " } ");
  }
  static std::vector<std::string> Ids(const v1::ListItemsResponse& page) {
    std::vector<std::string> ids;
    for (const v1::ItemView& view : page.items()) ids.push_back(view.item().id());
    return ids;
  }

  void Advance(absl::Duration duration) {
    sidecar_.clock().Advance(duration);
    sidecar_.guarded_clock().Tick();
  }

  RpcSidecar sidecar_;
};

TEST_F(AsOfTest, AnItemIsVisibleAsOfAnInstantBeforeItsEnd) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const absl::Time end = Now() + absl::Seconds(60);
  Advance(absl::Minutes(30));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(VisibilityAt(end - absl::Nanoseconds(1)), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(VisibilityAt(end), v1::VISIBILITY_EXPIRED);
}

TEST_F(AsOfTest, OnlyTheClockIsTakenBack) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const absl::Time written = Now();
  Advance(absl::Seconds(30));
  EXPECT_EQ(VisibilityAt(written + absl::Seconds(20)), v1::VISIBILITY_VISIBLE);
  ASSERT_THAT(sidecar_.SetDefaultTtl(10), IsOk());
  EXPECT_EQ(VisibilityAt(written + absl::Seconds(20)), v1::VISIBILITY_EXPIRED);
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  EXPECT_EQ(VisibilityAt(written + absl::Seconds(20)), v1::VISIBILITY_VISIBLE);
}

TEST_F(AsOfTest, CarriedStateIsJudgedAsOfItTooAndIsPossibleByNow) {
  Advance(absl::Hours(1));
  const absl::Time hour_ago = Now() - absl::Hours(1);
  const int64_t ts = sidecar_.Now() - 3600;
  EXPECT_EQ(VisibilityAt(hour_ago + absl::Seconds(9), absl::StrCat("ts: ", ts, " ttl: 10")),
            v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(VisibilityAt(hour_ago + absl::Seconds(10), absl::StrCat("ts: ", ts, " ttl: 10")),
            v1::VISIBILITY_EXPIRED);
  // Half an hour less than a day ahead of now, and more than a day ahead of as_of.
  EXPECT_EQ(VisibilityAt(hour_ago, absl::StrCat("ts: ", sidecar_.Now() + 86400 - 1800)),
            v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.check_counters().impossible, 0);
}

TEST_F(AsOfTest, ItIsAtMostAnHourBackAndTheClocksToleranceAhead) {
  EXPECT_THAT(Check(Now()), IsOk());
  EXPECT_THAT(Check(Now() - absl::Hours(1)), IsOk());
  EXPECT_THAT(Check(Now() - absl::Hours(1) - absl::Nanoseconds(1)),
              IsInvalid("as_of is 2027-01-15T06:59:59.999999999Z", "at most 1 hour",
                        "2027-01-15T08:00:00Z"));
  EXPECT_THAT(Check(Now() + absl::Seconds(5)), IsOk());
  EXPECT_THAT(Check(Now() + absl::Seconds(5) + absl::Nanoseconds(1)),
              IsInvalid("as_of is ", "5 seconds after"));
  EXPECT_THAT(Check(absl::UnixEpoch()), IsInvalid("as_of is 1970-01-01"));
  EXPECT_THAT(List(AsOf(Now() + absl::Seconds(6))), IsInvalid("as_of is "));
}

TEST_F(AsOfTest, AnInstantStaysValidWhenTheClockStepsBackALittle) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  Advance(absl::Seconds(10));
  const auto first = Check(Now());
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->visibilities(0), v1::VISIBILITY_EXPIRED);
  const absl::Time judged_at = FromProto(first->judged_at());
  sidecar_.clock().StepWall(-absl::Seconds(3));
  sidecar_.guarded_clock().Tick();
  // No later than the clock, and the response says so.
  const auto second = Check(judged_at);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(FromProto(second->judged_at()), judged_at - absl::Seconds(3));
  EXPECT_EQ(second->visibilities(0), v1::VISIBILITY_VISIBLE);
}

TEST_F(AsOfTest, PagesGoOnWithAnInstantThatWasAhead) {
  for (const std::string id : {"a", "b"}) {
    ASSERT_THAT(sidecar_.Track(id, sidecar_.Now()), IsOk());
  }
  const absl::Time now = Now();
  const std::string ahead = AsOf(now + absl::Seconds(3));
  const auto first = List("page_size: 1" + ahead);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(FromProto(first->judged_at()), now);
  Advance(absl::Minutes(10));
  const auto second = List("page_size: 1" + ahead, first->next_page_token());
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(Ids(*second), ElementsAre("b"));
  EXPECT_EQ(FromProto(second->judged_at()), now);
}

TEST_F(AsOfTest, TokensOfVersionsWithoutAnInstantGoOnAsOfNow) {
  for (const std::string id : {"a", "b"}) {
    ASSERT_THAT(sidecar_.Track(id, sidecar_.Now()), IsOk());
  }
  const std::string token = absl::WebSafeBase64Escape(std::string("i\0\1pa", 5));
  Advance(absl::Seconds(10));
  const auto page = List("", token);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("b"));
  EXPECT_EQ(FromProto(page->judged_at()), Now());
  EXPECT_EQ(FromProto(List(AsOf(Now() - absl::Seconds(4)), token)->judged_at()),
            Now() - absl::Seconds(4));
  EXPECT_THAT(List(AsOf(Now() + absl::Seconds(6)), token), IsInvalid("as_of is "));
}

TEST_F(AsOfTest, AStreamedCheckIsJudgedAsOfItToo) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const absl::Time written = Now();
  Advance(absl::Seconds(100));
  grpc::ClientContext context;
  const auto stream = sidecar_.items().StreamCheckVisibility(&context);
  for (const absl::Time as_of : {written, Now() + absl::Seconds(6)}) {
    auto message = Proto<v1::StreamCheckVisibilityRequest>(
        "request { container: 'c' checks { partition_key: 'p' id: 'a' } }");
    *message.mutable_request()->mutable_as_of() = ToProto(as_of);
    ASSERT_TRUE(stream->Write(message));
  }
  stream->WritesDone();
  v1::StreamCheckVisibilityResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.response().visibilities(), ElementsAre(v1::VISIBILITY_VISIBLE));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.error().message(), testing::HasSubstr("as_of is "));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(AsOfTest, ListsAsOfAnInstant) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const absl::Time written = Now();
  Advance(absl::Seconds(100));
  EXPECT_THAT(List("")->items(), IsEmpty());
  const auto page = List(AsOf(written));
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("a"));
  EXPECT_EQ(FromProto(page->judged_at()), written);
  EXPECT_EQ(page->items(0).remaining_seconds(), 60);
}

TEST_F(AsOfTest, AllPagesAreJudgedAsOfTheFirst) {
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_THAT(sidecar_.Track(id, sidecar_.Now()), IsOk());
  }
  const absl::Time begin = Now();
  const auto first = List("page_size: 1");
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(FromProto(first->judged_at()), begin);
  Advance(absl::Minutes(90));  // longer than an as_of may be back
  const auto second = List("page_size: 1", first->next_page_token());
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(Ids(*second), ElementsAre("b"));
  EXPECT_EQ(FromProto(second->judged_at()), begin);
  const auto third = List("page_size: 1" + AsOf(begin), second->next_page_token());
  ASSERT_THAT(third, IsOk());
  EXPECT_THAT(Ids(*third), ElementsAre("c"));
  EXPECT_THAT(
      List("page_size: 1" + AsOf(begin + absl::Seconds(6)), second->next_page_token()),
      IsInvalid("as_of is 2027-01-15T08:00:06Z", "2027-01-15T08:00:00Z", "same for all pages"));
}

TEST_F(AsOfTest, ARangeOfExpireTimesIsListed) {
  ASSERT_THAT(sidecar_.Track("soon", sidecar_.Now(), 10), IsOk());
  ASSERT_THAT(sidecar_.Track("later", sidecar_.Now(), 20), IsOk());
  ASSERT_THAT(sidecar_.Track("never", sidecar_.Now(), -1), IsOk());
  const int64_t now = sidecar_.Now();
  EXPECT_THAT(
      Ids(*List(absl::StrCat("expire_time_from: ", now + 10, " expire_time_to: ", now + 20))),
      ElementsAre("soon"));
  EXPECT_THAT(List("")->items(), SizeIs(3));
  EXPECT_THAT(List("expire_time_from: 20 expire_time_to: 20"),
              IsInvalid("expire_time_to is 20", "greater than expire_time_from, which is 20"));
}

}  // namespace
}  // namespace ttl
