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

// Canonical form of an entry, for comparison with the entry applied last. Entries
// with the same meaning have the same form, however they are written.
std::string NormalForm(const ContainerEntry& entry);

// Creates or changes, one after another, the containers whose entries differ from the ones applied
// last; a changed entry sets all fields. Nothing else changes: containers that are not in the file,
// changes and deletions by calls while the entry stayed the same, and pauses are kept. An entry
// that is refused because holds or subscriptions stand is left out, logged, and tried again at the
// next start. Blocks on storage. Returns the first error: one of storage, or ALREADY_EXISTS or
// NOT_FOUND if a call creates or deletes a container at the same time; the entries before it are
// then applied.
absl::Status ApplyContainers(const std::vector<ContainerEntry>& entries, Storage& storage,
                             absl::Time now, absl::Duration grace);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_CONTAINERS_FILE_H_
