#ifndef TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_
#define TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/postgres/sql/connect/connection.h"
#include "ttl/v1/primary_store_service.pb.h"

// Handles items that have no row. The application may just have deleted many rows, and the stream
// is about to report that to the sidecar. Many NOT_FOUND results before those reports would make
// the sidecar suspect an empty store. So NOT_FOUND is returned only after the sidecar has every
// commit up to the LSN at which the rows were found missing: an item that it still tracks then is
// unexplained.
namespace ttl::postgres {

// Whether any result is NOT_FOUND.
bool HasMissing(const v1::DeleteItemsResponse& response);

// Returns an LSN after every commit that was visible before the call, and flushes the WAL up to
// there, so that it will be streamed. An error may leave a transaction open.
absl::StatusOr<uint64_t> FlushMissing(Connection& connection);

// Turns each NOT_FOUND into THROTTLED, to be retried after a second.
void PutOffMissing(v1::DeleteItemsResponse& response);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_MISSING_ROWS_H_
