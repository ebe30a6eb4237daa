#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_

#include <cstdint>
#include <utility>

namespace ttl {

// Measures the rate at which a client begins calls that are not answered: calls that it resets,
// gives up at their deadline, or keeps open. Pure. Not thread-safe.
class UnansweredCalls {
 public:
  // The connection was accepted at `second` of any monotonic clock.
  explicit UnansweredCalls(int64_t second) : second_(second) {}

  // `unanswered`: all calls of the connection so far, minus those answered. Returns whether it has
  // grown by more than `most` per second since the first call of this function in the previous
  // second in which it was called.
  bool Exceed(int64_t most, int64_t unanswered, int64_t second) {
    const int64_t seconds = second - second_ + 1;
    const int64_t came = unanswered - unanswered_then_;
    if (std::exchange(second_, second) != second) unanswered_then_ = unanswered;
    return came > most * seconds;
  }

 private:
  int64_t second_;
  int64_t unanswered_then_ = 0;  // at the first call in second_
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_
