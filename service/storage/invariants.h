#ifndef TTL_SERVICE_STORAGE_INVARIANTS_H_
#define TTL_SERVICE_STORAGE_INVARIANTS_H_

#include "absl/status/status.h"
#include "service/storage/catalog.h"
#include "service/storage/database.h"
#include "service/storage/tallies.h"

namespace ttl {

// See Storage::CheckInvariants.
absl::Status CheckInvariants(const Database& database, const Catalog& catalog,
                             const Tallies& tallies);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_INVARIANTS_H_
