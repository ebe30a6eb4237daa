#include "service/transport/calls/status_mapping.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;

TEST(ToGrpcStatusTest, CodesAndMessagesAreTheSame) {
  const struct {
    absl::Status status;
    grpc::StatusCode code;
  } kCases[] = {
      {absl::InvalidArgumentError("m"), grpc::StatusCode::INVALID_ARGUMENT},
      {absl::NotFoundError("m"), grpc::StatusCode::NOT_FOUND},
      {absl::AlreadyExistsError("m"), grpc::StatusCode::ALREADY_EXISTS},
      {absl::AbortedError("m"), grpc::StatusCode::ABORTED},
      {absl::FailedPreconditionError("m"), grpc::StatusCode::FAILED_PRECONDITION},
      {absl::ResourceExhaustedError("m"), grpc::StatusCode::RESOURCE_EXHAUSTED},
      {absl::UnavailableError("m"), grpc::StatusCode::UNAVAILABLE},
      {absl::DataLossError("m"), grpc::StatusCode::DATA_LOSS},
      {absl::InternalError("m"), grpc::StatusCode::INTERNAL},
  };
  for (const auto& c : kCases) {
    const grpc::Status mapped = ToGrpcStatus(c.status);
    EXPECT_EQ(mapped.error_code(), c.code) << c.status;
    EXPECT_EQ(mapped.error_message(), "m");
  }
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(ToGrpcStatusTest, MessagesThatWouldNotFitAreCutBetweenCharacters) {
  std::string message = "x";
  while (message.size() < 10000) message += "\xC3\xA4";
  const std::string cut = ToGrpcStatus(absl::InternalError(message)).error_message();
  EXPECT_THAT(cut, SizeIs(2047 + 3));
  EXPECT_THAT(cut, EndsWith("\xC3\xA4..."));
}

TEST(RetryPushbackTest, OnlyWhereWaitingHelps) {
  EXPECT_EQ(RetryPushback(absl::ResourceExhaustedError("full")), absl::Milliseconds(100));
  EXPECT_EQ(RetryPushback(absl::UnavailableError("latched")), std::nullopt);
  EXPECT_EQ(RetryPushback(absl::OkStatus()), std::nullopt);
}

}  // namespace
}  // namespace ttl
