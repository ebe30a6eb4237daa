#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/ttlctl/ttlctl.h"
#include "tests/testing/certificates.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr char kServerName[] = "sidecar.test";
constexpr grpc::StatusCode kOk = grpc::StatusCode::OK;
constexpr grpc::StatusCode kDenied = grpc::StatusCode::PERMISSION_DENIED;
constexpr grpc::StatusCode kUnavailable = grpc::StatusCode::UNAVAILABLE;

// A connection of its own.
std::shared_ptr<grpc::Channel> NewChannel(int port,
                                          const std::shared_ptr<grpc::ChannelCredentials>& how) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetSslTargetNameOverride(kServerName);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port), how, arguments);
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
}

// A call that readers may make.
grpc::Status ListContainers(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListContainersResponse response;
  return v1::ContainerService::NewStub(channel)->ListContainers(&context, {}, &response);
}

// One that admins may make. Repeated, it finds what it wants to make.
grpc::Status CreateContainer(const std::shared_ptr<grpc::Channel>& channel,
                             const std::string& trace_parent = "") {
  grpc::ClientContext context;
  SetDeadline(context);
  if (!trace_parent.empty()) context.AddMetadata("traceparent", trace_parent);
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id("c");
  request.mutable_container()->set_default_ttl(-1);
  v1::CreateContainerResponse response;
  return v1::ContainerService::NewStub(channel)->CreateContainer(&context, request, &response);
}

// One that the store may make.
grpc::Status TrackItem(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::TrackItemsRequest request;
  request.set_container("c");
  v1::Item& item = *request.add_items();
  item.set_id("a");
  item.set_ts(absl::ToUnixSeconds(absl::Now()));
  v1::TrackItemsResponse response;
  return v1::ItemService::NewStub(channel)->TrackItems(&context, request, &response);
}

// Pauses all deletes. Returns who has paused them, as the answer says; an error's message.
std::string AuthorOfPause(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::PauseDeletesRequest request;
  request.set_all_containers(true);
  request.set_reason("a test");
  v1::PauseDeletesResponse response;
  const grpc::Status paused =
      v1::ExpiryService::NewStub(channel)->PauseDeletes(&context, request, &response);
  return paused.ok() ? response.pause().author() : paused.error_message();
}

class TlsProcessTest : public testing::Test {
 protected:
  TlsProcessTest() {
    ReplaceFile(ca_file(), clients_.cert());
    ReplaceServer(servers_);
  }

  std::string cert_file() const { return directory_.File("server.crt"); }
  std::string key_file() const { return directory_.File("server.key"); }
  std::string ca_file() const { return directory_.File("clients.crt"); }

  TestIdentity NewServerIdentity(const TestCa& ca) const {
    return ca.Issue({.common_name = "sidecar", .dns = {kServerName}});
  }
  void ReplaceServer(const TestCa& ca) const {
    const TestIdentity identity = NewServerIdentity(ca);
    ReplaceFile(key_file(), identity.key);
    ReplaceFile(cert_file(), identity.cert);
  }

  std::vector<std::string> TlsFlags() const {
    return {"--listen-tcp",   "127.0.0.1:0", "--tls-cert-file",      cert_file(),
            "--tls-key-file", key_file(),    "--tls-client-ca-file", ca_file(),
            "--access-file",  access_file()};
  }
  std::string access_file() const { return directory_.File("access.yaml"); }

  void WriteAccess(const std::string& text) const { ReplaceFile(access_file(), text); }

  void Start(std::vector<std::string> flags) {
    SidecarProcessOptions options;
    options.dir = directory_.path();
    options.flags = std::move(flags);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    ports_ = sidecar_->TcpPorts();
    ASSERT_FALSE(ports_.empty()) << sidecar_->Log();
  }

  // The port of the first TCP address.
  int port() const { return ports_[0]; }

  std::shared_ptr<grpc::Channel> Connect(const std::string& server_ca,
                                         const TestIdentity& identity) const {
    return NewChannel(port(), grpc::SslCredentials({server_ca, identity.key, identity.cert}));
  }
  std::shared_ptr<grpc::Channel> Connect(const TestIdentity& identity) const {
    return Connect(servers_.cert(), identity);
  }

  const TempDir directory_;
  const TestCa servers_{"servers"};
  const TestCa clients_{"clients"};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::vector<int> ports_;
};

constexpr char kAccess[] =
    "identities:\n"
    "  - uri: spiffe://shop.example/store\n"
    "    roles: [store]\n"
    "  - dns: gateway.example\n"
    "    roles: [reader]\n"
    "  - cn: operator\n"
    "    roles: [admin]\n";

TEST_F(TlsProcessTest, ACertificateHasTheRolesOfItsNames) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  // So that there is something to track and nothing to make.
  ASSERT_EQ(CreateContainer(sidecar_->channel()).error_code(), kOk);
  const grpc::StatusCode kExists = grpc::StatusCode::ALREADY_EXISTS;
  const struct {
    TestNames names;
    grpc::StatusCode track, list, create;
  } kCases[] = {
      {{.uri = {"spiffe://shop.example/store"}}, kOk, kDenied, kDenied},
      {{.dns = {"gateway.example"}}, kDenied, kOk, kDenied},
      {{.common_name = "operator"}, kDenied, kOk, kExists},
      {{.dns = {"other.example", "gateway.example"}, .uri = {"spiffe://shop.example/store"}},
       kOk,
       kOk,
       kDenied},
      // A name of one kind is none of another, and nothing is made of parts of names.
      {{.common_name = "gateway.example"}, kDenied, kDenied, kDenied},
      {{.dns = {"operator"}}, kDenied, kDenied, kDenied},
      {{.uri = {"spiffe://shop.example/store/more"}}, kDenied, kDenied, kDenied},
      {{.dns = {"a.gateway.example", "GATEWAY.example"}}, kDenied, kDenied, kDenied},
      {{.common_name = "nobody"}, kDenied, kDenied, kDenied},
      {{}, kDenied, kDenied, kDenied},
  };
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const auto& c = kCases[i];
    const auto channel = Connect(clients_.Issue(c.names));
    EXPECT_EQ(TrackItem(channel).error_code(), c.track) << i;
    EXPECT_EQ(ListContainers(channel).error_code(), c.list) << i;
    EXPECT_EQ(CreateContainer(channel).error_code(), c.create) << i;
    EXPECT_TRUE(CheckHealth(channel, "readiness", kPatience).ok()) << i;
  }
}

TEST_F(TlsProcessTest, ARefusalNamesCallerMethodAndRoleAndIsLoggedWithItsTrace) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  const auto store = Connect(clients_.Issue({.uri = {"spiffe://shop.example/store"}}));
  const grpc::Status refused =
      CreateContainer(store, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  EXPECT_EQ(refused.error_code(), kDenied);
  EXPECT_THAT(refused.error_message(), AllOf(HasSubstr("uri:spiffe://shop.example/store"),
                                             HasSubstr("ContainerService/CreateContainer"),
                                             HasSubstr("admin"), HasSubstr("store")));
  EXPECT_SOON(sidecar_->Log(),
              AllOf(HasSubstr("msg=\"call refused\" method=ContainerService/CreateContainer "
                              "caller=\"uri:spiffe://shop.example/store\""),
                    HasSubstr("trace_id=4bf92f3577b34da6a3ce929d0e0e4736")));
}

TEST_F(TlsProcessTest, AChangeIsLoggedWithWhoMadeIt) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  const auto admin = Connect(clients_.Issue({.common_name = "operator"}));
  ASSERT_TRUE(CreateContainer(admin).ok());
  EXPECT_SOON(sidecar_->Log(), HasSubstr("msg=\"admin call\" method=ContainerService/"
                                         "CreateContainer caller=\"cn:operator\" code=OK"));
}

TEST_F(TlsProcessTest, APauseKeepsTheNameInTheCertificateOfWhoMadeIt) {
  WriteAccess(absl::StrCat(kAccess, "  - uri: spiffe://shop.example/ops\n    roles: [admin]\n"));
  Start(TlsFlags());
  const struct {
    TestNames names;
    const char* author;
  } kCases[] = {
      {{.common_name = "operator"}, "cn:operator"},
      // The name that has a role, and not the first one.
      {{.common_name = "operator", .dns = {"laptop.example"}}, "cn:operator"},
      {{.uri = {"spiffe://shop.example/ops"}}, "uri:spiffe://shop.example/ops"},
  };
  for (const auto& c : kCases) {
    const auto channel = Connect(clients_.Issue(c.names));
    EXPECT_EQ(AuthorOfPause(channel), c.author);
    // It survives the client.
    grpc::ClientContext context;
    SetDeadline(context);
    v1::GetExpiryStatusResponse status;
    const auto reader = v1::ExpiryService::NewStub(sidecar_->channel());
    ASSERT_TRUE(reader->GetExpiryStatus(&context, {}, &status).ok());
    EXPECT_EQ(status.sidecar().pause().author(), c.author);
  }
}

TEST_F(TlsProcessTest, ClientsWithoutAGoodCertificateDoNotGetThroughAndOthersDo) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  const TestNames operator_names = {.common_name = "operator"};
  TestNames expired = operator_names;
  expired.valid_from = -absl::Hours(2);
  expired.valid_until = -absl::Hours(1);
  TestNames early = operator_names;
  early.valid_from = absl::Hours(1);
  early.valid_until = absl::Hours(2);
  const TestCa stranger("clients");  // the name is not what counts
  const auto good = Connect(clients_.Issue(operator_names));
  ASSERT_TRUE(ListContainers(good).ok());
  const struct {
    const char* what;
    std::shared_ptr<grpc::Channel> channel;
  } kCases[] = {
      {"none", Connect(TestIdentity())},
      {"of another CA", Connect(stranger.Issue(operator_names))},
      {"expired", Connect(clients_.Issue(expired))},
      {"not yet valid", Connect(clients_.Issue(early))},
      {"plain text", NewChannel(port(), grpc::InsecureChannelCredentials())},
      {"another server CA", Connect(stranger.cert(), clients_.Issue(operator_names))},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ListContainers(c.channel).error_code(), kUnavailable) << c.what;
    EXPECT_TRUE(ListContainers(good).ok()) << c.what;
  }
}

TEST_F(TlsProcessTest, WithoutAMappingTcpServesHealthAlone) {
  Start({"--listen-tcp", "127.0.0.1:0", "--tls-cert-file", cert_file(), "--tls-key-file",
         key_file()});
  const auto channel = Connect(TestIdentity());
  EXPECT_TRUE(CheckHealth(channel, "readiness", kPatience).ok());
  const grpc::Status refused = ListContainers(channel);
  EXPECT_EQ(refused.error_code(), kDenied);
  EXPECT_THAT(refused.error_message(), HasSubstr("address:127.0.0.1:0"));
  EXPECT_EQ(TrackItem(channel).error_code(), kDenied);
}

TEST_F(TlsProcessTest, EachTcpAddressHasItsOwnRoles) {
  Start({"--insecure-tcp", "--listen-tcp", "127.0.0.1:0,roles=reader", "--listen-tcp",
         "127.0.0.1:0,roles=admin+store"});
  ASSERT_EQ(ports_.size(), 2U);
  const auto reader = NewChannel(ports_[0], grpc::InsecureChannelCredentials());
  EXPECT_EQ(ListContainers(reader).error_code(), kOk);
  EXPECT_EQ(CreateContainer(reader).error_code(), kDenied);
  const auto admin = NewChannel(ports_[1], grpc::InsecureChannelCredentials());
  EXPECT_EQ(CreateContainer(admin).error_code(), kOk);
  EXPECT_EQ(TrackItem(admin).error_code(), kOk);
  // By TLS to a port of plain text.
  EXPECT_EQ(ListContainers(NewChannel(ports_[0], grpc::SslCredentials({servers_.cert(), "", ""})))
                .error_code(),
            kUnavailable);
  EXPECT_EQ(ListContainers(reader).error_code(), kOk);
}

TEST_F(TlsProcessTest, TheHealthPortServesHealthInPlainTextAndNothingElse) {
  WriteAccess(kAccess);
  std::vector<std::string> flags = TlsFlags();
  flags.insert(flags.end(), {"--health-tcp", "127.0.0.1:0"});
  Start(flags);
  ASSERT_EQ(ports_.size(), 2U);
  const auto probe = NewChannel(ports_[1], grpc::InsecureChannelCredentials());
  EXPECT_TRUE(CheckHealth(probe, "readiness", kPatience).ok());
  EXPECT_TRUE(CheckHealth(probe, "liveness", kPatience).ok());
  EXPECT_EQ(ListContainers(probe).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(TlsProcessTest, TtlctlConnectsByTls) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  const std::string server = absl::StrCat("127.0.0.1:", port());
  const std::string trusted = directory_.File("trusted");
  ReplaceFile(trusted, servers_.cert());
  const auto write_identity = [this](const std::string& name, const TestNames& names) {
    const TestIdentity identity = clients_.Issue(names);
    ReplaceFile(directory_.File(name + ".crt"), identity.cert);
    ReplaceFile(directory_.File(name + ".key"), identity.key);
  };
  write_identity("admin", {.common_name = "operator"});
  write_identity("nobody", {.common_name = "nobody"});
  const auto run = [&](std::vector<std::string> tls, const std::string& identity) {
    tls.insert(tls.end(), {"--server", server, "containers", "create", "c"});
    if (!identity.empty()) {
      tls.insert(tls.begin(), {"--cert-file", directory_.File(identity + ".crt"), "--key-file",
                               directory_.File(identity + ".key")});
    }
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code =
        RunTtlctl(tls, Terminal{.in = in, .out = out, .err = err, .err_is_terminal = false});
    return std::make_pair(code, err.str());
  };
  const std::vector<std::string> ca = {"--ca-file", trusted, "--server-name", kServerName};

  EXPECT_EQ(run(ca, "admin"), std::make_pair(ExitCode::kOk, std::string()));
  EXPECT_THAT(run(ca, "nobody"), testing::Pair(ExitCode::kRefused, HasSubstr("cn:nobody")));
  EXPECT_EQ(run(ca, "").first, ExitCode::kUnreachable);
  EXPECT_EQ(run({}, "").first, ExitCode::kUnreachable);
  EXPECT_EQ(run({"--tls"}, "admin").first, ExitCode::kUnreachable);  // not a CA of the system
  EXPECT_EQ(run({"--ca-file", trusted}, "admin").first, ExitCode::kUnreachable);  // its name
  EXPECT_THAT(run({"--ca-file", "/nowhere"}, "admin"),
              testing::Pair(ExitCode::kUsage, HasSubstr("/nowhere")));
  EXPECT_THAT(run({"--ca-file", trusted, "--key-file", trusted}, ""),
              testing::Pair(ExitCode::kUsage, HasSubstr("go together")));
}

// Calls and a stream that go on until it is stopped.
class Traffic {
 public:
  explicit Traffic(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)),
        calls_([this] { Call(); }),
        stream_([this] { CallOnStream(); }) {}
  ~Traffic() {
    stopping_ = true;
    calls_.join();
    stream_.join();
  }

  int64_t calls() const { return calls_made_; }
  int64_t messages() const { return messages_; }
  int64_t failures() const { return failures_; }

  // Waits for more of both.
  bool GoesOn() const {
    const int64_t calls = calls_made_;
    const int64_t messages = messages_;
    return WaitUntil([&] { return calls_made_ > calls + 5 && messages_ > messages + 5; },
                     kPatience);
  }

 private:
  void Call() {
    while (!stopping_) {
      if (!TrackItem(channel_).ok()) ++failures_;
      ++calls_made_;
    }
  }
  void CallOnStream() {
    grpc::ClientContext context;
    const auto stub = v1::ItemService::NewStub(channel_);
    const auto stream = stub->StreamCheckVisibility(&context);
    v1::StreamCheckVisibilityRequest request;
    request.mutable_request()->set_container("c");
    request.mutable_request()->add_checks()->set_id("a");
    v1::StreamCheckVisibilityResponse response;
    while (!stopping_ && stream->Write(request) && stream->Read(&response)) ++messages_;
    stream->WritesDone();
    if (!stream->Finish().ok()) ++failures_;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int64_t> calls_made_ = 0;
  std::atomic<int64_t> messages_ = 0;
  std::atomic<int64_t> failures_ = 0;
  std::thread calls_;
  std::thread stream_;
};

TEST_F(TlsProcessTest, CertificatesAreReplacedWhileCallsAndStreamsGoOn) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  ASSERT_TRUE(CreateContainer(sidecar_->channel()).ok());
  const TestNames store = {.uri = {"spiffe://shop.example/store"}};
  const TestNames reader = {.dns = {"gateway.example"}};
  {
    Traffic traffic(Connect(clients_.Issue(store)));
    ASSERT_TRUE(traffic.GoesOn());

    const TestCa new_servers("new servers");
    const TestCa new_clients("new clients");
    ReplaceServer(new_servers);
    EXPECT_TRUE(ListContainers(Connect(new_servers.cert(), clients_.Issue(reader))).ok());
    EXPECT_EQ(ListContainers(Connect(clients_.Issue(reader))).error_code(), kUnavailable);

    ReplaceFile(ca_file(), new_clients.cert());
    EXPECT_TRUE(ListContainers(Connect(new_servers.cert(), new_clients.Issue(reader))).ok());
    EXPECT_EQ(ListContainers(Connect(new_servers.cert(), clients_.Issue(reader))).error_code(),
              kUnavailable);

    EXPECT_TRUE(traffic.GoesOn());
    EXPECT_EQ(traffic.failures(), 0);
  }
}

TEST_F(TlsProcessTest, WhatIsReplacedByHalvesIsPassedOver) {
  WriteAccess(kAccess);
  Start(TlsFlags());
  const TestIdentity reader = clients_.Issue({.dns = {"gateway.example"}});
  ASSERT_TRUE(ListContainers(Connect(reader)).ok());
  const TestCa new_servers("new servers");
  const TestIdentity next = NewServerIdentity(new_servers);

  ReplaceFile(key_file(), next.key);
  EXPECT_TRUE(ListContainers(Connect(reader)).ok());
  EXPECT_SOON(sidecar_->Log(), AllOf(HasSubstr("certificates not loaded"),
                                     HasSubstr("is not the key of the first certificate")));
  ReplaceFile(cert_file(), next.cert.substr(0, next.cert.size() / 2));
  EXPECT_TRUE(ListContainers(Connect(reader)).ok());
  ASSERT_EQ(unlink(cert_file().c_str()), 0);
  EXPECT_TRUE(ListContainers(Connect(reader)).ok());

  ReplaceFile(cert_file(), next.cert);
  EXPECT_TRUE(ListContainers(Connect(new_servers.cert(), reader)).ok());
}

// As Kubernetes replaces the files of a Secret.
TEST_F(TlsProcessTest, FilesBehindALinkAreTakenWhenTheLinkMoves) {
  const TestCa new_servers("new servers");
  const auto write = [this](const std::string& folder, const TestCa& ca) {
    ASSERT_TRUE(std::filesystem::create_directory(directory_.File(folder)));
    const TestIdentity identity = NewServerIdentity(ca);
    ReplaceFile(directory_.File(folder + "/tls.crt"), identity.cert);
    ReplaceFile(directory_.File(folder + "/tls.key"), identity.key);
  };
  write("first", servers_);
  write("second", new_servers);
  std::filesystem::create_directory_symlink("first", directory_.File("now"));
  Start({"--listen-tcp", "127.0.0.1:0,roles=reader", "--tls-cert-file",
         directory_.File("now/tls.crt"), "--tls-key-file", directory_.File("now/tls.key")});
  ASSERT_TRUE(ListContainers(Connect(TestIdentity())).ok());
  std::filesystem::create_directory_symlink("second", directory_.File("next"));
  std::filesystem::rename(directory_.File("next"), directory_.File("now"));
  EXPECT_TRUE(ListContainers(Connect(new_servers.cert(), TestIdentity())).ok());
  EXPECT_EQ(ListContainers(Connect(TestIdentity())).error_code(), kUnavailable);
}

// Shakes hands with at most that version, even if it is an old one. Returns the version
// agreed upon; empty if there was none.
std::string Handshake(int port, int version) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
  SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, fd);
  const std::string agreed = is_connected && SSL_connect(ssl) == 1 ? SSL_get_version(ssl) : "";
  SSL_free(ssl);
  SSL_CTX_free(context);
  close(fd);
  return agreed;
}

TEST_F(TlsProcessTest, TheOldestVersionIs12) {
  Start({"--listen-tcp", "127.0.0.1:0", "--tls-cert-file", cert_file(), "--tls-key-file",
         key_file()});
  EXPECT_EQ(Handshake(port(), TLS1_VERSION), "");
  EXPECT_EQ(Handshake(port(), TLS1_1_VERSION), "");
  EXPECT_EQ(Handshake(port(), TLS1_2_VERSION), "TLSv1.2");
  EXPECT_EQ(Handshake(port(), TLS1_3_VERSION), "TLSv1.3");
}

TEST_F(TlsProcessTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  const std::string garbage = directory_.File("garbage");
  const std::string nowhere = directory_.File("nowhere");
  std::ofstream(garbage) << "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n";
  const std::string other_key = directory_.File("other.key");
  std::ofstream(other_key) << NewServerIdentity(servers_).key;
  WriteAccess("identities:\n  - dns: a.example\n    roles: [root]\n");
  const struct {
    std::string cert, key, ca, access;
    std::vector<std::string> named;
  } kCases[] = {
      {nowhere, key_file(), ca_file(), "", {nowhere, "cannot be read"}},
      {cert_file(), nowhere, ca_file(), "", {nowhere, "cannot be read"}},
      {cert_file(), key_file(), nowhere, "", {nowhere, "cannot be read"}},
      {directory_.path(), key_file(), ca_file(), "", {directory_.path(), "cannot be read"}},
      {garbage, key_file(), ca_file(), "", {garbage, "holds no certificate"}},
      {cert_file(), cert_file(), ca_file(), "", {cert_file(), "holds no private key"}},
      {cert_file(), key_file(), garbage, "", {garbage, "holds no certificate"}},
      {cert_file(), other_key, ca_file(), "", {other_key, cert_file(), "is not the key"}},
      {cert_file(), key_file(), ca_file(), nowhere, {"--access-file", nowhere}},
      {cert_file(), key_file(), ca_file(), access_file(), {access_file(), ":3", "root"}},
  };
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const auto& c = kCases[i];
    const TempDir dir;
    SidecarProcessOptions options;
    options.dir = dir.path();
    options.flags = {"--listen-tcp",   "127.0.0.1:0", "--tls-cert-file",      c.cert,
                     "--tls-key-file", c.key,         "--tls-client-ca-file", c.ca};
    if (!c.access.empty()) options.flags.insert(options.flags.end(), {"--access-file", c.access});
    SidecarProcess sidecar(options);
    ASSERT_TRUE(sidecar.Launch().ok());
    const auto exit = sidecar.process()->Wait(absl::Seconds(20));
    ASSERT_TRUE(exit.ok()) << exit.status();
    EXPECT_EQ(exit->code, 2) << i;
    EXPECT_SOON(sidecar.Log(), HasSubstr("not started")) << i;
    for (const std::string& named : c.named) EXPECT_SOON(sidecar.Log(), HasSubstr(named)) << i;
    EXPECT_THAT(sidecar.Log(), Not(HasSubstr("listening"))) << i;
  }
}

}  // namespace
}  // namespace ttl
