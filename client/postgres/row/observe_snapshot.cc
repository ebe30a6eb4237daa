#include "client/postgres/row/observe_snapshot.h"

#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// A transaction that has written its commit record but is not visible yet still holds the lock on
// its own xid, which reveals xids beyond the snapshot's xmax. pg_locks has 32-bit xids; they are
// near xmax, so the signed 32-bit difference to xmax extends them to 64 bits.
constexpr char kQuery[] = R"(
WITH seen AS MATERIALIZED (
  SELECT pg_snapshot_xmin(s)::text::bigint AS xmin, pg_snapshot_xmax(s)::text::bigint AS xmax
  FROM pg_current_snapshot() AS s)
SELECT xmin, greatest(xmax, (
  SELECT max(xmax + ((transactionid::text::bigint - xmax + 2147483648) & 4294967295) - 2147483647)
  FROM pg_locks WHERE locktype = 'transactionid'))
FROM seen)";

}  // namespace

absl::Status ObserveSnapshot(absl::FunctionRef<absl::StatusOr<QueryResult>(const char*)> ask,
                             VisiblePosition& position) {
  const uint64_t acknowledged = position.acknowledged();
  TTL_ASSIGN_OR_RETURN(const QueryResult seen, ask(kQuery));
  position.ObserveSnapshot(acknowledged, static_cast<uint64_t>(seen.Number(0, 0)),
                           static_cast<uint64_t>(seen.Number(0, 1)));
  return absl::OkStatus();
}

}  // namespace ttl::postgres
