#include "service/server/metrics/call_metrics.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/transport/connections/closed_connections.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/scrape.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

// The services on a real socket, and the metrics of their calls.
class CallMetricsTest : public testing::Test {
 protected:
  CallMetricsTest() { EXPECT_THAT(sidecar_.Create(100), IsOk()); }

  Scrape Read() const {
    MetricSheet sheet;
    AddCallMetrics(sidecar_.call_counters(), sheet);
    AddCheckMetrics(sidecar_.check_counters(), sheet);
    return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
  }
  double Value(const std::string& series) const { return Read().Value("ttl_sidecar_" + series); }
  double Calls(const std::string& method, const std::string& code) const {
    return Value(absl::StrCat("rpc_calls_total{method=\"", method, "\",code=\"", code, "\"}"));
  }
  double Messages(const std::string& method, const std::string& code) const {
    return Value(
        absl::StrCat("rpc_stream_messages_total{method=\"", method, "\",code=\"", code, "\"}"));
  }
  double Open(const std::string& method) const {
    return Value(absl::StrCat("rpc_streams_open{method=\"", method, "\"}"));
  }

  RpcSidecar sidecar_;
};

TEST_F(CallMetricsTest, UnaryCallsCountByMethodAndCode) {
  EXPECT_EQ(Calls("ContainerService/CreateContainer", "OK"), 1);
  EXPECT_EQ(Calls("ItemService/GetItem", "OK"), 0);
  EXPECT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  EXPECT_THAT(sidecar_.Get("a"), IsOk());
  EXPECT_FALSE(sidecar_.Get("nobody").ok());
  EXPECT_FALSE(sidecar_.Get("nobody").ok());
  EXPECT_EQ(Calls("ItemService/TrackItems", "OK"), 1);
  EXPECT_EQ(Calls("ItemService/GetItem", "OK"), 1);
  EXPECT_EQ(Calls("ItemService/GetItem", "NOT_FOUND"), 2);
  EXPECT_EQ(Calls("ItemService/GetItem", "INTERNAL"), -1) << "codes that never came are left out";
}

TEST_F(CallMetricsTest, DurationsAreThereFromTheFirstCallOn) {
  const std::string count = "rpc_duration_seconds_count{method=\"ItemService/CheckVisibility\"}";
  EXPECT_EQ(Value(count), -1);
  sidecar_.Check("a");
  EXPECT_EQ(Value(count), 1);
  const double sum = Value("rpc_duration_seconds_sum{method=\"ItemService/CheckVisibility\"}");
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, 20);
}

TEST_F(CallMetricsTest, ChecksCountByVerdict) {
  EXPECT_THAT(sidecar_.Track("live", sidecar_.Now()), IsOk());
  EXPECT_THAT(sidecar_.Track("dead", sidecar_.Now() - 100), IsOk());
  sidecar_.Check("live");
  sidecar_.Check("live");
  sidecar_.Check("dead");
  sidecar_.Check("nobody");
  EXPECT_EQ(Value("checks_total{verdict=\"visible\"}"), 2);
  EXPECT_EQ(Value("checks_total{verdict=\"expired\"}"), 1);
  EXPECT_EQ(Value("checks_total{verdict=\"untracked\"}"), 1);
  EXPECT_EQ(Value("impossible_checks_total"), 0);
}

TEST_F(CallMetricsTest, ARefusedCheckHasNoVerdict) {
  v1::CheckVisibilityRequest request;
  request.set_container("no such container");
  request.add_checks()->set_id("a");
  EXPECT_FALSE(Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility, request).ok());
  EXPECT_EQ(Calls("ItemService/CheckVisibility", "NOT_FOUND"), 1);
  EXPECT_EQ(Value("checks_total{verdict=\"untracked\"}"), 0);
}

TEST_F(CallMetricsTest, ImpossibleChecksCountAsVisibleToo) {
  const auto request = Proto<v1::CheckVisibilityRequest>(
      R"(container: "c" checks { partition_key: "p" id: "a" ts: 9999999999999 })");
  ASSERT_THAT(Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility, request), IsOk());
  EXPECT_EQ(Value("impossible_checks_total"), 1);
  EXPECT_EQ(Value("checks_total{verdict=\"visible\"}"), 1);
}

TEST_F(CallMetricsTest, MessagesOfStreamsHaveTheirOwnCodes) {
  const std::string method = "ItemService/StreamCheckVisibility";
  grpc::ClientContext context;
  auto stream = sidecar_.items().StreamCheckVisibility(&context);
  v1::StreamCheckVisibilityRequest request;
  v1::StreamCheckVisibilityResponse response;
  for (const char* container : {"c", "c", "nowhere"}) {
    request.mutable_request()->set_container(container);
    if (request.request().checks().empty()) request.mutable_request()->add_checks()->set_id("a");
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
  }
  EXPECT_EQ(Open(method), 1);
  EXPECT_EQ(Messages(method, "OK"), 2);
  EXPECT_EQ(Messages(method, "NOT_FOUND"), 1);
  EXPECT_EQ(Calls(method, "OK"), 0) << "a stream counts when it ends";
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(WaitUntil([&] { return Open(method) == 0; }));
  EXPECT_EQ(Calls(method, "OK"), 1);
  EXPECT_EQ(
      Value(absl::StrCat("rpc_stream_message_duration_seconds_count{method=\"", method, "\"}")), 3);
}

TEST_F(CallMetricsTest, ReportsOnStreamsCountWhenTheyAreDurable) {
  const std::string method = "ItemService/StreamTrackItems";
  grpc::ClientContext context;
  auto stream = sidecar_.items().StreamTrackItems(&context);
  v1::StreamTrackItemsRequest request;
  request.mutable_request()->set_container("c");
  v1::Item& item = *request.mutable_request()->add_items();
  item.set_id("a");
  item.set_ts(sidecar_.Now());
  v1::StreamTrackItemsResponse response;
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(Messages(method, "OK"), 1);
  context.TryCancel();
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_TRUE(WaitUntil([&] { return Open(method) == 0; }));
}

TEST_F(CallMetricsTest, WatchersAreOpenStreams) {
  const std::string method = "ContainerService/WatchContainers";
  grpc::ClientContext context;
  auto stream = sidecar_.containers().WatchContainers(&context, {});
  v1::WatchContainersResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(Open(method), 1);
  context.TryCancel();
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_TRUE(WaitUntil([&] { return Open(method) == 0; }));
  EXPECT_TRUE(WaitUntil([&] { return Calls(method, "CANCELLED") == 1; })) << "a moment later";
}

TEST(AccessMetricsTest, RefusalsCountByRole) {
  AccessCounters counters;
  counters.RefusedFor(Role::kAdmin) += 2;
  MetricSheet sheet;
  AddAccessMetrics(counters, sheet);
  const Scrape scrape = Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
  EXPECT_EQ(scrape.Value("ttl_sidecar_access_refusals_total{role=\"admin\"}"), 2);
  EXPECT_EQ(scrape.Value("ttl_sidecar_access_refusals_total{role=\"store\"}"), 0);
}

TEST(ConnectionMetricsTest, ClosedOnesCountByReasonFromTheStart) {
  const auto closed = [](CloseReason reason) {
    MetricSheet sheet;
    AddConnectionMetrics(sheet);
    return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take()))
        .value()
        .Value(absl::StrCat("ttl_sidecar_closed_connections_total{reason=\"",
                            CloseReasonName(reason), "\"}"));
  };
  for (int i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    EXPECT_EQ(closed(reason), 0) << CloseReasonName(reason);
    for (int count = 0; count <= i; ++count) CountClosedConnection(reason);
  }
  for (int i = 0; i < kCloseReasons; ++i) {
    EXPECT_EQ(closed(static_cast<CloseReason>(i)), i + 1) << i;
  }
}

}  // namespace
}  // namespace ttl
