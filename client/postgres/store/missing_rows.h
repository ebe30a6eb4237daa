#ifndef TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_
#define TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/postgres/sql/connect/connection.h"
#include "ttl/v1/primary_store_service.pb.h"

// Rows that are asked for and not there. The application may have deleted them a moment ago, all
// at once, and the stream is about to tell the sidecar. Many NOT_FOUND before that would make it
// take the store for an empty one. So NOT_FOUND is answered only when the sidecar knows every
// commit up to where the rows were seen missing: what it still tracks then has no explanation.
namespace ttl::postgres {

// Whether a result is NOT_FOUND.
bool HasMissing(const v1::DeleteItemsResponse& response);

// A position of the WAL before which every commit lies that was seen before the call, with the
// WAL on disk up to there, so that it will be streamed. An error may leave a transaction open.
absl::StatusOr<uint64_t> FlushMissing(Connection& connection);

// The sidecar is to ask again in a second for all that is NOT_FOUND.
void PutOffMissing(v1::DeleteItemsResponse& response);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_
