#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpc/grpc.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/rpc/services/method_roles.h"
#include "service/server/sidecar.h"
#include "tests/testing/channel.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::ServiceDescriptor;
using testing::AllOf;
using testing::HasSubstr;

// Who may call what: those that are named.
struct Row {
  const char* method;  // after "ttl.v1."
  const char* roles;
};
constexpr Row kRows[] = {
    {"ItemService/CheckVisibility", "store reader consumer admin"},
    {"ItemService/StreamCheckVisibility", "store reader consumer admin"},
    {"ItemService/TrackItems", "store"},
    {"ItemService/StreamTrackItems", "store"},
    {"ItemService/UntrackItems", "store"},
    {"ItemService/TouchItems", "store"},
    {"ItemService/GetItem", "reader admin"},
    {"ItemService/ListItems", "reader admin"},
    {"ContainerService/CreateContainer", "admin"},
    {"ContainerService/GetContainer", "reader admin"},
    {"ContainerService/ListContainers", "reader admin"},
    {"ContainerService/UpdateContainer", "admin"},
    {"ContainerService/DeleteContainer", "admin"},
    {"ContainerService/WatchContainers", "store reader consumer admin"},
    {"ExpiryService/GetExpiryStatus", "reader admin"},
    {"ExpiryService/ListExpiryStatuses", "reader admin"},
    {"ExpiryService/ExplainItem", "reader admin"},
    {"ExpiryService/PauseDeletes", "admin"},
    {"ExpiryService/ResumeDeletes", "admin"},
    {"ExpiryService/AcceptClock", "admin"},
    {"ExpiryService/GetForecast", "reader admin"},
    {"ExpiryService/ListStuckItems", "reader admin"},
    {"ExpiryService/ReportUsage", "store"},
    {"ExpiryService/ConfirmPolicy", "admin"},
    {"ExpiryService/ConfirmStore", "admin"},
    {"ExpiryService/SetMaxDeletesPerSecond", "admin"},
    {"FeedService/WatchEvents", "reader admin"},
    {"FeedService/CreateSubscription", "admin"},
    {"FeedService/GetSubscription", "reader admin"},
    {"FeedService/ListSubscriptions", "reader admin"},
    {"FeedService/DeleteSubscription", "admin"},
    {"FeedService/Acknowledge", "consumer admin"},
    {"HoldService/PlaceHold", "admin"},
    {"HoldService/ReleaseHold", "admin"},
    {"HoldService/ListHolds", "reader admin"},
    {"HoldService/ListHeldKeys", "reader admin"},
    {"HoldService/AcceptHolds", "admin"},
    {"MaintenanceService/StartReconciliation", "admin"},
    {"MaintenanceService/GetReconciliation", "reader admin"},
    {"MaintenanceService/CancelReconciliation", "admin"},
    {"MaintenanceService/TrustData", "admin"},
    {"MaintenanceService/GetSourcePosition", "store"},
    {"MaintenanceService/SetSourcePosition", "store"},
    {"MaintenanceService/PreviewContainer", "admin"},
    {"MaintenanceService/VerifyData", "admin"},
    {"MaintenanceService/BackUpData", "admin"},
};

// All services that the protos of the API define, but for the one that stores serve.
std::vector<const ServiceDescriptor*> ServedServices() {
  std::vector<const ServiceDescriptor*> services;
  for (const auto& entry : std::filesystem::directory_iterator(PROTO_DIR "/ttl/v1")) {
    const std::string name = absl::StrCat("ttl/v1/", entry.path().filename().string());
    const FileDescriptor* const file = DescriptorPool::generated_pool()->FindFileByName(name);
    EXPECT_NE(file, nullptr) << name;
    for (int i = 0; file != nullptr && i < file->service_count(); ++i) {
      if (file->service(i)->name() != "PrimaryStoreService") services.push_back(file->service(i));
    }
  }
  return services;
}

TEST(MethodRolesTest, EveryMethodOfTheApiIsListed) {
  std::vector<std::string> expected;
  for (const Row& row : kRows) expected.push_back(row.method);
  std::vector<std::string> found;
  for (const ServiceDescriptor* service : ServedServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      found.push_back(absl::StrCat(service->name(), "/", service->method(i)->name()));
      EXPECT_TRUE(IsMethodListed(found.back())) << found.back();
    }
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
}

TEST(MethodRolesTest, EveryMethodOfGrpcsOwnServicesIsListed) {
  for (const char* file : {"grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto",
                           "grpc/reflection/v1alpha/reflection.proto"}) {
    const FileDescriptor* const found = DescriptorPool::generated_pool()->FindFileByName(file);
    ASSERT_NE(found, nullptr) << file;
    const ServiceDescriptor& service = *found->service(0);
    for (int i = 0; i < service.method_count(); ++i) {
      const std::string method = absl::StrCat(service.name(), "/", service.method(i)->name());
      EXPECT_TRUE(IsMethodListed(method)) << method;
    }
  }
}

// Over TLS whoever may call one of them reads the page (page_server.cc).
TEST(MethodRolesTest, AllMethodsThatTheStatusPageCallsAreForTheSameRoles) {
  const Roles of_page = RolesOfMethod("ExpiryService/ListExpiryStatuses").roles;
  EXPECT_EQ(Describe(of_page), "reader+admin");
  for (const char* method : {"ExpiryService/GetExpiryStatus", "ExpiryService/ListStuckItems",
                             "ExpiryService/ExplainItem", "ExpiryService/GetForecast",
                             "MaintenanceService/GetReconciliation"}) {
    EXPECT_EQ(Describe(RolesOfMethod(method).roles), Describe(of_page)) << method;
  }
}

TEST(MethodRolesTest, AMethodThatIsNotListedIsForNobody) {
  EXPECT_FALSE(IsMethodListed("ItemService/Frobnicate"));
  EXPECT_FALSE(RolesOfMethod("ItemService/Frobnicate").for_everyone);
  EXPECT_TRUE(RolesOfMethod("ItemService/Frobnicate").roles.empty());
}

// Waits for the one operation that is under way.
bool Next(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

// Calls a method of any kind with an empty request, and gives up after the first answer.
grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
  const auto call = stub.PrepareCall(&context, absl::StrCat("/ttl.v1.", method), &queue);
  call->StartCall(nullptr);
  Next(queue);
  const grpc::Slice nothing;
  call->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), nullptr);
  Next(queue);
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  if (Next(queue)) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  Next(queue);
  return status;
}

// A whole sidecar in this process, with a socket for each role.
class AccessTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { grpc_init(); }

  AccessTest() {
    ServerConfig config;
    config.data_dir = directory_.File("data");
    config.socket_mode = 0640;
    config.listen_sockets = {{.path = PathOf("all")}};
    for (const Role role : kRoles) {
      const std::string name(RoleName(role));
      config.listen_sockets.push_back({.path = PathOf(name), .mode = 0600, .roles = {role}});
    }
    absl::StatusOr<std::unique_ptr<Sidecar>> sidecar = Sidecar::Start(config);
    EXPECT_TRUE(sidecar.ok()) << sidecar.status();
    sidecar_ = *std::move(sidecar);
  }

  std::string PathOf(const std::string& name) const {
    return directory_.File(absl::StrCat(name, ".sock"));
  }
  std::shared_ptr<grpc::Channel> Connect(const std::string& name) const {
    return NewTestChannel(absl::StrCat("unix:", PathOf(name)));
  }

  const TempDir directory_;
  std::unique_ptr<Sidecar> sidecar_;
};

TEST_F(AccessTest, EachRoleMayCallItsMethodsAndNoOthers) {
  for (const Role role : kRoles) {
    const std::string name(RoleName(role));
    const auto channel = Connect(name);
    for (const Row& row : kRows) {
      const grpc::Status status = CallEmpty(channel, row.method);
      ASSERT_NE(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      ASSERT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << row.method;
      const bool was_refused = status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
      EXPECT_EQ(was_refused, !absl::StrContains(row.roles, name))
          << name << " " << row.method << ": " << status.error_message();
    }
  }
}

TEST_F(AccessTest, ASocketWithoutRolesMayDoAllAndHealthIsForAll) {
  const auto channel = Connect("all");
  for (const Row& row : kRows) {
    EXPECT_NE(CallEmpty(channel, row.method).error_code(), grpc::StatusCode::PERMISSION_DENIED)
        << row.method;
  }
  for (const char* name : {"all", "store", "reader", "consumer", "admin"}) {
    EXPECT_TRUE(CheckHealth(Connect(name), "readiness", absl::Seconds(20)).ok()) << name;
  }
}

TEST_F(AccessTest, ARefusalNamesSocketMethodAndRoles) {
  const grpc::Status status = CallEmpty(Connect("store"), "ExpiryService/GetExpiryStatus");
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr(PathOf("store")), HasSubstr("ExpiryService/GetExpiryStatus"),
                    HasSubstr("reader or admin"), HasSubstr("has store")));
}

TEST_F(AccessTest, EachSocketHasItsMode) {
  for (const auto& [name, mode] : std::map<std::string, mode_t>{{"all", 0640}, {"admin", 0600}}) {
    struct stat info = {};
    ASSERT_EQ(stat(PathOf(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 07777, mode) << name;
  }
}

}  // namespace
}  // namespace ttl
