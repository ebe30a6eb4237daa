#ifndef TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_
#define TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

// The format version of a data directory: the oldest format version that a program must know to
// interpret it. The first write that an older program would misread raises it, not the start of a
// newer program, so that one can go back until then.
namespace ttl {

// The fact that holds the version.
inline constexpr absl::string_view kDataFormatFact = "format";

// The version of a new directory.
inline constexpr int64_t kFirstDataFormat = 1;
// Items may have an expire_at, which an older program would ignore.
inline constexpr int64_t kExpireAtDataFormat = 2;
// There may be holds, and containers that ask for them; an older program would delete held items.
inline constexpr int64_t kHoldsDataFormat = 3;
// There may be feeds; an older program would change items without logging it.
inline constexpr int64_t kFeedDataFormat = 4;
// Containers may have windows, outside of which an older program would delete.
inline constexpr int64_t kWindowsDataFormat = 5;
// Subscriptions may be gates, for which an older program would not wait.
inline constexpr int64_t kGateDataFormat = 6;
// Items may have been touched, which an older program would ignore.
inline constexpr int64_t kTouchDataFormat = 7;
// The newest version that this program knows.
inline constexpr int64_t kNewestDataFormat = kTouchDataFormat;

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_
