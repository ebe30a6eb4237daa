#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_

#include <atomic>
#include <cstddef>

namespace ttl::postgres {

// How many rows of a table one transaction can delete in its time. Learned, and kept from call to
// call: what takes too long is rolled back, so that trying the whole batch first each time would
// never get anywhere. Thread-safe.
class BatchFit {
 public:
  // At least 1.
  size_t max_rows() const { return max_rows_; }

  // A transaction of so many rows took too long.
  void Overran(size_t rows);
  // One of so many rows ended in less than half of its time.
  void FittedEasily(size_t rows);

 private:
  std::atomic<size_t> max_rows_ = kMostRows;
  static constexpr size_t kMostRows = 1000;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_
