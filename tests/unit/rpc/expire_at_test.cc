// Items that say when they end, as their callers see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kIllegalEnds[] = {0, -1, kMaxExpireAt + 1, std::numeric_limits<int64_t>::min()};

// A sidecar with the container "c", and calls about its item "a".
class ExpireAtTest : public testing::Test {
 protected:
  grpc::Status Track(std::optional<int64_t> ttl, std::optional<int64_t> expire_at,
                     int64_t ts_before_now = 0) {
    v1::TrackItemsRequest request;
    request.set_container("c");
    v1::Item& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id("a");
    item.set_ts(sidecar_.Now() - ts_before_now);
    if (ttl.has_value()) item.set_ttl(*ttl);
    if (expire_at.has_value()) item.set_expire_at(*expire_at);
    grpc::ClientContext context;
    v1::TrackItemsResponse response;
    return sidecar_.items().TrackItems(&context, request, &response);
  }

  // Checks the item with state of the same `_ts` as is tracked; returns its expire time.
  int64_t CheckCarrying(std::optional<int64_t> ttl, std::optional<int64_t> expire_at) {
    v1::CheckVisibilityRequest request;
    request.set_container("c");
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key("p");
    check.set_id("a");
    check.set_ts(sidecar_.Now());
    if (ttl.has_value()) check.set_ttl(*ttl);
    if (expire_at.has_value()) check.set_expire_at(*expire_at);
    grpc::ClientContext context;
    v1::CheckVisibilityResponse response;
    EXPECT_TRUE(sidecar_.items().CheckVisibility(&context, request, &response).ok());
    visibility_ = response.visibilities(0);
    return response.expire_times(0);
  }

  std::string Explain() {
    v1::ExplainItemRequest request;
    request.set_container("c");
    request.set_partition_key("p");
    request.set_id("a");
    grpc::ClientContext context;
    v1::ExplainItemResponse response;
    EXPECT_TRUE(sidecar_.expiry().ExplainItem(&context, request, &response).ok());
    holds_.assign(response.holds().begin(), response.holds().end());
    return response.explanation();
  }

  RpcSidecar sidecar_;
  v1::Visibility visibility_ = v1::VISIBILITY_UNSPECIFIED;
  std::vector<int> holds_;
};

TEST_F(ExpireAtTest, TheItemIsShownUntilItsEndAndSaysWhatDecides) {
  ASSERT_TRUE(sidecar_.Create(-1).ok());
  const int64_t end = sidecar_.Now() + 10;
  ASSERT_TRUE(Track(-1, end).ok());
  const auto item = sidecar_.Get("a");
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->item().expire_at(), end);
  EXPECT_EQ(item->ttl_source(), v1::TTL_SOURCE_ITEM_EXPIRE_AT);
  EXPECT_FALSE(item->has_effective_ttl());
  EXPECT_EQ(item->expire_time(), end);
  EXPECT_EQ(item->remaining_seconds(), 10);
  EXPECT_THAT(Explain(), HasSubstr("expires in 10 s"));
  EXPECT_THAT(Explain(), HasSubstr("by its own expire_at."));
  sidecar_.clock().Advance(absl::Seconds(9.9));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
  sidecar_.clock().Advance(absl::Seconds(0.1));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_THAT(sidecar_.List(), IsEmpty());
}

TEST_F(ExpireAtTest, OneInThePastIsLegalAndExpiredAtOnce) {
  ASSERT_TRUE(sidecar_.Create(3600).ok());
  for (const int64_t end : {int64_t{1}, sidecar_.Now() - 1, sidecar_.Now()}) {
    ASSERT_TRUE(Track(std::nullopt, end).ok());
    EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED) << end;
  }
}

TEST_F(ExpireAtTest, IllegalOnesAreRefusedWhileTtlIsOn) {
  ASSERT_TRUE(sidecar_.Create(-1).ok());
  for (const int64_t end : kIllegalEnds) {
    const grpc::Status refused = Track(std::nullopt, end);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << end;
    EXPECT_THAT(refused.error_message(),
                AllOf(HasSubstr(absl::StrCat("items[0].expire_at is ", end)),
                      HasSubstr("1 to 253402300799")));
  }
  EXPECT_EQ(sidecar_.check_counters().illegal_ttls, 0);
}

TEST_F(ExpireAtTest, IllegalOnesAreKeptAndCountedWhileTtlIsOffAndThenNeverExpire) {
  ASSERT_TRUE(sidecar_.Create(std::nullopt).ok());
  int64_t counted = 0;
  for (const int64_t end : kIllegalEnds) {
    ASSERT_TRUE(sidecar_.SetDefaultTtl(std::nullopt).ok());
    ASSERT_TRUE(Track(5, end).ok());
    EXPECT_EQ(sidecar_.check_counters().illegal_ttls, ++counted);
    ASSERT_TRUE(sidecar_.SetDefaultTtl(60).ok());
    sidecar_.clock().Advance(absl::Hours(1));
    EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE) << end;
    EXPECT_EQ(sidecar_.Get("a")->item().expire_at(), end);
    EXPECT_THAT(Explain(), HasSubstr(absl::StrCat("its expire_at is ", end)));
  }
  ASSERT_TRUE(sidecar_.SetDefaultTtl(std::nullopt).ok());
  ASSERT_TRUE(Track(0, sidecar_.Now() + 5).ok());
  EXPECT_EQ(sidecar_.check_counters().illegal_ttls, ++counted);
  ASSERT_TRUE(sidecar_.SetDefaultTtl(60).ok());
  sidecar_.clock().Advance(absl::Hours(1));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE) << "a legal end beside an illegal ttl";
}

TEST_F(ExpireAtTest, ItIsNotInterpretedWhileTtlIsOff) {
  ASSERT_TRUE(sidecar_.Create(std::nullopt).ok());
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() - 100).ok());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
  ASSERT_TRUE(sidecar_.SetDefaultTtl(-1).ok());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
}

TEST_F(ExpireAtTest, AtEqualTsTheLaterEndOfCarriedAndTrackedIsJudged) {
  ASSERT_TRUE(sidecar_.Create(1000).ok());
  const int64_t now = sidecar_.Now();
  ASSERT_TRUE(Track(std::nullopt, now + 50).ok());
  EXPECT_EQ(CheckCarrying(std::nullopt, now + 40), now + 50);
  EXPECT_EQ(CheckCarrying(std::nullopt, now + 60), now + 60);
  EXPECT_EQ(CheckCarrying(10, now + 60), now + 50);
  EXPECT_EQ(CheckCarrying(std::nullopt, now - 1), now + 50);
  EXPECT_EQ(visibility_, v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(CheckCarrying(-1, std::nullopt), 0) << "never is the latest";
  EXPECT_EQ(CheckCarrying(std::nullopt, std::nullopt), now + 1000) << "from an old client";
  ASSERT_TRUE(Track(-1, std::nullopt).ok());
  EXPECT_EQ(CheckCarrying(std::nullopt, now + 60), 0);
  ASSERT_TRUE(Track(30, std::nullopt).ok());
  EXPECT_EQ(CheckCarrying(20, std::nullopt), now + 20) << "without one the carried is judged";
}

TEST_F(ExpireAtTest, ACheckWithAnImpossibleOneIsVisibleAndCounted) {
  ASSERT_TRUE(sidecar_.Create(60).ok());
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() - 1).ok());
  EXPECT_EQ(CheckCarrying(std::nullopt, 0), 0);
  EXPECT_EQ(visibility_, v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.check_counters().impossible, 1);
}

TEST_F(ExpireAtTest, ExplainNamesTheStoreThatDoesNotKnowIt) {
  ASSERT_TRUE(sidecar_.Create(60).ok());
  StoreView store;
  store.configured = true;
  store.reachable = true;
  sidecar_.published().PostStore(store);
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() - 1).ok());
  EXPECT_THAT(Explain(), HasSubstr("does not know expire_at"));
  EXPECT_THAT(holds_, ElementsAre(v1::DELETE_HOLD_STORE));
  ASSERT_TRUE(Track(1, std::nullopt, /*ts_before_now=*/0).ok());
  sidecar_.clock().Advance(absl::Seconds(2));
  EXPECT_THAT(Explain(), HasSubstr("next in line")) << "it has none any more";
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() - 1).ok());
  store.knows_expire_at = true;
  sidecar_.published().PostStore(store);
  EXPECT_THAT(Explain(), HasSubstr("next in line"));
}

// Reads of a watcher who says that it knows the rules of `request`.
class RuleWatcher {
 public:
  RuleWatcher(RpcSidecar& sidecar, bool knows_expire_at) {
    v1::WatchContainersRequest request;
    if (knows_expire_at) request.add_rules(v1::JUDGING_RULE_EXPIRE_AT);
    request.mutable_heartbeat_interval()->set_seconds(60);
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    reader_ = sidecar.containers().WatchContainers(&context_, request);
  }
  ~RuleWatcher() {
    context_.TryCancel();
    v1::WatchContainersResponse message;
    while (reader_->Read(&message)) continue;
    reader_->Finish().IgnoreError();
  }

  v1::WatchContainersResponse Next() {
    v1::WatchContainersResponse message;
    EXPECT_TRUE(reader_->Read(&message));
    return message;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchContainersResponse>> reader_;
};

TEST_F(ExpireAtTest, AContainerThatHasHadOneIsLeftOutForWatchersThatDoNotKnowIt) {
  ASSERT_TRUE(sidecar_.Create(60).ok());
  RuleWatcher old(sidecar_, /*knows_expire_at=*/false);
  RuleWatcher today(sidecar_, /*knows_expire_at=*/true);
  EXPECT_EQ(old.Next().containers_size(), 1);
  EXPECT_EQ(today.Next().containers_size(), 1);
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() + 50).ok());
  const v1::WatchContainersResponse change = old.Next();
  EXPECT_THAT(change.deleted_containers(), ElementsAre("c"));
  EXPECT_EQ(change.containers_size(), 0);
  EXPECT_EQ(today.Next().containers_size(), 1);

  // Also when it has none any more, after a change of the container, and after a restart.
  ASSERT_TRUE(Track(std::nullopt, std::nullopt).ok());
  ASSERT_TRUE(sidecar_.SetDefaultTtl(30).ok());
  EXPECT_THAT(old.Next().deleted_containers(), ElementsAre("c"));
  EXPECT_EQ(today.Next().containers(0).default_ttl(), 30);
  EXPECT_EQ(RuleWatcher(sidecar_, false).Next().containers_size(), 0);
  EXPECT_EQ(RuleWatcher(sidecar_, true).Next().containers_size(), 1);
}

TEST_F(ExpireAtTest, AContainerMadeAnewIsToldAgain) {
  ASSERT_TRUE(sidecar_.Create(60).ok());
  ASSERT_TRUE(Track(std::nullopt, sidecar_.Now() + 50).ok());
  ASSERT_TRUE(sidecar_.storage().Delete("c").ok());
  ASSERT_TRUE(sidecar_.Create(60).ok());
  EXPECT_EQ(RuleWatcher(sidecar_, false).Next().containers_size(), 1);
}

}  // namespace
}  // namespace ttl
