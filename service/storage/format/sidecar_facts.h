#ifndef TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_
#define TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// The fact that says why what is tracked may not be whole.
inline constexpr absl::string_view kDataDoubtFact = "data_doubt";

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

// Why what is tracked may not be whole, and how far its rebuild has come.
struct DataDoubt {
  std::string reason;      // never empty
  std::string container;   // come to; those with a lesser id are through
  std::string page_token;  // where the scan of that container goes on
  // Of the confirmation that put it in doubt: whatever the options, the rebuild begins by
  // itself. 0: it was something else.
  uint64_t store_epoch = 0;

  friend bool operator==(const DataDoubt&, const DataDoubt&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_SIDECAR_FACTS_H_
