#ifndef TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
#define TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/query_result.h"

namespace ttl::postgres {

// Asks the database by `ask`, which runs a statement there, which transactions have ended and
// which have begun, and tells `position`. On a database at rest the second call moves Get() up
// to what was acknowledged before the first. Fails as `ask` does; `position` is then as before.
absl::Status ObserveSnapshot(absl::FunctionRef<absl::StatusOr<QueryResult>(const char*)> ask,
                             VisiblePosition& position);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
