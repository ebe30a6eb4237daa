// One thread with an epoll instance does all the work: it accepts connections, relays bytes where
// they can be inspected (RelayedConnection), watches the other connections (HandedOverConnection),
// and reviews everything once a second. A round handles the events of one epoll_wait(), a bounded
// amount of work for each connection, so that no client can starve the others.
//
// The epoll data of a connection is twice its id, plus one for the server's side. Ids are never
// reused, so a late event of a connection that was dropped meanwhile finds nothing. Small values
// are descriptors that are not connections.

#include "service/transport/connections/connection_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "service/base/status_macros.h"
#include "service/transport/connections/closed_connections.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/handed_over_connection.h"
#include "service/transport/connections/listening_socket.h"
#include "service/transport/connections/reconnect_pace.h"
#include "service/transport/connections/relayed_connection.h"
#include "service/transport/connections/socket_keeper.h"

namespace ttl {
namespace {

using Side = ClientConnection::Side;

constexpr size_t kBufferBytes = 64 << 10;
constexpr int kEventsPerRound = 256;
constexpr int kAcceptsPerRound = 64;
constexpr size_t kMaxRefusedKept = 64;
constexpr int kReviewMilliseconds = 1000 * SocketKeeper::kSeconds;
// Review interval with TLS, where limits are checked only at reviews.
constexpr int kCountingMilliseconds = 100;
constexpr int kClosingMilliseconds = 20;

// Epoll data of descriptors that are not connections.
constexpr uint64_t kWake = 0;
constexpr uint64_t kListening = 1;
constexpr uint64_t kFirstConnection = 1;  // twice this is above both

// The coarse clock, which is cheap: it is read in every round.
int64_t CoarseMilliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1'000'000;
}

Fd OpenSpareFile() { return Fd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

Fd Accept(const Fd& listening, sockaddr_storage* from) {
  socklen_t size = sizeof(*from);
  return Fd(accept4(listening.get(), reinterpret_cast<sockaddr*>(from), &size,
                    SOCK_NONBLOCK | SOCK_CLOEXEC));
}

// Identifies the host for ReconnectPace; empty for a Unix socket.
std::string HostOf(const sockaddr_storage& from) {
  if (from.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(from).sin_addr;
    return std::string(reinterpret_cast<const char*>(&address), sizeof(address));
  }
  if (from.ss_family != AF_INET6) return "";
  // A host usually owns all addresses of a /64 network.
  const auto& address = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
  const size_t bytes = IN6_IS_ADDR_V4MAPPED(&address) ? sizeof(address) : sizeof(address) / 2;
  return std::string(reinterpret_cast<const char*>(&address), bytes);
}

// HOST:PORT in numbers, without brackets; empty for a Unix socket.
std::string HostPortOf(const sockaddr_storage& from) {
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&from), sizeof(from), host, sizeof(host), port,
                  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  return absl::StrCat(host, ":", port);
}

struct Pair {
  Fd ours;
  Fd servers;
};

std::optional<Pair> MakePair() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::nullopt;
  }
  return Pair{Fd(ends[0]), Fd(ends[1])};
}

// Binds our end to an abstract name, which gRPC reports as the peer of a call. It does not listen.
void NameAfter(const Fd& ours, const std::string& client) {
  const std::string text = absl::StrCat(client, "/ttl-sidecar/", getpid(), "/", ours.get());
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  // A leading zero byte makes the name abstract.
  const size_t size = text.copy(name.sun_path + 1, sizeof(name.sun_path) - 1);
  bind(ours.get(), reinterpret_cast<const sockaddr*>(&name),
       static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size));
}

}  // namespace

class ConnectionListener::Loop {
 public:
  Loop(const ListenerOptions& options, std::vector<Fd> listening);

  // Before Run().
  void SetHandOver(HandOver hand_over) { hand_over_ = std::move(hand_over); }

  // Runs on the listener's thread until Stop(), and then until all connections are closed; see
  // Close().
  void Run();

  // Called on other threads.
  void StopListening();
  void Stop(absl::Time deadline);
  absl::Status CheckSocket() const;

  // While Run() is not running.
  void StopListeningNow();

 private:
  struct Entry {
    std::unique_ptr<ClientConnection> connection;
    std::string host;
  };

  void Add(const Fd& fd, uint64_t data) const;
  int MaxWaitMilliseconds() const;
  void RunRound(int max_wait_milliseconds);
  void Take(const epoll_event& event, int64_t second);
  void TakeWake();
  void Proceed(uint64_t id, Side side, uint32_t events, int64_t second);
  void Judge(uint64_t id, const ClientConnection::Progress& progress, int64_t second);
  void AcceptSome(int64_t second);
  bool AcceptOne(const Fd& listening, int64_t second);
  bool RefuseWithoutFile(const Fd& listening);
  void KeepRefused(Fd refused);
  bool IsRelayed() const { return options_.socket == nullptr && !options_.is_encrypted; }
  std::unique_ptr<ClientConnection> Relay(Fd connection, const sockaddr_storage& from, uint64_t id);
  std::unique_ptr<ClientConnection> HandOverOnly(Fd connection, const sockaddr_storage& from,
                                                 uint64_t id, int64_t second);
  void Review(int64_t second);
  void ReviewConnections(int64_t second);
  void RestoreSocket();
  void CloseAll();
  void Wake() const { eventfd_write(wake_.get(), 1); }

  const ListenerOptions options_;
  const Fd epoll_{epoll_create1(EPOLL_CLOEXEC)};
  const Fd wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);

  std::atomic<bool> is_listening_stopped_ = false;
  std::promise<void> listening_stopped_;
  std::atomic<bool> is_stopping_ = false;
  absl::Time close_by_;                 // written before is_stopping_ is set
  std::optional<SocketKeeper> keeper_;  // for a Unix socket

  // Used by the listener's thread only, once it runs.
  HandOver hand_over_;
  std::vector<Fd> listening_;
  Fd spare_file_ = OpenSpareFile();  // see RefuseWithoutFile()
  uint64_t next_id_ = kFirstConnection;
  absl::flat_hash_map<uint64_t, Entry> connections_;
  std::vector<std::pair<uint64_t, Side>> unfinished_;
  bool has_more_to_accept_ = false;
  ReconnectPace pace_;
  std::vector<Fd> refused_;  // to be closed at the next review
  int64_t reviewed_at_ = 0;  // milliseconds
};

ConnectionListener::Loop::Loop(const ListenerOptions& options, std::vector<Fd> listening)
    : options_(options), listening_(std::move(listening)) {
  if (options_.socket != nullptr) keeper_.emplace(*options_.socket);
  Add(wake_, kWake);
  for (const Fd& fd : listening_) Add(fd, kListening);
}

void ConnectionListener::Loop::Add(const Fd& fd, uint64_t data) const {
  epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u64 = data}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event);
}

absl::Status ConnectionListener::Loop::CheckSocket() const {
  return keeper_.has_value() ? keeper_->state() : absl::OkStatus();
}

void ConnectionListener::Loop::StopListening() {
  if (is_listening_stopped_.exchange(true)) return;
  Wake();
  listening_stopped_.get_future().wait();
}

void ConnectionListener::Loop::StopListeningNow() {
  if (options_.socket != nullptr && !listening_.empty()) options_.socket->Remove();
  listening_.clear();
}

void ConnectionListener::Loop::Stop(absl::Time deadline) {
  close_by_ = deadline;
  is_stopping_ = true;
  Wake();
}

void ConnectionListener::Loop::Run() {
  while (!is_stopping_) RunRound(MaxWaitMilliseconds());
  CloseAll();
}

int ConnectionListener::Loop::MaxWaitMilliseconds() const {
  return options_.is_encrypted && !connections_.empty() ? kCountingMilliseconds
                                                        : kReviewMilliseconds;
}

void ConnectionListener::Loop::RunRound(int max_wait_milliseconds) {
  std::array<epoll_event, kEventsPerRound> events;
  const bool is_idle = unfinished_.empty() && !has_more_to_accept_;
  const int count =
      epoll_wait(epoll_.get(), events.data(), kEventsPerRound, is_idle ? max_wait_milliseconds : 0);
  const int64_t now = CoarseMilliseconds();
  for (const auto& [id, side] : std::exchange(unfinished_, {})) {
    Proceed(id, side, ClientConnection::kReadOn, now / 1000);
  }
  if (has_more_to_accept_) AcceptSome(now / 1000);
  for (int i = 0; i < count; ++i) Take(events[static_cast<size_t>(i)], now / 1000);
  if (now - reviewed_at_ < max_wait_milliseconds) return;
  reviewed_at_ = now;
  Review(now / 1000);
}

void ConnectionListener::Loop::Take(const epoll_event& event, int64_t second) {
  const uint64_t data = event.data.u64;
  if (data == kWake) return TakeWake();
  if (data == kListening) return AcceptSome(second);
  Proceed(data / 2, data % 2 == 0 ? Side::kClient : Side::kServer, event.events, second);
}

void ConnectionListener::Loop::TakeWake() {
  eventfd_t wakes = 0;
  eventfd_read(wake_.get(), &wakes);
  if (!is_listening_stopped_ || listening_.empty()) return;
  StopListeningNow();
  listening_stopped_.set_value();
}

void ConnectionListener::Loop::Proceed(uint64_t id, Side side, uint32_t events, int64_t second) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const ClientConnection::Progress progress =
      found->second.connection->Proceed(side, events, second);
  if (progress.has_more) unfinished_.emplace_back(id, side);
  Judge(id, progress, second);
}

void ConnectionListener::Loop::Judge(uint64_t id, const ClientConnection::Progress& progress,
                                     int64_t second) {
  if (progress.offence.has_value()) {
    CountClosedConnection(*progress.offence);
    pace_.CutOff(connections_[id].host, second);
  }
  if (progress.is_over || progress.offence.has_value()) connections_.erase(id);
}

void ConnectionListener::Loop::AcceptSome(int64_t second) {
  has_more_to_accept_ = false;
  for (const Fd& listening : listening_) {
    int accepted = 0;
    while (accepted < kAcceptsPerRound && AcceptOne(listening, second)) ++accepted;
    has_more_to_accept_ = has_more_to_accept_ || accepted == kAcceptsPerRound;
  }
}

// Returns false if no connection is waiting, or none can be accepted for now.
bool ConnectionListener::Loop::AcceptOne(const Fd& listening, int64_t second) {
  sockaddr_storage from = {};
  Fd connection = Accept(listening, &from);
  if (connection.get() < 0) {
    if (errno == EMFILE || errno == ENFILE) return RefuseWithoutFile(listening);
    return errno == ECONNABORTED || errno == EINTR;
  }
  if (static_cast<int64_t>(connections_.size()) >= options_.places) {
    CountClosedConnection(CloseReason::kTooManyConnections);
    return true;
  }
  std::string host = HostOf(from);
  if (!pace_.Admits(host, second)) {
    CountClosedConnection(CloseReason::kTooManyReconnects);
    KeepRefused(std::move(connection));
    return true;
  }
  const uint64_t id = next_id_++;
  std::unique_ptr<ClientConnection> made =
      IsRelayed() ? Relay(std::move(connection), from, id)
                  : HandOverOnly(std::move(connection), from, id, second);
  if (made == nullptr) {
    CountClosedConnection(CloseReason::kTooManyConnections);
  } else {
    connections_[id] = {.connection = std::move(made), .host = std::move(host)};
  }
  return true;
}

// Closes a refused connection only at the next review: a client that reconnects at once would
// otherwise keep this thread busy.
void ConnectionListener::Loop::KeepRefused(Fd refused) {
  if (refused_.size() < kMaxRefusedKept) refused_.push_back(std::move(refused));
}

// With no free descriptor, gives up the spare one to accept and close the waiting connection.
// Returns false if that is not possible.
bool ConnectionListener::Loop::RefuseWithoutFile(const Fd& listening) {
  if (spare_file_.get() < 0) return false;
  spare_file_ = Fd();
  sockaddr_storage from = {};
  const bool is_closed = Accept(listening, &from).get() >= 0;
  spare_file_ = OpenSpareFile();
  if (is_closed) CountClosedConnection(CloseReason::kTooManyConnections);
  return is_closed;
}

std::unique_ptr<ClientConnection> ConnectionListener::Loop::Relay(Fd connection,
                                                                  const sockaddr_storage& from,
                                                                  uint64_t id) {
  std::optional<Pair> pair = MakePair();
  if (!pair.has_value()) return nullptr;
  NameAfter(pair->ours, HostPortOf(from));
  auto relayed = std::make_unique<RelayedConnection>(std::move(connection), std::move(pair->ours),
                                                     options_.frames, absl::MakeSpan(buffer_),
                                                     epoll_.get(), id);
  hand_over_(pair->servers.Release());
  return relayed;
}

std::unique_ptr<ClientConnection> ConnectionListener::Loop::HandOverOnly(
    Fd connection, const sockaddr_storage& from, uint64_t id, int64_t second) {
  Fd duplicate(fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
  if (duplicate.get() < 0) return nullptr;
  const bool is_tcp = options_.socket == nullptr;
  auto handed_over = std::make_unique<HandedOverConnection>(
      std::move(duplicate), is_tcp ? HostPortOf(from) : "", is_tcp ? &options_.unseen : nullptr,
      epoll_.get(), id, second);
  hand_over_(connection.Release());
  return handed_over;
}

void ConnectionListener::Loop::Review(int64_t second) {
  refused_.clear();
  if (options_.socket == nullptr) ReviewConnections(second);
  if (listening_.empty()) return;
  if (keeper_.has_value()) RestoreSocket();
  // Edge-triggered epoll does not report again the connections for which there was no descriptor.
  if (spare_file_.get() < 0) spare_file_ = OpenSpareFile();
  AcceptSome(second);
}

void ConnectionListener::Loop::ReviewConnections(int64_t second) {
  std::vector<uint64_t> ids;
  ids.reserve(connections_.size());
  for (const auto& [id, entry] : connections_) ids.push_back(id);
  for (const uint64_t id : ids) Judge(id, connections_[id].connection->Review(second), second);
}

void ConnectionListener::Loop::RestoreSocket() {
  std::optional<Fd> made = keeper_->Review();
  if (!made.has_value()) return;
  Add(*made, kListening);
  listening_.front() = *std::move(made);
}

void ConnectionListener::Loop::CloseAll() {
  for (const auto& [id, entry] : connections_) entry.connection->HangUp();
  while (!connections_.empty() && absl::Now() < close_by_) RunRound(kClosingMilliseconds);
  connections_.clear();
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Listen(
    const ListenerOptions& options) {
  std::vector<Fd> listening;
  if (options.socket == nullptr) {
    TTL_ASSIGN_OR_RETURN(listening, ListenOnTcp(options.tcp));
  } else {
    TTL_RETURN_IF_ERROR(options.socket->Bind([&]() -> absl::Status {
      TTL_ASSIGN_OR_RETURN(Fd fd, ListenOnPath(options.socket->path()));
      listening.push_back(std::move(fd));
      return absl::OkStatus();
    }));
  }
  const int port = PortOf(listening.front());
  auto loop = std::make_unique<Loop>(options, std::move(listening));
  return std::unique_ptr<ConnectionListener>(new ConnectionListener(port, std::move(loop)));
}

ConnectionListener::ConnectionListener(int port, std::unique_ptr<Loop> loop)
    : port_(port), loop_(std::move(loop)) {}

ConnectionListener::~ConnectionListener() {
  if (thread_.joinable()) Close(absl::InfinitePast());
  StopListening();
}

void ConnectionListener::Serve(HandOver hand_over) {
  loop_->SetHandOver(std::move(hand_over));
  thread_ = std::thread([this] { loop_->Run(); });
}

absl::Status ConnectionListener::CheckSocket() const { return loop_->CheckSocket(); }

void ConnectionListener::StopListening() {
  thread_.joinable() ? loop_->StopListening() : loop_->StopListeningNow();
}

void ConnectionListener::Close(absl::Time deadline) {
  StopListening();
  if (!thread_.joinable()) return;
  loop_->Stop(deadline);
  thread_.join();
}

}  // namespace ttl
