#ifndef TTL_SERVICE_STORAGE_ENGINE_DATABASE_H_
#define TTL_SERVICE_STORAGE_ENGINE_DATABASE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/base/distribution.h"
#include "service/base/mutex.h"
#include "service/storage/engine/empty_ranges.h"
#include "service/storage/engine/storage_figures.h"
#include "service/storage/engine/storage_options.h"

namespace leveldb {
class DB;
class Env;
class Iterator;
class Status;
}  // namespace leveldb

namespace ttl {

// Changes that are written together: keys and their new values; absent to delete a key.
using WriteSet = EmptyRanges::Writes;

// A LevelDB database; only this folder includes LevelDB. Adds what LevelDB leaves to its users: the
// first failed write is latched (LevelDB forgets it, although its log is damaged from then on),
// reopening, a check of the files when opening, the free space, a format version, and counts of
// operations. Thread-safe.
class Database {
 private:
  // A use of the database, during which it is not reopened. A nested use on the same thread counts
  // as the outer one, because it must not wait for a reopening that waits for the outer one. For
  // one thread.
  class Hold {
   public:
    explicit Hold(const Database& database);
    Hold(Hold&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
    ~Hold();

   private:
    const Database* database_;
  };

 public:
  // See Storage::Open for the errors.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const StorageOptions& options);
  ~Database();

  // The format of the data; absent in a new directory. See data_format.h.
  absl::StatusOr<std::optional<int64_t>> DataFormat() const;

  // Absent if there is no such key. DATA_LOSS if the data is damaged.
  absl::StatusOr<std::optional<std::string>> Get(absl::string_view key) const;

  // Writes all or nothing, durably. After a failed write, UNAVAILABLE until Reopen() succeeded.
  absl::Status Write(const WriteSet& changes);

  // Reads the keys with a common prefix, in order. Keep it short: it pins files and delays
  // Reopen(), though no other read of its thread. Must not outlive the database. For one thread.
  class Cursor {
   public:
    Cursor(Cursor&&) noexcept;
    ~Cursor();

    // Goes to the first key at or after `key`.
    void Seek(absl::string_view key);
    void Next();
    bool Valid() const;
    absl::string_view key() const;
    absl::string_view value() const;
    // Why the cursor is not valid: OK at the end, DATA_LOSS if data is damaged.
    absl::Status status() const;

   private:
    friend class Database;
    Cursor(const Database& database, absl::string_view prefix, absl::string_view start,
           bool fill_cache);
    void Begin(absl::string_view start, bool fill_cache);

    const Database* database_;
    std::string prefix_;
    Hold open_;  // before the iterator: released after it
    std::unique_ptr<leveldb::Iterator> iterator_;
  };

  // A cursor at the first key of `prefix` that is at or after `start`.
  Cursor ReadPrefix(absl::string_view prefix, absl::string_view start) const;
  Cursor ReadPrefix(absl::string_view prefix) const { return ReadPrefix(prefix, prefix); }
  // The same for walks over much data: does not evict other blocks from memory.
  Cursor WalkPrefix(absl::string_view prefix, absl::string_view start) const;

  // The last key of a prefix; absent if it has none. The prefix has a byte below 0xFF.
  absl::StatusOr<std::optional<std::string>> LastKey(const std::string& prefix) const;

  // Approximate bytes on disk between two keys, without recent writes.
  uint64_t ApproximateBytes(absl::string_view from, absl::string_view to) const;

  // Compacts the keys from `from` up to `to`. Blocks the caller until it is done, but nobody else.
  void CompactRange(absl::string_view from, absl::string_view to);

  // OK, or why writes are refused.
  absl::Status WriteHealth() const;

  // Refuses writes if the data directory or its lock is not where it was opened; see
  // Storage::CheckFiles.
  void CheckFiles();

  // Closes the database after a failed write and opens it again, and runs `reload`, for state
  // derived from the data, before writes are accepted: a write that failed may be stored all the
  // same. No effect if no write has failed. Blocks readers while it opens. If it can be seen that
  // opening would fail, because files are gone or the volume accepts no writes, the database stays
  // open for reads. Never creates a new database.
  absl::Status Reopen(absl::FunctionRef<absl::Status()> reload);

  // Free bytes on the volume; a very large number if unknown.
  int64_t FreeBytes() const;

  OperationCounts Counts() const;

  // For metrics; never waits for a reopening.
  DatabaseFigures Figures() const;

 private:
  struct LevelDbParts;  // what the options of LevelDB point to

  explicit Database(const StorageOptions& options);
  absl::Status OpenLevelDb(bool create);
  absl::Status CheckBeforeOpening() const;
  absl::Status ToOpenStatus(const leveldb::Status& status) const;
  absl::Status OpenForReads(const absl::Status& failure);
  absl::Status CheckCanReopen() const;
  absl::Status ProbeVolume() const;
  int64_t LogBytes() const;
  absl::Status ReplaceLevelDb();
  void RefuseWrites(absl::string_view reason);
  leveldb::Env& disk() const;
  absl::Status CheckFormat();
  absl::Status CheckNotHeadless() const;
  absl::Status CheckTableFiles() const;

  const StorageOptions options_;
  std::unique_ptr<LevelDbParts> parts_;

  // Held shared by every use of db_, exclusively while it is replaced.
  // reopen_turn_ keeps a stream of readers from starving the replacement.
  mutable std::shared_mutex open_mutex_;
  mutable std::mutex reopen_turn_;
  std::atomic<bool> reopening_ = false;
  std::unique_ptr<leveldb::DB> db_;

  mutable EmptyRanges empty_ranges_;

  mutable Mutex health_mutex_;
  absl::Status write_health_ ABSL_GUARDED_BY(health_mutex_);

  struct Counters {
    std::atomic<int64_t> gets = 0, puts = 0, deletes = 0, seeks = 0, steps = 0, syncs = 0;
  };
  mutable Counters counters_;
  OwnedDurationDistribution writes_;  // one thread writes
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_DATABASE_H_
