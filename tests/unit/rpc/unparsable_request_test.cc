// What each kind of method answers to bytes that are no message of its request type.

#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/channel.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/status_details.h"

namespace ttl {
namespace {

using Bytes = grpc::ByteBuffer;
using grpc::internal::RpcMethod;

// A field of two bytes of which one is there.
constexpr char kUnparsable[] = "\x0a\x02x";

class UnparsableRequestTest : public ::testing::Test {
 protected:
  UnparsableRequestTest() {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }

  grpc::Status CallUnary(const char* method) {
    Bytes response;
    return grpc::internal::BlockingUnaryCall<Bytes, Bytes>(
        channel_.get(), RpcMethod(method, RpcMethod::NORMAL_RPC, channel_), &context_, request_,
        &response);
  }

  grpc::Status CallServerStream(const char* method) {
    const std::unique_ptr<grpc::ClientReader<Bytes>> stream(
        grpc::internal::ClientReaderFactory<Bytes>::Create(
            channel_.get(), RpcMethod(method, RpcMethod::SERVER_STREAMING, channel_), &context_,
            request_));
    Bytes message;
    EXPECT_FALSE(stream->Read(&message));
    return stream->Finish();
  }

  // Counts the messages that come back in `answers`.
  grpc::Status CallBidiStream(const char* method, int& answers) {
    const std::unique_ptr<grpc::ClientReaderWriter<Bytes, Bytes>> stream(
        grpc::internal::ClientReaderWriterFactory<Bytes, Bytes>::Create(
            channel_.get(), RpcMethod(method, RpcMethod::BIDI_STREAMING, channel_), &context_));
    EXPECT_TRUE(stream->Write(request_));
    stream->WritesDone();
    Bytes message;
    for (answers = 0; stream->Read(&message); ++answers) continue;
    return stream->Finish();
  }

  RpcSidecar sidecar_;

 private:
  const std::shared_ptr<grpc::Channel> channel_ = NewTestChannel(sidecar_.address());
  const grpc::Slice slice_{kUnparsable};
  const Bytes request_{&slice_, 1};
  grpc::ClientContext context_;
};

TEST_F(UnparsableRequestTest, AUnaryCallIsInternal) {
  const grpc::Status status = CallUnary("/ttl.v1.ItemService/GetItem");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "Unable to parse request");
  EXPECT_EQ(ReadStatusDetails(status.error_details())->reason, "UNREADABLE_REQUEST");
}

TEST_F(UnparsableRequestTest, ACheckIsAnInvalidArgument) {
  const grpc::Status status = CallUnary("/ttl.v1.ItemService/CheckVisibility");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReadStatusDetails(status.error_details())->reason, "UNREADABLE_CHECK");
}

TEST_F(UnparsableRequestTest, AStreamOfResponsesIsInternal) {
  const grpc::Status status = CallServerStream("/ttl.v1.ContainerService/WatchContainers");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "Unable to parse request");
}

TEST_F(UnparsableRequestTest, AMessageOfAStreamOfChecksIsAnsweredInItsPlace) {
  int answers = 0;
  const grpc::Status status = CallBidiStream("/ttl.v1.ItemService/StreamCheckVisibility", answers);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answers, 1);
}

// A store that took the end for OK would take the report for kept.
TEST_F(UnparsableRequestTest, AMessageOfAStreamOfReportsEndsTheStreamAsInternal) {
  int answers = 0;
  const grpc::Status status = CallBidiStream("/ttl.v1.ItemService/StreamTrackItems", answers);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "Unable to parse request");
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace ttl
