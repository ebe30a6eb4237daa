#include "client/postgres/store/missing_rows.h"

#include <algorithm>

#include "client/postgres/row/lsn.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr int64_t kRetryAfterSeconds = 1;

// A commit with synchronous_commit = off is visible before it is flushed; a commit that waits for
// the flush flushes it too. The prefix is not that of the messages of deletes, which have a
// content.
constexpr char kFlush[] =
    "BEGIN READ WRITE; "
    "SELECT pg_catalog.set_config('synchronous_commit', 'local', true); "
    "SELECT pg_catalog.pg_logical_emit_message(true, 'ttl-postgres flush', ''); "
    "COMMIT";

bool IsMissing(const v1::DeleteResult& result) {
  return result.outcome() == v1::DELETE_OUTCOME_NOT_FOUND;
}

}  // namespace

bool HasMissing(const v1::DeleteItemsResponse& response) {
  return std::any_of(response.results().begin(), response.results().end(), IsMissing);
}

absl::StatusOr<uint64_t> FlushMissing(Connection& connection) {
  TTL_ASSIGN_OR_RETURN(
      const auto positions,
      connection.Query("SELECT inserted, pg_catalog.pg_current_wal_flush_lsn() < inserted "
                       "FROM pg_catalog.pg_current_wal_insert_lsn() AS inserted"));
  if (positions.Bool(0, 1)) {
    TTL_RETURN_IF_ERROR(connection.Execute(kFlush).status());
  }
  return ParseLsn(positions.Text(0, 0));
}

void PutOffMissing(v1::DeleteItemsResponse& response) {
  for (v1::DeleteResult& result : *response.mutable_results()) {
    if (IsMissing(result)) result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
  }
  response.mutable_retry_after()->set_seconds(kRetryAfterSeconds);
  response.mutable_retry_after()->set_nanos(0);
}

}  // namespace ttl::postgres
