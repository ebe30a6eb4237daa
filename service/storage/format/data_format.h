#ifndef TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_
#define TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

// The format of a data directory: the least version of its format that a program must know to
// judge what is in it. It is raised by the first write that an older program would misread, not
// by the start of a newer program, so that one can go back until then.
namespace ttl {

// The fact that holds it.
inline constexpr absl::string_view kDataFormatFact = "format";

// Of a new directory.
inline constexpr int64_t kFirstDataFormat = 1;
// Items may have an expire_at, without which an older program would judge them.
inline constexpr int64_t kExpireAtDataFormat = 2;
// The newest that this program knows.
inline constexpr int64_t kNewestDataFormat = kExpireAtDataFormat;

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_DATA_FORMAT_H_
