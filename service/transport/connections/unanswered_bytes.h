#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_BYTES_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_BYTES_H_

#include <cstdint>

namespace ttl {

// How much one client of HTTP/2 has sent since the server last sent anything. A server says all
// the time how much more may be sent, so that a client that keeps to that hears something for
// every message at least. Pure.
class UnansweredBytes {
 public:
  // Both counts are of the whole connection. True if more than `most` bytes were received since
  // the count of those sent last changed.
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
