#include "service/expiry/store/retry_info.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/testing/retry_info_status.h"

namespace ttl {
namespace {

TEST(RetryInfoTest, CodeMessageAndWishComeThrough) {
  const absl::Status status =
      FromGrpc(WithRetryInfo(grpc::StatusCode::UNAVAILABLE, absl::Seconds(20)));
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "busy");
  EXPECT_EQ(RetryAfterOf(status), absl::Seconds(20));
}

TEST(RetryInfoTest, WithoutAUsableWishThereIsNone) {
  const grpc::StatusCode code = grpc::StatusCode::UNAVAILABLE;
  const grpc::Status cases[] = {
      grpc::Status(code, "busy"),
      grpc::Status(code, "busy", "\xFF\xFF not a message"),
      WithRetryInfo(code, -absl::Seconds(1)),
  };
  for (const grpc::Status& status : cases) {
    EXPECT_EQ(RetryAfterOf(FromGrpc(status)), std::nullopt) << status.error_details();
  }
}

}  // namespace
}  // namespace ttl
