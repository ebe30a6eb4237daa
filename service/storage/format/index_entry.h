#ifndef TTL_SERVICE_STORAGE_FORMAT_INDEX_ENTRY_H_
#define TTL_SERVICE_STORAGE_FORMAT_INDEX_ENTRY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "service/core/item.h"

namespace ttl {

// The ways of ordering items in an expiry index.
enum class IndexFamily {
  kExpireTime = 1,  // items with an end of their own, by it
  kTs = 2,          // items that inherit, by ts
  kRetryTime = 3,   // items whose delete failed, by the time of the next try
  kAdopted = 4,     // items that wait because they were adopted, by the end of that
  kHeld = 5,        // items set aside because they are held, by the number of one of their holds
  kGated = 6,       // items set aside until the gates pass them, by the sequence of their EXPIRED
};

inline constexpr size_t kIndexFamilies = 6;

// One entry of an expiry index.
struct IndexEntry {
  IndexFamily family = IndexFamily::kExpireTime;
  int64_t time = 0;  // Unix seconds; in kHeld the number of a hold, in kGated a sequence
  ItemKey key;
};

// A position in one family of an index, ordered by (time, key).
struct IndexPlace {
  int64_t time = 0;      // Unix seconds
  std::string key = "";  // encoded; empty: before all entries of that time

  friend bool operator==(const IndexPlace&, const IndexPlace&) = default;
  friend auto operator<=>(const IndexPlace&, const IndexPlace&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_INDEX_ENTRY_H_
