#include "client/postgres/row/observe_snapshot.h"

namespace ttl::postgres {
namespace {

// A transaction that has written its commit and is not seen yet still holds the lock on its
// own id, which is how we learn of ids beyond the snapshot's xmax. There they have 32 bits,
// and are near xmax: the difference to it, as a signed number of 32 bits, makes them whole.
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
  const absl::StatusOr<QueryResult> seen = ask(kQuery);
  if (!seen.ok()) return seen.status();
  position.ObserveSnapshot(acknowledged, static_cast<uint64_t>(seen->Number(0, 0)),
                           static_cast<uint64_t>(seen->Number(0, 1)));
  return absl::OkStatus();
}

}  // namespace ttl::postgres
