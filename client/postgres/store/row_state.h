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

// What a statement found of an asked item that was not deleted.
struct RowState {
  bool exists = false;
  // It is the version that was judged.
  bool is_same = false;
  // Its time is not known yet, since its table was rewritten.
  bool is_in_doubt = false;
  // It was ours to delete: locked, and expired.
  bool was_held = false;
  // The row as an item, or why it cannot be one. Of meaning if it exists and is not the same.
  absl::StatusOr<v1::Item> current = absl::UnknownError("not read");
  // Its xmin.
  absl::string_view xmin;

  // Nobody else can change a row that we hold: a trigger of the table did, instead of the delete.
  bool WasRewritten() const { return was_held && !(exists && is_same); }
};

// The database's clock, and the request's last instant by it.
struct StoreTimes {
  // Read before the delete, and carried by the answer.
  absl::Time begun;
  // Read when the row was looked at.
  absl::Time looked;
  absl::Time not_after;
};

// Why the item was left alone. `snapshot` is that of the statement that looked at it. Pure.
//
// - NOT_EXPIRED is decided by the first reading of the clock: the sidecar holds it against the one
//   in the answer.
// - A transaction is streamed before other sessions see it. Where the judged version is
//   one of those, what is found is older than what the sidecar knows: THROTTLED, so that it
//   asks again, instead of an answer that it would adopt or forget the item for.
// - A row in doubt is THROTTLED: the sidecar would adopt a time that is not its own.
// - A row that can no longer be tracked (no _ts, an impossible ttl) is MODIFIED, not NOT_FOUND: it
//   is there, and a burst of NOT_FOUND would make the sidecar doubt the store. It never
//   expires, and that is the state which is told, under the judged _ts; its report of an
//   untracked row follows. FAILED would keep it hidden until then.
// - What a trigger changed instead of the delete is not committed: nothing to adopt.
v1::DeleteResult WhyLeft(const v1::ExpiredItem& asked, const RowState& row,
                         const TransactionSnapshot& snapshot, const StoreTimes& times,
                         uint64_t sequence);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ROW_STATE_H_
