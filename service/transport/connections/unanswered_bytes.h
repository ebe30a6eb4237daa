#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_BYTES_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_BYTES_H_

#include <cstdint>

namespace ttl {

// Measures how much an HTTP/2 client has sent since the server last sent anything. A server sends
// flow control updates all the time, so a well-behaved client receives something for every message
// at least. Pure. Not thread-safe.
class UnansweredBytes {
 public:
  // `received` and `sent` are totals of the connection. Returns whether more than `most` bytes were
  // received since `sent` last changed.
  bool Exceed(int64_t most, int64_t received, int64_t sent) {
    if (sent != sent_) received_then_ = received;
    sent_ = sent;
    return received - received_then_ > most;
  }

 private:
  int64_t sent_ = -1;
  int64_t received_then_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_BYTES_H_
