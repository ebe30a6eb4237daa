#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_ANSWERS_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_ANSWERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/item.h"
#include "service/core/state/published_sweep.h"
#include "service/core/windows/allowed_time.h"
#include "service/storage/expiry_index.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// A failed delete, for the log.
struct DeleteFailure {
  ItemKey key;
  std::string reason;
};

// The meaning of an answer to a batch.
struct StoreAnswers {
  std::vector<DeleteReport> reports;  // for storage; at most one per item
  DeleteRecord record;                // `tally.sent` is not set
  std::optional<DeleteFailure> first_failure;
};

// Retry delay of an item that was answered MODIFIED without its current version.
inline constexpr absl::Duration kStateUnknownRetry = absl::Hours(1);

// Retry delay of an item that was answered THROTTLED. An item that always is, such as one of an
// overloaded partition, so delays no other.
inline constexpr absl::Duration kThrottledRetry = absl::Seconds(5);

// How ReadAnswers() judges answers.
struct AnswerTerms {
  // Whether NOT_FOUND means that the item is gone. False if the store may be the wrong one.
  bool believe_not_found = true;
  std::optional<int64_t> default_ttl = std::nullopt;  // of the container
  bool knows_expire_at = true;                        // whether the store does
  absl::Time now;                                     // the time items are judged by
  // What counts as late, from the oldest item to `now`; absent: all of the time.
  std::optional<AllowedTime> allowed = std::nullopt;
};

// Interprets the store's answer to `request`, which deletes `items`. Retry times count from
// `terms.now`.
//
// - DELETED, NOT_FOUND: the item is gone. A NOT_FOUND that is not believed gives no report.
// - MODIFIED: the version in the answer is adopted, with the judged expire_at if the store does not
//   know expire_at. If that version is expired too, the answer counts as a failed attempt. Without
//   a usable version the state of the item is unknown. The version that was judged contradicts the
//   outcome, and counts as a failed attempt.
// - NOT_EXPIRED: a failed attempt. The retry waits for the store's clock to reach the expire time,
//   and at least for the growing delay.
// - THROTTLED: retried after kThrottledRetry, behind the other due items; not a failed attempt. If
//   the call ran out of time, that is noted with the item.
// - FAILED and unknown outcomes: a failed attempt.
//
// Failed attempts are retried with growing delay (RetryDelay). So every answer that leaves an item
// in place defers its next attempt.
//
// Lateness is the time from when an item became due to `terms.now`, without the time in which the
// windows of the container allowed no deletes; items due before kFirstSoundTime are not counted.
// Pure.
//
// REQUIRES: ValidateAnswer().ok()
StoreAnswers ReadAnswers(const std::vector<DueItem>& items, const v1::DeleteItemsRequest& request,
                         const v1::DeleteItemsResponse& response, const AnswerTerms& terms);

// INTERNAL if there are not as many results as items: they could not be matched.
absl::Status ValidateAnswer(const std::vector<DueItem>& items,
                            const v1::DeleteItemsResponse& response);

// The same for a call with a single item that failed as a whole, for `reason`: the item may be the
// cause, and must not block those behind it. The retry waits for at least ten times as long as the
// call `took`, so that an item that hangs takes at most a tenth of the time.
StoreAnswers BlameItem(const DueItem& item, absl::string_view reason, absl::Duration took,
                       absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_ANSWERS_H_
