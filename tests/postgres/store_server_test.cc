#include "client/postgres/store/store_server.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

// A message that was inflated would be many times what was sent. Whether it is is decided before
// there is a store.
TEST(StoreServerTest, CompressedCallsAreRefusedBeforeTheyAreInflated) {
  const auto server = StoreServer::Start("127.0.0.1:0", [] { return absl::Now(); });
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

TEST(StoreServerTest, StateTellsSinceWhenTheProblemIsTheSame) {
  absl::Time now = absl::FromUnixSeconds(1000);
  const auto server = StoreServer::Start("127.0.0.1:0", [&] { return now; });
  ASSERT_TRUE(server.ok()) << server.status();
  const auto expect_state = [&](const std::string& problem, int64_t since) {
    const auto state = AskAdapterState((*server)->address(), absl::Now() + absl::Seconds(20));
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->problem, problem);
    EXPECT_EQ(absl::ToUnixSeconds(state->since), since);
  };
  expect_state("starting", 1000);
  now += absl::Seconds(1000);
  (*server)->SetProblem("no database");
  expect_state("no database", 2000);
  now += absl::Seconds(1000);
  (*server)->SetProblem("no database");
  expect_state("no database", 2000);
  (*server)->SetProblem("");
  expect_state("", 3000);
}

TEST(StoreServerTest, HealthAddressServesTheSameHealthAndNothingElse) {
  const auto server = StoreServer::Start(
      "127.0.0.1:0", [] { return absl::Now(); }, "127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  const auto channel = NewTestChannel((*server)->health_address());
  const auto health_of = [&](const std::string& service) { return CheckHealth(channel, service); };
  EXPECT_TRUE(health_of("startup").ok());
  EXPECT_TRUE(health_of("liveness").ok());
  EXPECT_FALSE(health_of("readiness").ok());
  EXPECT_FALSE(health_of("").ok());
  (*server)->SetProblem("");
  EXPECT_TRUE(health_of("readiness").ok());
  EXPECT_TRUE(health_of("").ok());

  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::DeleteItemsResponse response;
  EXPECT_EQ(v1::PrimaryStoreService::NewStub(channel)
                ->DeleteItems(&context, v1::DeleteItemsRequest(), &response)
                .error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST(StoreServerTest, HealthAddressThatIsTakenIsNamed) {
  const auto first = StoreServer::Start(
      "127.0.0.1:0", [] { return absl::Now(); }, "127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = StoreServer::Start(
      "127.0.0.1:0", [] { return absl::Now(); }, (*first)->health_address());
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_EQ(second.status().message(),
            absl::StrCat("health_listen: cannot listen on ", (*first)->health_address()));
}

}  // namespace
}  // namespace ttl::postgres
