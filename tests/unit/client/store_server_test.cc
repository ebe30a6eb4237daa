#include "ttl/store_server.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/temp_dir.h"
#include "ttl/store_busy.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kT = 1'800'000'000;

// Items of one container in memory, and what goes wrong with them.
class MapStore final : public PrimaryStore {
 public:
  std::string store_id() const override { return "ours"; }
  StoreFeatures features() const override { return features_; }
  absl::Time Now() const override { return now_; }

  absl::Status WithLock(absl::string_view container, absl::Span<const StoredKey> keys,
                        absl::FunctionRef<void()> work) override {
    EXPECT_EQ(container, "c");
    locked_.assign(keys.begin(), keys.end());
    if (!lock_error_.ok()) return lock_error_;
    const std::map<StoredKey, v1::Item> before = items_;
    for (int call = 0; call < calls_of_work_; ++call) {
      items_ = before;  // the transaction of the call before was rolled back
      work();
    }
    locked_.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<v1::Item>> Read(absl::string_view /*container*/,
                                               const StoredKey& key) override {
    EXPECT_THAT(locked_, testing::Contains(key)) << "read without the lock";
    if (const auto error = read_errors_.find(key); error != read_errors_.end()) {
      return error->second;
    }
    const auto found = items_.find(key);
    if (found == items_.end()) return std::optional<v1::Item>();
    return std::optional<v1::Item>(found->second);
  }

  absl::Status Delete(absl::string_view /*container*/, absl::Span<const StoredKey> keys) override {
    if (!delete_error_.ok()) return delete_error_;
    for (const StoredKey& key : keys) {
      EXPECT_THAT(locked_, testing::Contains(key)) << "deleted without the lock";
      EXPECT_EQ(items_.erase(key), 1) << "a key that came twice";
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<v1::Item>> Scan(absl::string_view container,
                                             const std::optional<StoredKey>& after,
                                             int limit) override {
    if (scan_) return scan_(limit);
    if (container != "c") return absl::NotFoundError("no such container");
    std::vector<v1::Item> page;
    auto next = after.has_value() ? items_.upper_bound(*after) : items_.begin();
    for (; next != items_.end() && page.size() < static_cast<size_t>(limit); ++next) {
      page.push_back(next->second);
      page.back().set_partition_key(next->first.partition_key);
      page.back().set_id(next->first.id);
    }
    return page;
  }

  StoreFeatures features_ = {.scans = true, .knows_expire_at = true};
  absl::Time now_ = absl::FromUnixSeconds(kT);
  std::optional<int64_t> EstimatedItems(absl::string_view /*container*/) const override {
    return estimate_;
  }
  std::optional<double> RequestCharge(int deleted, int kept) const override {
    if (!charges_) return std::nullopt;
    return 5 * deleted + kept;
  }

  std::map<StoredKey, v1::Item> items_;
  std::optional<int64_t> estimate_;
  bool charges_ = false;
  std::map<StoredKey, absl::Status> read_errors_;
  absl::Status lock_error_;
  absl::Status delete_error_;
  int calls_of_work_ = 1;
  std::function<absl::StatusOr<std::vector<v1::Item>>(int limit)> scan_;

 private:
  std::vector<StoredKey> locked_;
};

// What DeleteItems is asked for: items of partition p, written at kT - 100 with a ttl of 60.
v1::DeleteItemsRequest Request(const std::vector<std::string>& ids) {
  v1::DeleteItemsRequest request;
  request.set_container("c");
  request.set_store_id("ours");
  request.mutable_not_after()->set_seconds(kT + 1);
  for (const std::string& id : ids) {
    v1::ExpiredItem& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(kT - 100);
    item.set_ttl(60);
    item.set_etag("e");
    item.set_expire_time(kT - 40);
  }
  return request;
}

v1::Item Stored() { return Proto<v1::Item>(absl::StrCat("ts: ", kT - 100, " ttl: 60 etag: 'e'")); }

class StoreServerTest : public testing::Test {
 protected:
  StoreServerTest() {
    auto server = StoreServer::Start(store_, absl::StrCat("unix:", dir_.File("store.sock")));
    EXPECT_THAT(server, IsOk());
    server_ = *std::move(server);
    stub_ = v1::PrimaryStoreService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }

  absl::StatusOr<v1::DeleteItemsResponse> Delete(const v1::DeleteItemsRequest& request) {
    grpc::ClientContext context;
    v1::DeleteItemsResponse response;
    const grpc::Status status = stub_->DeleteItems(&context, request, &response);
    return Answer(status, std::move(response));
  }

  v1::DeleteResult DeleteOne(const v1::DeleteItemsRequest& request) {
    const auto response = Delete(request);
    EXPECT_THAT(response, IsOk());
    EXPECT_EQ(response->results_size(), 1);
    return response->results(0);
  }

  std::vector<int> OutcomesOf(const v1::DeleteItemsRequest& request) {
    const auto response = Delete(request);
    EXPECT_THAT(response, IsOk());
    std::vector<int> outcomes;
    for (const v1::DeleteResult& result : response->results()) outcomes.push_back(result.outcome());
    return outcomes;
  }

  // All messages of one call.
  absl::StatusOr<std::vector<v1::ScanItemsResponse>> Scan(int max_items,
                                                          const std::string& token = "",
                                                          const std::string& container = "c") {
    grpc::ClientContext context;
    v1::ScanItemsRequest request;
    request.set_container(container);
    request.set_page_token(token);
    request.set_max_items(max_items);
    const auto reader = stub_->ScanItems(&context, request);
    std::vector<v1::ScanItemsResponse> messages;
    v1::ScanItemsResponse message;
    while (reader->Read(&message)) messages.push_back(message);
    const grpc::Status status = reader->Finish();
    return Answer(status, std::move(messages));
  }

  template <typename Value>
  static absl::StatusOr<Value> Answer(const grpc::Status& status, Value value) {
    if (status.ok()) return value;
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

  const TempDir dir_;
  MapStore store_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<v1::PrimaryStoreService::Stub> stub_;
};

TEST_F(StoreServerTest, TellsWhatTheStoreCanDo) {
  const auto info = [&] {
    grpc::ClientContext context;
    v1::GetStoreInfoResponse response;
    EXPECT_TRUE(stub_->GetStoreInfo(&context, {}, &response).ok());
    return response;
  };
  EXPECT_EQ(info().store_id(), "ours");
  EXPECT_EQ(info().now().seconds(), kT);
  EXPECT_EQ(info().max_batch_items(), 1000);
  EXPECT_THAT(info().capabilities(),
              ElementsAre(v1::STORE_CAPABILITY_ETAG, v1::STORE_CAPABILITY_SCAN,
                          v1::STORE_CAPABILITY_EXPIRE_AT));
  store_.features_ = {.max_batch_items = 7};
  EXPECT_EQ(info().max_batch_items(), 7);
  EXPECT_THAT(info().capabilities(), ElementsAre(v1::STORE_CAPABILITY_ETAG));
}

TEST_F(StoreServerTest, DeletesTheJudgedVersionOnly) {
  struct Case {
    std::string name;
    std::function<void(v1::Item&)> change;  // of what is stored
    v1::DeleteOutcome outcome;
  };
  for (const Case& c : std::vector<Case>{
           {"same", [](v1::Item&) {}, v1::DELETE_OUTCOME_DELETED},
           {"ts", [](v1::Item& i) { i.set_ts(kT - 99); }, v1::DELETE_OUTCOME_MODIFIED},
           {"ttl", [](v1::Item& i) { i.set_ttl(61); }, v1::DELETE_OUTCOME_MODIFIED},
           {"no ttl", [](v1::Item& i) { i.clear_ttl(); }, v1::DELETE_OUTCOME_MODIFIED},
           {"expire_at", [](v1::Item& i) { i.set_expire_at(5); }, v1::DELETE_OUTCOME_MODIFIED},
           {"expire_at 0", [](v1::Item& i) { i.set_expire_at(0); }, v1::DELETE_OUTCOME_MODIFIED},
           {"etag", [](v1::Item& i) { i.set_etag("f"); }, v1::DELETE_OUTCOME_MODIFIED}}) {
    SCOPED_TRACE(c.name);
    v1::Item stored = Stored();
    c.change(stored);
    store_.items_ = {{{"p", "a"}, stored}};
    const v1::DeleteResult result = DeleteOne(Request({"a"}));
    EXPECT_EQ(result.outcome(), c.outcome);
    EXPECT_EQ(store_.items_.empty(), c.outcome == v1::DELETE_OUTCOME_DELETED);
    if (c.outcome != v1::DELETE_OUTCOME_MODIFIED) continue;
    EXPECT_EQ(result.current().ts(), stored.ts());
    EXPECT_EQ(result.current().id(), "a");
    EXPECT_EQ(result.current().partition_key(), "p");
  }
}

TEST_F(StoreServerTest, WithoutAnEtagTheTimesAreCompared) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  v1::DeleteItemsRequest request = Request({"a"});
  request.mutable_items(0)->clear_etag();
  EXPECT_THAT(OutcomesOf(request), ElementsAre(v1::DELETE_OUTCOME_DELETED));
}

TEST_F(StoreServerTest, TheStoresOwnClockDecides) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  store_.now_ = absl::FromUnixSeconds(kT - 40) - absl::Nanoseconds(1);
  EXPECT_THAT(OutcomesOf(Request({"a"})), ElementsAre(v1::DELETE_OUTCOME_NOT_EXPIRED));
  store_.now_ = absl::FromUnixSeconds(kT + 1);
  EXPECT_THAT(OutcomesOf(Request({"a"})), ElementsAre(v1::DELETE_OUTCOME_THROTTLED));
  store_.now_ = absl::FromUnixSeconds(kT - 40);
  EXPECT_THAT(OutcomesOf(Request({"a"})), ElementsAre(v1::DELETE_OUTCOME_DELETED));
}

TEST_F(StoreServerTest, AnItemThatWasTouchedEndsLaterThanItsOwnTtlSays) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  v1::DeleteItemsRequest request = Request({"a"});
  request.mutable_items(0)->set_expire_time(kT - 10);
  store_.now_ = absl::FromUnixSeconds(kT - 10) - absl::Nanoseconds(1);
  EXPECT_THAT(OutcomesOf(request), ElementsAre(v1::DELETE_OUTCOME_NOT_EXPIRED));
  store_.now_ = absl::FromUnixSeconds(kT - 10);
  EXPECT_THAT(OutcomesOf(request), ElementsAre(v1::DELETE_OUTCOME_DELETED));
}

TEST_F(StoreServerTest, ItemsOfABatchAreIndependent) {
  store_.items_ = {{{"p", "a"}, Stored()}, {{"p", "b"}, Stored()}, {{"p", "c"}, Stored()}};
  store_.items_[{"p", "b"}].set_ts(kT);
  store_.read_errors_[{"p", "c"}] = absl::DataLossError("bad block \xff");
  const auto response = Delete(Request({"a", "b", "c", "d", "a"}));
  ASSERT_THAT(response, IsOk());
  std::vector<int> outcomes;
  for (const v1::DeleteResult& result : response->results()) outcomes.push_back(result.outcome());
  EXPECT_THAT(outcomes, ElementsAre(v1::DELETE_OUTCOME_DELETED, v1::DELETE_OUTCOME_MODIFIED,
                                    v1::DELETE_OUTCOME_FAILED, v1::DELETE_OUTCOME_NOT_FOUND,
                                    v1::DELETE_OUTCOME_NOT_FOUND));
  EXPECT_EQ(response->results(2).reason(), "the item cannot be read: bad block \\xff");
  EXPECT_EQ(response->store_now().seconds(), kT);
  EXPECT_EQ(store_.items_.size(), 2);
}

TEST_F(StoreServerTest, TellsWhatABatchCost) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  EXPECT_FALSE(Delete(Request({"b"}))->has_request_charge());
  store_.charges_ = true;
  EXPECT_EQ(Delete(Request({"a", "b", "c"}))->request_charge(), 7);
  EXPECT_EQ(Delete(Request({"a"}))->request_charge(), 1);
  store_.lock_error_ = StoreBusyError(absl::Seconds(1));
  EXPECT_FALSE(Delete(Request({"a"}))->has_request_charge());
}

TEST_F(StoreServerTest, ABadRequestDeletesNothing) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  v1::DeleteItemsRequest request = Request({"a"});
  request.clear_not_after();
  EXPECT_THAT(Delete(request), IsInvalid("not_after"));
  EXPECT_THAT(Delete(Request({})), IsInvalid("items"));
  request = Request({"a"});
  request.set_store_id("theirs");
  EXPECT_THAT(Delete(request), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        "store_id is \"theirs\": this store is \"ours\""));
  EXPECT_EQ(store_.items_.size(), 1);
  request.clear_store_id();
  EXPECT_THAT(OutcomesOf(request), ElementsAre(v1::DELETE_OUTCOME_DELETED));
}

TEST_F(StoreServerTest, ABusyStorePutsTheBatchOff) {
  store_.items_ = {{{"p", "a"}, Stored()}, {{"p", "b"}, Stored()}};
  const auto is_put_off = [&] {
    const auto response = Delete(Request({"a", "b"}));
    EXPECT_THAT(response, IsOk());
    EXPECT_EQ(response->retry_after().seconds(), 2);
    EXPECT_EQ(response->retry_after().nanos(), 500'000'000);
    for (const v1::DeleteResult& result : response->results()) {
      EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_THROTTLED);
    }
    EXPECT_EQ(response->results_size(), 2);
  };
  const absl::Status busy = StoreBusyError(absl::Milliseconds(2500));
  store_.lock_error_ = busy;
  is_put_off();
  store_.lock_error_ = absl::OkStatus();
  store_.read_errors_[{"p", "b"}] = busy;
  is_put_off();
  store_.read_errors_.clear();
  store_.delete_error_ = busy;
  is_put_off();
  EXPECT_EQ(store_.items_.size(), 2);
}

// The sidecar may have asked before the store was started again with a lower limit.
TEST_F(StoreServerTest, WhatIsBeyondTheLimitOfABatchIsPutOff) {
  store_.items_ = {{{"p", "a"}, Stored()}, {{"p", "b"}, Stored()}, {{"p", "c"}, Stored()}};
  store_.charges_ = true;
  store_.features_.max_batch_items = 1;
  const auto response = Delete(Request({"a", "b", "c"}));
  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->results_size(), 3);
  EXPECT_EQ(response->results(0).outcome(), v1::DELETE_OUTCOME_DELETED);
  EXPECT_EQ(response->results(1).outcome(), v1::DELETE_OUTCOME_THROTTLED);
  EXPECT_EQ(response->results(2).outcome(), v1::DELETE_OUTCOME_THROTTLED);
  EXPECT_FALSE(response->has_retry_after());
  EXPECT_EQ(response->request_charge(), 5);
  EXPECT_EQ(store_.items_.size(), 2);
  store_.features_.max_batch_items = 0;
  EXPECT_THAT(OutcomesOf(Request({"b", "c"})),
              ElementsAre(v1::DELETE_OUTCOME_DELETED, v1::DELETE_OUTCOME_DELETED));
}

// FAILED_PRECONDITION would mean another store, UNAVAILABLE and others one that cannot be reached.
TEST_F(StoreServerTest, ErrorsOfTheStoreHaveNoMeaningOfTheApi) {
  store_.items_ = {{{"p", "a"}, Stored()}};
  for (int code = 1; code <= 16; ++code) {
    const absl::Status error(static_cast<absl::StatusCode>(code), "disk");
    if (absl::IsResourceExhausted(error)) continue;
    SCOPED_TRACE(error);
    const std::string code_and_message = error.ToString();
    store_.delete_error_ = error;
    EXPECT_THAT(Delete(Request({"a"})),
                StatusIs(absl::StatusCode::kInternal,
                         absl::StrCat("the store's Delete() failed: ", code_and_message)));
    store_.lock_error_ = error;
    EXPECT_THAT(Delete(Request({"a"})),
                StatusIs(absl::StatusCode::kInternal,
                         absl::StrCat("the store's WithLock() failed: ", code_and_message)));
    store_.lock_error_ = absl::OkStatus();
    if (absl::IsNotFound(error)) continue;
    store_.scan_ = [&](int) { return error; };
    EXPECT_THAT(Scan(5), StatusIs(absl::StatusCode::kInternal,
                                  absl::StrCat("the store's Scan() failed: ", code_and_message)));
  }
}

TEST_F(StoreServerTest, AStoreWithoutResourcesSlowsTheSidecarDown) {
  const absl::Status full = absl::ResourceExhaustedError("full");
  store_.items_ = {{{"p", "a"}, Stored()}};
  store_.delete_error_ = full;
  EXPECT_THAT(Delete(Request({"a"})), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  store_.lock_error_ = full;
  EXPECT_THAT(Delete(Request({"a"})), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  store_.scan_ = [&](int) { return full; };
  EXPECT_THAT(Scan(5), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
}

TEST_F(StoreServerTest, TheLastCallOfTheWorkCounts) {
  store_.items_ = {{{"p", "a"}, Stored()}, {{"p", "b"}, Stored()}};
  store_.items_[{"p", "b"}].set_ts(kT);
  store_.charges_ = true;
  store_.calls_of_work_ = 2;
  const auto response = Delete(Request({"a", "b"}));
  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->results_size(), 2);
  EXPECT_EQ(response->results(0).outcome(), v1::DELETE_OUTCOME_DELETED);
  EXPECT_EQ(response->results(1).outcome(), v1::DELETE_OUTCOME_MODIFIED);
  EXPECT_EQ(response->request_charge(), 6);
  store_.calls_of_work_ = 0;
  EXPECT_THAT(Delete(Request({"a"})),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("did not call its work")));
}

TEST_F(StoreServerTest, ScansInPagesThatCanBeContinued) {
  for (int i = 0; i < 1200; ++i) {
    store_.items_[{std::string(300, 'p'), absl::StrCat(10'000 + i)}] = Stored();
  }
  const auto whole = Scan(5000);
  ASSERT_THAT(whole, IsOk());
  ASSERT_EQ(whole->size(), 3);
  EXPECT_EQ((*whole)[2].items_size(), 200);
  EXPECT_EQ((*whole)[2].next_page_token(), "");

  const auto part = Scan(700);
  ASSERT_THAT(part, IsOk());
  ASSERT_EQ(part->size(), 2);
  EXPECT_EQ((*part)[1].items_size(), 200);
  store_.items_.erase({std::string(300, 'p'), "10699"});  // the last one of the page
  const auto rest = Scan(5000, (*part)[1].next_page_token());
  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ((*rest)[0].items(0).id(), "10700");
  EXPECT_EQ((*rest)[0].items(0).ts(), kT - 100);
}

TEST_F(StoreServerTest, AScanOfNothingIsOneEmptyMessage) {
  const auto messages = Scan(10);
  ASSERT_THAT(messages, IsOk());
  ASSERT_EQ(messages->size(), 1);
  EXPECT_THAT((*messages)[0].items(), IsEmpty());
  EXPECT_FALSE((*messages)[0].has_estimated_items());
  store_.estimate_ = 0;
  EXPECT_TRUE(Scan(10)->front().has_estimated_items());
}

TEST_F(StoreServerTest, ScansThatCannotBe) {
  EXPECT_THAT(Scan(0), IsInvalid("max_items is 0"));
  EXPECT_THAT(Scan(1, "x"), IsInvalid("page_token"));
  EXPECT_THAT(Scan(1, std::string("\x01\x00short", 7)), IsInvalid("page_token"));
  EXPECT_THAT(Scan(1, "", "other"), StatusIs(absl::StatusCode::kNotFound, "no such container"));
  store_.scan_ = [](int limit) { return std::vector<v1::Item>(limit + 1); };
  EXPECT_THAT(Scan(5), StatusIs(absl::StatusCode::kInternal, HasSubstr("returned 6 items")));
  store_.scan_ = [](int limit) { return std::vector<v1::Item>(limit); };
  EXPECT_THAT(Scan(2000), StatusIs(absl::StatusCode::kInternal, HasSubstr("start behind")));
  store_.scan_ = [](int limit) {
    std::vector<v1::Item> items(limit);
    items.back().set_partition_key(std::string(4000, 'p'));
    items.back().set_id(std::string(95, 'i'));
    return items;
  };
  EXPECT_THAT(Scan(5), StatusIs(absl::StatusCode::kInternal,
                                HasSubstr("partition key of 4000 bytes and an id of 95 bytes")));
  store_.features_.scans = false;
  EXPECT_THAT(Scan(5), StatusIs(absl::StatusCode::kUnimplemented, "this store does not scan"));
}

TEST_F(StoreServerTest, OneServerHoldsASocket) {
  const std::string address = server_->address();
  EXPECT_THAT(StoreServer::Start(store_, address),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("store.sock")));
  server_.reset();
  EXPECT_THAT(StoreServer::Start(store_, address), IsOk());
}

TEST_F(StoreServerTest, AFreePortIsTold) {
  const auto first = StoreServer::Start(store_, "127.0.0.1:0");
  ASSERT_THAT(first, IsOk());
  EXPECT_NE((*first)->address(), "127.0.0.1:0");
  EXPECT_THAT(StoreServer::Start(store_, (*first)->address()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr((*first)->address())));
}

TEST_F(StoreServerTest, OtherAddressesAreToldAsTheyAre) {
  // The name of the folder is this test's own.
  const std::string name = dir_.File("x");
  for (const std::string& address :
       {absl::StrCat("unix-abstract:", name), absl::StrCat("unix-abstract:", name, ":0"),
        absl::StrCat("unix:", name, ":0")}) {
    const auto server = StoreServer::Start(store_, address);
    ASSERT_THAT(server, IsOk());
    EXPECT_EQ((*server)->address(), address);
  }
}

TEST(StoreBusyTest, OnlyBusyErrorsHaveATime) {
  EXPECT_EQ(BusyTimeOf(StoreBusyError(absl::Seconds(3))), absl::Seconds(3));
  EXPECT_EQ(BusyTimeOf(absl::ResourceExhaustedError("full")), std::nullopt);
  EXPECT_EQ(BusyTimeOf(absl::OkStatus()), std::nullopt);
}

}  // namespace
}  // namespace ttl
