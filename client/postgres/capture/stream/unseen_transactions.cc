#include "client/postgres/capture/stream/unseen_transactions.h"

#include <algorithm>

namespace ttl::postgres {

bool UnseenTransactions::Observe(const TransactionSnapshot& snapshot) {
  const auto is_seen = [&](uint32_t xid) { return snapshot.Sees(snapshot.Widen(xid)); };
  unseen_.erase(std::remove_if(unseen_.begin(), unseen_.end(), is_seen), unseen_.end());
  return unseen_.empty();
}

}  // namespace ttl::postgres
