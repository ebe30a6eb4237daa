// What programs learn of each refusal, over a real socket: code, reason, invalid field and retry
// delay, decoded by messages that are declared independently of ours.

#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "service/base/reason.h"
#include "service/core/state/published_sweep.h"
#include "service/rpc/services/container_watches.h"
#include "tests/testing/channel.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/status_details.h"
#include "tests/testing/wait.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

using Bytes = grpc::ByteBuffer;
using grpc::internal::RpcMethod;

constexpr absl::Duration kPushback = absl::Milliseconds(100);

// A call of `method` ("ItemService/GetItem", or with a package) with a request in text format, and
// its end.
class RawCall {
 public:
  RawCall(RpcSidecar& sidecar, const std::string& method, const std::string& request)
      : channel_(NewTestChannel(sidecar.address())),
        name_(absl::StrCat("/", absl::StrContains(method, '.') ? "" : "ttl.v1.", method)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto* const descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
            absl::StrReplaceAll(name_.substr(1), {{"/", "."}}));
    const auto message = std::unique_ptr<google::protobuf::Message>(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(descriptor->input_type())
            ->New());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(request, message.get())) << request;
    const grpc::Slice slice(message->SerializeAsString());
    request_ = Bytes(&slice, 1);
    is_stream_ = descriptor->server_streaming();
    if (is_stream_) Open();
  }

  // The first message of a stream has come.
  bool Started() {
    Bytes message;
    return reader_->Read(&message);
  }

  grpc::Status End() {
    Bytes response;
    if (!is_stream_) {
      return grpc::internal::BlockingUnaryCall<Bytes, Bytes>(
          channel_.get(), RpcMethod(name_.c_str(), RpcMethod::NORMAL_RPC, channel_), &context_,
          request_, &response);
    }
    while (reader_->Read(&response)) continue;
    return reader_->Finish();
  }

 private:
  void Open() {
    reader_.reset(grpc::internal::ClientReaderFactory<Bytes>::Create(
        channel_.get(), RpcMethod(name_.c_str(), RpcMethod::SERVER_STREAMING, channel_), &context_,
        request_));
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string name_;
  grpc::ClientContext context_;
  Bytes request_;
  bool is_stream_ = false;
  std::unique_ptr<grpc::ClientReader<Bytes>> reader_;
};

// The details of how a call ended; their code and message are those of the call itself.
StatusDetails DetailsOfEnd(const grpc::Status& status) {
  EXPECT_FALSE(status.ok());
  const auto details = ReadStatusDetails(status.error_details());
  EXPECT_TRUE(details.has_value()) << status.error_message();
  if (!details.has_value()) return {};
  EXPECT_EQ(details->code, status.error_code());
  EXPECT_EQ(details->message, status.error_message());
  EXPECT_EQ(details->domain, "ttl-sidecar");
  return *details;
}

StatusDetails Refused(RpcSidecar& sidecar, const std::string& method, const std::string& request) {
  return DetailsOfEnd(RawCall(sidecar, method, request).End());
}

absl::StatusCode CodeOf(const StatusDetails& details) {
  return static_cast<absl::StatusCode>(details.code);
}

// `details` have that reason with its code, no invalid field, and a retry delay if `code` says so.
void ExpectReason(const StatusDetails& details, Reason reason) {
  EXPECT_EQ(details.reason, EntryOf(reason).name) << details.message;
  EXPECT_EQ(CodeOf(details), EntryOf(reason).code);
  EXPECT_THAT(details.violations, IsEmpty());
  const bool is_exhausted = EntryOf(reason).code == absl::StatusCode::kResourceExhausted;
  if (reason != Reason::kShuttingDown) {
    EXPECT_EQ(details.retry_delay.has_value(), is_exhausted) << details.message;
  }
}

// Items whose backup is larger than what gRPC takes ahead of a client that does not read.
void TrackMuch(RpcSidecar& sidecar) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < 1000; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i, std::string(900, 'x'))), {{kT, {}}, "", {}, 0}});
  }
  for (int batch = 0; batch < 8; ++batch) {
    for (ItemReport& report : reports) report.key.partition_key = absl::StrCat(batch);
    ASSERT_THAT(sidecar.storage().Track("c", reports), IsOk());
  }
}

// Changes more than the 64 MiB that a backup keeps of what is written meanwhile: 3 MB each time.
void ChangeMuch(RpcSidecar& sidecar) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < 1000; ++i) {
    const ItemKey key = {std::string(2000, 'p'), absl::StrCat(i, std::string(1000, 'x'))};
    reports.push_back({key, {{kT, {}}, "", {}, 0}});
  }
  for (int64_t change = 0; change < 24; ++change) {
    for (ItemReport& report : reports) report.version.times.ts = kT + change;
    ASSERT_THAT(sidecar.storage().Track("c", reports), IsOk());
  }
}

class ErrorDetailsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(sidecar_.Create(60), IsOk()); }

  RpcSidecar sidecar_;
};

TEST_F(ErrorDetailsTest, AnInvalidFieldIsNamed) {
  ASSERT_TRUE(RawCall(sidecar_, "ContainerService/CreateContainer", "container { id: 'f' feed {} }")
                  .End()
                  .ok());
  const std::string now = absl::StrCat(sidecar_.Now());
  const std::string long_id(1024, 'x');
  const struct {
    std::string method;
    std::string request;
    std::string field;
  } kCases[] = {
      {"ContainerService/CreateContainer", "container { id: '' }", "container.id"},
      {"ContainerService/CreateContainer", "container { id: 'a' default_ttl: 0 }",
       "container.default_ttl"},
      {"ContainerService/CreateContainer", "container { id: 'a' indexing_mode: 9 }",
       "container.indexing_mode"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { delay { seconds: -1 } } }",
       "container.delete_policy.delay"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { delay { nanos: 1 } } }",
       "container.delete_policy.delay"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { max_deletes_per_second: -1 } }",
       "container.delete_policy.max_deletes_per_second"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { request_units_per_second: 0 } }",
       "container.delete_policy.request_units_per_second"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { min_deletes_per_second: -1 } }",
       "container.delete_policy.min_deletes_per_second"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { request_units_per_second: 1 "
       "min_deletes_per_second: 2 } }",
       "container.delete_policy.min_deletes_per_second"},
      {"ContainerService/CreateContainer", "container { id: 'a' delete_policy { brake {} } }",
       "container.delete_policy.brake"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { brake { max_newly_due_items: -1 } } }",
       "container.delete_policy.brake.max_newly_due_items"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { brake { max_newly_due_percent: 101 } } }",
       "container.delete_policy.brake.max_newly_due_percent"},
      {"ContainerService/CreateContainer",
       "container { id: 'a' delete_policy { brake { max_newly_due_items: 1 "
       "release_after { seconds: 1 } } } }",
       "container.delete_policy.brake.release_after"},
      {"ContainerService/UpdateContainer", "container { id: 'c' }", "update_mask"},
      {"ContainerService/UpdateContainer", "container { id: 'c' } update_mask { paths: 'x' }",
       "update_mask"},
      {"ContainerService/UpdateContainer",
       "container { id: 'c' default_ttl: -2 } update_mask { paths: 'default_ttl' }",
       "container.default_ttl"},
      {"ContainerService/UpdateContainer",
       "container { id: 'c' default_ttl: -2 } update_mask { paths: 'default_ttl' } "
       "validate_only: true",
       "container.default_ttl"},
      {"ContainerService/ListContainers", "page_size: -1", "page_size"},
      {"ContainerService/UpdateContainer",
       "container { id: 'c' delete_policy { windows {} } } update_mask { paths: '*' }",
       "container.delete_policy.windows.windows"},
      {"ContainerService/UpdateContainer",
       "container { id: 'c' delete_policy { windows { windows { start: '8' } } } } "
       "update_mask { paths: '*' }",
       "container.delete_policy.windows.windows[0].start"},
      {"ContainerService/UpdateContainer",
       "container { id: 'c' delete_policy { windows { windows { start: '08:00' end: '09:00' } "
       "time_zone: 'Europe/Atlantis' } } } update_mask { paths: '*' }",
       "container.delete_policy.windows.time_zone"},
      {"ContainerService/ListContainers", "page_token: '!'", "page_token"},
      {"ContainerService/WatchContainers", "heartbeat_interval { seconds: 100 }",
       "heartbeat_interval"},
      {"ItemService/TrackItems", "container: 'c'", "items"},
      {"ItemService/TrackItems", "container: 'c' items { id: 'a' ts: 1 }  items { ts: -1 }",
       "items[1].ts"},
      {"ItemService/TrackItems", "container: 'c' items { ts: 9999999999999 }", "items[0].ts"},
      {"ItemService/TrackItems", absl::StrCat("container: 'c' items { ts: ", now, " ttl: 0 }"),
       "items[0].ttl"},
      {"ItemService/TrackItems",
       absl::StrCat("container: 'c' items { ts: ", now, " expire_at: 0 }"), "items[0].expire_at"},
      {"ItemService/TrackItems",
       absl::StrCat("container: 'c' items { ts: ", now, " size_bytes: -1 }"),
       "items[0].size_bytes"},
      {"ItemService/TrackItems", absl::StrCat("container: 'c' items { id: '", long_id, "' }"),
       "items[0].id"},
      {"ItemService/UntrackItems", absl::StrCat("container: 'c' items { id: '", long_id, "' }"),
       "items[0].id"},
      {"ItemService/CheckVisibility", "container: 'c'", "checks"},
      {"ItemService/CheckVisibility",
       absl::StrCat("container: 'c' checks {} checks { id: '", long_id, "' }"), "checks[1].id"},
      {"ItemService/CheckVisibility", "container: 'c' checks {} as_of { seconds: 1 }", "as_of"},
      {"ItemService/TouchItems", absl::StrCat("container: 'c' keys { id: '", long_id, "' }"),
       "keys[0].id"},
      {"ItemService/TouchItems",
       "container: 'c' keys { id: 'a' } unless_touched_within { nanos: 1 }",
       "unless_touched_within"},
      {"ItemService/GetItem", absl::StrCat("container: 'c' id: '", long_id, "'"), "id"},
      {"ItemService/ListItems", "container: 'c' page_token: '!'", "page_token"},
      {"ItemService/ListItems", "container: 'c' as_of { seconds: 1 }", "as_of"},
      {"ItemService/ListItems", "container: 'c' expire_time_from: 5 expire_time_to: 5",
       "expire_time_to"},
      {"ItemService/ListItems",
       absl::StrCat("container: 'c' partition_key: '", long_id, long_id, "x'"), "partition_key"},
      {"ExpiryService/GetForecast", "", "target"},
      {"ExpiryService/GetForecast", "all_containers: false", "all_containers"},
      {"ExpiryService/GetForecast", "container: 'c' until { seconds: 1 }", "until"},
      {"ExpiryService/GetForecast", "container: 'c' step { nanos: 1 }", "step"},
      {"ExpiryService/GetForecast", "container: 'c' default_ttl: 0", "default_ttl"},
      {"ExpiryService/GetForecast", "all_containers: true default_ttl: 5", "default_ttl"},
      {"ExpiryService/PauseDeletes", "container: 'c'", "reason"},
      {"ExpiryService/PauseDeletes", "reason: 'r'", "target"},
      {"ExpiryService/PauseDeletes", "reason: 'r' all_containers: false", "all_containers"},
      {"ExpiryService/ResumeDeletes", "", "target"},
      {"ExpiryService/ReportUsage", "container: 'c' request_units: -1", "request_units"},
      {"ExpiryService/ReportUsage", "container: 'c' period { seconds: 100 }", "period"},
      {"ExpiryService/ReportUsage", absl::StrCat("container: 'c' reporter: '", long_id, "'"),
       "reporter"},
      {"ExpiryService/SetMaxDeletesPerSecond", "", "limit"},
      {"ExpiryService/SetMaxDeletesPerSecond", "max_deletes_per_second: -1",
       "max_deletes_per_second"},
      {"ExpiryService/SetMaxDeletesPerSecond", "unlimited: false", "unlimited"},
      {"ExpiryService/SetMaxDeletesPerSecond", "server_default: false", "server_default"},
      {"ExpiryService/ConfirmStore", "", "store_id"},
      {"HoldService/PlaceHold", "container: 'c' reason: 'r' all_items: true", "hold_id"},
      {"HoldService/PlaceHold", "container: 'c' hold_id: 'h' all_items: true", "reason"},
      {"HoldService/PlaceHold", "container: 'c' hold_id: 'h' reason: 'r'", "scope"},
      {"HoldService/PlaceHold",
       "container: 'c' hold_id: 'h' reason: 'r' all_items: true until { seconds: 1 }", "until"},
      {"HoldService/PlaceHold", "container: 'c' hold_id: 'h' reason: 'r' keys {}", "keys.keys"},
      {"HoldService/PlaceHold",
       absl::StrCat("container: 'c' hold_id: 'h' reason: 'r' keys { keys { id: '", long_id,
                    "' } }"),
       "keys.keys[0].id"},
      {"HoldService/ReleaseHold", "container: 'c'", "hold_id"},
      {"HoldService/ListHolds", "page_size: -1", "page_size"},
      {"HoldService/ListHolds", "page_token: '!'", "page_token"},
      {"HoldService/ListHeldKeys", "container: 'c' hold_id: 'h' page_token: '!'", "page_token"},
      {"ContainerService/CreateContainer", "container { id: 'a' feed { max_age {} } }",
       "container.feed.max_age"},
      {"ContainerService/CreateContainer", "container { id: 'a' feed { max_age { nanos: 1 } } }",
       "container.feed.max_age"},
      {"ContainerService/CreateContainer", "container { id: 'a' feed { max_bytes: 1 } }",
       "container.feed.max_bytes"},
      {"ContainerService/CreateContainer", "container { id: 'a' feed { notice {} } }",
       "container.feed.notice"},
      {"FeedService/WatchEvents", "", "source"},
      {"FeedService/WatchEvents", "containers {}", "containers.ids"},
      {"FeedService/WatchEvents", "containers { ids: 'f' token: 'x' }", "containers.token"},
      {"FeedService/WatchEvents", "containers { ids: 'f' kinds: EVENT_KIND_UNSPECIFIED }",
       "containers.kinds[0]"},
      {"FeedService/WatchEvents", "containers { ids: 'f' } heartbeat_interval { seconds: 100 }",
       "heartbeat_interval"},
      {"FeedService/WatchEvents", "subscription { container: 'f' }", "subscription.name"},
      {"FeedService/CreateSubscription", "subscription { container: 'f' }", "subscription.name"},
      {"FeedService/CreateSubscription",
       "subscription { container: 'f' name: 's' kinds: EVENT_KIND_UNSPECIFIED }",
       "subscription.kinds[0]"},
      {"FeedService/CreateSubscription",
       "subscription { container: 'f' name: 's' consumer: '\\001' }", "subscription.consumer"},
      {"FeedService/GetSubscription", "container: 'f'", "name"},
      {"FeedService/DeleteSubscription", "container: 'f'", "name"},
      {"FeedService/Acknowledge", "container: 'f'", "name"},
      {"FeedService/ListSubscriptions", "page_size: -1", "page_size"},
      {"FeedService/ListSubscriptions", "page_token: '!'", "page_token"},
      {"MaintenanceService/SetSourcePosition", "", "position"},
      {"MaintenanceService/PreviewContainer", "container { id: '' }", "container.id"},
  };
  for (const auto& c : kCases) {
    const StatusDetails details = Refused(sidecar_, c.method, c.request);
    EXPECT_EQ(details.reason, "INVALID_FIELD") << c.method << " " << c.request;
    EXPECT_EQ(CodeOf(details), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(details.violations, ElementsAre(Pair(c.field, details.message)))
        << c.method << " " << c.request;
    EXPECT_EQ(details.retry_delay, std::nullopt);
  }
}

TEST_F(ErrorDetailsTest, EachRefusalHasItsReason) {
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("ours"), IsOk());
  const struct {
    std::string method;
    std::string request;
    Reason reason;
    std::map<std::string, std::string> metadata;
  } kCases[] = {
      {"ContainerService/GetContainer",
       "id: 'x'",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"ContainerService/UpdateContainer",
       "container { id: 'x' } update_mask { paths: '*' }",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"ItemService/TrackItems",
       "container: 'x' items { id: 'a' ts: 1 }",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"ItemService/CheckVisibility",
       "container: 'x' checks {}",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"ExpiryService/ExplainItem",
       "container: 'x'",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"ItemService/GetItem", "container: 'c' id: 'x'", Reason::kItemNotFound, {}},
      {"ItemService/TouchItems",
       "container: 'c' keys { id: 'a' }",
       Reason::kTouchNotAllowed,
       {{"container", "c"}}},
      {"HoldService/PlaceHold",
       "container: 'x' hold_id: 'h' reason: 'r' all_items: true",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"HoldService/AcceptHolds",
       "container: 'x'",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"HoldService/ListHolds", "container: 'x'", Reason::kContainerNotFound, {{"container", "x"}}},
      {"HoldService/ReleaseHold",
       "container: 'c' hold_id: 'h'",
       Reason::kHoldNotFound,
       {{"container", "c"}, {"hold_id", "h"}}},
      {"HoldService/ListHeldKeys",
       "container: 'c' hold_id: 'h'",
       Reason::kHoldNotFound,
       {{"container", "c"}, {"hold_id", "h"}}},
      {"ContainerService/CreateContainer",
       "container { id: 'c' }",
       Reason::kContainerExists,
       {{"container", "c"}}},
      {"MaintenanceService/PreviewContainer",
       "container { id: 'c' }",
       Reason::kContainerExists,
       {{"container", "c"}}},
      {"ContainerService/CreateContainer",
       "container { id: 'a' default_ttl: 1 indexing_mode: INDEXING_MODE_NONE }",
       Reason::kTtlNeedsIndex,
       {}},
      {"ExpiryService/ConfirmPolicy",
       "container: 'c'",
       Reason::kNothingToConfirm,
       {{"container", "c"}}},
      {"ExpiryService/ConfirmStore", "store_id: 'x'", Reason::kStoreNeedsNoConfirmation, {}},
      {"ExpiryService/AcceptClock", "", Reason::kClockNotSuspect, {}},
      {"MaintenanceService/StartReconciliation", "", Reason::kStoreNotConfigured, {}},
      {"MaintenanceService/PreviewContainer",
       "container { id: 'a' }",
       Reason::kStoreNotConfigured,
       {}},
      {"MaintenanceService/GetReconciliation", "", Reason::kReconciliationNotFound, {}},
      {"MaintenanceService/CancelReconciliation", "", Reason::kReconciliationNotRunning, {}},
      {"MaintenanceService/TrustData", "", Reason::kDataNotInDoubt, {}},
      {"grpc.health.v1.Health/Check", "service: 'x'", Reason::kServiceNotFound, {{"service", "x"}}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.method, " ", c.request));
    const StatusDetails details = Refused(sidecar_, c.method, c.request);
    ExpectReason(details, c.reason);
    EXPECT_EQ(details.metadata, c.metadata);
  }
}

TEST_F(ErrorDetailsTest, AnOldEtagIsAnsweredWithThePresentOne) {
  v1::GetContainerRequest get;
  get.set_id("c");
  const auto container =
      Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer, get);
  ASSERT_THAT(container, IsOk());
  const std::string present = container->container().etag();
  for (const std::string method : {"UpdateContainer", "DeleteContainer"}) {
    const StatusDetails details =
        Refused(sidecar_, absl::StrCat("ContainerService/", method),
                method == "DeleteContainer"
                    ? "id: 'c' etag: 'old'"
                    : "container { id: 'c' etag: 'old' } update_mask { paths: '*' }");
    ExpectReason(details, Reason::kEtagMismatch);
    EXPECT_EQ(details.metadata.at("etag"), present);
  }
}

TEST_F(ErrorDetailsTest, HoldsThatStandKeepAContainerAndItsIndex) {
  ASSERT_TRUE(RawCall(sidecar_, "HoldService/PlaceHold",
                      "container: 'c' hold_id: 'h' reason: 'r' all_items: true")
                  .End()
                  .ok());
  const std::map<std::string, std::string> metadata = {{"container", "c"}, {"holds", "1"}};
  const StatusDetails deleted = Refused(sidecar_, "ContainerService/DeleteContainer", "id: 'c'");
  ExpectReason(deleted, Reason::kHoldsStand);
  EXPECT_EQ(deleted.metadata, metadata);
  const StatusDetails updated = Refused(sidecar_, "ContainerService/UpdateContainer",
                                        "container { id: 'c' indexing_mode: INDEXING_MODE_NONE } "
                                        "update_mask { paths: '*' }");
  ExpectReason(updated, Reason::kHoldsStand);
  EXPECT_EQ(updated.metadata, metadata);
}

// A sidecar with the container "f", which has a feed, and its subscription "s".
class FeedErrorDetailsTest : public ErrorDetailsTest {
 protected:
  void SetUp() override {
    ErrorDetailsTest::SetUp();
    Do("ContainerService/CreateContainer", "container { id: 'f' default_ttl: -1 feed {} }");
    Do("FeedService/CreateSubscription", "subscription { container: 'f' name: 's' }");
  }

  void Do(const std::string& method, const std::string& request) {
    const grpc::Status status = RawCall(sidecar_, method, request).End();
    ASSERT_TRUE(status.ok()) << method << " " << request << ": " << status.error_message();
  }
  v1::Subscription Get() {
    v1::GetSubscriptionRequest request;
    request.set_container("f");
    request.set_name("s");
    return Call(sidecar_.feed(), &v1::FeedService::Stub::GetSubscription, request)
        .value()
        .subscription();
  }
  // The token of a stream of "f" that begins now.
  std::string TokenOfNow() {
    grpc::ClientContext context;
    v1::WatchEventsRequest request;
    request.mutable_containers()->add_ids("f");
    request.mutable_heartbeat_interval()->set_nanos(100'000'000);
    v1::WatchEventsResponse response;
    const auto stream = sidecar_.feed().WatchEvents(&context, request);
    EXPECT_TRUE(stream->Read(&response));
    context.TryCancel();
    return response.token();
  }
  StatusDetails RefusedToken(const std::string& token) {
    return Refused(sidecar_, "FeedService/WatchEvents",
                   absl::StrCat("containers { ids: 'f' token: '", absl::CHexEscape(token), "' }"));
  }
};

TEST_F(FeedErrorDetailsTest, EachRefusalHasItsReason) {
  const uint64_t epoch = Get().epoch();
  const struct {
    std::string method;
    std::string request;
    Reason reason;
    std::map<std::string, std::string> metadata;
  } kCases[] = {
      {"FeedService/WatchEvents",
       "containers { ids: 'c' }",
       Reason::kFeedOff,
       {{"container", "c"}}},
      {"FeedService/WatchEvents",
       "containers { ids: 'x' }",
       Reason::kContainerNotFound,
       {{"container", "x"}}},
      {"FeedService/CreateSubscription",
       "subscription { container: 'c' name: 's' }",
       Reason::kFeedOff,
       {{"container", "c"}}},
      {"FeedService/CreateSubscription",
       "subscription { container: 'f' name: 's' }",
       Reason::kSubscriptionExists,
       {{"container", "f"}, {"subscription", "s"}}},
      {"FeedService/GetSubscription",
       "container: 'f' name: 'x'",
       Reason::kSubscriptionNotFound,
       {{"container", "f"}, {"subscription", "x"}}},
      {"FeedService/DeleteSubscription",
       "container: 'f' name: 'x'",
       Reason::kSubscriptionNotFound,
       {{"container", "f"}, {"subscription", "x"}}},
      {"FeedService/WatchEvents",
       "subscription { container: 'f' name: 'x' }",
       Reason::kSubscriptionNotFound,
       {{"container", "f"}, {"subscription", "x"}}},
      {"FeedService/Acknowledge",
       absl::StrCat("container: 'f' name: 's' sequence: 9 epoch: ", epoch),
       Reason::kSequenceNotSent,
       {{"sent", "0"}}},
      {"FeedService/Acknowledge",
       absl::StrCat("container: 'f' name: 's' epoch: ", epoch + 1),
       Reason::kLogReplaced,
       {{"container", "f"}}},
      {"ContainerService/UpdateContainer",
       "container { id: 'f' } update_mask { paths: 'feed' }",
       Reason::kSubscriptionsExist,
       {{"container", "f"}, {"subscriptions", "1"}}},
      {"ContainerService/UpdateContainer",
       "container { id: 'f' } update_mask { paths: 'feed' } validate_only: true",
       Reason::kSubscriptionsExist,
       {{"container", "f"}, {"subscriptions", "1"}}},
      {"ContainerService/DeleteContainer",
       "id: 'f'",
       Reason::kSubscriptionsExist,
       {{"container", "f"}, {"subscriptions", "1"}}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.method, " ", c.request));
    const StatusDetails details = Refused(sidecar_, c.method, c.request);
    ExpectReason(details, c.reason);
    EXPECT_EQ(details.metadata, c.metadata);
  }
}

TEST_F(FeedErrorDetailsTest, AnotherCallerThanTheConsumerIsNamed) {
  ASSERT_NO_FATAL_FAILURE(
      Do("FeedService/CreateSubscription",
         "subscription { container: 'f' name: 'theirs' consumer: 'cn:shipping' }"));
  const StatusDetails details =
      Refused(sidecar_, "FeedService/Acknowledge", "container: 'f' name: 'theirs'");
  ExpectReason(details, Reason::kNotTheConsumer);
  EXPECT_EQ(details.metadata, (std::map<std::string, std::string>{{"caller", "address:test"},
                                                                  {"consumer", "cn:shipping"}}));
}

TEST_F(FeedErrorDetailsTest, ATokenOfAnotherLogIsTold) {
  const std::string token = TokenOfNow();
  ASSERT_NO_FATAL_FAILURE(Do("ContainerService/DeleteContainer", "id: 'f' force: true"));
  ASSERT_NO_FATAL_FAILURE(
      Do("ContainerService/CreateContainer", "container { id: 'f' default_ttl: -1 feed {} }"));
  const StatusDetails details = RefusedToken(token);
  ExpectReason(details, Reason::kLogReplaced);
  EXPECT_EQ(details.metadata.at("container"), "f");
}

TEST_F(FeedErrorDetailsTest, EventsThatWereDroppedAreTold) {
  ASSERT_NO_FATAL_FAILURE(Do("ContainerService/UpdateContainer",
                             "container { id: 'f' feed { max_age { seconds: 60 } } } "
                             "update_mask { paths: 'feed.max_age' }"));
  const std::string token = TokenOfNow();
  // Each change of the policy is an event.
  for (const int ttl : {100, 200, 300}) {
    ASSERT_NO_FATAL_FAILURE(Do("ContainerService/UpdateContainer",
                               absl::StrCat("container { id: 'f' default_ttl: ", ttl,
                                            " } update_mask { paths: 'default_ttl' }")));
  }
  sidecar_.clock().Advance(absl::Seconds(100));
  sidecar_.storage().FinishHousekeeping();
  const StatusDetails details = RefusedToken(token);
  ExpectReason(details, Reason::kEventsDropped);
  EXPECT_EQ(details.metadata.at("container"), "f");
  const std::string watch = "subscription { container: 'f' name: 's' }";
  ExpectReason(Refused(sidecar_, "FeedService/WatchEvents", watch), Reason::kEventsDropped);
  // It goes on behind its last event.
  const v1::Subscription lost = Get();
  EXPECT_TRUE(lost.has_lost_events());
  ASSERT_NO_FATAL_FAILURE(
      Do("FeedService/Acknowledge", absl::StrCat("container: 'f' name: 's' epoch: ", lost.epoch(),
                                                 " sequence: ", lost.last_sequence())));
  EXPECT_FALSE(Get().has_lost_events());
  EXPECT_TRUE(RawCall(sidecar_, "FeedService/WatchEvents",
                      watch + " heartbeat_interval { nanos: 100000000 }")
                  .Started());
}

TEST_F(FeedErrorDetailsTest, ManySubscriptionsAreTheLimit) {
  for (size_t i = 1; i < kMaxSubscriptions; ++i) {
    ASSERT_NO_FATAL_FAILURE(Do("FeedService/CreateSubscription",
                               absl::StrCat("subscription { container: 'f' name: 's", i, "' }")));
  }
  const StatusDetails details = Refused(sidecar_, "FeedService/CreateSubscription",
                                        "subscription { container: 'f' name: 'one more' }");
  ExpectReason(details, Reason::kTooManySubscriptions);
  EXPECT_EQ(details.metadata.at("limit"), absl::StrCat(kMaxSubscriptions));
}

TEST_F(ErrorDetailsTest, AHoldKeepsItsScope) {
  ASSERT_TRUE(RawCall(sidecar_, "HoldService/PlaceHold",
                      "container: 'c' hold_id: 'h' reason: 'r' all_items: true")
                  .End()
                  .ok());
  const StatusDetails details =
      Refused(sidecar_, "HoldService/PlaceHold",
              "container: 'c' hold_id: 'h' reason: 'r' partition_key: 'p'");
  ExpectReason(details, Reason::kHoldScopeDiffers);
  EXPECT_EQ(details.metadata.at("hold_id"), "h");
}

TEST_F(ErrorDetailsTest, WhoLacksTheRoleLearnsWhichOne) {
  RpcSidecar::Options options;
  options.roles = {Role::kStore};
  RpcSidecar sidecar(options);
  const StatusDetails details = Refused(sidecar, "ContainerService/CreateContainer", "");
  ExpectReason(details, Reason::kRoleMissing);
  EXPECT_EQ(details.metadata.at("needs"), "admin");
  EXPECT_EQ(details.metadata.at("caller"), "address:test");
  EXPECT_TRUE(absl::EndsWith(details.metadata.at("method"), "CreateContainer"));
}

TEST_F(ErrorDetailsTest, AFullQueueSaysWhenToRetry) {
  RpcSidecar::Options options;
  options.storage.max_queued_writes = 0;
  RpcSidecar full_queue(options);
  ASSERT_THAT(full_queue.Create(60), IsOk());
  const std::string report = "container: 'c' items { id: 'a' ts: 1 }";
  const StatusDetails details = Refused(full_queue, "ItemService/TrackItems", report);
  ExpectReason(details, Reason::kQueueFull);
  EXPECT_EQ(details.retry_delay, kPushback);
}

TEST_F(ErrorDetailsTest, FailedWritesAreAReasonOfTheStorage) {
  sidecar_.storage().env().FailWrites(true);
  const std::string report = "container: 'c' items { id: 'a' ts: 1 }";
  ExpectReason(Refused(sidecar_, "ItemService/TrackItems", report), Reason::kStorageUnavailable);
  ExpectReason(Refused(sidecar_, "ItemService/TrackItems", report), Reason::kStorageUnavailable);
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ErrorDetailsTest, ClocksThatCannotBeReadAreReasons) {
  sidecar_.clock().FailBoot();
  ExpectReason(Refused(sidecar_, "ExpiryService/ReportUsage", "container: 'c'"),
               Reason::kClockUnreadable);
  sidecar_.guarded_clock().Tick();
  ExpectReason(Refused(sidecar_, "ExpiryService/AcceptClock", ""), Reason::kClockNotAcceptable);
}

TEST_F(ErrorDetailsTest, AClockThatIsSuspectIsAReasonNotToTouch) {
  v1::UpdateContainerRequest allow = Proto<v1::UpdateContainerRequest>(
      "container { id: 'c' allow_touch: true } update_mask { "
      "paths: 'allow_touch' }");
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer, allow),
              IsOk());
  sidecar_.clock().StepWall(absl::Hours(1));
  sidecar_.guarded_clock().Tick();
  ExpectReason(Refused(sidecar_, "ItemService/TouchItems", "container: 'c' keys { id: 'a' }"),
               Reason::kTouchUnavailable);
}

TEST_F(ErrorDetailsTest, OnlyOneReconciliationRuns) {
  RpcSidecar::Options options;
  options.has_store = true;
  RpcSidecar sidecar(options);
  ASSERT_TRUE(RawCall(sidecar, "MaintenanceService/StartReconciliation", "").End().ok());
  ExpectReason(Refused(sidecar, "MaintenanceService/StartReconciliation", ""),
               Reason::kReconciliationRunning);
}

TEST_F(ErrorDetailsTest, ARebuildCannotBeCancelled) {
  Reconciliation rebuild;
  rebuild.rebuild = true;
  sidecar_.reconciliations().Post(rebuild);
  ASSERT_TRUE(sidecar_.reconciliations().View()->is_under_way());
  ExpectReason(Refused(sidecar_, "MaintenanceService/CancelReconciliation", ""),
               Reason::kRebuildRunning);
}

TEST_F(ErrorDetailsTest, OnlyTheStoreThatIsConnectedCanBeConfirmed) {
  ASSERT_THAT(sidecar_.levers().TakeFirstStore("ours"), IsOk());
  ASSERT_THAT(sidecar_.levers().DoubtStore("a test"), IsOk());
  StoreView store;
  store.reachable = true;
  store.store_id = "theirs";
  sidecar_.published().PostStore(store);
  const StatusDetails details = Refused(sidecar_, "ExpiryService/ConfirmStore", "store_id: 'ours'");
  ExpectReason(details, Reason::kStoreIdMismatch);
  EXPECT_EQ(details.metadata.at("store_id"), "theirs");
}

TEST_F(ErrorDetailsTest, ManyWatchersAreTheLimit) {
  std::vector<std::unique_ptr<RawCall>> watches;
  for (size_t i = 0; i < ContainerWatches::kMaxWatches; ++i) {
    watches.push_back(std::make_unique<RawCall>(sidecar_, "ContainerService/WatchContainers", ""));
    ASSERT_TRUE(watches.back()->Started());
  }
  const StatusDetails details = Refused(sidecar_, "ContainerService/WatchContainers", "");
  ExpectReason(details, Reason::kTooManyStreams);
  EXPECT_EQ(details.metadata.at("limit"), absl::StrCat(ContainerWatches::kMaxWatches));
  sidecar_.EndStreams();
  for (const auto& watch : watches) EXPECT_FALSE(watch->End().ok());
}

TEST_F(ErrorDetailsTest, OnlyOneBackupRuns) {
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar_));
  RawCall first(sidecar_, "MaintenanceService/BackUpData", "");
  ASSERT_TRUE(first.Started());
  ExpectReason(Refused(sidecar_, "MaintenanceService/BackUpData", ""), Reason::kBackupRunning);
  EXPECT_TRUE(first.End().ok());
}

TEST_F(ErrorDetailsTest, AFailedWriteInterruptsABackup) {
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar_));
  RawCall backup(sidecar_, "MaintenanceService/BackUpData", "");
  ASSERT_TRUE(backup.Started());
  sidecar_.storage().env().FailWrites(true);
  Refused(sidecar_, "ItemService/TrackItems", "container: 'c' items { id: 'a' ts: 1 }");
  ExpectReason(DetailsOfEnd(backup.End()), Reason::kBackupInterrupted);
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ErrorDetailsTest, ABackupThatIsReadMoreSlowlyThanDataChangeEnds) {
  RpcSidecar::Options options;
  options.stall_limit = absl::Minutes(5);
  RpcSidecar sidecar(options);
  ASSERT_THAT(sidecar.Create(60), IsOk());
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar));
  RawCall backup(sidecar, "MaintenanceService/BackUpData", "");
  ASSERT_TRUE(backup.Started());
  ASSERT_NO_FATAL_FAILURE(ChangeMuch(sidecar));
  ExpectReason(DetailsOfEnd(backup.End()), Reason::kBackupTooSlow);
}

TEST_F(ErrorDetailsTest, AClientThatDidNotReadItsStreamLearnsIt) {
  RpcSidecar::Options options;
  options.stall_limit = absl::Seconds(3);
  RpcSidecar sidecar(options);
  ASSERT_THAT(sidecar.Create(60), IsOk());
  ASSERT_NO_FATAL_FAILURE(TrackMuch(sidecar));
  RawCall backup(sidecar, "MaintenanceService/BackUpData", "");
  ASSERT_TRUE(backup.Started());
  // Another one may begin as soon as this one has ended.
  ASSERT_TRUE(
      WaitUntil([&] { return RawCall(sidecar, "MaintenanceService/BackUpData", "").Started(); }));
  ExpectReason(DetailsOfEnd(backup.End()), Reason::kClientTooSlow);
}

TEST_F(ErrorDetailsTest, AWatchThatEndsBecauseTheSidecarStopsSaysWhenToRetry) {
  RawCall watch(sidecar_, "ContainerService/WatchContainers", "");
  ASSERT_TRUE(watch.Started());
  sidecar_.EndStreams();
  const StatusDetails details = DetailsOfEnd(watch.End());
  ExpectReason(details, Reason::kShuttingDown);
  EXPECT_EQ(details.retry_delay, absl::Milliseconds(250));
}

TEST_F(ErrorDetailsTest, ARefusedMessageOfAStreamHasTheDetailsToo) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto stream = sidecar_.items().StreamCheckVisibility(&context);
  v1::StreamCheckVisibilityRequest request;
  request.mutable_request()->set_container("c");
  v1::StreamCheckVisibilityResponse response;
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  stream->WritesDone();
  const auto details = ReadStatusDetails(response.error().status_details());
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->reason, "INVALID_FIELD");
  EXPECT_THAT(details->violations, ElementsAre(Pair("checks", response.error().message())));
  EXPECT_TRUE(stream->Finish().ok());
}

// One row of the table in protos/errors.md: | `REASON` | CODE | ...
std::vector<std::string> RowsOfThePage() {
  std::ifstream page(ERRORS_PAGE);
  EXPECT_TRUE(page.is_open());
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (!absl::StartsWith(line, "| `") || absl::StartsWith(line, "| `google")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    rows.push_back(absl::StrCat(cells[1], cells[2]));
  }
  return rows;
}

TEST(ErrorsPageTest, TheTableHasEachReasonWithItsCode) {
  std::vector<std::string> reasons;
  for (const ReasonEntry& entry : AllReasons()) {
    reasons.push_back(
        absl::StrCat(" `", entry.name, "`  ", absl::StatusCodeToString(entry.code), " "));
  }
  EXPECT_THAT(RowsOfThePage(), UnorderedElementsAreArray(reasons));
}

// A reason by its name in code: Reason::kQueueFull for QUEUE_FULL.
std::string Enumerator(absl::string_view name) {
  std::string text = "Reason::k";
  for (const absl::string_view word : absl::StrSplit(name, '_')) {
    absl::StrAppend(&text, word.substr(0, 1), absl::AsciiStrToLower(word.substr(1)));
  }
  return text;
}

// All unit tests, one after the other.
std::string TextOfTests() {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(UNIT_TESTS)) {
    if (!absl::EndsWith(entry.path().string(), "_test.cc")) continue;
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

// Whether `word` is in `text`, and not as the beginning of a longer one.
bool HasWord(const std::string& text, const std::string& word) {
  size_t at = text.find(word);
  while (at != std::string::npos && absl::ascii_isalpha(text[at + word.size()])) {
    at = text.find(word, at + 1);
  }
  return at != std::string::npos;
}

TEST(ErrorsPageTest, EachReasonIsExpectedByATest) {
  const std::string tests = TextOfTests();
  for (const ReasonEntry& entry : AllReasons()) {
    const std::string enumerator = Enumerator(entry.name);
    const std::string text = absl::StrCat("\"", entry.name, "\"");
    EXPECT_TRUE(HasWord(tests, enumerator) || HasWord(tests, text))
        << "no test expects " << enumerator << " or " << text;
  }
}

}  // namespace
}  // namespace ttl
