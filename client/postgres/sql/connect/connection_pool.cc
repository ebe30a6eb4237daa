#include "client/postgres/sql/connect/connection_pool.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {

struct ConnectionPool::Place {
  ~Place() { ForgetSocket(); }

  void ForgetSocket() {
    if (socket_copy >= 0) close(socket_copy);
    socket_copy = -1;
  }

  std::unique_ptr<Connection> connection;
  bool taken = false;
  absl::Time cut_at = absl::InfiniteFuture();
  // Backend of the last connection in this place.
  int backend_pid = 0;
  // Duplicate descriptor: libpq may close its own one at any time, and another file may then get
  // the number.
  int socket_copy = -1;
};

namespace {

// Whether the connection is still open. Does no round trip.
bool IsAlive(Connection& connection) {
  pollfd wait = {.fd = PQsocket(connection.raw()), .events = POLLIN, .revents = 0};
  // Input may be pending without an end of the connection: an error precedes the end, and changes
  // of settings arrive at any time.
  for (int i = 0; i < 10 && poll(&wait, 1, 0) > 0; ++i) {
    if (PQconsumeInput(connection.raw()) == 0) return false;
  }
  return connection.is_open();
}

// Terminates the previous backend of the place, if it still exists: a backend that waits for a
// synchronous standby does not notice that its connection was cut, and such backends would
// accumulate.
absl::Status EndBackend(Connection& connection, int pid) {
  if (pid == 0) return absl::OkStatus();
  return connection
      .Query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 "
          "AND usename = current_user AND application_name = current_setting('application_name')",
          {absl::StrCat(pid)})
      .status();
}

}  // namespace

ConnectionPool::Lease::Lease(Lease&& other) noexcept
    : pool_(other.pool_), place_(std::exchange(other.place_, nullptr)), drop_(other.drop_) {}

ConnectionPool::Lease::~Lease() {
  if (place_ != nullptr) pool_->GiveBack(*place_, drop_);
}

Connection& ConnectionPool::Lease::operator*() const { return *place_->connection; }

void ConnectionPool::Lease::Drop() { drop_ = true; }

ConnectionPool::ConnectionPool(ConnectionPoolOptions options, WallClock clock)
    : options_(std::move(options)), clock_(std::move(clock)) {
  for (size_t i = 0; i < options_.size; ++i) places_.push_back(std::make_unique<Place>());
  thread_ = std::thread([this] { CutOverdue(); });
}

ConnectionPool::~ConnectionPool() {
  Close();
  thread_.join();
}

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::Take(absl::Time cut_at) {
  TTL_ASSIGN_OR_RETURN(Place* const place, TakePlace());
  Lease lease(this, place);
  TTL_RETURN_IF_ERROR(Fill(*place, cut_at));
  return lease;
}

absl::StatusOr<ConnectionPool::Place*> ConnectionPool::TakePlace() {
  auto left = absl::ToChronoNanoseconds(kMaxWait);
  const auto deadline = std::chrono::steady_clock::now() + left;
  const MutexLock lock(mutex_);
  while (!closed_ && FreePlace() == nullptr && left > left.zero()) {
    changed_.WaitFor(mutex_, left);
    left = deadline - std::chrono::steady_clock::now();
  }
  if (closed_) return absl::UnavailableError("ttl-postgres is stopping");
  Place* const place = FreePlace();
  if (place == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("all ", places_.size(), " connections of ",
                                                     options_.application_name,
                                                     " to the database are in use"));
  }
  place->taken = true;
  return place;
}

ConnectionPool::Place* ConnectionPool::FreePlace() const {
  const auto free =
      std::find_if(places_.begin(), places_.end(), [](const auto& place) { return !place->taken; });
  return free == places_.end() ? nullptr : free->get();
}

absl::Status ConnectionPool::Fill(Place& place, absl::Time cut_at) {
  if (place.connection != nullptr && !IsAlive(*place.connection)) place.connection.reset();
  if (place.connection == nullptr) {
    TTL_ASSIGN_OR_RETURN(place.connection, OpenOne());
    TTL_RETURN_IF_ERROR(EndBackend(*place.connection, place.backend_pid));
    place.backend_pid = PQbackendPID(place.connection->raw());
  }
  const MutexLock lock(mutex_);
  if (closed_) return absl::UnavailableError("ttl-postgres is stopping");
  place.ForgetSocket();
  place.socket_copy = dup(PQsocket(place.connection->raw()));
  place.cut_at = cut_at;
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Connection>> ConnectionPool::OpenOne() {
  {
    const MutexLock lock(mutex_);
    if (clock_() - last_failure_time_ < kRetryInterval) return last_failure_;
  }
  auto opened = Connection::Open(options_.database, options_.application_name);
  absl::Status status = opened.status();
  if (status.ok() && !options_.setup.empty()) {
    status = (*opened)->Execute(options_.setup).status();
  }
  if (status.ok()) return opened;
  // Every cause means the same to callers: no connection.
  status =
      absl::UnavailableError(absl::StrCat("no connection to the database: ", status.message()));
  const MutexLock lock(mutex_);
  last_failure_ = status;
  last_failure_time_ = clock_();
  return status;
}

void ConnectionPool::GiveBack(Place& place, bool drop) {
  if (drop || (place.connection != nullptr && !place.connection->is_open())) {
    place.connection.reset();
  }
  const MutexLock lock(mutex_);
  place.ForgetSocket();
  place.cut_at = absl::InfiniteFuture();
  place.taken = false;
  changed_.NotifyAll();
}

void ConnectionPool::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  for (const auto& place : places_) Cut(*place);
  changed_.NotifyAll();
}

void ConnectionPool::CutOverdue() {
  const MutexLock lock(mutex_);
  while (!closed_) {
    absl::Time next = absl::InfiniteFuture();
    for (const auto& place : places_) {
      if (place->cut_at <= clock_()) Cut(*place);
      next = std::min(next, place->cut_at);
    }
    // Wakes at least once per second, since the clock may be set.
    const absl::Duration wait =
        std::clamp(next - clock_(), absl::Milliseconds(1), absl::Seconds(1));
    changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(wait));
  }
}

void ConnectionPool::Cut(Place& place) {
  if (place.socket_copy >= 0) shutdown(place.socket_copy, SHUT_RDWR);
  place.cut_at = absl::InfiniteFuture();
}

}  // namespace ttl::postgres
