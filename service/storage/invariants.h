#ifndef TTL_SERVICE_STORAGE_INVARIANTS_H_
#define TTL_SERVICE_STORAGE_INVARIANTS_H_

#include "absl/status/status.h"
#include "service/storage/catalog.h"
#include "service/storage/database.h"

namespace ttl {

// See Storage::CheckInvariants.
absl::Status CheckInvariants(const Database& database, const Catalog& catalog);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_INVARIANTS_H_
