#ifndef TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
#define TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_

#include "absl/status/status.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connection.h"

namespace ttl::postgres {

// Asks the database which transactions have ended and which have begun, and tells `position`.
// On a database at rest the second call moves Get() up to what was acknowledged before the
// first. Fails as Connection::Query() does; `position` is then as before.
absl::Status ObserveSnapshot(Connection& connection, VisiblePosition& position);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_OBSERVE_SNAPSHOT_H_
