#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_TABLE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_TABLE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_key.h"
#include "client/examples/document_store/key_locks.h"
#include "documentstore/storage/v1/record.pb.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"

namespace documentstore {

using storage::v1::DocumentRecord;

// A write or a delete of one document.
struct Change {
  DocumentKey key;
  // From ReserveSequences().
  uint64_t sequence = 0;
  // ts of the version that is written or deleted, in Unix seconds.
  int64_t ts = 0;
  // The new version; nullopt deletes.
  std::optional<DocumentRecord> record;
  // Whether the document exists before the change.
  bool existed = false;
};

// The documents of all containers in LevelDB, and the outbox: a mark for every
// change that the sidecar has not acknowledged. Knows nothing of TTL.
//
// Thread-safe, but a read-modify-write must hold the locks of its keys. After a failed write all
// writes are UNAVAILABLE until the store is restarted, because LevelDB's log may be corrupt from
// there on.
class DocumentTable {
 public:
  // The counts of one container, for CountStoredDocuments.
  struct Counts {
    int64_t stored = 0;
    // Since the store started.
    int64_t expired_deleted = 0;
    std::optional<absl::Time> last_expired_delete;
  };

  // Documents in the order of their keys; `next` is empty on the last page.
  struct Page {
    std::vector<std::pair<DocumentKey, DocumentRecord>> documents;
    std::string next;
  };

  // Opens `directory`, which is created if missing, and counts its documents.
  static absl::StatusOr<std::unique_ptr<DocumentTable>> Open(const std::string& directory);

  // Random; created with the data and stored with it.
  const std::string& store_id() const { return store_id_; }

  // See KeyLocks.
  KeyLocks& locks() { return locks_; }

  absl::StatusOr<std::optional<DocumentRecord>> Get(const DocumentKey& key) const;

  // Up to `limit` documents whose keys start with `prefix`, beginning with
  // `from` (a Page's `next`) if it is not empty; fewer where they are large.
  absl::StatusOr<Page> Scan(const std::string& prefix, const std::string& from, int limit) const;

  // Returns the first of `count` consecutive sequences, larger than all reserved before, even
  // before a crash.
  absl::StatusOr<uint64_t> ReserveSequences(int count);

  // Writes the changes and marks them as unreported, in one synced batch.
  absl::Status Commit(const std::vector<Change>& changes);

  // Deletes documents at the sidecar's request, in one synced batch.
  absl::Status CommitExpired(const std::string& container, const std::vector<DocumentKey>& keys,
                             absl::Time now);

  // Sequences of the changes that are marked as unreported, ascending.
  std::vector<uint64_t> ListUnreported() const;

  // The marked change with that sequence, whose record is the *present* document; nullopt if the
  // mark is gone.
  absl::StatusOr<std::optional<Change>> GetUnreported(uint64_t sequence) const;

  // Removes the marks of changes that the sidecar has acknowledged.
  absl::Status ForgetMarks(const std::vector<Change>& changes);

  int64_t CountUnreported() const;
  Counts CountsOf(const std::string& container) const;

 private:
  DocumentTable();

  absl::Status LoadIdentity();
  absl::Status LoadCounts();
  absl::Status Write(leveldb::WriteBatch& batch, bool sync);

  // Avoids reading a table file for a missing document.
  const std::unique_ptr<const leveldb::FilterPolicy> filter_{leveldb::NewBloomFilterPolicy(10)};
  const std::unique_ptr<leveldb::Logger> logger_;
  std::unique_ptr<leveldb::DB> db_;
  std::string store_id_;
  KeyLocks locks_;
  std::atomic<bool> failed_ = false;

  mutable std::mutex mutex_;
  uint64_t next_sequence_ = 1;            // guarded by mutex_
  uint64_t sequence_ceiling_ = 1;         // guarded by mutex_; as stored
  std::map<std::string, Counts> counts_;  // guarded by mutex_
  std::set<uint64_t> unreported_;         // guarded by mutex_; sequences in the outbox
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_TABLE_H_
