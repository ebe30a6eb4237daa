#include "ttl/primary_store.h"

#include "absl/time/clock.h"

namespace ttl {

absl::Time PrimaryStore::Now() const { return absl::Now(); }

absl::StatusOr<std::vector<v1::Item>> PrimaryStore::Scan(absl::string_view /*container*/,
                                                         const std::optional<StoredKey>& /*after*/,
                                                         int /*limit*/) {
  return absl::UnimplementedError("this store does not scan");
}

std::optional<int64_t> PrimaryStore::EstimatedItems(absl::string_view /*container*/) const {
  return std::nullopt;
}

std::optional<double> PrimaryStore::RequestCharge(int /*deleted*/, int /*kept*/) const {
  return std::nullopt;
}

}  // namespace ttl
