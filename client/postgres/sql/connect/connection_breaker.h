#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_

#include <mutex>
#include <vector>

namespace ttl::postgres {

// Breaks connections off from another thread: whatever waits for the server then fails at once.
// Thread-safe.
class ConnectionBreaker {
 public:
  ConnectionBreaker() = default;
  ~ConnectionBreaker();
  ConnectionBreaker(const ConnectionBreaker&) = delete;
  ConnectionBreaker& operator=(const ConnectionBreaker&) = delete;

  // Breaks off the connections that were added, those that come later, and attempts to connect.
  void Break();
  bool is_broken() const;

  // The socket stays the caller's.
  void Add(int socket);

 private:
  mutable std::mutex mutex_;
  bool is_broken_ = false;    // guarded by mutex_
  std::vector<int> sockets_;  // guarded by mutex_; descriptors of our own
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_
