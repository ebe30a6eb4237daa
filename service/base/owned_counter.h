#ifndef TTL_SERVICE_BASE_OWNED_COUNTER_H_
#define TTL_SERVICE_BASE_OWNED_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace ttl {

// A counter that one thread at a time updates and all may read. As cheap as a plain integer,
// because no atomic read-modify-write is needed.
class OwnedCounter {
 public:
  void Add(int64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  int64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_OWNED_COUNTER_H_
