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
#include "service/core/state/sweep_board.h"
#include "service/storage/expiry_index.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// A delete that did not work out, for the log.
struct DeleteFailure {
  ItemKey key;
  std::string reason;
};

// What the answer to a batch means.
struct StoreAnswers {
  std::vector<DeleteReport> reports;  // for storage; at most one per item
  DeleteRecord record;                // without `tally.sent`
  std::optional<DeleteFailure> first_failure;
};

// Until an item is tried again that the store says is modified, but not to what.
inline constexpr absl::Duration kStateUnknownRetry = absl::Hours(1);

// Until an item is tried again that the store was too busy for: one that it is always too
// busy for, such as one of a partition in trouble, keeps back no other.
inline constexpr absl::Duration kThrottledRetry = absl::Seconds(5);

// How answers are read.
struct AnswerTerms {
  // Whether NOT_FOUND means that the item is gone: the store may be the wrong one.
  bool believe_not_found = true;
  std::optional<int64_t> default_ttl = std::nullopt;  // of the container
  absl::Time now;                                     // that items are judged by
};

// Reads the store's answer to `request`, which is about `items`. Retry times count
// from `terms.now`.
//
// - DELETED, NOT_FOUND: the item is gone. A NOT_FOUND that is not believed leaves no report.
// - MODIFIED: the state that came along is adopted. If that is expired as well, the item is tried
//   again with growing delay, and the answer counts as a failed try. Without a usable state it is
//   unknown; with the very state that was judged the answer contradicts itself and counts as a
//   failed try.
// - NOT_EXPIRED: a failed try, repeated when the store's clock will have got there, but with
//   growing delay.
// - THROTTLED: tried again after a moment, so that those behind it go first; no failed try.
// - FAILED and what is not known: a failed try, repeated with growing delay.
//
// So every answer that leaves an item where it was puts off its next try.
//
// Lateness counts from when an item became due, if that was after kFirstSoundTime, to `terms.now`.
// Pure.
//
// REQUIRES: ValidateAnswer().ok()
StoreAnswers ReadAnswers(const std::vector<DueItem>& items, const v1::DeleteItemsRequest& request,
                         const v1::DeleteItemsResponse& response, const AnswerTerms& terms);

// INTERNAL if there are not as many results as items: nobody can tell which belongs to which.
absl::Status ValidateAnswer(const std::vector<DueItem>& items,
                            const v1::DeleteItemsResponse& response);

// The same for a call of one item that failed as a whole, for `reason`: the item
// may be the cause, and must not block those behind it.
// The next try waits for ten times as long as this one `took`, or for longer, so that an item
// that hangs takes a tenth of the time at most.
StoreAnswers BlameItem(const DueItem& item, absl::string_view reason, absl::Duration took,
                       absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_ANSWERS_H_
