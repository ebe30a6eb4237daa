// What the C++ client tells of the sidecar's errors, besides code and message.
#include "ttl/error_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/rpc_sidecar.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// With deadlines that no machine misses that stands still for a second.
TtlClientOptions Options(const std::string& address, bool share_checks) {
  TtlClientOptions options;
  options.address = address;
  options.check_deadline = absl::Seconds(60);
  options.report_deadline = absl::Seconds(60);
  options.admin_deadline = absl::Seconds(60);
  options.share_checks = share_checks;
  return options;
}

v1::VisibilityCheck Check(const std::string& id) {
  v1::VisibilityCheck check;
  check.set_id(id);
  return check;
}

TEST(ClientErrorDetailsTest, AReasonComesWithItsMetadata) {
  RpcSidecar sidecar;
  TtlClient client(Options(sidecar.address(), false));
  const absl::Status status = client.containers().Get("nowhere").status();
  EXPECT_EQ(ErrorReason(status), "CONTAINER_NOT_FOUND");
  EXPECT_THAT(ErrorMetadata(status), ElementsAre(Pair("container", "nowhere")));
  EXPECT_THAT(FieldViolations(status), IsEmpty());
  EXPECT_EQ(RetryDelay(status), std::nullopt);
  EXPECT_EQ(status.message(), "container \"nowhere\" does not exist");
}

TEST(ClientErrorDetailsTest, AnInvalidFieldIsNamed) {
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(60).ok());
  TtlClient client(Options(sidecar.address(), false));
  v1::Item item;
  item.set_ts(-5);
  const absl::Status status = client.TrackItem("c", item).status();
  EXPECT_EQ(ErrorReason(status), "INVALID_FIELD");
  EXPECT_THAT(FieldViolations(status),
              ElementsAre(FieldViolation{"items[0].ts", std::string(status.message())}));
}

TEST(ClientErrorDetailsTest, ASharedCheckHasThemToo) {
  RpcSidecar sidecar;
  TtlClient client(Options(sidecar.address(), true));
  const absl::Status status = client.CheckItem("nowhere", Check("a")).status();
  EXPECT_EQ(ErrorReason(status), "CONTAINER_NOT_FOUND");
  EXPECT_THAT(ErrorMetadata(status), ElementsAre(Pair("container", "nowhere")));
}

TEST(ClientErrorDetailsTest, AStreamHasThemToo) {
  RpcSidecar::Options options;
  options.roles = {Role::kStore};
  RpcSidecar sidecar(options);
  TtlClient client(Options(sidecar.address(), false));
  const absl::Status status = client.operations().VerifyData([](const v1::VerifyDataResponse&) {});
  EXPECT_EQ(ErrorReason(status), "ROLE_MISSING");
}

TEST(ClientErrorDetailsTest, ARefusedReportSaysWhenToRetry) {
  RpcSidecar::Options options;
  options.storage.max_queued_writes = 0;
  RpcSidecar sidecar(options);
  ASSERT_TRUE(sidecar.Create(60).ok());
  TtlClient client(Options(sidecar.address(), false));
  v1::Item item;
  item.set_ts(1);
  const absl::Status status = client.TrackItem("c", item).status();
  EXPECT_EQ(ErrorReason(status), "QUEUE_FULL");
  EXPECT_EQ(RetryDelay(status), absl::Milliseconds(100));
}

TEST(ClientErrorDetailsTest, OtherErrorsHaveNone) {
  FakeSidecar sidecar;
  TtlClient client(Options(sidecar.address(), false));
  for (const std::string& details : {std::string(), std::string("\x1a\xff"), std::string("junk")}) {
    sidecar.Fail("GetItem", {grpc::StatusCode::NOT_FOUND, "not tracked", details});
    const absl::Status status = client.GetItem("c", "p", "a").status();
    EXPECT_THAT(status.message(), HasSubstr("not tracked"));
    EXPECT_EQ(ErrorReason(status), "");
    EXPECT_THAT(ErrorMetadata(status), IsEmpty());
    EXPECT_THAT(FieldViolations(status), IsEmpty());
    EXPECT_EQ(RetryDelay(status), std::nullopt);
  }
  EXPECT_EQ(ErrorReason(absl::OkStatus()), "");
}

}  // namespace
}  // namespace ttl
