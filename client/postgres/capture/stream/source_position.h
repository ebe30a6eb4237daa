#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// A WAL position of one server: an LSN is meaningless in another cluster or on another timeline.
struct SourcePosition {
  std::string system_identifier;
  std::string timeline;
  uint64_t lsn = 0;

  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// Formats a position as the sidecar keeps it: "postgresql/7301234567890123456/1/0/16B3748".
std::string FormatSourcePosition(const SourcePosition& position);
// Absent if FormatSourcePosition() did not write `text`.
std::optional<SourcePosition> ParseSourcePosition(absl::string_view text);

// Why a stream that begins at `start` may lack changes that the sidecar does not have, for humans;
// empty: it has all of them. `kept` is the sidecar's position, absent if it keeps none; `wal_end`
// is the end of the server's WAL.
std::string WhyChangesMayBeMissing(const std::optional<SourcePosition>& kept,
                                   const SourcePosition& start, uint64_t wal_end);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_
