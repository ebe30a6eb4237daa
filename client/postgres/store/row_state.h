#ifndef TTL_CLIENT_POSTGRES_STORE_ROW_STATE_H_
#define TTL_CLIENT_POSTGRES_STORE_ROW_STATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/row/transaction_snapshot.h"
#include "ttl/v1/item.pb.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// State of an asked item's row that was not deleted, as a statement saw it.
struct RowState {
  bool exists = false;
  // The row is still the version that was judged expired.
  bool is_same = false;
  // Its commit time is unknown because its table was rewritten.
  bool is_in_doubt = false;
  // The delete locked it, and it was expired.
  bool was_held = false;
  // It is a group of rows.
  bool is_group = false;
  // The row as an item, or why it cannot be one. Meaningful if the row exists and is not the same.
  absl::StatusOr<v1::Item> current = absl::UnknownError("not read");
  // The row's xmin.
  absl::string_view xmin;

  // Other sessions cannot change a row that we have locked, so a trigger of the table changed it
  // instead of deleting it.
  bool WasRewritten() const { return was_held && !(exists && is_same); }
};

// Readings of the database's clock, and the request's not_after.
struct StoreTimes {
  // Read before the delete; also returned in the answer.
  absl::Time begun;
  // Read with the row.
  absl::Time looked;
  absl::Time not_after;
};

// Returns why the item was not deleted. `snapshot` is that of the statement that read the row.
// Pure.
//
// - NOT_EXPIRED uses the first reading of the clock, because the sidecar compares it with the one
//   in the answer.
// - A transaction is streamed before other sessions see it. If one of those wrote the judged
//   version, the row read is older than the version that the sidecar has: the result is THROTTLED,
//   so that the sidecar retries instead of adopting an old version or dropping the item.
// - A row in doubt is THROTTLED: otherwise the sidecar would adopt a wrong time.
// - A row that can no longer be tracked (no _ts, an invalid ttl) is MODIFIED, not NOT_FOUND: it
//   exists, and a burst of NOT_FOUND would make the sidecar suspect the store. The row never
//   expires, so the result has that state under the judged _ts; the report that untracks the row
//   follows. FAILED would keep the row hidden until then.
// - A group that was not locked is THROTTLED: its lock is shared by many groups, so that says
// little
//   of this one.
// - A change that a trigger made instead of the delete is not committed, so there is nothing to
//   adopt.
v1::DeleteResult WhyLeft(const v1::ExpiredItem& asked, const RowState& row,
                         const TransactionSnapshot& snapshot, const StoreTimes& times,
                         uint64_t sequence);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ROW_STATE_H_
