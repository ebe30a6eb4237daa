#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_

#include <cstdint>
#include <utility>

namespace ttl {

// How many calls one client begins, in a second, that are not answered: taken back, given up at
// their deadline, or open still. Pure.
class UnansweredCalls {
 public:
  // The connection is made at `second` of any clock that goes on.
  explicit UnansweredCalls(int64_t second) : second_(second) {}

  // `unanswered`: calls of the whole connection so far, less those that were answered. True if
  // more than `most` came for each second that has begun since this was asked first in the second
  // before.
  bool Exceed(int64_t most, int64_t unanswered, int64_t second) {
    const int64_t seconds = second - second_ + 1;
    const int64_t came = unanswered - unanswered_then_;
    if (std::exchange(second_, second) != second) unanswered_then_ = unanswered;
    return came > most * seconds;
  }

 private:
  int64_t second_;
  int64_t unanswered_then_ = 0;  // when it was asked first in second_
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_UNANSWERED_CALLS_H_
