#ifndef TTL_SERVICE_STORAGE_ENGINE_INDEX_CURSOR_H_
#define TTL_SERVICE_STORAGE_ENGINE_INDEX_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

// Reads the entries of one family of an expiry index, in the order of (time, key). It sees the
// entries that are committed when it is constructed. Keep it short: the cursor pins files of the
// database. Not thread-safe.
class IndexCursor {
 public:
  // Starts at the first entry at or after `start`. `database` must outlive the cursor.
  IndexCursor(const Database& database, uint64_t index, IndexFamily family,
              const IndexPlace& start);

  // Whether the cursor is at an entry. False at the end of the family and after an error.
  bool Valid() const { return valid_; }
  // OK, or why the cursor is not valid: DATA_LOSS if an entry is unreadable, or the error of the
  // database.
  absl::Status status() const;

  // REQUIRES: Valid().
  const IndexEntry& entry() const { return entry_; }
  IndexPlace place() const;
  void Next();
  // Returns the entry and goes to the next one.
  IndexEntry Take();
  // Returns at most `most` entries up to and including `last_time`, and goes behind them.
  std::vector<IndexEntry> TakeUntil(int64_t last_time, size_t most);

 private:
  void Decode();

  Database::Cursor cursor_;
  IndexEntry entry_;
  bool valid_ = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_INDEX_CURSOR_H_
