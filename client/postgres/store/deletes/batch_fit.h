#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_

#include <atomic>
#include <cstddef>

namespace ttl::postgres {

// BatchFit learns how many rows of a table one transaction can delete in its time. It persists
// between calls: a transaction that takes too long is rolled back, so calls that always tried the
// whole batch first would never make progress. Thread-safe.
class BatchFit {
 public:
  // At least 1.
  size_t max_rows() const { return max_rows_; }

  // Records that a transaction of `rows` rows took too long.
  void Overran(size_t rows);
  // Records that a transaction of `rows` rows took less than half of its time.
  void FittedEasily(size_t rows);

 private:
  std::atomic<size_t> max_rows_ = kMaxRows;
  static constexpr size_t kMaxRows = 1000;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_BATCH_FIT_H_
