#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// What a pool's connections are.
struct ConnectionPoolOptions {
  std::string database;
  std::string application_name;
  size_t size = 1;
  // Run on each new connection, such as "SET jit = off".
  std::string setup;
};

// A few connections, opened when they are needed and reopened when they were lost. A lease
// that is not given back in time is cut: its connection is shut down under it, so that a
// server that hangs holds no thread for ever. The server has no more of its backends than there
// are places. Thread-safe.
class ConnectionPool {
 private:
  struct Place;

 public:
  // How long Take() waits for another lease to end.
  static constexpr absl::Duration kMaxWait = absl::Seconds(1);
  // After a failure to open a connection no other attempt is made for so long.
  static constexpr absl::Duration kRetryInterval = absl::Seconds(1);

  // A connection for the use of one thread; given back on destruction. Must not outlive the pool.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection& operator*() const;
    Connection* operator->() const { return &**this; }

    // It is not given back but closed: nobody knows what state it is in.
    void Drop();

   private:
    friend class ConnectionPool;
    Lease(ConnectionPool* pool, Place* place) : pool_(pool), place_(place) {}

    ConnectionPool* pool_;
    Place* place_;
    bool drop_ = false;
  };

  explicit ConnectionPool(ConnectionPoolOptions options);
  // All leases must have ended.
  ~ConnectionPool();

  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // A connection until `cut_at`. UNAVAILABLE with the reason, at once if it is known, if there
  // can be none; RESOURCE_EXHAUSTED if all are in use for longer than kMaxWait.
  absl::StatusOr<Lease> Take(absl::Time cut_at);

  // Cuts all leases and gives no more.
  void Close();

 private:
  absl::StatusOr<Place*> TakePlace();
  absl::Status Fill(Place& place, absl::Time cut_at);
  absl::StatusOr<std::unique_ptr<Connection>> OpenOne();
  void GiveBack(Place& place, bool drop);
  void CutOverdue();
  static void Cut(Place& place);

  const ConnectionPoolOptions options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_, but the connection of a place that is taken is its lease's.
  std::vector<std::unique_ptr<Place>> places_;
  bool closed_ = false;
  absl::Status last_failure_;
  absl::Time last_failure_time_ = absl::InfinitePast();

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_POOL_H_
