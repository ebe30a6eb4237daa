#ifndef TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_

#include <leveldb/env.h>

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

namespace ttl {

// Where the last write in a log of LevelDB's begins, if a kill or a power cut came in the
// middle of it: some of it is there, and zeros, written ahead (see LogEnv), are where the
// rest was to go. LevelDB takes zeros between two writes for the end of the log, but those
// within one for damage. Absent if there is no such write, or if what is wrong may be
// damage: something begins behind it, though each write is synced before the next one, or
// it has no zeros. Reads `log` from its beginning to its end, in bounded memory.
std::optional<uint64_t> FindTornWrite(leveldb::SequentialFile& log);

// Zeros behind the last write in a log, at least: as many as a piece of a write has to say
// of itself, so that what is cut short does not end in so many behind its last piece.
inline constexpr uint64_t kLogEndZeros = 7;

// Whether a log has kLogEndZeros behind its last write, torn or not. False if it is empty, or
// was cut anywhere but in the zeros; UNAVAILABLE if it cannot be read. Reads `log` from its
// beginning to its end, in bounded memory.
absl::StatusOr<bool> EndsInZeros(leveldb::SequentialFile& log);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LOG_TAIL_H_
