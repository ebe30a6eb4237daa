#ifndef TTL_SERVICE_BASE_REASON_H_
#define TTL_SERVICE_BASE_REASON_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ttl {

// Why a call of the API fails. protos/errors.md describes each; a test compares the two.
enum class Reason {
  kInvalidField,
  kUnreadableCheck,
  kContainerNotFound,
  kItemNotFound,
  kReconciliationNotFound,
  kServiceNotFound,
  kHoldNotFound,
  kSubscriptionNotFound,
  kContainerExists,
  kSubscriptionExists,
  kRoleMissing,
  kNotTheConsumer,
  kEtagMismatch,
  kBackupInterrupted,
  kTtlNeedsIndex,
  kNothingToConfirm,
  kStoreNotConfigured,
  kStoreNeedsNoConfirmation,
  kStoreIdMismatch,
  kScanNotSupported,
  kDataNotInDoubt,
  kClockNotSuspect,
  kClockNotAcceptable,
  kReconciliationRunning,
  kReconciliationNotRunning,
  kRebuildRunning,
  kHoldsStand,
  kHoldScopeDiffers,
  kFeedOff,
  kSubscriptionsExist,
  kTouchNotAllowed,
  kQueueFull,
  kVolumeFull,
  kTooManyCalls,
  kTooManyStreams,
  kTooManyHolds,
  kTooManySubscriptions,
  kBackupRunning,
  kBackupTooSlow,
  kEventsDropped,
  kLogReplaced,
  kSequenceNotSent,
  kShuttingDown,
  kTouchUnavailable,
  kStorageUnavailable,
  kStoreUnavailable,
  kClockUnreadable,
  kClientTooSlow,
  kUnreadableRequest,
  kStoreAnswerInvalid,
};

// The name and the code of a reason.
struct ReasonEntry {
  Reason reason;
  absl::string_view name;  // in ErrorInfo; never changed
  absl::StatusCode code;
};

// All reasons, in the order of the enum.
absl::Span<const ReasonEntry> AllReasons();

const ReasonEntry& EntryOf(Reason reason);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_REASON_H_
