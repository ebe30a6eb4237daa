#ifndef TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_
#define TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Which transactions a statement sees: pg_current_snapshot().
struct TransactionSnapshot {
  uint64_t xmin = 0;                  // all below have ended, and are seen if they committed
  uint64_t xmax = 0;                  // none from here on is seen
  std::vector<uint64_t> in_progress;  // of those between, these are not seen; ascending

  bool Sees(uint64_t xid) const;

  // The number with its epoch of a transaction that is known by 32 bits, as the WAL has it.
  uint64_t Widen(uint32_t xid) const {
    return xmax + static_cast<uint64_t>(static_cast<int64_t>(
                      static_cast<int32_t>(xid - static_cast<uint32_t>(xmax))));
  }
};

// The text form, 10:20:10,14,15. DATA_LOSS if it is not that.
absl::StatusOr<TransactionSnapshot> ParseTransactionSnapshot(absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_
