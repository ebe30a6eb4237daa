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

// Number of gRPC status codes, OK to UNAUTHENTICATED.
inline constexpr size_t kStatusCodes = 17;

// Responses by status code, and their latency in nanoseconds, from the request being read to the
// response being handed to gRPC.
struct AnswerCounts {
  std::array<int64_t, kStatusCodes> by_code = {};
  DurationDistribution duration;

  AnswerCounts& operator+=(const AnswerCounts& other);
};

// The same, counted by one thread and readable by all; see OwnedCounter.
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

// The counters of one method on one queue, written by that queue's thread only. Aligned to a cache
// line, so that threads do not share one.
struct alignas(64) MethodCounter {
  AnswerCounter calls;        // ended calls
  AnswerCounter messages;     // answered messages of streams
  OwnedCounter open_streams;  // at present
};

// The counts of one method, over all queues.
struct MethodCounts {
  bool is_stream = false;
  AnswerCounts calls;  // without durations for streams
  AnswerCounts messages;
  int64_t open_streams = 0;
};

// The call counters of all methods. Counts survive the queues they came from. Thread-safe.
class CallCounters {
 public:
  // Adds the counter of a method such as "ItemService/GetItem" on one more queue. It lives as long
  // as this object.
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
