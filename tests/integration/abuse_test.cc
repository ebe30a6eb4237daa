// What clients that mean harm, or are broken, can do to a sidecar over TCP in plain text: one table
// of attacks, one judge. Others are served meanwhile, memory is bounded, and afterwards all is as
// before. A second table says what is left to do where frames are not seen: over TLS, and on a Unix
// socket, which file modes keep from strangers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/integration/bystander.h"
#include "tests/integration/http2_frames.h"
#include "tests/integration/raw_http2.h"
#include "tests/integration/raw_tls.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/certificates.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMib = int64_t{1} << 20;
constexpr uint32_t kFourMib = 4 << 20;
// What a connection may send before the server has given it more.
constexpr size_t kFirstWindow = 65535;
constexpr size_t kFrameBytes = 16384;

// Of a client in a second, as --max-streams-per-connection is when it is not given; what
// comes may be read in two of them. Each is taken for 18 KiB below.
constexpr int64_t kMaxResets = 2 * 1024;

constexpr char kCheck[] = "/ttl.v1.ItemService/CheckVisibility";
constexpr char kStreamCheck[] = "/ttl.v1.ItemService/StreamCheckVisibility";
constexpr char kWatch[] = "/ttl.v1.ContainerService/WatchContainers";

using Connections = std::vector<std::unique_ptr<RawHttp2>>;

// Open connections to the sidecar, kept until the judge has looked.
struct Scene {
  int port;
  int health_port;
  SidecarCalls& calls;
  Connections connections = {};

  RawHttp2& Connect(RawHttp2::Opening opening = RawHttp2::Opening::kSettings) {
    connections.push_back(std::make_unique<RawHttp2>(port, opening));
    return *connections.back();
  }
};

// Client streams have odd numbers.
uint32_t StreamId(int i) { return static_cast<uint32_t>(2 * i + 1); }

std::string BeginCall(int i, const char* method) {
  return http2::Frame(http2::kHeaders, http2::kEndHeaders, StreamId(i),
                      http2::RequestHeaders(method));
}

// DATA frames of stream 0, as large as frames may be.
std::string DataFrames(absl::string_view bytes) {
  std::string frames;
  for (size_t at = 0; at < bytes.size(); at += kFrameBytes) {
    frames += http2::Frame(http2::kData, http2::kNone, StreamId(0), bytes.substr(at, kFrameBytes));
  }
  return frames;
}

void SilentConnections(Scene& scene) {
  for (int i = 0; i < 1500; ++i) scene.Connect(RawHttp2::Opening::kNothing);
}

void ConnectionsWithoutCalls(Scene& scene) {
  for (int i = 0; i < 1500; ++i) scene.Connect();
}

void ConnectionsThatComeAndGo(Scene& scene) {
  for (int i = 0; i < 5000; ++i) RawHttp2(scene.port, RawHttp2::Opening::kNothing);
  for (int i = 0; i < 5000; ++i) RawHttp2(scene.port).Send(BeginCall(0, kCheck));
}

void Garbage(Scene& scene) {
  std::minstd_rand random(7);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(4096, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() >> 8);
    // Half of them come behind a good start, where frames are expected.
    scene.Connect(i % 2 == 0 ? RawHttp2::Opening::kNothing : RawHttp2::Opening::kSettings)
        .Send(bytes);
  }
}

// The attack of CVE-2023-44487: calls that are taken back at once never count as open. gRPC
// keeps some 10 KiB for each until its turn comes. Beyond twice the calls that it may have at
// a time, within a second, a client is cut off.
void CallsTakenBack(Scene& scene) {
  const std::string cancel("\0\0\0\x8", 4);
  for (int connection = 0; connection < 4; ++connection) {
    RawHttp2& client = scene.Connect();
    for (int i = 0; i < 10000; ++i) {
      const std::string take_back =
          http2::Frame(http2::kRstStream, http2::kNone, StreamId(i), cancel);
      if (!client.Send(absl::StrCat(BeginCall(i, kCheck), take_back))) break;
    }
  }
}

// Behind an acknowledgement of the SETTINGS that say how many are allowed.
void MoreCallsThanAllowed(Scene& scene) {
  for (int connection = 0; connection < 20; ++connection) {
    RawHttp2& client = scene.Connect();
    client.Send(http2::Frame(http2::kSettings, http2::kAck, 0, ""));
    for (int i = 0; i < 5000; ++i) {
      if (!client.Send(BeginCall(i, kStreamCheck))) break;
    }
  }
}

// gRPC holds only those to the limit who have acknowledged the SETTINGS that say it. Others are cut
// off at the limit, and may come again five times a second, for 18 MiB of calls each.
void MoreCallsThanAllowedWithoutAcknowledgement(Scene& scene) {
  for (int connection = 0; connection < 20; ++connection) {
    RawHttp2& client = scene.Connect();
    for (int i = 0; i < 5000; ++i) {
      if (!client.Send(BeginCall(i, kStreamCheck))) break;
    }
  }
}

// A header block that does not end. gRPC 1.51 would keep many times what is sent, and not
// give it back.
void EndlessHeaders(Scene& scene) {
  std::string fields;
  while (fields.size() < kFrameBytes - 64) fields += http2::HeaderField("x-more", "and more");
  const std::string frame = http2::Frame(http2::kContinuation, http2::kNone, StreamId(0), fields);
  for (int connection = 0; connection < 20; ++connection) {
    RawHttp2& client = scene.Connect();
    client.Send(
        http2::Frame(http2::kHeaders, http2::kNone, StreamId(0), http2::RequestHeaders(kCheck)));
    for (int i = 0; i < 1000 && client.Send(frame);) ++i;
  }
}

// The largest that are let through, of many clients at once.
void UnfinishedHeaders(Scene& scene) {
  std::string fields;
  while (fields.size() < kFrameBytes - 1024) fields += http2::HeaderField("x-more", "and more");
  for (int i = 0; i < 500; ++i) {
    RawHttp2& client = scene.Connect();
    client.Send(
        http2::Frame(http2::kHeaders, http2::kNone, StreamId(0), http2::RequestHeaders(kCheck)));
    for (int part = 0; part < 2; ++part) {
      client.Send(http2::Frame(http2::kContinuation, http2::kNone, StreamId(0), fields));
    }
  }
}

// gRPC's policy on pings would end the connection once it can write to it; until then every
// ping costs it some kilobytes.
void PingsWithoutReading(Scene& scene) {
  for (int connection = 0; connection < 20; ++connection) {
    RawHttp2& client = scene.Connect();
    for (int i = 0; i < 50000 && client.SendPing();) ++i;
  }
}

// Each says that four MiB will come, sends what it may, and then nothing.
void MessagesWithoutEnd(Scene& scene) {
  const std::string part = http2::GrpcMessage(std::string(kFirstWindow - 5, 'x'), kFourMib);
  for (int i = 0; i < 1000; ++i) {
    RawHttp2& client = scene.Connect();
    client.Send(BeginCall(0, kCheck));
    client.Send(DataFrames(part));
  }
}

// Asks on a stream as much as it may, and takes no answer.
void ChecksWithoutReading(Scene& scene) {
  v1::StreamCheckVisibilityRequest request;
  request.mutable_request()->set_container("bystander");
  for (int i = 0; i < 1000; ++i) request.mutable_request()->add_checks()->set_id("live");
  const std::string message = request.SerializeAsString();
  const std::string framed = http2::GrpcMessage(message, static_cast<uint32_t>(message.size()));
  std::string all;
  while (all.size() + framed.size() < kFirstWindow) all += framed;
  for (int i = 0; i < 200; ++i) {
    RawHttp2& client = scene.Connect();
    client.Send(http2::WindowSettings(0));
    client.Send(BeginCall(0, kStreamCheck));
    client.Send(DataFrames(all));
  }
}

// Watches the containers change, and takes no news.
void WatchesWithoutReading(Scene& scene) {
  for (int i = 0; i < 200; ++i) {
    RawHttp2& client = scene.Connect();
    client.Send(http2::WindowSettings(0));
    client.Send(BeginCall(0, kWatch));
    client.Send(
        http2::Frame(http2::kData, http2::kEndStream, StreamId(0), http2::GrpcMessage("", 0)));
  }
  for (int i = 0; i < 300; ++i) {
    const absl::Status made = scene.calls.CreateContainer(absl::StrCat("news", i), i + 1);
    ASSERT_TRUE(made.ok()) << made;
  }
}

// Frames that carry nothing, at the health port, which needs no permission, of a client that
// reads no answer and comes again when it is cut off.
void FramesForNothing(Scene& scene) {
  const http2::Type types[] = {http2::kWindowUpdate, http2::kSettings, http2::kGoaway,
                               http2::kUnknown};
  for (int connection = 0; connection < 80; ++connection) {
    const http2::Type type = types[connection % 4];
    const std::string payload(type == http2::kSettings ? 0 : type == http2::kGoaway ? 8 : 4, '\1');
    std::string frames;
    for (int i = 0; i < 5000; ++i) frames += http2::Frame(type, http2::kNone, 0, payload);
    RawHttp2 client(scene.health_port);
    client.Send(http2::WindowSettings(0));
    for (int i = 0; i < 20 && client.Send(frames);) ++i;
  }
}

// One attack, and the most memory that it may take, beyond that of a sidecar at rest.
struct Attack {
  const char* name;
  void (*run)(Scene&);
  int64_t most_mib;
};

class AbuseTest : public testing::TestWithParam<Attack> {
 protected:
  AbuseTest() {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--rpc-memory-mib", "32",           "--listen-tcp", "127.0.0.1:0,roles=reader",
                     "--insecure-tcp",   "--health-tcp", "127.0.0.1:0"};
    sidecar_ = std::make_unique<SidecarProcess>(options);
  }

  int64_t OpenFiles() const {
    const std::filesystem::directory_iterator files(
        absl::StrCat("/proc/", sidecar_->process()->pid(), "/fd"));
    return std::distance(begin(files), end(files));
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

TEST_P(AbuseTest, OthersAreServedAndMemoryIsBounded) {
  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  const pid_t pid = sidecar_->process()->pid();
  Bystander bystander(sidecar_->address(), pid);
  const absl::Status before = bystander.AwaitRounds(50);
  ASSERT_TRUE(before.ok()) << before;
  const int64_t memory_before = AnonymousMemory(pid);
  ASSERT_GT(memory_before, 0);
  const int64_t files_before = OpenFiles();

  SidecarCalls calls(sidecar_->channel());
  const std::vector<int> ports = sidecar_->TcpPorts();
  ASSERT_EQ(ports.size(), 2U);
  Scene scene{ports[0], ports[1], calls};
  GetParam().run(scene);
  const absl::Status during = bystander.AwaitRounds(50);
  EXPECT_TRUE(during.ok()) << during;
  const absl::Status newcomer = bystander.CheckAsNewcomer();
  EXPECT_TRUE(newcomer.ok()) << newcomer;

  scene.connections.clear();
  const bool closed = WaitUntil([&] { return OpenFiles() <= files_before; }, absl::Seconds(30));
  EXPECT_TRUE(closed) << OpenFiles() << " files are open, before there were " << files_before;
  const absl::Status after = bystander.AwaitRounds(50);
  EXPECT_TRUE(after.ok()) << after;
  const int64_t growth = bystander.most_memory() - memory_before;
  RecordProperty("growth_mib", std::to_string(growth / kMib));
  EXPECT_LE(growth, GetParam().most_mib * kMib);
  // It may have given some back, and the bystander looks less often than it changes.
  EXPECT_GT(bystander.most_memory(), 0);
  const absl::Status stopped = sidecar_->Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
}

INSTANTIATE_TEST_SUITE_P(
    Attacks, AbuseTest,
    testing::Values(Attack{"SilentConnections", SilentConnections, 64},
                    Attack{"ConnectionsWithoutCalls", ConnectionsWithoutCalls, 64},
                    Attack{"ConnectionsThatComeAndGo", ConnectionsThatComeAndGo, 192},
                    Attack{"Garbage", Garbage, 64},
                    Attack{"CallsTakenBack", CallsTakenBack, 4 * 2 * kMaxResets * 18 / 1024},
                    Attack{"MoreCallsThanAllowed", MoreCallsThanAllowed, 160},
                    Attack{"MoreCallsThanAllowedWithoutAcknowledgement",
                           MoreCallsThanAllowedWithoutAcknowledgement, 128},
                    Attack{"EndlessHeaders", EndlessHeaders, 64},
                    Attack{"UnfinishedHeaders", UnfinishedHeaders, 96},
                    Attack{"PingsWithoutReading", PingsWithoutReading, 96},
                    Attack{"FramesForNothing", FramesForNothing, 64},
                    Attack{"MessagesWithoutEnd", MessagesWithoutEnd, 96},
                    Attack{"ChecksWithoutReading", ChecksWithoutReading, 64},
                    Attack{"WatchesWithoutReading", WatchesWithoutReading, 64}),
    [](const testing::TestParamInfo<Attack>& info) { return info.param.name; });

// Where nobody but gRPC sees the frames. Over TLS a client is cut off for what it sends without
// hearing of the server, that is beyond a message and a MiB, and for calls that are not answered,
// as fast as that is noticed. Until then it takes up to `most_mib` for each of its connections,
// which are as many as the address has places. So whoever may connect there can end a sidecar: have
// certificates asked for. On a Unix socket nothing cuts a client off.
enum class Door { kTls, kUnixSocket };

constexpr char kUnansweredBytes[] = "too_many_unanswered_bytes";
constexpr char kUnansweredCalls[] = "too_many_unanswered_calls";

struct UnseenAttack {
  const char* name;
  Door door;
  std::string (*sent)(int part);
  int parts;           // at most
  int64_t most_mib;    // of one connection; it is given back when that is closed
  const char* reason;  // why it is cut off; null: it is not, or by gRPC
};

class UnseenAbuseTest : public testing::TestWithParam<UnseenAttack> {
 protected:
  UnseenAbuseTest() {
    const TestIdentity server = TestCa("servers").Issue({.common_name = "sidecar"});
    ReplaceFile(dir_.File("key"), server.key);
    ReplaceFile(dir_.File("cert"), server.cert);
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--listen-tcp=127.0.0.1:0,roles=reader", "--tls-cert-file", dir_.File("cert"),
                     "--tls-key-file", dir_.File("key")};
    sidecar_ = std::make_unique<SidecarProcess>(options);
  }

  // Until the client is cut off.
  template <typename Client>
  static void Attack(Client& client) {
    ASSERT_TRUE(client.is_connected());
    for (int part = 0; part < GetParam().parts && client.Send(GetParam().sent(part));) ++part;
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

std::string Windows(int) {
  std::string frames;
  for (int i = 0; i < 1000; ++i) {
    frames += http2::Frame(http2::kWindowUpdate, http2::kNone, 1001, std::string("\0\0\0\1", 4));
  }
  return frames;
}

std::string UnknownFrames(int) {
  std::string frames;
  for (int i = 0; i < 100; ++i) {
    frames += http2::Frame(http2::kUnknown, http2::kNone, 0, std::string(1000, 'x'));
  }
  return frames;
}

std::string EndlessHeaderParts(int part) {
  std::string fields;
  while (fields.size() < kFrameBytes - 64) fields += http2::HeaderField("x-more", "and more");
  if (part > 0) return http2::Frame(http2::kContinuation, http2::kNone, StreamId(0), fields);
  return http2::Frame(http2::kHeaders, http2::kNone, StreamId(0), http2::RequestHeaders(kCheck));
}

std::string ManyCallsTakenBack(int part) {
  std::string frames;
  for (int i = 100 * part; i < 100 * part + 100; ++i) {
    frames += BeginCall(i, kCheck);
    frames +=
        http2::Frame(http2::kRstStream, http2::kNone, StreamId(i), std::string("\0\0\0\x8", 4));
  }
  return frames;
}

// The same, beside a call now and then that is answered: so it hears of the server all the time.
std::string CallsTakenBackBesideAnswers(int part) {
  std::string frames;
  const uint32_t first = StreamId(101 * part);
  for (uint32_t stream = first; stream < first + 200; stream += 2) {
    frames +=
        http2::Frame(http2::kHeaders, http2::kEndHeaders, stream, http2::RequestHeaders(kCheck));
    frames += http2::Frame(http2::kRstStream, http2::kNone, stream, std::string("\0\0\0\x8", 4));
  }
  frames += http2::Frame(http2::kHeaders, http2::kEndHeaders, first + 200,
                         http2::RequestHeaders("/grpc.health.v1.Health/Check"));
  frames += http2::Frame(http2::kData, http2::kEndStream, first + 200, http2::GrpcMessage("", 0));
  return frames;
}

std::string Calls(int part) {
  std::string frames;
  for (int i = 100 * part; i < 100 * part + 100; ++i) frames += BeginCall(i, kStreamCheck);
  return frames;
}

std::string Pings(int) {
  std::string frames;
  for (int i = 0; i < 1000; ++i) {
    frames += http2::Frame(http2::kPing, http2::kNone, 0, "pingping");
  }
  return frames;
}

TEST_P(UnseenAbuseTest, OthersAreServedAndMemoryIsBounded) {
  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  const pid_t pid = sidecar_->process()->pid();
  Bystander bystander(sidecar_->address(), pid);
  ASSERT_TRUE(bystander.AwaitRounds(50).ok());
  const int64_t memory_before = AnonymousMemory(pid);

  std::optional<RawTls> over_tls;
  std::optional<RawHttp2> over_socket;
  if (GetParam().door == Door::kTls) {
    Attack(over_tls.emplace(sidecar_->TcpPorts().at(0)));
  } else {
    Attack(over_socket.emplace(sidecar_->socket_path()));
  }
  const absl::Status during = bystander.AwaitRounds(50);
  EXPECT_TRUE(during.ok()) << during;
  const int64_t growth = bystander.most_memory() - memory_before;
  RecordProperty("growth_mib", std::to_string(growth / kMib));
  EXPECT_LE(growth, GetParam().most_mib * kMib);
  if (GetParam().reason == nullptr) {
    EXPECT_THAT(sidecar_->Log(), Not(HasSubstr("connection closed: ")));
  } else {
    EXPECT_SOON(sidecar_->Log(), HasSubstr(absl::StrCat("reason=", GetParam().reason)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Attacks, UnseenAbuseTest,
    testing::Values(UnseenAttack{"WindowsOverTls", Door::kTls, Windows, 2000, 64, kUnansweredBytes},
                    UnseenAttack{"UnknownFramesOverTls", Door::kTls, UnknownFrames, 2000, 128,
                                 kUnansweredBytes},
                    UnseenAttack{"EndlessHeadersOverTls", Door::kTls, EndlessHeaderParts, 2000, 512,
                                 kUnansweredBytes},
                    UnseenAttack{"CallsTakenBackOverTls", Door::kTls, ManyCallsTakenBack, 2000, 256,
                                 kUnansweredCalls},
                    UnseenAttack{"CallsTakenBackBesideAnswersOverTls", Door::kTls,
                                 CallsTakenBackBesideAnswers, 2000, 512, kUnansweredCalls},
                    UnseenAttack{"CallsOverTls", Door::kTls, Calls, 2000, 256, kUnansweredCalls},
                    // gRPC ends it by itself, as it can write to it.
                    UnseenAttack{"PingsOverTls", Door::kTls, Pings, 2000, 256, nullptr},
                    UnseenAttack{"WindowsOnASocket", Door::kUnixSocket, Windows, 500, 64, nullptr},
                    UnseenAttack{"EndlessHeadersOnASocket", Door::kUnixSocket, EndlessHeaderParts,
                                 250, 512, nullptr},
                    UnseenAttack{"CallsTakenBackOnASocket", Door::kUnixSocket, ManyCallsTakenBack,
                                 250, 512, nullptr}),
    [](const testing::TestParamInfo<UnseenAttack>& info) { return info.param.name; });

}  // namespace
}  // namespace ttl
