#include "tests/testing/channel.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/testing/temp_dir.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

TEST(CheckHealthTest, TellsServingFromNotServingFromUnknownFromUnreachable) {
  TempDir dir;
  const std::string address = "unix:" + dir.File("s");
  grpc::EnableDefaultHealthCheckService(true);
  v1::PrimaryStoreService::Service unimplemented;
  grpc::ServerBuilder builder;
  builder.RegisterService(&unimplemented);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  server->GetHealthCheckService()->SetServingStatus("good", true);
  server->GetHealthCheckService()->SetServingStatus("bad", false);
  const auto channel = NewTestChannel(address);

  EXPECT_EQ(CheckHealth(channel, "good", absl::Seconds(10)).code(), absl::StatusCode::kOk);
  EXPECT_EQ(CheckHealth(channel, "bad", absl::Seconds(10)).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CheckHealth(channel, "none", absl::Seconds(10)).code(), absl::StatusCode::kNotFound);
  server->Shutdown(std::chrono::system_clock::now());
  EXPECT_FALSE(CheckHealth(NewTestChannel("unix:" + dir.File("none")), "good").ok());
}

}  // namespace
}  // namespace ttl
