#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpc/grpc.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "service/server/sidecar.h"
#include "tests/testing/channel.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using grpc::internal::RpcMethod;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ReflectionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { grpc_init(); }

  void Start(bool reflection) {
    ServerConfig config;
    config.listen_sockets = {{.path = directory_.File("sidecar.sock")}};
    config.data_dir = directory_.File("data");
    config.reflection = reflection;
    absl::StatusOr<std::unique_ptr<Sidecar>> sidecar = Sidecar::Start(config);
    ASSERT_TRUE(sidecar.ok()) << sidecar.status();
    sidecar_ = *std::move(sidecar);
    channel_ = NewTestChannel(absl::StrCat("unix:", config.listen_sockets[0].path));
  }

  // A call of the service, whose generated stubs nobody else would need.
  template <typename Request, typename Response>
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> Open(grpc::ClientContext& context) {
    const std::string path = absl::StrCat(
        "/", Request::descriptor()->file()->service(0)->full_name(), "/ServerReflectionInfo");
    const RpcMethod method(path.c_str(), RpcMethod::BIDI_STREAMING, channel_);
    return std::unique_ptr<grpc::ClientReaderWriter<Request, Response>>(
        grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(channel_.get(), method,
                                                                             &context));
  }

  // Asks on a stream of its own.
  template <typename Request, typename Response>
  grpc::Status Ask(const std::vector<Request>& requests, std::vector<Response>& responses) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    const auto stream = Open<Request, Response>(context);
    for (const Request& request : requests) stream->Write(request);
    stream->WritesDone();
    for (Response response; stream->Read(&response);) responses.push_back(response);
    return stream->Finish();
  }
  ServerReflectionResponse Ask(const ServerReflectionRequest& request) {
    std::vector<ServerReflectionResponse> responses;
    EXPECT_TRUE((Ask(std::vector{request}, responses)).ok());
    return responses.size() == 1 ? responses[0] : ServerReflectionResponse();
  }

  const TempDir directory_;
  std::unique_ptr<Sidecar> sidecar_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ReflectionTest, UnlessAskedForItIsNotThere) {
  Start(false);
  std::vector<ServerReflectionResponse> responses;
  EXPECT_EQ((Ask(std::vector<ServerReflectionRequest>(), responses)).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ReflectionTest, EveryServiceIsListedAndItsFilesSufficeToCallIt) {
  Start(true);
  ServerReflectionRequest request;
  request.set_list_services("");
  std::vector<std::string> names;
  const ServerReflectionResponse listed = Ask(request);
  for (const auto& service : listed.list_services_response().service()) {
    names.push_back(service.name());
  }
  EXPECT_THAT(names, Contains("ttl.v1.ItemService"));
  EXPECT_THAT(names, Contains("grpc.health.v1.Health"));
  for (const std::string& name : names) {
    request.set_file_containing_symbol(name);
    const ServerReflectionResponse response = Ask(request);
    google::protobuf::DescriptorPool pool;
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      ASSERT_TRUE(file.ParseFromString(bytes)) << name;
      ASSERT_NE(pool.BuildFile(file), nullptr) << name << " " << file.name();
    }
    EXPECT_NE(pool.FindServiceByName(name), nullptr) << name;
  }
}

TEST_F(ReflectionTest, BothNamesOfTheProtocolAnswer) {
  Start(true);
  grpc::reflection::v1alpha::ServerReflectionRequest request;
  request.set_file_by_filename("ttl/v1/item_service.proto");
  std::vector<grpc::reflection::v1alpha::ServerReflectionResponse> responses;
  ASSERT_TRUE((Ask(std::vector{request, request}, responses)).ok());
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_EQ(responses[1].original_request().file_by_filename(), "ttl/v1/item_service.proto");
  EXPECT_FALSE(responses[1].file_descriptor_response().file_descriptor_proto().empty());
}

TEST_F(ReflectionTest, ExtensionsAreFoundByMessageAndNumber) {
  Start(true);
  ServerReflectionRequest request;
  request.set_all_extension_numbers_of_type("google.protobuf.MethodOptions");
  EXPECT_EQ(Ask(request).all_extension_numbers_response().base_type_name(),
            "google.protobuf.MethodOptions");
  request.mutable_file_containing_extension()->set_containing_type("google.protobuf.MethodOptions");
  request.mutable_file_containing_extension()->set_extension_number(7);
  EXPECT_THAT(Ask(request).error_response().error_message(), HasSubstr("MethodOptions"));
}

TEST_F(ReflectionTest, WhatIsNotThereIsSaidSo) {
  Start(true);
  ServerReflectionRequest symbol;
  symbol.set_file_containing_symbol("ttl.v1.Nothing");
  ServerReflectionRequest file;
  file.set_file_by_filename("nothing.proto");
  ServerReflectionRequest type;
  type.set_all_extension_numbers_of_type("ttl.v1.Nothing");
  for (const auto& request : {symbol, file, type, ServerReflectionRequest()}) {
    EXPECT_EQ(Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND)
        << request.DebugString();
  }
}

TEST_F(ReflectionTest, AnOpenStreamDoesNotHoldUpTheStop) {
  Start(true);
  grpc::ClientContext context;
  const auto stream = Open<ServerReflectionRequest, ServerReflectionResponse>(context);
  ServerReflectionRequest request;
  request.set_list_services("");
  ServerReflectionResponse response;
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  sidecar_.reset();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ttl
