// The server's end of TLS by itself, on one thread: the client's end is moved on by hand.
#include "service/transport/tls/tls_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "service/transport/connections/fd.h"
#include "tests/testing/certificates.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::StartsWith;

constexpr int kMostRounds = 1000;

struct FreeClient {
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

class TlsServerTest : public testing::Test {
 protected:
  TlsServerTest() {
    OpenSockets();
    const TestIdentity identity = servers_.Issue({.dns = {"sidecar.test"}});
    ReplaceFile(dir_.File("server.crt"), identity.cert);
    ReplaceFile(dir_.File("server.key"), identity.key);
  }

  // Connects a client with `identity`, whose issuer `ca` the server trusts. Returns whether the
  // server has accepted it.
  bool Connect(const TestIdentity& identity, const std::string& ca) {
    ReplaceFile(dir_.File("clients.crt"), ca);
    auto server = TlsServer::Make({.cert_file = dir_.File("server.crt"),
                                   .key_file = dir_.File("server.key"),
                                   .ca_file = dir_.File("clients.crt")});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    connection_ = server_->Accept(server_fd_.get());
    context_.reset(SSL_CTX_new(TLS_client_method()));
    Present(identity);
    client_.reset(SSL_new(context_.get()));
    SSL_set_fd(client_.get(), client_fd_.get());
    SSL_set_connect_state(client_.get());
    for (int i = 0; i < kMostRounds && !connection_->is_established(); ++i) {
      SSL_do_handshake(client_.get());
      if (Receive() < 0 && errno != EAGAIN) return false;
    }
    return connection_->is_established();
  }

  ssize_t Receive() {
    char buffer[64];
    return connection_->Receive(buffer, sizeof(buffer));
  }

  // The server's end of a further connection after a client has sent `bytes` and hung up.
  std::unique_ptr<TlsConnection> NextConnection(absl::string_view bytes) {
    client_.reset();
    connection_.reset();
    OpenSockets();
    connection_ = server_->Accept(server_fd_.get());
    EXPECT_EQ(send(client_fd_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    shutdown(client_fd_.get(), SHUT_WR);
    EXPECT_EQ(Receive(), -1);
    EXPECT_EQ(errno, EPROTO);
    return std::move(connection_);
  }

  const TempDir dir_;
  const TestCa servers_{"servers"};
  const TestCa clients_{"clients"};
  Fd client_fd_;
  Fd server_fd_;
  std::unique_ptr<SSL_CTX, FreeClient> context_;
  std::unique_ptr<SSL, FreeClient> client_;
  std::unique_ptr<TlsServer> server_;
  std::unique_ptr<TlsConnection> connection_;

 private:
  void OpenSockets() {
    std::array<int, 2> ends = {};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    client_fd_ = Fd(ends[0]);
    server_fd_ = Fd(ends[1]);
  }

  void Present(const TestIdentity& identity) {
    ReplaceFile(dir_.File("client.crt"), identity.cert);
    ReplaceFile(dir_.File("client.key"), identity.key);
    SSL_CTX_use_certificate_chain_file(context_.get(), dir_.File("client.crt").c_str());
    SSL_CTX_use_PrivateKey_file(context_.get(), dir_.File("client.key").c_str(), SSL_FILETYPE_PEM);
  }
};

TEST_F(TlsServerTest, EachCallReadsAtMostOneRecordWithoutData) {
  ASSERT_TRUE(Connect(clients_.Issue({}), clients_.cert()));
  constexpr int kUpdates = 50;
  for (int i = 0; i < kUpdates; ++i) {
    ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
  }
  ASSERT_EQ(SSL_write(client_.get(), "x", 1), 1);
  for (int i = 0; i < kUpdates; ++i) {
    ASSERT_EQ(Receive(), -1) << i;
    ASSERT_EQ(errno, EAGAIN) << i;
    ASSERT_EQ(connection_->events(), POLLIN) << i;
  }
  EXPECT_EQ(Receive(), 1);
}

TEST_F(TlsServerTest, AnIntermediateAuthorityMayBeTheOneThatIsTrusted) {
  const TestCa intermediate("intermediate", clients_);
  EXPECT_TRUE(Connect(intermediate.Issue({}), intermediate.cert()));
}

TEST_F(TlsServerTest, TheIssuerOfATrustedIntermediateIsNotTrusted) {
  const TestCa intermediate("intermediate", clients_);
  EXPECT_FALSE(Connect(clients_.Issue({}), intermediate.cert()));
}

TEST_F(TlsServerTest, AHandshakeThatFailsSaysWhyOnce) {
  EXPECT_FALSE(Connect(TestCa("stranger").Issue({}), clients_.cert()));
  EXPECT_THAT(connection_->TakeFailure(),
              StartsWith("client certificate: unable to get local issuer"));
  EXPECT_EQ(connection_->TakeFailure(), "");
}

TEST_F(TlsServerTest, AClientThatSpeaksAnotherProtocolIsSaidTo) {
  ASSERT_TRUE(Connect(clients_.Issue({}), clients_.cert()));
  EXPECT_EQ(connection_->TakeFailure(), "");
  const std::unique_ptr<TlsConnection> next = NextConnection("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(next->TakeFailure(), "http request");
}

TEST_F(TlsServerTest, AClientThatOnlyHangsUpHasNotFailed) {
  ASSERT_TRUE(Connect(clients_.Issue({}), clients_.cert()));
  EXPECT_EQ(NextConnection("")->TakeFailure(), "");
  EXPECT_EQ(NextConnection("\x16\x03\x01")->TakeFailure(), "");
}

}  // namespace
}  // namespace ttl
