#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/postgres/row/transaction_snapshot.h"

namespace ttl::postgres {

// The transactions that were taken from the stream and that a query might not see yet: a commit
// is streamed when it is in the WAL, and seen by others a moment later, or much later where
// it waits for a synchronous standby. A row that such a query returns may be one whose delete
// has been reported already.
//
// Pure; for one thread.
class UnseenTransactions {
 public:
  // A transaction that the stream delivers, from its first message on.
  void Add(uint32_t xid) { unseen_.push_back(xid); }

  // Forgets what this snapshot sees; later ones do too. Returns whether that is everything.
  bool Observe(const TransactionSnapshot& snapshot);

  size_t size() const { return unseen_.size(); }

 private:
  std::vector<uint32_t> unseen_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_
