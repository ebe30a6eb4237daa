#ifndef TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
#define TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/query_result.h"

namespace ttl::postgres {

// Passes to `position` the xmin of a new snapshot and an xid above all that have started. `ask`
// runs a statement on the database. If the database is idle, the second call advances Get() to the
// LSN that was acknowledged before the first. Returns the errors of `ask` and then leaves
// `position` unchanged.
absl::Status ObserveSnapshot(absl::FunctionRef<absl::StatusOr<QueryResult>(const char*)> ask,
                             VisiblePosition& position);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
