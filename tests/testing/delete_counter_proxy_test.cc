#include "tests/testing/delete_counter_proxy.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/testing/channel.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

// Deletes what has the id "old", and knows nothing else.
class OneItemStore : public v1::PrimaryStoreService::Service {
 public:
  grpc::Status DeleteItems(grpc::ServerContext*, const v1::DeleteItemsRequest* request,
                           v1::DeleteItemsResponse* response) override {
    for (const v1::ExpiredItem& item : request->items()) {
      response->add_results()->set_outcome(item.id() == "old" ? v1::DELETE_OUTCOME_DELETED
                                                              : v1::DELETE_OUTCOME_NOT_FOUND);
    }
    return grpc::Status::OK;
  }
};

TEST(DeleteCounterProxyTest, ForwardsAndCounts) {
  TempDir dir;
  OneItemStore store;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + dir.File("store"), grpc::InsecureServerCredentials());
  builder.RegisterService(&store);
  const auto server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  DeleteCounterProxy proxy("unix:" + dir.File("proxy"),
                           NewTestChannel("unix:" + dir.File("store")));
  const auto stub = v1::PrimaryStoreService::NewStub(NewTestChannel("unix:" + dir.File("proxy")));

  v1::DeleteItemsRequest request;
  // Sent two seconds ago, by its not_after.
  request.mutable_not_after()->set_seconds(absl::ToUnixSeconds(absl::Now()) + 8);
  const absl::Time expire_time = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()) - 100);
  for (const char* id : {"old", "gone"}) {
    v1::ExpiredItem& item = *request.add_items();
    item.set_id(id);
    item.set_expire_time(absl::ToUnixSeconds(expire_time));
  }
  grpc::ClientContext context;
  v1::DeleteItemsResponse response;
  ASSERT_TRUE(stub->DeleteItems(&context, request, &response).ok());
  EXPECT_EQ(response.results_size(), 2);
  ASSERT_EQ(proxy.batches().size(), 1u);
  EXPECT_EQ(proxy.batches()[0].items, 2);
  const std::vector<DeleteBatch> as_sent = proxy.batches_as_sent(absl::Seconds(10));
  ASSERT_EQ(as_sent.size(), 1u);
  EXPECT_EQ(as_sent[0].items, 2);
  EXPECT_LE(as_sent[0].at, proxy.batches()[0].at - absl::Seconds(2));
  // A not_after beyond the deadline: a batch arrives after it was sent whatever clocks say.
  EXPECT_EQ(proxy.batches_as_sent(absl::Seconds(1))[0].at, proxy.batches()[0].at);
  EXPECT_THAT(proxy.outcomes(),
              testing::ElementsAre(testing::Pair(v1::DELETE_OUTCOME_DELETED, 1),
                                   testing::Pair(v1::DELETE_OUTCOME_NOT_FOUND, 1)));
  EXPECT_GE(proxy.Lateness(1), absl::Seconds(99));
  // However long the call took; a second for the rounding of clocks.
  EXPECT_LT(proxy.Lateness(1), absl::Now() - expire_time + absl::Seconds(1));

  grpc::ClientContext unimplemented;
  v1::GetStoreInfoResponse info;
  EXPECT_EQ(stub->GetStoreInfo(&unimplemented, v1::GetStoreInfoRequest(), &info).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace ttl
