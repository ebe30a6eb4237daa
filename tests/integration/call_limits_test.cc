// What is refused for its size or number: with what status, and that the connection and
// the calls beside it go on.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/async_unary_call.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/integration/http2_frames.h"
#include "tests/integration/raw_http2.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(20);

// The most memory that a process has had at a time, in bytes.
int64_t MostMemory(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  int64_t kib = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kib;
  }
  return kib << 10;
}

class CallLimitsTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = std::move(flags);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    items_ = v1::ItemService::NewStub(sidecar_->channel());
    containers_ = v1::ContainerService::NewStub(sidecar_->channel());
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id("c");
    grpc::ClientContext context;
    v1::CreateContainerResponse response;
    const grpc::Status made = containers_->CreateContainer(&context, request, &response);
    ASSERT_TRUE(made.ok()) << made.error_message();
  }

  grpc::Status Check(const v1::CheckVisibilityRequest& request, size_t metadata_bytes = 0,
                     std::chrono::milliseconds patience = kPatience) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    if (metadata_bytes > 0) context.AddMetadata("x-large", std::string(metadata_bytes, 'x'));
    v1::CheckVisibilityResponse response;
    return items_->CheckVisibility(&context, request, &response);
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::ContainerService::Stub> containers_;
};

v1::CheckVisibilityRequest Checks(int count, size_t key_bytes, size_t id_bytes) {
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  for (int i = 0; i < count; ++i) {
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key(std::string(key_bytes, 'k'));
    check.set_id(std::string(id_bytes, 'i'));
  }
  return request;
}

// One request, and what it meets.
struct Case {
  const char* name;
  v1::CheckVisibilityRequest request;
  size_t metadata_bytes;
  grpc::StatusCode code;
  const char* message;
};

TEST_F(CallLimitsTest, TheLimitPassesOneMoreIsRefusedAndTheConnectionGoesOn) {
  Start({"--max-message-mib=1"});
  // A stream on the same connection, from before the first refusal.
  grpc::ClientContext context;
  const auto stream = items_->StreamCheckVisibility(&context);
  v1::StreamCheckVisibilityRequest streamed;
  *streamed.mutable_request() = Checks(1, 1, 1);
  v1::StreamCheckVisibilityResponse answer;
  ASSERT_TRUE(stream->Write(streamed) && stream->Read(&answer));

  using grpc::StatusCode;
  const Case cases[] = {
      {"as many checks", Checks(10000, 1, 1), 0, StatusCode::OK, ""},
      {"a check more", Checks(10001, 1, 1), 0, StatusCode::INVALID_ARGUMENT, "10001"},
      {"no check", Checks(0, 0, 0), 0, StatusCode::INVALID_ARGUMENT, "checks has 0"},
      {"as long a key", Checks(1, 2048, 1023), 0, StatusCode::OK, ""},
      {"a byte more of partition key", Checks(1, 2049, 1), 0, StatusCode::INVALID_ARGUMENT,
       "checks[0].partition_key"},
      {"a byte more of id", Checks(1, 1, 1024), 0, StatusCode::INVALID_ARGUMENT, "checks[0].id"},
      {"most of a MiB", Checks(500, 1900, 100), 0, StatusCode::OK, ""},
      {"more than a MiB", Checks(600, 1900, 100), 0, StatusCode::RESOURCE_EXHAUSTED, "1048576"},
      {"large metadata", Checks(1, 1, 1), 12 << 10, StatusCode::OK, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const grpc::Status status = Check(c.request, c.metadata_bytes);
    EXPECT_EQ(status.error_code(), c.code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(c.message));
    EXPECT_TRUE(stream->Write(streamed) && stream->Read(&answer));
  }
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_TRUE(stream->Finish().ok());
}

// gRPC may close the connection too: calls on others do not notice, and the client connects
// again.
TEST_F(CallLimitsTest, MetadataBeyondTheLimitIsRefusedAndCostsTheConnectionAtMost) {
  Start({"--listen-tcp=127.0.0.1:0,roles=reader", "--insecure-tcp"});
  const std::string address = absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0));
  items_ = v1::ItemService::NewStub(NewTestChannel(address));
  const auto others = v1::ItemService::NewStub(NewTestChannel(address));
  grpc::ClientContext context;
  const auto stream = others->StreamCheckVisibility(&context);
  v1::StreamCheckVisibilityRequest streamed;
  *streamed.mutable_request() = Checks(1, 1, 1);
  v1::StreamCheckVisibilityResponse answer;
  ASSERT_TRUE(stream->Write(streamed) && stream->Read(&answer));

  const grpc::Status refused = Check(Checks(1, 1, 1), 24 << 10);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refused.error_message();
  EXPECT_TRUE(WaitUntil([&] { return Check(Checks(1, 1, 1)).ok(); }));
  const grpc::Status cut_off = Check(Checks(1, 1, 1), 64 << 10);
  EXPECT_EQ(cut_off.error_code(), grpc::StatusCode::UNAVAILABLE) << cut_off.error_message();
  EXPECT_SOON(sidecar_->Log(), HasSubstr("reason=header_block_too_large"));
  EXPECT_TRUE(WaitUntil([&] { return Check(Checks(1, 1, 1)).ok(); }));
  EXPECT_TRUE(stream->Write(streamed) && stream->Read(&answer));
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(CallLimitsTest, CallsBeyondTheLimitOfAConnectionWaitForTheirTurn) {
  Start({"--max-streams-per-connection=3"});
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchContainersResponse>>> watches;
  for (int i = 0; i < 3; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    watches.push_back(containers_->WatchContainers(contexts.back().get(), {}));
    v1::WatchContainersResponse snapshot;
    ASSERT_TRUE(watches.back()->Read(&snapshot));
  }
  const v1::CheckVisibilityRequest request = Checks(1, 1, 1);
  EXPECT_EQ(Check(request, 0, std::chrono::milliseconds(300)).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  // Another connection has a limit of its own.
  const auto others = v1::ItemService::NewStub(NewTestChannel(sidecar_->address()));
  grpc::ClientContext context;
  v1::CheckVisibilityResponse response;
  EXPECT_TRUE(others->CheckVisibility(&context, request, &response).ok());

  contexts.front()->TryCancel();
  EXPECT_EQ(watches.front()->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Check(request).ok());
  for (int i = 1; i < 3; ++i) {
    contexts[i]->TryCancel();
    EXPECT_EQ(watches[i]->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
}

// A message that was inflated would be 64 MiB, and more while that goes on.
TEST_F(CallLimitsTest, CompressedCallsAreRefusedBeforeTheyAreInflated) {
  Start({"--health-tcp=127.0.0.1:0"});
  grpc::ChannelArguments arguments;
  arguments.SetMaxSendMessageSize(-1);
  const std::string health = absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0));
  const int64_t before = MostMemory(sidecar_->process()->pid());
  for (const std::string& address : {sidecar_->address(), health}) {
    const auto stub = grpc::health::v1::Health::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(std::string(64 << 20, 'x'));
    grpc::health::v1::HealthCheckResponse response;
    const grpc::Status refused = stub->Check(&context, request, &response);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNIMPLEMENTED) << refused.error_message();
  }
  EXPECT_LT(MostMemory(sidecar_->process()->pid()) - before, 32 << 20);
}

TEST_F(CallLimitsTest, TheHealthPortTakesShortMessagesOnly) {
  Start({"--health-tcp=127.0.0.1:0"});
  const auto stub = grpc::health::v1::Health::NewStub(
      NewTestChannel(absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0))));
  const auto check = [&stub](size_t bytes) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(std::string(bytes, 'x'));
    grpc::health::v1::HealthCheckResponse response;
    return stub->Check(&context, request, &response).error_code();
  };
  EXPECT_EQ(check(4000), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(check(5000), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

// As deploy/sizing.md says.
constexpr int64_t kBytesOfACall = 19 << 10;

// How far a call gets before it waits.
struct Begun {
  const char* name;
  const char* method;
  std::string message;  // as gRPC frames it, or a part
};

class MemoryOfCallsTest : public CallLimitsTest, public testing::WithParamInterface<Begun> {};

TEST_P(MemoryOfCallsTest, IsBoundedByWhatTheReadmeSays) {
  constexpr int kConnections = 4;
  constexpr int kCallsOfEach = 1000;
  Start({});
  const pid_t pid = sidecar_->process()->pid();
  const int64_t before = MostMemory(pid);
  std::vector<std::unique_ptr<RawHttp2>> connections;
  for (int i = 0; i < kConnections; ++i) {
    connections.push_back(std::make_unique<RawHttp2>(sidecar_->socket_path()));
    RawHttp2& client = *connections.back();
    client.Send(http2::Frame(http2::kSettings, http2::kAck, 0, ""));
    for (uint32_t call = 0; call < kCallsOfEach; ++call) {
      const uint32_t stream = 2 * call + 1;
      ASSERT_TRUE(client.Send(http2::Frame(http2::kHeaders, http2::kEndHeaders, stream,
                                           http2::RequestHeaders(GetParam().method))));
      if (GetParam().message.empty()) continue;
      ASSERT_TRUE(
          client.Send(http2::Frame(http2::kData, http2::kNone, stream, GetParam().message)));
    }
    ASSERT_TRUE(client.SendPing());
    ASSERT_TRUE(client.AwaitPong(absl::Seconds(60)));
  }
  EXPECT_LE(MostMemory(pid) - before, kConnections * kCallsOfEach * kBytesOfACall);
}

const std::string kEmptyMessage = http2::GrpcMessage("", 0);
const std::string kPartOfAMessage = http2::GrpcMessage("x", 4 << 20);

INSTANTIATE_TEST_SUITE_P(
    Requests, MemoryOfCallsTest,
    testing::Values(Begun{"CheckBegun", "/ttl.v1.ItemService/CheckVisibility", ""},
                    Begun{"CheckInPart", "/ttl.v1.ItemService/CheckVisibility", kPartOfAMessage},
                    Begun{"TrackInPart", "/ttl.v1.ItemService/TrackItems", kPartOfAMessage},
                    Begun{"GetItemAnswered", "/ttl.v1.ItemService/GetItem", kEmptyMessage},
                    Begun{"ListItemsInPart", "/ttl.v1.ItemService/ListItems", kPartOfAMessage},
                    Begun{"StreamCheckOpen", "/ttl.v1.ItemService/StreamCheckVisibility", ""},
                    Begun{"StreamTrackOpen", "/ttl.v1.ItemService/StreamTrackItems", kEmptyMessage},
                    Begun{"ContainerInPart", "/ttl.v1.ContainerService/CreateContainer",
                          kPartOfAMessage},
                    Begun{"WatchOpen", "/ttl.v1.ContainerService/WatchContainers", kEmptyMessage},
                    Begun{"StatusInPart", "/ttl.v1.ExpiryService/GetExpiryStatus", kPartOfAMessage},
                    Begun{"VerifyOpen", "/ttl.v1.MaintenanceService/VerifyData", ""},
                    Begun{"HealthInPart", "/grpc.health.v1.Health/Check", kPartOfAMessage},
                    Begun{"HealthWatchOpen", "/grpc.health.v1.Health/Watch", kEmptyMessage},
                    Begun{"NoSuchMethod", "/no.such/Method", kPartOfAMessage}),
    [](const testing::TestParamInfo<Begun>& info) { return info.param.name; });

// A client that sends whole requests and takes no answer, but for its beginning.
class AnswersNotTaken {
 public:
  explicit AnswersNotTaken(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
    stub_ = v1::ItemService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }
  ~AnswersNotTaken() {
    for (const auto& call : calls_) call->context.TryCancel();
    for (const auto& call : calls_) call->reader->Finish(&call->response, &call->status, nullptr);
    Await(calls_.size());
  }

  void Send(const v1::CheckVisibilityRequest& request) {
    Call& call = *calls_.emplace_back(std::make_unique<Call>());
    call.reader = stub_->AsyncCheckVisibility(&call.context, request, &queue_);
    call.reader->ReadInitialMetadata(nullptr);
  }

  // Waits until so many further answers have begun.
  void Await(size_t answers) {
    void* tag = nullptr;
    bool ok = false;
    while (answers-- > 0) queue_.Next(&tag, &ok);
  }

 private:
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CheckVisibilityResponse>> reader;
    v1::CheckVisibilityResponse response;
    grpc::Status status;
  };

  std::unique_ptr<v1::ItemService::Stub> stub_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Call>> calls_;
};

struct WholeChecks {
  const char* name;
  int checks;
  size_t key_bytes;
  size_t id_bytes;
};

class MemoryOfChecksTest : public CallLimitsTest, public testing::WithParamInterface<WholeChecks> {
 protected:
  v1::CheckVisibilityRequest Request() const {
    return Checks(GetParam().checks, GetParam().key_bytes, GetParam().id_bytes);
  }

  // Of a call whose answer waits for the client.
  int64_t BytesLeft() const { return kBytesOfACall + GetParam().checks * 2; }
};

// As deploy/sizing.md says.
TEST_P(MemoryOfChecksTest, ThatAreJudgedIsThatOfTheAnswers) {
  constexpr int kCalls = 64;
  Start({});
  const v1::CheckVisibilityRequest request = Request();
  const auto bytes = static_cast<int64_t>(request.ByteSizeLong());
  const pid_t pid = sidecar_->process()->pid();
  const int64_t before = MostMemory(pid);
  AnswersNotTaken client(sidecar_->address());
  for (int i = 0; i < kCalls; ++i) {
    client.Send(request);
    client.Await(1);
  }
  const int64_t growth = MostMemory(pid) - before;
  RecordProperty("growth_kib", std::to_string(growth >> 10));
  RecordProperty("request_kib", std::to_string(bytes >> 10));
  EXPECT_LE(growth, kCalls * BytesLeft() + 8 * bytes + (16 << 20));
}

TEST_P(MemoryOfChecksTest, ThatComeAtOnceIsBoundedByTheQuota) {
  constexpr int64_t kQuotaMib = 32;
  constexpr int kConnections = 4;
  Start({absl::StrCat("--rpc-memory-mib=", kQuotaMib)});
  const v1::CheckVisibilityRequest request = Request();
  const auto bytes = static_cast<int64_t>(request.ByteSizeLong());
  const auto calls = static_cast<int>((64 << 20) / bytes);
  const pid_t pid = sidecar_->process()->pid();
  const int64_t before = MostMemory(pid);
  std::vector<std::unique_ptr<AnswersNotTaken>> clients;
  for (int i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<AnswersNotTaken>(sidecar_->address()));
    for (int call = 0; call < calls; ++call) clients.back()->Send(request);
  }
  for (const auto& client : clients) client->Await(static_cast<size_t>(calls));
  const int64_t growth = MostMemory(pid) - before;
  RecordProperty("growth_kib", std::to_string(growth >> 10));
  RecordProperty("sent_kib", std::to_string(kConnections * calls * bytes >> 10));
  EXPECT_LE(growth, ((kQuotaMib + 128) << 20) + kConnections * calls * BytesLeft());
}

INSTANTIATE_TEST_SUITE_P(Checks, MemoryOfChecksTest,
                         testing::Values(WholeChecks{"AsManyAsThereMayBe", 10000, 8, 8},
                                         WholeChecks{"AsLongAsAMessageMayBe", 1900, 2048, 128}),
                         [](const testing::TestParamInfo<WholeChecks>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace ttl
