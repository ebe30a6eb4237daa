#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"
#include "service/base/mutex.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Options of a pool and its connections.
struct ConnectionPoolOptions {
  std::string database;
  std::string application_name;
  size_t size = 1;
  // Statements to run on each new connection, such as "SET jit = off".
  std::string setup;
};

// A fixed number of connections, opened on first use and reopened after a loss. A lease that is not
// returned before its deadline is cut: its connection is shut down, so that a server that hangs
// cannot block a thread forever. The server never has more backends of this pool than there are
// places. Thread-safe.
class ConnectionPool {
 private:
  struct Place;

 public:
  // Maximum wait of Take() for another lease to end.
  static constexpr absl::Duration kMaxWait = absl::Seconds(1);
  // No connection is attempted for this long after a failed attempt.
  static constexpr absl::Duration kRetryInterval = absl::Seconds(1);

  // A connection for one thread, returned to the pool on destruction. Must not outlive the pool.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection& operator*() const;
    Connection* operator->() const { return &**this; }

    // Closes the connection instead of returning it, since its state is unknown.
    void Drop();

   private:
    friend class ConnectionPool;
    Lease(ConnectionPool* pool, Place* place) : pool_(pool), place_(place) {}

    ConnectionPool* pool_;
    Place* place_;
    bool drop_ = false;
  };

  ConnectionPool(ConnectionPoolOptions options, WallClock clock);
  // REQUIRES: all leases have ended.
  ~ConnectionPool();

  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // Leases a connection until `cut_at`. UNAVAILABLE with the reason if none can be opened, at once
  // within kRetryInterval of a failure; RESOURCE_EXHAUSTED if all are in use for longer than
  // kMaxWait.
  absl::StatusOr<Lease> Take(absl::Time cut_at);

  // Cuts all leases; later calls of Take() fail.
  void Close();

 private:
  absl::StatusOr<Place*> TakePlace();
  // Null if all are taken.
  Place* FreePlace() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Fill(Place& place, absl::Time cut_at);
  absl::StatusOr<std::unique_ptr<Connection>> OpenOne();
  void GiveBack(Place& place, bool drop);
  void CutOverdue();
  static void Cut(Place& place);

  const ConnectionPoolOptions options_;
  const WallClock clock_;

  Mutex mutex_;
  CondVar changed_;
  // The connection of a taken place belongs to its lease.
  std::vector<std::unique_ptr<Place>> places_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_failure_time_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_
