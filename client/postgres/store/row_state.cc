#include "client/postgres/store/row_state.h"

#include <cstdint>
#include <string>
#include <utility>

#include "client/postgres/store/etag.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

v1::DeleteResult Outcome(v1::DeleteOutcome outcome) {
  v1::DeleteResult result;
  result.set_outcome(outcome);
  return result;
}

v1::DeleteResult Failed(const char* reason) {
  v1::DeleteResult result = Outcome(v1::DELETE_OUTCOME_FAILED);
  result.set_reason(reason);
  return result;
}

v1::Item NeverExpiring(const v1::ExpiredItem& asked, const RowState& row, uint64_t sequence) {
  v1::Item item;
  item.set_ts(asked.ts());
  item.set_ttl(kNeverExpires);
  item.set_etag(std::string(row.xmin));
  if (sequence > 0) item.set_sequence(sequence);
  return item;
}

v1::DeleteResult Modified(const v1::ExpiredItem& asked, const RowState& row, uint64_t sequence) {
  v1::DeleteResult result = Outcome(v1::DELETE_OUTCOME_MODIFIED);
  v1::Item& current = *result.mutable_current();
  current = row.current.ok() ? *row.current : NeverExpiring(asked, row, sequence);
  current.clear_partition_key();
  current.clear_id();
  return result;
}

}  // namespace

v1::DeleteResult WhyLeft(const v1::ExpiredItem& asked, const RowState& row,
                         const TransactionSnapshot& snapshot, const StoreTimes& times,
                         uint64_t sequence) {
  if (row.WasRewritten()) {
    return Failed("a trigger of the table changes or moves the row instead of its delete");
  }
  if (!row.exists || !row.is_same) {
    if (row.is_in_doubt || !HasEnded(asked.etag(), snapshot)) {
      return Outcome(v1::DELETE_OUTCOME_THROTTLED);
    }
    return row.exists ? Modified(asked, row, sequence) : Outcome(v1::DELETE_OUTCOME_NOT_FOUND);
  }
  if (absl::ToUnixSeconds(times.begun) < asked.expire_time()) {
    return Outcome(v1::DELETE_OUTCOME_NOT_EXPIRED);
  }
  if (times.looked >= times.not_after) return Outcome(v1::DELETE_OUTCOME_THROTTLED);
  if (!row.was_held && row.is_group) return Outcome(v1::DELETE_OUTCOME_THROTTLED);
  if (!row.was_held) return Failed("row is locked by another transaction");
  return Failed("row is still there after its delete: a trigger of the table may keep it");
}

}  // namespace ttl::postgres
