#include "service/transport/calls/status_mapping.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/base/error_details.h"
#include "tests/testing/status_details.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Pair;
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
  EXPECT_THAT(cut, SizeIs(1535 + 3));
  EXPECT_THAT(cut, EndsWith("\xC3\xA4..."));
}

TEST(ToGrpcStatusTest, AnErrorWithoutAReasonHasTheNameOfItsCode) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "m");
    const auto details = ReadStatusDetails(ToGrpcStatus(status).error_details());
    ASSERT_TRUE(details.has_value());
    EXPECT_EQ(details->code, code);
    EXPECT_EQ(details->message, "m");
    EXPECT_EQ(details->reason, absl::StatusCodeToString(status.code()));
    EXPECT_EQ(details->domain, "ttl-sidecar");
  }
}

TEST(ToGrpcStatusTest, OkHasNoDetails) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).error_details().empty());
}

// The metadata of a call is limited to 8 KiB; message and details are escaped in it.
TEST(ToGrpcStatusTest, TheLongestErrorFitsIntoAClientsMetadata) {
  std::string text;
  while (text.size() < 10000) text += "\xC3\xA4";
  for (const absl::Status& status :
       {InvalidField(text, text),
        MakeError(Reason::kEtagMismatch, text, {{"container", text}, {"etag", text}})}) {
    const grpc::Status sent = ToGrpcStatus(status);
    EXPECT_LT(3 * sent.error_message().size() + 4 * sent.error_details().size() / 3, 8192 - 256);
    const auto details = ReadStatusDetails(sent.error_details());
    ASSERT_TRUE(details.has_value());
    EXPECT_EQ(details->message, sent.error_message());
  }
}

TEST(ToGrpcStatusTest, BytesThatAreNotUtf8AreEscaped) {
  const grpc::Status sent = ToGrpcStatus(InvalidField("a\xFF", "is \xFF"));
  EXPECT_EQ(sent.error_message(), "is \\xff");
  const auto details = ReadStatusDetails(sent.error_details());
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->message, sent.error_message());
  EXPECT_THAT(details->violations, ElementsAre(Pair("a\\xff", "is \\xff")));
}

TEST(OfFieldTest, OnlyInvalidArgumentsGetAField) {
  EXPECT_TRUE(OfField("ttl", absl::OkStatus()).ok());
  EXPECT_EQ(OfField("ttl", absl::NotFoundError("m")), absl::NotFoundError("m"));
  EXPECT_EQ(ReasonOf(OfField("ttl", absl::InvalidArgumentError("m"))), "INVALID_FIELD");
}

TEST(TextOfTest, LogsHaveNoDetails) {
  EXPECT_EQ(TextOf(MakeError(Reason::kQueueFull, "full")), "RESOURCE_EXHAUSTED: full");
}

TEST(RetryPushbackTest, OnlyWhereWaitingHelps) {
  EXPECT_EQ(RetryPushback(absl::ResourceExhaustedError("full")), absl::Milliseconds(100));
  EXPECT_EQ(RetryPushback(absl::UnavailableError("latched")), std::nullopt);
  EXPECT_EQ(RetryPushback(absl::OkStatus()), std::nullopt);
}

}  // namespace
}  // namespace ttl
