#ifndef TTL_SERVICE_SERVER_CONTAINERS_FILE_H_
#define TTL_SERVICE_SERVER_CONTAINERS_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/storage/storage.h"

namespace ttl {

// One entry of the containers file: everything its owner can set, with what the
// file leaves out at its default.
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
//
// INVALID_ARGUMENT names file, line, container, key, value and what would be
// right; nothing is guessed, so "60s", "60" in quotes, 60.0 and unknown keys are
// refused. `file_name` is for messages only.
absl::StatusOr<std::vector<ContainerEntry>> ParseContainers(const std::string& file_name,
                                                            const std::string& text);

// Reads the file at `path`. INVALID_ARGUMENT also if it cannot be read.
absl::StatusOr<std::vector<ContainerEntry>> ReadContainersFile(const std::string& path);

// The entry in the form in which it is compared with what was applied last: the
// same for two entries that mean the same, whatever they look like.
std::string NormalForm(const ContainerEntry& entry);

// Creates or changes, one after the other, the containers whose entries differ
// from what was applied last; a changed entry sets all fields. Everything else is
// left alone: containers that are not in the file, changes made by calls while
// the entry stayed the same, removals by calls, and pauses. Waits for storage; to
// be called before anybody else uses it. Returns the first error of storage.
absl::Status ApplyContainers(const std::vector<ContainerEntry>& entries, Storage& storage,
                             absl::Time now, absl::Duration grace);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONTAINERS_FILE_H_
