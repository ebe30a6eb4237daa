#ifndef TTL_TESTS_BENCH_RAW_RAW_DATABASE_H_
#define TTL_TESTS_BENCH_RAW_RAW_DATABASE_H_

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/speed/sample.h"

namespace ttl::bench {

// What LevelDB is tuned by. The defaults are those of service/storage/engine/database.cc.
struct RawOptions {
  int write_buffer_mib = 16;
  int max_file_mib = 16;
  int block_cache_mib = 32;
  int bloom_bits = 10;  // per key; 0: no filter
};

// LevelDB with the options, the keys and the values of the sidecar, and nothing else: what
// can be had at most. An item is a record and an entry of the expiry index. For one
// thread. A Sample has the cores that this process keeps busy as those of the generator.
class RawDatabase {
 public:
  // Opens or creates it.
  static absl::StatusOr<std::unique_ptr<RawDatabase>> Open(const std::string& directory,
                                                           const RawOptions& options);

  // Writes items 0 up to `items`, synced batch by batch of 1000.
  absl::Status Load(uint64_t items);

  // Synced batches of `batch` scattered items that were never written, the first of them
  // the `first`th of all: items per second.
  absl::StatusOr<Sample> WriteBatches(uint64_t first, uint64_t batch, const Window& window);

  // The same items one by one, each synced by the thread that writes it, of `threads`
  // threads at once: LevelDB merges the writes that wait for it.
  absl::StatusOr<Sample> WriteFromThreads(uint64_t first, int threads, const Window& window);

  // Gets random ones of items 0 up to `items`, which are loaded: items per second.
  absl::StatusOr<Sample> ReadRandomly(uint64_t items, uint64_t seed, const Window& window);

  // Scans the index and deletes record and entry of all items, in synced batches of
  // `batch`: items per second over all of it. NOT_FOUND if there were not `items`.
  absl::StatusOr<Sample> DeleteAll(uint64_t items, uint64_t batch);

 private:
  explicit RawDatabase(const RawOptions& options);

  leveldb::Options Options();
  absl::StatusOr<uint64_t> DeleteScanned(uint64_t batch);
  // The keys are those of another item, and become those of this one.
  void AddPuts(uint64_t item, std::string& record_key, std::string& entry_key,
               leveldb::WriteBatch& batch) const;
  absl::Status WriteBatch();  // synced

  const RawOptions options_;
  const std::unique_ptr<leveldb::Cache> cache_;
  const std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
  leveldb::WriteBatch batch_;
  // Those of the item that was written or read last.
  std::string record_key_;
  std::string entry_key_;
  const std::string record_;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_RAW_RAW_DATABASE_H_
