#ifndef TTL_SERVICE_CORE_STATE_RECONCILIATION_H_
#define TTL_SERVICE_CORE_STATE_RECONCILIATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/core/item.h"

namespace ttl {

// A kind of difference between what is tracked and the primary store. Values and
// meaning are those of Difference in maintenance_service.proto.
enum class Difference { kMissing = 1, kDiffering = 2, kNewer = 3, kInvalid = 4, kExtra = 5 };

// Values and meaning are those of ReconciliationState in maintenance_service.proto.
enum class ReconciliationState {
  kRunning = 1,
  kWaiting = 2,
  kDone = 3,
  kFailed = 4,
  kCancelled = 5,
};

struct ReconciliationCounts {
  int64_t scanned = 0;
  int64_t same = 0;
  int64_t missing = 0;
  int64_t differing = 0;
  int64_t newer = 0;
  int64_t invalid = 0;
  int64_t extra = 0;

  friend bool operator==(const ReconciliationCounts&, const ReconciliationCounts&) = default;
};

struct ReconciliationSample {
  Difference difference = Difference::kMissing;
  std::string container;
  ItemKey key;
  std::optional<ItemVersion> stored;
  std::optional<ItemVersion> tracked;
  std::string reason;
};

// What an operator asks for.
struct ReconciliationRequest {
  std::string container;  // empty: all
  bool dry_run = false;
};

// A comparison of what is tracked with the primary store, as it stands.
struct Reconciliation {
  static constexpr size_t kMaxSamplesPerKind = 20;

  ReconciliationRequest request;
  bool rebuild = false;  // makes data in doubt whole
  ReconciliationState state = ReconciliationState::kRunning;
  std::string problem;
  absl::Time start_time;
  std::optional<absl::Time> end_time;
  std::string container;  // under way
  int64_t containers_done = 0;
  int64_t containers_total = 0;
  std::optional<int64_t> estimated_items;  // of the container under way
  int64_t items = 0;                       // of it, seen so far
  ReconciliationCounts counts;
  std::vector<ReconciliationSample> samples;

  bool is_under_way() const {
    return state == ReconciliationState::kRunning || state == ReconciliationState::kWaiting;
  }

  // Counts a difference, and keeps it as a sample if there are few of its kind.
  void Add(ReconciliationSample sample);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_RECONCILIATION_H_
