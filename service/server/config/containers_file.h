#ifndef TTL_SERVICE_SERVER_CONFIG_CONTAINERS_FILE_H_
#define TTL_SERVICE_SERVER_CONFIG_CONTAINERS_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/storage/storage.h"
#include "service/yaml/container_entries.h"

namespace ttl {

// Reads the file at `path`. INVALID_ARGUMENT also if it cannot be read.
absl::StatusOr<std::vector<ContainerEntry>> ReadContainersFile(const std::string& path);

// The entry in the form in which it is compared with what was applied last: the
// same for two entries that mean the same, whatever they look like.
std::string NormalForm(const ContainerEntry& entry);

// Creates or changes, one after the other, the containers whose entries differ
// from what was applied last; a changed entry sets all fields. Everything else is
// left alone: containers that are not in the file, changes made by calls while
// the entry stayed the same, removals by calls, and pauses. Waits for storage. Returns the
// first error: of storage, or ALREADY_EXISTS or NOT_FOUND if a call creates or removes a
// container at the same time; the entries before it are applied then.
absl::Status ApplyContainers(const std::vector<ContainerEntry>& entries, Storage& storage,
                             absl::Time now, absl::Duration grace);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_CONTAINERS_FILE_H_
