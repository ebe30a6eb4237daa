#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

// Items whose backup is larger than what gRPC takes ahead of a client that does not read.
void TrackMuch(RpcSidecar& sidecar) {
  ASSERT_TRUE(sidecar.Create(std::nullopt).ok());
  for (int batch = 0; batch < 8; ++batch) {
    std::vector<ItemReport> reports;
    for (int i = 0; i < 1000; ++i) {
      const std::string id = absl::StrCat(batch, "-", i, std::string(900, 'x'));
      reports.push_back({KeyOf(id), {{kT, {}}, "", {}, 0}});
    }
    ASSERT_TRUE(sidecar.storage().Track("c", std::move(reports)).ok());
  }
}

// Reads a backup to its end.
grpc::Status BackUp(RpcSidecar& sidecar) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const auto reader = sidecar.maintenance().BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse response;
  while (reader->Read(&response)) {
  }
  return reader->Finish();
}

TEST(MaintenanceServiceTest, ABackupWhoseReaderStallsLosesItsPlace) {
  RpcSidecar::Options options;
  options.stall_limit = absl::Milliseconds(500);
  RpcSidecar sidecar(options);
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar));
  grpc::ClientContext context;
  const auto stalled = sidecar.maintenance().BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse response;
  ASSERT_TRUE(stalled->Read(&response));
  const grpc::Status busy = BackUp(sidecar);
  EXPECT_EQ(busy.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(busy.error_message(), HasSubstr("wait until it ends"));
  EXPECT_TRUE(WaitUntil([&] { return BackUp(sidecar).ok(); }));
  while (stalled->Read(&response)) {
  }
  EXPECT_FALSE(stalled->Finish().ok());
}

TEST(MaintenanceServiceTest, AReaderThatDoesNotReadWhyItsBackupEndedIsCutOff) {
  RpcSidecar::Options options;
  options.stall_limit = absl::Milliseconds(200);
  RpcSidecar sidecar(options);
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar));
  grpc::ClientContext context;
  const auto stalled = sidecar.maintenance().BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse response;
  ASSERT_TRUE(stalled->Read(&response));
  EXPECT_TRUE(WaitUntil([&] {
    return sidecar.call_counters().Get().at("MaintenanceService/BackUpData").open_streams == 0;
  }));
  while (stalled->Read(&response)) {
  }
  EXPECT_EQ(stalled->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST(MaintenanceServiceTest, ABackupThatIsReadSlowlyIsNotEnded) {
  RpcSidecar::Options options;
  options.stall_limit = absl::Seconds(3);
  RpcSidecar sidecar(options);
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar));
  grpc::ClientContext context;
  const auto slow = sidecar.maintenance().BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse response;
  while (slow->Read(&response)) absl::SleepFor(absl::Milliseconds(250));
  const grpc::Status status = slow->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

}  // namespace
}  // namespace ttl
