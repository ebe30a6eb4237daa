#include "service/transport/connections/connection_listener.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/transport/connections/closed_connections.h"
#include "service/transport/connections/fd.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::HasSubstr;

constexpr char kHttp2Start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr int64_t kMaxUnansweredBytes = 1 << 20;
constexpr int64_t kMaxUnansweredCalls = 100;

// What a server of gRPC is to a listener. Serves each connection in a thread of its own.
class FakeServer {
 public:
  enum class Answer { kEcho, kNothing };

  explicit FakeServer(Answer answer = Answer::kEcho) : answer_(answer) {}
  ~FakeServer() {
    for (std::thread& thread : threads_) thread.join();
  }

  // One after the other.
  void Take(int connection) {
    ++taken_;
    fcntl(connection, F_SETFL, 0);  // its thread waits
    threads_.emplace_back([this, connection] { Serve(Fd(connection)); });
  }
  int taken() const { return taken_; }
  int ended() const { return ended_; }

 private:
  void Serve(const Fd& connection) {
    std::vector<char> buffer(1 << 16);
    ssize_t size = 0;
    while ((size = recv(connection.get(), buffer.data(), buffer.size(), 0)) > 0) {
      if (answer_ == Answer::kNothing) continue;
      if (send(connection.get(), buffer.data(), static_cast<size_t>(size), MSG_NOSIGNAL) < 0) break;
    }
    // As gRPC does, so that whoever has a duplicate hears of it.
    shutdown(connection.get(), SHUT_RDWR);
    ++ended_;
  }

  const Answer answer_;
  std::atomic<int> taken_ = 0;
  std::atomic<int> ended_ = 0;
  std::vector<std::thread> threads_;
};

// A client that waits, for some seconds at most.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    Connect(name);
  }
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Connect(name);
  }

  bool is_connected() const { return is_connected_; }

  // False if the server has hung up.
  bool Send(const std::string& bytes) const {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += static_cast<size_t>(now);
    }
    return true;
  }

  // Up to `size` bytes, fewer at the end of the connection.
  std::string Receive(size_t size) const {
    std::string bytes(size, '\0');
    size_t received = 0;
    while (received < size) {
      const ssize_t now = recv(fd_.get(), &bytes[received], size - received, 0);
      if (now <= 0) break;
      received += static_cast<size_t>(now);
    }
    bytes.resize(received);
    return bytes;
  }

  // Waits until something can be received.
  bool AwaitBytes() const {
    char byte = 0;
    return recv(fd_.get(), &byte, 1, MSG_PEEK) == 1;
  }

  // Whether the server answers.
  bool IsServed() const { return Send("?") && Receive(1) == "?"; }
  bool IsClosed() const { return Receive(1).empty(); }

 private:
  template <typename Name>
  void Connect(const Name& name) {
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    is_connected_ = connect(fd_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  }

  const Fd fd_;
  bool is_connected_ = false;
};

enum class Door { kUnixSocket, kPlainTcp, kEncryptedTcp };

class ConnectionListenerTest : public testing::Test {
 protected:
  void Listen(Door door, int64_t places) {
    ListenerOptions options = {
        .places = places,
        .is_encrypted = door == Door::kEncryptedTcp,
        .frames = FrameLimits::ForCalls(16),
        .unseen = {.unanswered_bytes = kMaxUnansweredBytes,
                   .unanswered_calls_per_second = kMaxUnansweredCalls,
                   .count_unanswered_calls = [this](const std::string& client) {
                     return CountUnansweredCalls(client);
                   }}};
    if (door == Door::kUnixSocket) {
      auto socket = UnixSocket::Claim({.path = path_, .mode = 0640});
      ASSERT_TRUE(socket.ok()) << socket.status();
      socket_ = *std::move(socket);
      options.socket = socket_.get();
    } else {
      options.tcp = "127.0.0.1:0";
    }
    auto listener = ConnectionListener::Listen(options);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
    port_ = listener_->port();
  }

  void Serve(FakeServer& server) {
    listener_->Serve([&server](int connection) { server.Take(connection); });
  }

  void ListenAndServe(Door door, int64_t places = 10) {
    ASSERT_NO_FATAL_FAILURE(Listen(door, places));
    Serve(server_);
  }

  std::optional<int64_t> CountUnansweredCalls(const std::string& client) const {
    if (!absl::StartsWith(client, "127.0.0.1:")) return std::nullopt;
    return unanswered_calls_;
  }

  std::unique_ptr<Client> NewClient() const {
    return socket_ != nullptr ? std::make_unique<Client>(path_) : std::make_unique<Client>(port_);
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("s.sock");
  std::atomic<int64_t> unanswered_calls_ = 0;
  FakeServer server_;  // outlives the listener, whose end ends its connections
  std::unique_ptr<UnixSocket> socket_;
  std::unique_ptr<ConnectionListener> listener_;
  int port_ = 0;
};

class EveryDoorTest : public ConnectionListenerTest, public testing::WithParamInterface<Door> {};

std::string NameOfDoor(const testing::TestParamInfo<Door>& info) {
  constexpr const char* kNames[] = {"UnixSocket", "PlainTcp", "EncryptedTcp"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Doors, EveryDoorTest,
                         testing::Values(Door::kUnixSocket, Door::kPlainTcp, Door::kEncryptedTcp),
                         NameOfDoor);

TEST_P(EveryDoorTest, BytesPassUnchangedHoweverSlowlyTheyAreTaken) {
  ListenAndServe(GetParam());
  const auto client = NewClient();
  std::string sent = "not HTTP/2: ";
  while (sent.size() < 8 << 20) absl::StrAppend(&sent, sent.size(), " ");
  // Nothing is read before most was sent, so that every buffer between is full.
  std::thread sender([&] { client->Send(sent); });
  EXPECT_TRUE(WaitUntil([&] { return server_.taken() == 1; }));
  EXPECT_TRUE(client->Receive(sent.size()) == sent);
  sender.join();
}

TEST_P(EveryDoorTest, WhoConnectsBeforeItServesWaits) {
  Listen(GetParam(), 10);
  const auto client = NewClient();
  client->Send("early");
  Serve(server_);
  EXPECT_EQ(client->Receive(5), "early");
}

TEST_P(EveryDoorTest, AsManyAsThereArePlacesAreServed) {
  ListenAndServe(GetParam(), 2);
  const auto first = NewClient();
  EXPECT_TRUE(first->IsServed());
  auto second = NewClient();
  EXPECT_TRUE(second->IsServed());
  EXPECT_TRUE(NewClient()->IsClosed());
  second.reset();
  EXPECT_TRUE(WaitUntil([&] { return NewClient()->IsServed(); }));
  EXPECT_TRUE(first->IsServed());
}

TEST_P(EveryDoorTest, NothingIsHandedOverOnceItHasStoppedListening) {
  ListenAndServe(GetParam());
  const auto before = NewClient();
  EXPECT_TRUE(before->IsServed());
  listener_->StopListening();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(NewClient()->is_connected());
  EXPECT_TRUE(before->IsServed());
  EXPECT_EQ(server_.taken(), 1);
}

TEST_P(EveryDoorTest, ClosingEndsAllConnectionsOnBothSidesAndLosesNoAnswer) {
  ListenAndServe(GetParam());
  const auto idle = NewClient();
  EXPECT_TRUE(idle->IsServed());
  const auto answered = NewClient();
  answered->Send("answer");
  EXPECT_TRUE(answered->AwaitBytes());
  listener_->Close(absl::Now() + absl::Seconds(20));
  EXPECT_TRUE(WaitUntil([&] { return server_.ended() == 2; }));
  EXPECT_TRUE(idle->IsClosed());
  EXPECT_EQ(answered->Receive(100), "answer");
}

TEST_P(EveryDoorTest, MayEndWithoutHavingServed) {
  Listen(GetParam(), 10);
  const auto client = NewClient();
  listener_.reset();
  EXPECT_TRUE(client->IsClosed());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ConnectionListenerTest, WhoFloodsWithFramesIsCutOffAndComesAgainAtAPace) {
  ListenAndServe(Door::kPlainTcp, 1000);
  const int64_t before = ClosedConnections(CloseReason::kTooManyIdleFrames);
  const std::string window("\0\0\4\x8\0\0\0\0\0\0\0\0\1", 13);
  std::string flood = kHttp2Start;
  for (int i = 0; i < 1000; ++i) flood += window;
  const auto bad = NewClient();
  bad->Send(flood);
  EXPECT_TRUE(bad->Receive(flood.size() + 1).size() <= flood.size());
  EXPECT_TRUE(WaitUntil([&] { return server_.ended() == 1; }));
  EXPECT_TRUE(
      WaitUntil([&] { return ClosedConnections(CloseReason::kTooManyIdleFrames) == before + 1; }));
  int served = 0;
  const absl::Time start = absl::Now();
  for (int i = 0; i < 20; ++i) served += NewClient()->IsServed() ? 1 : 0;
  // Some seconds may have passed.
  EXPECT_GT(served, 0);
  EXPECT_LT(served, 20);
  // Who is refused is told at the next review, so that trying again at once is no use.
  EXPECT_GT(absl::Now() - start, absl::Milliseconds(900));
}

TEST_F(ConnectionListenerTest, WhoSendsMuchWithoutAnAnswerBehindEncryptionIsCutOff) {
  FakeServer deaf(FakeServer::Answer::kNothing);
  Listen(Door::kEncryptedTcp, 10);
  Serve(deaf);
  const int64_t before = ClosedConnections(CloseReason::kTooManyUnansweredBytes);
  const auto bad = NewClient();
  const std::string part(1 << 16, 'x');
  EXPECT_TRUE(WaitUntil([&] { return !bad->Send(part); }, absl::Seconds(20), absl::ZeroDuration()));
  // Counted after it is closed.
  EXPECT_TRUE(WaitUntil(
      [&] { return ClosedConnections(CloseReason::kTooManyUnansweredBytes) == before + 1; }));
  listener_.reset();
}

TEST_F(ConnectionListenerTest, WhoseCallsAreNotAnsweredBehindEncryptionIsCutOff) {
  Listen(Door::kEncryptedTcp, 10);
  Serve(server_);
  const int64_t before = ClosedConnections(CloseReason::kTooManyUnansweredCalls);
  const auto bad = NewClient();
  unanswered_calls_ = 1'000'000;
  // All of it is answered.
  const std::string part(1 << 14, 'x');
  EXPECT_TRUE(WaitUntil([&] { return !bad->Send(part) || bad->Receive(part.size()).empty(); },
                        absl::Seconds(20), absl::ZeroDuration()));
  EXPECT_TRUE(WaitUntil(
      [&] { return ClosedConnections(CloseReason::kTooManyUnansweredCalls) == before + 1; }));
  listener_.reset();
}

TEST_F(ConnectionListenerTest, ASocketFileThatWasRemovedIsMadeAgain) {
  ListenAndServe(Door::kUnixSocket);
  const auto before = NewClient();
  EXPECT_TRUE(before->IsServed());
  std::filesystem::remove(path_);
  ASSERT_TRUE(WaitUntil([&] { return NewClient()->is_connected(); }, absl::Seconds(20)));
  EXPECT_TRUE(NewClient()->IsServed());
  EXPECT_TRUE(before->IsServed());
  EXPECT_TRUE(listener_->CheckSocket().ok()) << listener_->CheckSocket();
  struct stat info = {};
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST_F(ConnectionListenerTest, ItSaysWhyASocketFileCannotBeMadeAgain) {
  ListenAndServe(Door::kUnixSocket);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(WaitUntil([&] { return !listener_->CheckSocket().ok(); }, absl::Seconds(20)));
  EXPECT_THAT(std::string(listener_->CheckSocket().message()), HasSubstr("is not a socket"));
  std::filesystem::remove(path_);
  EXPECT_TRUE(WaitUntil([&] { return listener_->CheckSocket().ok(); }, absl::Seconds(20)));
  EXPECT_TRUE(NewClient()->IsServed());
}

TEST_F(ConnectionListenerTest, AnotherOneAtThePathIsLeftAlone) {
  ListenAndServe(Door::kUnixSocket);
  std::filesystem::remove(path_);
  std::filesystem::remove(absl::StrCat(path_, ".lock"));
  const auto other = UnixSocket::Claim({.path = path_});
  // Whoever is first has it.
  if (!other.ok()) {
    EXPECT_THAT(std::string(other.status().message()), HasSubstr("in use"));
    return;
  }
  auto theirs = ConnectionListener::Listen({.socket = other->get(), .places = 1});
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  struct stat info = {};
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_TRUE(WaitUntil([&] { return !listener_->CheckSocket().ok(); }, absl::Seconds(20)));
  listener_->StopListening();
  struct stat now = {};
  EXPECT_EQ(lstat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, info.st_ino);
}

}  // namespace
}  // namespace ttl
