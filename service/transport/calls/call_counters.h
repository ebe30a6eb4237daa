#ifndef TTL_SERVICE_TRANSPORT_CALLS_CALL_COUNTERS_H_
#define TTL_SERVICE_TRANSPORT_CALLS_CALL_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/distribution.h"
#include "service/base/mutex.h"
#include "service/base/owned_counter.h"

namespace ttl {

// Codes of gRPC, from OK to UNAUTHENTICATED.
inline constexpr size_t kStatusCodes = 17;

// What was answered, by code, and how long that took: nanoseconds from the request read
// to the answer handed to gRPC. A value.
struct AnswerCounts {
  std::array<int64_t, kStatusCodes> by_code = {};
  DurationDistribution duration;

  AnswerCounts& operator+=(const AnswerCounts& other);
};

// The same while it is counted; see OwnedCounter.
class AnswerCounter {
 public:
  void Count(absl::StatusCode code, int64_t nanoseconds) {
    Count(code);
    duration_.Add(nanoseconds);
  }
  void Count(absl::StatusCode code) {
    const auto index = static_cast<size_t>(code);
    by_code_[index < kStatusCodes ? index : static_cast<size_t>(absl::StatusCode::kUnknown)].Add(1);
  }
  AnswerCounts Get() const;

 private:
  std::array<OwnedCounter, kStatusCodes> by_code_;
  OwnedDurationDistribution duration_;
};

// What is counted of one method on one queue, by the thread of that queue. Lines of
// memory are not shared with the counters of other threads.
struct alignas(64) MethodCounter {
  AnswerCounter calls;        // that have ended
  AnswerCounter messages;     // of streams, each answered by one
  OwnedCounter open_streams;  // now
};

// What is known of one method, over all queues.
struct MethodCounts {
  bool is_stream = false;
  AnswerCounts calls;  // of streams: no durations
  AnswerCounts messages;
  int64_t open_streams = 0;
};

// Counts the calls of all methods. What is counted goes on counting when queues are
// gone. Thread-safe.
class CallCounters {
 public:
  // The counter of a method for one more queue, as in "ItemService/GetItem". Lives as
  // long as this.
  MethodCounter& AddUnary(const std::string& method) { return Add(method, false); }
  MethodCounter& AddStream(const std::string& method) { return Add(method, true); }

  // By method.
  std::map<std::string, MethodCounts> Get() const;

 private:
  struct Named {
    std::string method;
    bool is_stream;
    MethodCounter counter;
  };
  MethodCounter& Add(const std::string& method, bool is_stream);

  mutable Mutex mutex_;
  std::deque<Named> counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_COUNTERS_H_
