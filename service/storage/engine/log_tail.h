#ifndef TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_

#include <leveldb/env.h>

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

namespace ttl {

// The offset of the last write in a LevelDB log, if a kill or a power loss interrupted it: a part
// of it is there, and the zeros written ahead (see LogEnv) are in place of the rest. LevelDB takes
// zeros between two writes for the end of the log, but zeros within a write for damage. Absent if
// there is no such write, or if it may be damage: something follows it, although each write is
// synced before the next one, or it contains no zeros. Reads `log` from its beginning to its end,
// in bounded memory.
std::optional<uint64_t> FindTornWrite(leveldb::SequentialFile& log);

// Minimum zeros behind the last write in a log: as many as the header of a fragment has bytes, so
// that a truncated log does not end in as many behind its last fragment.
inline constexpr uint64_t kLogEndZeros = 7;

// Whether a log has kLogEndZeros behind its last write, torn or not. False if it is empty, or was
// truncated anywhere but in the zeros; UNAVAILABLE if it cannot be read. Reads `log` from its
// beginning to its end, in bounded memory.
absl::StatusOr<bool> EndsInZeros(leveldb::SequentialFile& log);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_
