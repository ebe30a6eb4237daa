#ifndef TTL_SERVICE_BASE_OWNED_COUNTER_H_
#define TTL_SERVICE_BASE_OWNED_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace ttl {

// A count that one thread at a time changes and any may read: no dearer than a plain
// number, since no instruction has to lock the bus.
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
