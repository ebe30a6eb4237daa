#ifndef TTL_SERVICE_CORE_CONTAINER_H_
#define TTL_SERVICE_CORE_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/feed/feed_settings.h"
#include "service/core/feed/feed_state.h"
#include "service/core/windows/delete_windows.h"

namespace ttl {

inline constexpr size_t kMaxContainerIdBytes = 255;
inline constexpr size_t kMaxPauseReasonBytes = 1024;
// Longest DeletePolicy.delay: ten years of 366 days.
inline constexpr int64_t kMaxDelaySeconds = int64_t{10} * 366 * 86400;

// How the expiry index is maintained. kLazy behaves as kConsistent.
enum class IndexingMode { kConsistent = 1, kLazy = 2, kNone = 3 };

// The part of a container's configuration that decides when items expire and
// when they are due for deletion.
struct Policy {
  std::optional<int64_t> default_ttl;  // seconds; absent: TTL is off
  int64_t delay_seconds = 0;           // between expiry and delete

  friend bool operator==(const Policy&, const Policy&) = default;
};

// A policy that is no longer in force. Before `until`, nothing is deleted that it would have kept:
// because of the grace of a stricter policy, or because of the brake.
struct ReplacedPolicy {
  Policy policy;
  absl::Time until;
  // If the change pulled the brake: the number of items that it made due.
  std::optional<int64_t> braked_items = std::nullopt;
};

// The limits beyond which a change must be confirmed before items are deleted because of it. At
// least one of the limits is set.
struct PolicyBrake {
  static constexpr int64_t kDefaultReleaseSeconds = 86400;
  static constexpr int64_t kMinReleaseSeconds = 60;
  static constexpr int64_t kMaxReleaseSeconds = int64_t{30} * 86400;

  std::optional<int64_t> max_newly_due_items;
  std::optional<double> max_newly_due_percent;  // of the tracked items
  int64_t release_after_seconds = kDefaultReleaseSeconds;

  friend bool operator==(const PolicyBrake&, const PolicyBrake&) = default;
};

// Adopted items that pulled the brake (see adoption.h).
struct AdoptionBrake {
  int64_t items = 0;
  absl::Time until;  // when it is released by itself
};

// The state of a container's adopted items.
struct AdoptionState {
  // Items that wait until this second or earlier are confirmed and do not wait any more, since
  // freed_at.
  int64_t freed_until = 0;
  int64_t freed_at = 0;  // Unix seconds
  // The number of adopted items, of all there ever were, that no longer count for the brake.
  int64_t counted_items = 0;
  std::optional<AdoptionBrake> brake = std::nullopt;
};

// Set by an operator. No deletes are sent while it is set.
struct Pause {
  std::string reason;
  absl::Time since;
  std::string author = {};  // as in PauseState; empty if not recorded
};

// The settings of a container, which its owner can change.
struct ContainerSettings {
  Policy policy;
  IndexingMode indexing_mode = IndexingMode::kConsistent;
  std::optional<double> max_deletes_per_second;    // absent: the server's default
  std::optional<double> request_units_per_second;  // absent: usage does not matter
  std::optional<double> request_units_per_delete;  // absent: 1, or as learned
  double min_deletes_per_second = 0;               // whatever requests use
  std::optional<PolicyBrake> brake;
  std::optional<DeleteWindows> windows;  // absent: deletes at any time
  bool show_held = false;                // expired items under a hold stay visible
  bool requires_holds = false;       // nothing is deleted unless the holds are known to be complete
  std::optional<FeedSettings> feed;  // absent: no events are logged
  bool allow_touch = false;          // items may be touched

  friend bool operator==(const ContainerSettings&, const ContainerSettings&) = default;
};

// INVALID_ARGUMENT if the id is empty, too long, not UTF-8 or contains control characters.
absl::Status ValidateContainerId(const std::string& id);

// INVALID_ARGUMENT for values out of range, naming the field of a request that has a container,
// FAILED_PRECONDITION for combinations of default_ttl and indexing mode that are not allowed.
// Whether this machine has the time zone of the windows is not checked; see CheckTimeZone().
absl::Status ValidateSettings(const ContainerSettings& settings);

// Progress of the background build of an expiry index.
struct IndexBuild {
  int64_t items_indexed = 0;
  int percent = 0;     // of the container's bytes walked, estimated; 0 to 100
  std::string cursor;  // where the walk continues; private to storage
};

// A container at one moment. Immutable: every change makes a new object, so that holders of a
// ContainerPtr see a consistent state without a lock.
struct Container {
  uint64_t number = 0;  // incarnation: never used twice
  std::string id;
  ContainerSettings settings;
  uint64_t index_number = 0;  // 0: no expiry index
  uint64_t revision = 0;      // counts the changes
  absl::Time create_time;
  absl::Time update_time;
  std::optional<Pause> pause;
  std::vector<ReplacedPolicy> replaced_policies;  // oldest first
  AdoptionState adoption;
  std::optional<IndexBuild> index_build;  // absent: the index is complete
  bool has_expire_at = false;             // an item of it has, or has ever had, an expire_at
  bool has_holds = false;                 // a hold on items of it stands
  bool has_touches = false;               // items of it may be touched, or ever might
  // The epoch of the data in which its holds were stated to be complete; 0: never. Counts only if
  // it requires holds.
  uint64_t accepted_holds_epoch = 0;
  // Unix second at which a hold on all its items ended last: nothing is late because of the time
  // before. 0: none has.
  int64_t held_until = 0;
  FeedState feed;  // on if the settings have a feed
};

using ContainerPtr = std::shared_ptr<const Container>;

// The version of the container's configuration, as shown to clients. It differs between containers
// of the same id and after every change.
std::string ContainerEtag(const Container& container);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_CONTAINER_H_
