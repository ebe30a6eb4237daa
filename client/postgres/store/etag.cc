#include "client/postgres/store/etag.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"

namespace ttl::postgres {
namespace {

// Lower xids are reserved and never in progress.
constexpr uint32_t kFirstNormalXid = 3;
// A running transaction may be at or after xmax, which only bounds those that have ended, but not
// by more than the number of running transactions. An xid further ahead is from another cluster,
// before a restore.
constexpr uint32_t kMaxAhead = 1 << 20;

}  // namespace

bool HasEnded(absl::string_view etag, const TransactionSnapshot& snapshot) {
  uint32_t xid = 0;
  if (!absl::SimpleAtoi(etag, &xid) || xid < kFirstNormalXid) return true;
  if (xid - static_cast<uint32_t>(snapshot.xmax) < kMaxAhead) return false;  // xids wrap around
  return std::none_of(snapshot.in_progress.begin(), snapshot.in_progress.end(),
                      [xid](uint64_t running) { return static_cast<uint32_t>(running) == xid; });
}

}  // namespace ttl::postgres
