#include "service/transport/calls/method_gate.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/rpc/services/method_roles.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/access/server_access.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What everyone who calls may be.
RpcSidecar::Options ForAll(Roles roles) {
  RpcSidecar::Options options;
  options.roles = roles;
  return options;
}

int64_t Refused(const AccessCounters& counters, Role role) {
  return counters.refused[static_cast<size_t>(role)];
}

TEST(MethodGateTest, RefusedCallsAreCountedByTheRoleThatWouldHaveDone) {
  RpcSidecar sidecar(ForAll({Role::kStore}));
  EXPECT_EQ(sidecar.Create(1).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(sidecar.Create(1).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(sidecar.Get("a").status().code(), absl::StatusCode::kPermissionDenied);
  // What it may do is judged as ever.
  EXPECT_EQ(sidecar.Track("a", 1).status().code(), absl::StatusCode::kNotFound);
  const AccessCounters& counters = sidecar.access_counters();
  EXPECT_EQ(Refused(counters, Role::kAdmin), 2);
  EXPECT_EQ(Refused(counters, Role::kReader), 1);
  EXPECT_EQ(Refused(counters, Role::kStore), 0);
}

TEST(AuthorTextTest, WhoHasNoCertificateIsNamedByItsAddress) {
  EXPECT_EQ(ServerAccess::AuthorText("\"cn:ops\"", "ipv4:10.0.0.3:51234"), "cn:ops");
  EXPECT_EQ(ServerAccess::AuthorText("\"address:0.0.0.0:7070\"", "ipv4:10.0.0.3:51234"),
            "address:0.0.0.0:7070 from ipv4:10.0.0.3:51234");
  EXPECT_EQ(ServerAccess::AuthorText("\"address:unix:/run/a.sock\"", "unix:"),
            "address:unix:/run/a.sock");
}

TEST(MethodGateTest, WhoIsRefusedAgainAndAgainDoesNotFillTheLog) {
  RpcSidecar sidecar(ForAll({Role::kStore}));
  const CapturedLog log;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sidecar.Create(1).status().code(), absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(sidecar.Get("a").status().code(), absl::StatusCode::kPermissionDenied);
  const std::vector<std::string> lines = absl::StrSplit(log.text(), '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, ElementsAre(HasSubstr("CreateContainer"), HasSubstr("GetItem")));
  EXPECT_EQ(Refused(sidecar.access_counters(), Role::kAdmin), 50);
}

TEST(MethodGateTest, ARefusedCallChangesNothing) {
  RpcSidecar sidecar(ForAll({Role::kReader}));
  EXPECT_EQ(sidecar.Create(1).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(sidecar.storage()->containers().Find("c"), nullptr);
  EXPECT_EQ(sidecar.Track("a", 1).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Refused(sidecar.access_counters(), Role::kStore), 1);
}

TEST(MethodGateTest, RefusedStreamsEndAndAreCounted) {
  RpcSidecar sidecar(ForAll({Role::kAdmin}));
  grpc::ClientContext track_context;
  const auto track = sidecar.items().StreamTrackItems(&track_context);
  v1::StreamTrackItemsResponse answer;
  EXPECT_FALSE(track->Read(&answer));
  const grpc::Status refused = track->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("ItemService/StreamTrackItems"));
  EXPECT_EQ(Refused(sidecar.access_counters(), Role::kStore), 1);

  // Others of the same kind go on.
  grpc::ClientContext check_context;
  const auto check = sidecar.items().StreamCheckVisibility(&check_context);
  check->Write({});
  v1::StreamCheckVisibilityResponse verdict;
  EXPECT_TRUE(check->Read(&verdict));
  check->WritesDone();
  EXPECT_TRUE(check->Finish().ok());
}

TEST(MethodGateTest, AWatchWithoutARoleIsRefused) {
  RpcSidecar sidecar(ForAll(Roles()));
  grpc::ClientContext context;
  const auto watch = sidecar.containers().WatchContainers(&context, {});
  v1::WatchContainersResponse event;
  EXPECT_FALSE(watch->Read(&event));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Refused(sidecar.access_counters(), Role::kStore), 1);
}

TEST(MethodGateTest, FailuresOfTheSidecarItselfAreLoggedAndRefusalsOfRequestsAreNot) {
  const IdentityRoles identities;
  AccessCounters counters;
  const ServerAccess access(
      {.address = "a.sock", .roles = Roles::All(), .roles_of_method = RolesOfMethod}, identities,
      counters);
  const MethodGate gate("ItemService/GetItem", access);
  const grpc::ServerContext context;
  for (const absl::Status& status :
       {absl::OkStatus(), absl::NotFoundError("x"), absl::InvalidArgumentError("x"),
        absl::UnavailableError("x"), absl::ResourceExhaustedError("x")}) {
    const CapturedLog log;
    gate.LogEnd(context, status);
    EXPECT_THAT(log.text(), IsEmpty()) << status;
  }
  for (const absl::Status& status :
       {absl::InternalError("disk on fire"), absl::DataLossError("disk on fire")}) {
    const CapturedLog log;
    gate.LogEnd(context, status);
    EXPECT_THAT(log.text(), AllOf(HasSubstr("error call failed: method=ItemService/GetItem"),
                                  HasSubstr("address:a.sock"), HasSubstr("disk on fire"),
                                  HasSubstr(absl::StatusCodeToString(status.code()))));
  }
}

TEST(MethodGateTest, ARefusalNamesTheMissingRolesOrSaysThatNoRoleGrantsTheMethod) {
  const IdentityRoles identities;
  AccessCounters counters;
  const ServerAccess access(
      {.address = "a.sock", .roles = {Role::kStore}, .roles_of_method = RolesOfMethod}, identities,
      counters);
  const grpc::ServerContext context;
  EXPECT_EQ(MethodGate("ItemService/ListItems", access).Admit(context).message(),
            "\"address:a.sock\" may not call ItemService/ListItems: it needs the role reader or "
            "admin and has store");
  EXPECT_EQ(MethodGate("ItemService/Frobnicate", access).Admit(context).message(),
            "\"address:a.sock\" may not call ItemService/Frobnicate: no role grants this method");
}

TEST(MethodGateTest, AChangeInATraceIsLoggedWithIt) {
  RpcSidecar sidecar;
  const CapturedLog log;
  grpc::ClientContext context;
  context.AddMetadata("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id("c");
  ASSERT_TRUE(
      Call(sidecar.containers(), &v1::ContainerService::Stub::CreateContainer, request, &context)
          .ok());
  EXPECT_THAT(log.text(), HasSubstr("info admin call: method=ContainerService/CreateContainer "
                                    "caller=\"address:test\" code=OK "
                                    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736"));
}

}  // namespace
}  // namespace ttl
