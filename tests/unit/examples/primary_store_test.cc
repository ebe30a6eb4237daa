#include "client/examples/document_store/primary_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "client/cpp/store/conditional_delete.h"
#include "client/cpp/store/store_scan.h"
#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using absl::StatusCode;
using testing::ElementsAre;

class PrimaryStoreTest : public testing::Test, public DocumentStoreForTest {
 protected:
  std::vector<ttl::v1::DeleteOutcome> Delete(const ttl::v1::DeleteItemsRequest& request) {
    const auto response = ttl::DeleteExpiredItems(store().primary_store, request);
    EXPECT_TRUE(response.ok()) << response.status();
    std::vector<ttl::v1::DeleteOutcome> outcomes;
    for (const auto& result : response->results()) outcomes.push_back(result.outcome());
    return outcomes;
  }

  // The only message of a call that scans at most `limit`.
  absl::StatusOr<ttl::v1::ScanItemsResponse> ScanPage(const std::string& container,
                                                      const std::string& page_token, int limit) {
    ttl::v1::ScanItemsRequest request;
    request.set_container(container);
    request.set_page_token(page_token);
    request.set_max_items(limit);
    ttl::v1::ScanItemsResponse page;
    const absl::Status status = ttl::ScanStore(store().primary_store, request,
                                               [&](const ttl::v1::ScanItemsResponse& message) {
                                                 page = message;
                                                 return true;
                                               });
    if (!status.ok()) return status;
    return page;
  }

  // A document "a" with ttl 10 that has just expired, and the call to delete it.
  ttl::v1::DeleteItemsRequest ExpiredDocument() {
    EXPECT_TRUE(Put("a", 10).ok());
    clocks.Advance(10);
    return Sweep();
  }
};

TEST_F(PrimaryStoreTest, InfoTellsIdentityClockAndFeatures) {
  const PrimaryStore& primary_store = store().primary_store;
  EXPECT_EQ(primary_store.store_id(), store().table->store_id());
  EXPECT_EQ(absl::ToUnixSeconds(primary_store.Now()), clocks.now());
  EXPECT_EQ(primary_store.features().max_batch_items, 1000);
  EXPECT_TRUE(primary_store.features().scans);
  EXPECT_TRUE(primary_store.features().knows_expire_at);
}

TEST_F(PrimaryStoreTest, DeletesThatAreMeantForAnotherStoreAreRefused) {
  ttl::v1::DeleteItemsRequest request = ExpiredDocument();
  request.set_store_id("another");
  const auto refused = ttl::DeleteExpiredItems(store().primary_store, request);
  EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("\"another\""));
  request.set_store_id(store().table->store_id());
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
}

TEST_F(PrimaryStoreTest, AScanGivesEveryDocumentOnceExpiredOnesToo) {
  std::vector<std::string> written;
  for (int i = 10; i < 35; ++i) {
    written.push_back(std::to_string(i));
    ASSERT_TRUE(Put(written.back(), 10).ok());
  }
  clocks.Advance(100);
  std::vector<std::string> scanned;
  std::string page_token;
  do {
    const auto page = ScanPage(kContainer, page_token, 10);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->estimated_items(), 25);
    for (const auto& item : page->items()) {
      scanned.push_back(item.id());
      EXPECT_EQ(item.ttl(), 10);
      EXPECT_GT(item.sequence(), 0u);
    }
    page_token = page->next_page_token();
  } while (!page_token.empty());
  EXPECT_EQ(scanned, written);
}

TEST_F(PrimaryStoreTest, AScanOfNothingIsEmptyAndBadRequestsAreRefused) {
  const auto empty = ScanPage("nothing", "", 10);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->items_size(), 0);
  EXPECT_EQ(empty->next_page_token(), "");
  EXPECT_EQ(ScanPage(kContainer, "", 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ScanPage(kContainer, "of another", 10).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(PrimaryStoreTest, ExpiredDocumentIsDeletedOnceAndCounted) {
  const auto request = ExpiredDocument();
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_NOT_FOUND));
  v1::CountStoredDocumentsRequest count;
  count.set_container(kContainer);
  const auto counts = engine().Count(count);
  EXPECT_EQ(counts->stored(), 0);
  EXPECT_EQ(counts->expired_deleted(), 1);
  EXPECT_EQ(counts->last_expired_delete_time().seconds(), clocks.now());
}

TEST_F(PrimaryStoreTest, ADeleteCostsFiveUnitsAndAComparisonOne) {
  const auto request = ExpiredDocument();
  EXPECT_EQ(ttl::DeleteExpiredItems(store().primary_store, request)->request_charge(), 5);
  EXPECT_EQ(ttl::DeleteExpiredItems(store().primary_store, request)->request_charge(), 1);
}

TEST_F(PrimaryStoreTest, DeleteSurvivesARestart) {
  const auto request = ExpiredDocument();
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
  Restart();
  EXPECT_EQ(CountStored(), 0);
}

TEST_F(PrimaryStoreTest, DeleteOfAUserIsNotCountedAsExpired) {
  ASSERT_TRUE(Put("a").ok());
  ASSERT_TRUE(DocumentStoreForTest::Delete("a").ok());
  EXPECT_EQ(store().table->CountsOf(kContainer).expired_deleted, 0);
}

TEST_F(PrimaryStoreTest, AnyDifferenceFromTheJudgedVersionIsModified) {
  const auto request = ExpiredDocument();
  const std::vector<std::function<void(ttl::v1::ExpiredItem&)>> differences = {
      [](auto& item) { item.set_ts(item.ts() - 1); },
      [](auto& item) { item.set_ts(item.ts() + 1); },
      [](auto& item) { item.set_ttl(9); },
      [](auto& item) { item.clear_ttl(); },
      [](auto& item) { item.set_etag("another"); },
      [](auto& item) { item.set_expire_at(item.expire_time()); },
  };
  for (const auto& differ : differences) {
    auto different = request;
    differ(*different.mutable_items(0));
    EXPECT_THAT(Delete(different), ElementsAre(ttl::v1::DELETE_OUTCOME_MODIFIED))
        << different.ShortDebugString();
  }
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(PrimaryStoreTest, AbsentTtlIsNotZero) {
  sidecar.SetContainer(kContainer, 10);
  ASSERT_TRUE(Put("a").ok());
  clocks.Advance(10);
  auto request = Sweep();
  EXPECT_FALSE(request.items(0).has_ttl());
  request.mutable_items(0)->set_ttl(0);
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_MODIFIED));
  request.mutable_items(0)->clear_ttl();
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
}

TEST_F(PrimaryStoreTest, ModifiedTellsWhatTheStoreHasNow) {
  const auto request = ExpiredDocument();
  const auto rewritten = Put("a", 20, "longer body");
  const auto response = ttl::DeleteExpiredItems(store().primary_store, request);
  ASSERT_TRUE(response.ok()) << response.status();
  const ttl::v1::Item& current = response->results(0).current();
  EXPECT_EQ(current.ts(), rewritten->ts());
  EXPECT_EQ(current.ttl(), 20);
  EXPECT_EQ(current.etag(), rewritten->etag());
  EXPECT_EQ(current.sequence(), Tracked("a")->sequence());
  EXPECT_EQ(current.size_bytes(), 11);
  EXPECT_EQ(response->store_now().seconds(), clocks.now());
}

TEST_F(PrimaryStoreTest, NotExpiredUntilTheStoresOwnClockHasReachedTheExpireTime) {
  auto request = ExpiredDocument();
  clocks.Advance(-1);
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_NOT_EXPIRED));
  clocks.Advance(1);
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
}

TEST_F(PrimaryStoreTest, ThrottledFromNotAfterOn) {
  auto request = ExpiredDocument();
  request.mutable_not_after()->set_seconds(clocks.now());
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_THROTTLED));
  request.mutable_not_after()->set_nanos(1);
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED));
}

TEST_F(PrimaryStoreTest, BadRequestsDeleteNothing) {
  auto request = ExpiredDocument();
  auto without_limit = request;
  without_limit.clear_not_after();
  auto empty = request;
  empty.clear_items();
  for (const auto& bad : {without_limit, empty}) {
    EXPECT_EQ(ttl::DeleteExpiredItems(store().primary_store, bad).status().code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(PrimaryStoreTest, OneBatchHasEveryOutcomeAndOthersAreNotHurt) {
  for (const char* id : {"deleted", "gone", "modified"}) ASSERT_TRUE(Put(id, 10).ok());
  clocks.Advance(10);
  auto request = Sweep();
  *request.add_items() = request.items(0);  // twice in one batch
  ASSERT_TRUE(Create("gone", -1).ok());
  ASSERT_TRUE(DocumentStoreForTest::Delete("gone").ok());
  ASSERT_TRUE(Put("modified", -1).ok());
  EXPECT_THAT(Delete(request),
              ElementsAre(ttl::v1::DELETE_OUTCOME_DELETED, ttl::v1::DELETE_OUTCOME_NOT_FOUND,
                          ttl::v1::DELETE_OUTCOME_MODIFIED, ttl::v1::DELETE_OUTCOME_NOT_FOUND));
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(PrimaryStoreTest, DocumentNotYetReportedIsComparedLikeAnyOther) {
  const auto request = ExpiredDocument();
  sidecar.SetStatus({grpc::StatusCode::UNAVAILABLE, "down"});
  EXPECT_FALSE(Put("a", 10).ok());
  ASSERT_EQ(store().table->CountUnreported(), 1);
  EXPECT_THAT(Delete(request), ElementsAre(ttl::v1::DELETE_OUTCOME_MODIFIED));
}

}  // namespace
}  // namespace documentstore
