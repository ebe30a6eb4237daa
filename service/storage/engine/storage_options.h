#ifndef TTL_SERVICE_STORAGE_ENGINE_STORAGE_OPTIONS_H_
#define TTL_SERVICE_STORAGE_ENGINE_STORAGE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace leveldb {
class Env;
}

namespace ttl {

class WakeSignal;

struct StorageOptions {
  // Directory of the database; created if missing, its parent must exist.
  std::string directory;

  // Memory for the record cache, and for LevelDB's block cache.
  size_t record_cache_bytes = size_t{64} << 20;
  size_t block_cache_bytes = size_t{32} << 20;

  // Bounds of the commit queue; beyond them reports get RESOURCE_EXHAUSTED.
  size_t max_queued_writes = 16384;
  size_t max_queued_bytes = size_t{64} << 20;

  // Free space of the volume below which reports, and then also outcomes of deletes and policy
  // changes, are refused. Checks are still answered.
  int64_t report_floor_bytes = int64_t{256} << 20;
  int64_t outcome_floor_bytes = int64_t{64} << 20;

  // Notified when something may have become due earlier (see due_changes()). May be null; must
  // outlive the storage.
  WakeSignal* due_signal = nullptr;

  // The same for what may have to be announced in the feed of a container (see
  // unannounced_changes()).
  WakeSignal* unannounced_signal = nullptr;

  // One line per notable event: errors, recovery, and LevelDB's own messages (level kDebug). Called
  // from any thread. May be empty.
  enum class LogLevel { kDebug, kInfo, kWarning, kError };
  std::function<void(LogLevel, absl::string_view)> log;

  // Null: the real file system. Otherwise owned by the caller, and must outlive the storage.
  leveldb::Env* env = nullptr;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_STORAGE_OPTIONS_H_
