#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/postgres/row/transaction_snapshot.h"

namespace ttl::postgres {

// The transactions that were received from the stream but that a query might not see yet. A commit
// is streamed once it is in the WAL; other sessions see it a moment later, or much later if it
// waits for a synchronous standby. A row that such a query returns may be one whose delete has
// already been reported.
//
// Pure. Not thread-safe.
class UnseenTransactions {
 public:
  // Adds a transaction of the stream, at its first message.
  void Add(uint32_t xid) { unseen_.push_back(xid); }

  // Removes the transactions that this snapshot sees, because later ones see them, too. Returns
  // whether none is left.
  bool Observe(const TransactionSnapshot& snapshot);

  size_t size() const { return unseen_.size(); }

 private:
  std::vector<uint32_t> unseen_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_UNSEEN_TRANSACTIONS_H_
