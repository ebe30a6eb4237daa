#include "client/postgres/store/store_server.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

// A message that was inflated would be many times what was sent. Whether it is is decided before
// there is a store.
TEST(StoreServerTest, CompressedCallsAreRefusedBeforeTheyAreInflated) {
  const auto server = StoreServer::Start("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  const auto store = v1::PrimaryStoreService::NewStub(
      grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials()));
  v1::DeleteItemsRequest request;
  request.set_container(std::string(1 << 20, 'x'));
  const auto code_of = [&](grpc_compression_algorithm algorithm) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    context.set_compression_algorithm(algorithm);
    v1::DeleteItemsResponse response;
    return store->DeleteItems(&context, request, &response).error_code();
  };
  EXPECT_EQ(code_of(GRPC_COMPRESS_GZIP), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(code_of(GRPC_COMPRESS_NONE), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ttl::postgres
