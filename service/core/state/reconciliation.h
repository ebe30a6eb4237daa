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

// A kind of difference between the tracked data and the primary store. Values and meaning are those
// of Difference in maintenance_service.proto.
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

// An operator's request.
struct ReconciliationRequest {
  std::string container;  // empty: all
  bool dry_run = false;
};

// A comparison of the tracked data with the primary store, and its progress.
struct Reconciliation {
  static constexpr size_t kMaxSamplesPerKind = 20;

  ReconciliationRequest request;
  bool rebuild = false;  // ends the doubt about the data
  ReconciliationState state = ReconciliationState::kRunning;
  std::string problem;
  absl::Time start_time;
  std::optional<absl::Time> end_time;
  std::string container;  // being compared
  int64_t containers_done = 0;
  int64_t containers_total = 0;
  std::optional<int64_t> estimated_items;  // of that container
  int64_t items = 0;                       // of that container, read so far
  ReconciliationCounts counts;
  std::vector<ReconciliationSample> samples;

  bool is_under_way() const {
    return state == ReconciliationState::kRunning || state == ReconciliationState::kWaiting;
  }

  // Counts a difference, and keeps it as a sample while there are fewer than kMaxSamplesPerKind of
  // its kind.
  void Add(ReconciliationSample sample);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_RECONCILIATION_H_
