#ifndef TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_
#define TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl::postgres {

// Interrupts connections from another thread: a call that waits for the server fails at once.
// Thread-safe.
class ConnectionBreaker {
 public:
  ConnectionBreaker() = default;
  ~ConnectionBreaker();
  ConnectionBreaker(const ConnectionBreaker&) = delete;
  ConnectionBreaker& operator=(const ConnectionBreaker&) = delete;

  // Interrupts connections added before or after the call, and attempts to connect.
  void Break();
  bool is_broken() const;

  // The caller keeps ownership of the socket.
  void Add(int socket);

 private:
  mutable Mutex mutex_;
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);  // duplicates, which this object owns
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CONNECT_CONNECTION_BREAKER_H_
