// How far the store's changes have been reported, as a store keeps it in the sidecar.

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

absl::Status Keep(RpcSidecar& sidecar, const std::string& position) {
  v1::SetSourcePositionRequest request;
  request.set_position(position);
  return Call(sidecar.maintenance(), &v1::MaintenanceService::Stub::SetSourcePosition, request)
      .status();
}

std::string Kept(RpcSidecar& sidecar) {
  const auto response =
      Call(sidecar.maintenance(), &v1::MaintenanceService::Stub::GetSourcePosition,
           v1::GetSourcePositionRequest());
  return response.ok() ? response->position() : response.status().ToString();
}

TEST(SourcePositionServiceTest, IsEmptyUntilItIsKeptAndOutlivesARestart) {
  RpcSidecar sidecar;
  EXPECT_EQ(Kept(sidecar), "");
  const std::string position("1/\0\xff", 4);
  ASSERT_TRUE(Keep(sidecar, "0").ok());
  ASSERT_TRUE(Keep(sidecar, position).ok());
  EXPECT_EQ(Kept(sidecar), position);
  sidecar.Restart();
  EXPECT_EQ(Kept(sidecar), position);
}

TEST(SourcePositionServiceTest, MustHaveOneByteAndAtMostAThousandAndTwentyFour) {
  RpcSidecar sidecar;
  EXPECT_EQ(Keep(sidecar, ""),
            absl::InvalidArgumentError("position has 0 bytes: must have 1 to 1024"));
  EXPECT_EQ(Keep(sidecar, std::string(1025, 'x')),
            absl::InvalidArgumentError("position has 1025 bytes: must have 1 to 1024"));
  EXPECT_EQ(Kept(sidecar), "");
  const std::string longest(1024, 'x');
  ASSERT_TRUE(Keep(sidecar, longest).ok());
  EXPECT_EQ(Kept(sidecar), longest);
}

}  // namespace
}  // namespace ttl
