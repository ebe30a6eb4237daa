#include "client/postgres/sql/connect/connection_breaker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/base/mutex.h"

namespace ttl::postgres {

ConnectionBreaker::~ConnectionBreaker() {
  for (const int socket : sockets_) close(socket);
}

void ConnectionBreaker::Break() {
  const MutexLock lock(mutex_);
  is_broken_ = true;
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

bool ConnectionBreaker::is_broken() const {
  const MutexLock lock(mutex_);
  return is_broken_;
}

void ConnectionBreaker::Add(int socket) {
  const int own = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  const MutexLock lock(mutex_);
  if (own >= 0) sockets_.push_back(own);
  if (is_broken_) shutdown(socket, SHUT_RDWR);
}

}  // namespace ttl::postgres
