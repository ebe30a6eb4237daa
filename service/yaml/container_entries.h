#ifndef TTL_SERVICE_YAML_CONTAINER_ENTRIES_H_
#define TTL_SERVICE_YAML_CONTAINER_ENTRIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "service/core/container.h"

namespace ttl {

// One entry of the containers file: all settings that an owner can set; those missing in the file
// have their defaults.
struct ContainerEntry {
  std::string id;
  ContainerSettings settings;

  friend bool operator==(const ContainerEntry&, const ContainerEntry&) = default;
};

// Reads the text of a containers file:
//
//   containers:
//     - id: salesdb/orders
//       default_ttl: 3600          # or -1; absent, null or off: TTL is off
//       indexing_mode: CONSISTENT  # or LAZY, NONE
//       delete_policy:
//         max_deletes_per_second: 50
//         delay_seconds: 0
//         request_units_per_second: 400
//         request_units_per_delete: 5
//         min_deletes_per_second: 1
//         brake:
//           max_newly_due_items: 10000
//           max_newly_due_percent: 10
//           release_after_seconds: 86400
//         windows:
//           windows:
//             - days: [mon, tue]   # absent: every day
//               start: "22:00"
//               end: "06:00"       # on the next day
//               max_deletes_per_second: 500
//           time_zone: Europe/Berlin
//           max_deletes_per_second_outside: 10
//       show_held: true
//       holds: true                # requires_holds
//       feed:                      # {} for a feed with defaults
//         max_age_seconds: 86400
//         max_bytes: 1073741824
//         notice_seconds: 600
//       allow_touch: true
//
// INVALID_ARGUMENT names file, line, container, key, value and what is allowed. Nothing is guessed:
// "60s", "60" in quotes, 60.0 and unknown keys are errors. Whether the machine has a time zone is
// not checked. `file_name` is used in messages only. Pure.
absl::StatusOr<std::vector<ContainerEntry>> ParseContainers(const std::string& file_name,
                                                            const std::string& text);

}  // namespace ttl

#endif  // TTL_SERVICE_YAML_CONTAINER_ENTRIES_H_
