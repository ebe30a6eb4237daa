#ifndef TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_
#define TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// Name of the fact that says why the tracked data may be incomplete.
inline constexpr absl::string_view kDataDoubtFact = "data_doubt";

// Name of the fact that tells this data from what it was before a restore, a repair or a loss: what
// was said of its holds before then no longer counts. Absent: kFirstHoldsEpoch.
inline constexpr absl::string_view kHoldsEpochFact = "holds_epoch";
inline constexpr uint64_t kFirstHoldsEpoch = 1;

// A limit on all deletes that was set at run time.
struct StoredDeleteLimit {
  std::optional<double> max_deletes_per_second;  // absent: no limit

  friend bool operator==(const StoredDeleteLimit&, const StoredDeleteLimit&) = default;
};

// The primary store that the tracked items belong to.
struct StoredStore {
  std::string store_id;
  uint64_t epoch = 0;  // how often it was confirmed

  friend bool operator==(const StoredStore&, const StoredStore&) = default;
};

// Why the tracked data may be incomplete, and the progress of its rebuild.
struct DataDoubt {
  std::string reason;      // never empty
  std::string container;   // being rebuilt; those with a lower id are done
  std::string page_token;  // where the scan of that container continues
  // The store epoch of the confirmation that put the data in doubt: the rebuild then starts by
  // itself, whatever the options. 0: the doubt has another cause.
  uint64_t store_epoch = 0;

  friend bool operator==(const DataDoubt&, const DataDoubt&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_
