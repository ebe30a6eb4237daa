#ifndef TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_
#define TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// The transactions that a statement sees: pg_current_snapshot().
struct TransactionSnapshot {
  uint64_t xmin = 0;  // all lower xids have ended, and are visible if they committed
  uint64_t xmax = 0;  // this and all higher xids are invisible
  std::vector<uint64_t> in_progress;  // the invisible xids in between, in ascending order

  bool Sees(uint64_t xid) const;

  // Extends a 32-bit xid, as in the WAL, by its epoch.
  uint64_t Widen(uint32_t xid) const {
    return xmax + static_cast<uint64_t>(static_cast<int64_t>(
                      static_cast<int32_t>(xid - static_cast<uint32_t>(xmax))));
  }
};

// Parses the text form, 10:20:10,14,15. DATA_LOSS if it is invalid.
absl::StatusOr<TransactionSnapshot> ParseTransactionSnapshot(absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_TRANSACTION_SNAPSHOT_H_
