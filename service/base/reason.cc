#include "service/base/reason.h"

#include <cstddef>

namespace ttl {
namespace {

using absl::StatusCode;

constexpr ReasonEntry kReasons[] = {
    {Reason::kInvalidField, "INVALID_FIELD", StatusCode::kInvalidArgument},
    {Reason::kUnreadableCheck, "UNREADABLE_CHECK", StatusCode::kInvalidArgument},
    {Reason::kContainerNotFound, "CONTAINER_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kItemNotFound, "ITEM_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kReconciliationNotFound, "RECONCILIATION_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kServiceNotFound, "SERVICE_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kHoldNotFound, "HOLD_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kSubscriptionNotFound, "SUBSCRIPTION_NOT_FOUND", StatusCode::kNotFound},
    {Reason::kContainerExists, "CONTAINER_EXISTS", StatusCode::kAlreadyExists},
    {Reason::kSubscriptionExists, "SUBSCRIPTION_EXISTS", StatusCode::kAlreadyExists},
    {Reason::kRoleMissing, "ROLE_MISSING", StatusCode::kPermissionDenied},
    {Reason::kNotTheConsumer, "NOT_THE_CONSUMER", StatusCode::kPermissionDenied},
    {Reason::kEtagMismatch, "ETAG_MISMATCH", StatusCode::kAborted},
    {Reason::kBackupInterrupted, "BACKUP_INTERRUPTED", StatusCode::kAborted},
    {Reason::kTtlNeedsIndex, "TTL_NEEDS_INDEX", StatusCode::kFailedPrecondition},
    {Reason::kNothingToConfirm, "NOTHING_TO_CONFIRM", StatusCode::kFailedPrecondition},
    {Reason::kStoreNotConfigured, "STORE_NOT_CONFIGURED", StatusCode::kFailedPrecondition},
    {Reason::kStoreNeedsNoConfirmation, "STORE_NEEDS_NO_CONFIRMATION",
     StatusCode::kFailedPrecondition},
    {Reason::kStoreIdMismatch, "STORE_ID_MISMATCH", StatusCode::kFailedPrecondition},
    {Reason::kScanNotSupported, "SCAN_NOT_SUPPORTED", StatusCode::kFailedPrecondition},
    {Reason::kDataNotInDoubt, "DATA_NOT_IN_DOUBT", StatusCode::kFailedPrecondition},
    {Reason::kClockNotSuspect, "CLOCK_NOT_SUSPECT", StatusCode::kFailedPrecondition},
    {Reason::kClockNotAcceptable, "CLOCK_NOT_ACCEPTABLE", StatusCode::kFailedPrecondition},
    {Reason::kReconciliationRunning, "RECONCILIATION_RUNNING", StatusCode::kFailedPrecondition},
    {Reason::kReconciliationNotRunning, "RECONCILIATION_NOT_RUNNING",
     StatusCode::kFailedPrecondition},
    {Reason::kRebuildRunning, "REBUILD_RUNNING", StatusCode::kFailedPrecondition},
    {Reason::kHoldsStand, "HOLDS_STAND", StatusCode::kFailedPrecondition},
    {Reason::kHoldScopeDiffers, "HOLD_SCOPE_DIFFERS", StatusCode::kFailedPrecondition},
    {Reason::kFeedOff, "FEED_OFF", StatusCode::kFailedPrecondition},
    {Reason::kSubscriptionsExist, "SUBSCRIPTIONS_EXIST", StatusCode::kFailedPrecondition},
    {Reason::kTouchNotAllowed, "TOUCH_NOT_ALLOWED", StatusCode::kFailedPrecondition},
    {Reason::kQueueFull, "QUEUE_FULL", StatusCode::kResourceExhausted},
    {Reason::kVolumeFull, "VOLUME_FULL", StatusCode::kResourceExhausted},
    {Reason::kTooManyCalls, "TOO_MANY_CALLS", StatusCode::kResourceExhausted},
    {Reason::kTooManyStreams, "TOO_MANY_STREAMS", StatusCode::kResourceExhausted},
    {Reason::kTooManyHolds, "TOO_MANY_HOLDS", StatusCode::kResourceExhausted},
    {Reason::kTooManySubscriptions, "TOO_MANY_SUBSCRIPTIONS", StatusCode::kResourceExhausted},
    {Reason::kBackupRunning, "BACKUP_RUNNING", StatusCode::kResourceExhausted},
    {Reason::kBackupTooSlow, "BACKUP_TOO_SLOW", StatusCode::kResourceExhausted},
    {Reason::kEventsDropped, "EVENTS_DROPPED", StatusCode::kOutOfRange},
    {Reason::kLogReplaced, "LOG_REPLACED", StatusCode::kOutOfRange},
    {Reason::kSequenceNotSent, "SEQUENCE_NOT_SENT", StatusCode::kOutOfRange},
    {Reason::kShuttingDown, "SHUTTING_DOWN", StatusCode::kUnavailable},
    {Reason::kTouchUnavailable, "TOUCH_UNAVAILABLE", StatusCode::kUnavailable},
    {Reason::kStorageUnavailable, "STORAGE_UNAVAILABLE", StatusCode::kUnavailable},
    {Reason::kStoreUnavailable, "STORE_UNAVAILABLE", StatusCode::kUnavailable},
    {Reason::kClockUnreadable, "CLOCK_UNREADABLE", StatusCode::kUnavailable},
    {Reason::kClientTooSlow, "CLIENT_TOO_SLOW", StatusCode::kDeadlineExceeded},
    {Reason::kUnreadableRequest, "UNREADABLE_REQUEST", StatusCode::kInternal},
    {Reason::kStoreAnswerInvalid, "STORE_ANSWER_INVALID", StatusCode::kInternal},
};

constexpr bool IsInOrder() {
  size_t position = 0;
  for (const ReasonEntry& entry : kReasons) {
    if (static_cast<size_t>(entry.reason) != position++) return false;
  }
  return true;
}
static_assert(IsInOrder());

}  // namespace

absl::Span<const ReasonEntry> AllReasons() { return kReasons; }

const ReasonEntry& EntryOf(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

}  // namespace ttl
