#ifndef TTL_SERVICE_CORE_STATE_PUBLISHED_SWEEP_H_
#define TTL_SERVICE_CORE_STATE_PUBLISHED_SWEEP_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/base/distribution.h"
#include "service/base/mutex.h"
#include "service/core/state/lateness_histogram.h"

namespace ttl {

// The primary store as the sweeper last saw it.
struct StoreView {
  bool configured = false;
  bool reachable = false;
  bool knows_expire_at = false;  // compares expire_at and says it; see STORE_CAPABILITY_EXPIRE_AT
  std::string store_id;
  std::optional<absl::Duration> clock_skew;  // our clock minus the store's
  bool skew_too_large = false;               // deletes wait until it is less
  std::string last_error;                    // empty if the last call was answered
  std::optional<absl::Time> last_success_time;
  std::optional<absl::Time> held_until;  // no call before
  std::string unconfirmed;               // why it has to be confirmed; empty if it has not
};

// Deletes by outcome; see DeleteTally in expiry_service.proto.
struct DeleteTally {
  int64_t sent = 0;
  int64_t deleted = 0;
  int64_t not_found = 0;
  int64_t modified = 0;
  int64_t not_expired = 0;
  int64_t throttled = 0;    // without those out of time
  int64_t out_of_time = 0;  // THROTTLED since their call ran out of time
  int64_t failed = 0;
  int64_t unanswered = 0;

  DeleteTally& operator+=(const DeleteTally& other);
};

// The outcomes of one batch, or of all batches of a container.
struct DeleteRecord {
  DeleteTally tally;
  LatenessHistogram lateness;                          // of those deleted
  absl::flat_hash_map<std::string, int64_t> failures;  // failed ones by reason
};

// The pace of deletes of one container.
struct PaceView {
  bool waiting_for_rate = false;              // due items were left for want of tokens
  std::optional<absl::Time> held_until;       // no deletes before
  std::optional<double> bearable_per_second;  // after the store pushed back; absent: any rate
  std::optional<double> learned_cost;         // request units per delete, as charged

  friend bool operator==(const PaceView&, const PaceView&) = default;
};

// One container as the sweeper last saw it.
struct ContainerSweepView {
  DeleteRecord deletes;
  PaceView pace;
  int64_t early_entries = 0;  // index entries moved or dropped as met
  std::optional<absl::Time> last_complete_pass_time;
  std::optional<absl::Duration> last_success;  // steady; when an item last was gone
};

// The sweeper itself.
struct SweeperView {
  std::optional<absl::Duration> last_step;  // steady; absent before the first
  int64_t calls_under_way = 0;
};

// The ways in which the store asks for fewer deletes, or seems to.
enum class PushBack {
  kThrottled,    // items answered THROTTLED, without those out of time
  kRetryAfter,   // a time to wait, beside either of them
  kExhausted,    // the call failed with RESOURCE_EXHAUSTED
  kUnavailable,  // the call failed with UNAVAILABLE
  kNoAnswer,     // none within the deadline
  kSlow,         // most of the last batches took twice as long as the average
  kOutOfTime,    // items answered THROTTLED since the call ran out of time
};
inline constexpr size_t kPushBacks = 7;

// The DeleteItems calls that have ended.
struct StoreCallCounts {
  std::map<absl::StatusCode, int64_t> by_code;
  DurationDistribution duration;
  std::array<int64_t, kPushBacks> push_backs = {};  // by PushBack
};

// Deletes by container, for a bounded number of containers.
struct SweepBreakdown {
  absl::flat_hash_set<uint64_t> named;
  // Deletes of all other containers, including deleted ones.
  DeleteRecord others;
};

// The published state of the sweeper: the sweeper posts it and handlers read it, so that the two
// need not know each other. In memory only; counts start with the process. Containers are named by
// number. Thread-safe.
class PublishedSweep {
 public:
  static constexpr size_t kDefaultNamed = 50;

  // Breakdown() lists at most `max_named` containers by name.
  explicit PublishedSweep(size_t max_named = kDefaultNamed) : max_named_(max_named) {}

  void PostStore(StoreView store);
  StoreView Store() const;

  void PostSweeper(SweeperView sweeper);
  SweeperView Sweeper() const;

  // Maximum reasons of failures counted separately per container; further ones are counted under
  // the empty reason.
  static constexpr size_t kMaxFailureReasons = 16;

  // Containers are named by their number.
  void AddDeletes(uint64_t container, const DeleteRecord& delta);
  void AddEarlyEntries(uint64_t container, int64_t count);
  void PostPace(uint64_t container, const PaceView& pace);
  void PostCompletePass(uint64_t container, absl::Time time);
  // Deletes were carried out at `time`, steady.
  void PostSuccess(uint64_t container, absl::Duration time);
  ContainerSweepView View(uint64_t container) const;

  // A call ended with this code after `took`.
  void AddCall(absl::StatusCode code, absl::Duration took);
  void AddPushBack(PushBack kind);
  StoreCallCounts Calls() const;

  // The breakdown of the containers in `present`. The first containers in which anything was
  // deleted, or which were asked about, are named as long as they exist. So the counts under a
  // name, and those of the others, never decrease.
  SweepBreakdown Breakdown(absl::Span<const uint64_t> present);

  // Drops the state of a deleted container.
  void Forget(uint64_t container);

 private:
  bool TakeName(uint64_t container) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_named_;
  mutable Mutex mutex_;
  StoreView store_ ABSL_GUARDED_BY(mutex_);
  SweeperView sweeper_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, ContainerSweepView> containers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> named_ ABSL_GUARDED_BY(mutex_);
  DeleteRecord others_ ABSL_GUARDED_BY(mutex_);  // of those without a name
  std::map<absl::StatusCode, int64_t> calls_ ABSL_GUARDED_BY(mutex_);
  OwnedDurationDistribution call_durations_ ABSL_GUARDED_BY(mutex_);
  std::array<int64_t, kPushBacks> push_backs_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_PUBLISHED_SWEEP_H_
