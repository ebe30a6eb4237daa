#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// A position in the WAL of one server: an LSN means nothing to another cluster, nor on another
// timeline of the same one.
struct SourcePosition {
  std::string system_identifier;
  std::string timeline;
  uint64_t lsn = 0;

  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// As the sidecar keeps it: "postgresql/7301234567890123456/1/0/16B3748".
std::string FormatSourcePosition(const SourcePosition& position);
// Absent: it is none that FormatSourcePosition() has written.
std::optional<SourcePosition> ParseSourcePosition(absl::string_view text);

// Why a stream that begins at `start` may lack changes that the sidecar does not know, for
// people; empty: it has them all. `kept` is what the sidecar knows, absent if it does not say;
// `wal_end` is how far the server's WAL is.
std::string WhyChangesMayBeMissing(const std::optional<SourcePosition>& kept,
                                   const SourcePosition& start, uint64_t wal_end);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SOURCE_POSITION_H_
