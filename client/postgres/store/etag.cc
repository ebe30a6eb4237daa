#include "client/postgres/store/etag.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"

namespace ttl::postgres {
namespace {

// Below it are ids with a meaning of their own, which never are in progress.
constexpr uint32_t kFirstNormalXid = 3;
// Running transactions may be ahead of xmax, which is the end of those that have ended, but only
// by as many as run. What is further ahead is an id of another cluster, before a restore.
constexpr uint32_t kMaxAhead = 1 << 20;

}  // namespace

bool HasEnded(absl::string_view etag, const TransactionSnapshot& snapshot) {
  uint32_t xid = 0;
  if (!absl::SimpleAtoi(etag, &xid) || xid < kFirstNormalXid) return true;
  if (xid - static_cast<uint32_t>(snapshot.xmax) < kMaxAhead) return false;  // ids go round
  return std::none_of(snapshot.in_progress.begin(), snapshot.in_progress.end(),
                      [xid](uint64_t running) { return static_cast<uint32_t>(running) == xid; });
}

}  // namespace ttl::postgres
