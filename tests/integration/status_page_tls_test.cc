// The status page on an address that other machines reach: over TLS, to client certificates with
// the role of a reader.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/server/http/http_server.h"
#include "tests/integration/https_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kServerName[] = "sidecar.test";
constexpr char kAccess[] =
    "identities:\n"
    "  - dns: gateway.example\n"
    "    roles: [reader]\n"
    "  - cn: operator\n"
    "    roles: [admin]\n"
    "  - uri: spiffe://shop.example/store\n"
    "    roles: [store]\n";

std::string Get(const std::string& target, const std::string& host = kServerName) {
  return absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n");
}

class StatusPageTlsTest : public testing::Test {
 protected:
  StatusPageTlsTest() {
    ReplaceFile(dir_.File("access.yaml"), kAccess);
    ReplaceFile(dir_.File("clients.crt"), clients_.cert());
    ReplaceServer(servers_);
  }

  TestIdentity ServerIdentity(const TestCa& ca) const {
    return ca.Issue({.common_name = "sidecar", .dns = {kServerName}, .ip = {"127.0.0.1"}});
  }
  void ReplaceServer(const TestCa& ca) const {
    const TestIdentity identity = ServerIdentity(ca);
    ReplaceFile(dir_.File("server.key"), identity.key);
    ReplaceFile(dir_.File("server.crt"), identity.cert);
  }

  // On all addresses of the machine.
  absl::Status Start(std::vector<std::string> more = {}) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--status-page=0.0.0.0:0",
                     absl::StrCat("--tls-cert-file=", dir_.File("server.crt")),
                     absl::StrCat("--tls-key-file=", dir_.File("server.key")),
                     absl::StrCat("--tls-client-ca-file=", dir_.File("clients.crt")),
                     absl::StrCat("--access-file=", dir_.File("access.yaml"))};
    options.flags.insert(options.flags.end(), more.begin(), more.end());
    sidecar_.emplace(options);
    return sidecar_->Start();
  }

  // The port that the page has logged, which the log may show a moment after the start.
  int Port() const {
    WaitUntil([&] { return absl::StrContains(sidecar_->Log(), " tls=true port="); });
    const std::string log = sidecar_->Log();
    const size_t line = log.find("msg=\"status page\"");
    const size_t port = log.find(" port=", line) + 6;
    int number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(log.substr(port, log.find('\n', port) - port), &number)) << log;
    return number;
  }

  HttpsOptions As(const TestIdentity& identity) const {
    return {.server_ca = servers_.cert(), .identity = identity};
  }
  HttpsOptions Reader() const { return As(clients_.Issue({.dns = {"gateway.example"}})); }

  const TempDir dir_;
  const TestCa servers_{"servers"};
  const TestCa clients_{"clients"};
  std::optional<SidecarProcess> sidecar_;
};

TEST_F(StatusPageTlsTest, TheRolesOfACertificateDecideWhetherItReadsThePage) {
  ASSERT_THAT(Start(), IsOk());
  const struct {
    TestNames names;
    const char* status;
  } kCases[] = {
      {{.dns = {"gateway.example"}}, "HTTP/1.1 200 OK"},
      {{.common_name = "operator"}, "HTTP/1.1 200 OK"},
      {{.dns = {"gateway.example"}, .uri = {"spiffe://shop.example/store"}}, "HTTP/1.1 200 OK"},
      {{.uri = {"spiffe://shop.example/store"}}, "HTTP/1.1 403 Forbidden"},
      {{.common_name = "nobody"}, "HTTP/1.1 403 Forbidden"},
      // A name of one kind is none of another.
      {{.common_name = "gateway.example"}, "HTTP/1.1 403 Forbidden"},
      {{.dns = {"operator"}}, "HTTP/1.1 403 Forbidden"},
      {{.uri = {"gateway.example"}}, "HTTP/1.1 403 Forbidden"},
      {{}, "HTTP/1.1 403 Forbidden"},
  };
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const HttpsOptions client = As(clients_.Issue(kCases[i].names));
    for (const char* target : {"/", "/status.json", "/explain.json?container=c&id=a"}) {
      const std::string answer = HttpsExchange(Port(), client, Get(target));
      // The last one: there is no container, which those who may not read do not learn.
      const bool is_missing = absl::string_view(target).size() > 20 && i < 3;
      EXPECT_THAT(answer, StartsWith(is_missing ? "HTTP/1.1 404 " : kCases[i].status))
          << i << " " << target;
    }
  }
}

TEST_F(StatusPageTlsTest, ARefusalNamesTheCallerAndTheRoleAndIsLogged) {
  ASSERT_THAT(Start(), IsOk());
  const std::string answer =
      HttpsExchange(Port(), As(clients_.Issue({.common_name = "nobody"})), Get("/status.json"));
  EXPECT_THAT(answer, AllOf(HasSubstr("cn:nobody"), HasSubstr("reader or admin"),
                            HasSubstr("Content-Security-Policy: default-src 'none'"),
                            Not(HasSubstr("sidecar\""))));
  EXPECT_SOON(sidecar_->Log(),
              AllOf(HasSubstr("msg=\"call refused\" method=ExpiryService/ListExpiryStatuses "
                              "caller=\"cn:nobody\" address=\"0.0.0.0:0\""),
                    HasSubstr("needs=\"reader or admin\" has=none peer=\"ipv4:127.0.0.1:")));
}

TEST_F(StatusPageTlsTest, ClientsWithoutAGoodCertificateGetNothing) {
  ASSERT_THAT(Start(), IsOk());
  const TestNames reader = {.dns = {"gateway.example"}};
  TestNames expired = reader;
  expired.valid_from = -absl::Hours(2);
  expired.valid_until = -absl::Hours(1);
  const TestCa stranger("clients");  // the name is not what counts
  const struct {
    const char* what;
    TestIdentity identity;
  } kCases[] = {{"none", {}},
                {"of another CA", stranger.Issue(reader)},
                {"expired", clients_.Issue(expired)}};
  for (const auto& c : kCases) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      HttpsOptions options = As(c.identity);
      options.max_version = version;
      EXPECT_EQ(HttpsExchange(Port(), options, Get("/")), "") << c.what << " " << version;
    }
  }
  EXPECT_THAT(HttpsExchange(Port(), Reader(), Get("/")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTlsTest, AHandshakeThatFailsIsLoggedWithItsReasonAndTheClient) {
  ASSERT_THAT(Start(), IsOk());
  const TestCa stranger("strangers");
  const struct {
    HttpsOptions client;
    const char* reason;
  } kCases[] = {
      {As({}), "reason=\"peer did not return a certificate\""},
      {As(stranger.Issue({})), "reason=\"client certificate: unable to get"},
      {{.server_ca = stranger.cert()}, "reason=\"tlsv1 alert unknown ca\""},
  };
  for (const auto& c : kCases) {
    // The second one is left out.
    for (int i = 0; i < 2; ++i) EXPECT_EQ(HttpsExchange(Port(), c.client, Get("/")), "");
    EXPECT_SOON(sidecar_->Log(), HasSubstr(c.reason));
  }
  EXPECT_THAT(sidecar_->Log(),
              HasSubstr("level=warn msg=\"TLS handshake failed\" address=\"0.0.0.0:0\" "
                        "peer=\"ipv4:127.0.0.1:"));
}

TEST_F(StatusPageTlsTest, PlainHttpGetsNothing) {
  ASSERT_THAT(Start(), IsOk());
  const std::string plain = HttpExchange(absl::StrCat(Port()), Get("/")).value_or("refused");
  EXPECT_THAT(plain, Not(HasSubstr("HTTP/1.1")));
}

TEST_F(StatusPageTlsTest, TheHostIsOneOfTheCertificateThatTheSidecarPresents) {
  ASSERT_THAT(Start(), IsOk());
  for (const char* host : {"sidecar.test", "sidecar.test:9465", "SIDECAR.test", "127.0.0.1:9465"}) {
    EXPECT_THAT(HttpsExchange(Port(), Reader(), Get("/", host)), StartsWith("HTTP/1.1 200 "))
        << host;
  }
  for (const char* host : {"rebound.example", "a.sidecar.test", "localhost", "[::1]", "127.0.0.2",
                           "sidecar.test:x", "sidecar", ""}) {
    EXPECT_THAT(HttpsExchange(Port(), Reader(), Get("/", host)), StartsWith("HTTP/1.1 421 "))
        << host;
  }
}

TEST_F(StatusPageTlsTest, AnswersOfManyRecordsArriveWhole) {
  ASSERT_THAT(Start(), IsOk());
  const std::string page = HttpsExchange(Port(), Reader(), Get("/"));
  EXPECT_THAT(page, HasSubstr("<title>ttl-sidecar</title>"));
  EXPECT_TRUE(absl::string_view(page).substr(page.size() - 10).find("</html>") !=
              absl::string_view::npos);
  EXPECT_GT(page.size(), 40000u);  // a record has at most 16384 bytes
}

TEST_F(StatusPageTlsTest, HandshakesThatStallKeepNobodyOutAndAreEnded) {
  ASSERT_THAT(Start(), IsOk());
  const std::string port = absl::StrCat(Port());
  std::vector<HttpConnection> stalled;
  for (size_t i = 0; i < 2 * HttpServer::kMaxConnections; ++i) {
    auto connection = HttpConnection::Open(port);
    ASSERT_TRUE(connection.ok()) << connection.status();
    // Half of them begin a ClientHello of 512 bytes.
    if (i % 2 == 0) connection->Send(absl::string_view("\x16\x03\x01\x02\x00\x01", 6));
    stalled.push_back(*std::move(connection));
  }
  EXPECT_THAT(HttpsExchange(Port(), Reader(), Get("/status.json")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(stalled.back().ReadAll(), "");
}

TEST_F(StatusPageTlsTest, ClientsWithoutCertificatesDoNotTakeThePlaceOfThoseWhoHaveOne) {
  ASSERT_THAT(Start(), IsOk());
  // The reader has its place for HttpServer::kPatience: what takes time comes first.
  const int port = Port();
  const HttpsOptions last = Reader();
  HttpsOptions options = Reader();
  options.max_version = TLS1_2_VERSION;  // where the server has verified first
  HttpsClient reader(port, options);
  ASSERT_TRUE(reader.is_connected());
  // As many as would evict it, if it were only for age.
  std::vector<HttpConnection> others;
  for (size_t i = 0; i < HttpServer::kMaxConnections; ++i) {
    auto connection = HttpConnection::Open(absl::StrCat(port));
    ASSERT_TRUE(connection.ok()) << connection.status();
    others.push_back(*std::move(connection));
  }
  // Once it is served, all before it were accepted.
  EXPECT_THAT(HttpsExchange(port, last, Get("/")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(reader.Exchange(Get("/status.json")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTlsTest, ReplacedCertificatesApplyFromTheNextConnectionOn) {
  ASSERT_THAT(Start(), IsOk());
  const HttpsOptions before = Reader();
  ASSERT_THAT(HttpsExchange(Port(), before, Get("/")), StartsWith("HTTP/1.1 200 "));

  // By halves: the previous ones stay in use.
  const TestCa new_servers("new servers");
  const TestIdentity next = ServerIdentity(new_servers);
  ReplaceFile(dir_.File("server.key"), next.key);
  EXPECT_THAT(HttpsExchange(Port(), before, Get("/")), StartsWith("HTTP/1.1 200 "));
  ReplaceFile(dir_.File("server.crt"), next.cert);
  EXPECT_EQ(HttpsExchange(Port(), before, Get("/")), "");
  HttpsOptions after = before;
  after.server_ca = new_servers.cert();
  EXPECT_THAT(HttpsExchange(Port(), after, Get("/")), StartsWith("HTTP/1.1 200 "));

  const TestCa new_clients("new clients");
  ReplaceFile(dir_.File("clients.crt"), new_clients.cert());
  EXPECT_EQ(HttpsExchange(Port(), after, Get("/")), "");
  after.identity = new_clients.Issue({.dns = {"gateway.example"}});
  EXPECT_THAT(HttpsExchange(Port(), after, Get("/")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTlsTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  ReplaceFile(dir_.File("server.key"), servers_.Issue({}).key);
  EXPECT_FALSE(Start().ok());
  EXPECT_THAT(sidecar_->Log(), AllOf(HasSubstr("TLS of --status-page"),
                                     HasSubstr("is not the key of the first certificate")));
}

}  // namespace
}  // namespace ttl
