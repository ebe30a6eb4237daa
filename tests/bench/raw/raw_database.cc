#include "tests/bench/raw/raw_database.h"

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/window_meter.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kContainer = 1;
constexpr uint64_t kIndex = 2;
constexpr int64_t kTs = 1'800'000'000;
constexpr uint64_t kLoadBatch = 1000;

absl::Status ToStatus(const leveldb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::InternalError(status.ToString());
}

// The same as in service/storage/engine/database.cc.
leveldb::ReadOptions Checked() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

// What the sidecar stores of an item that inherits its ttl.
std::string Record() {
  StoredItem item;
  item.version.times.ts = kTs;
  item.generation = 1;
  item.position = {kIndex, IndexFamily::kTs, kTs};
  return EncodeItem(item);
}

}  // namespace

RawDatabase::RawDatabase(const RawOptions& options)
    : options_(options),
      cache_(leveldb::NewLRUCache(static_cast<size_t>(options.block_cache_mib) << 20)),
      filter_(options.bloom_bits > 0 ? leveldb::NewBloomFilterPolicy(options.bloom_bits) : nullptr),
      record_key_(EncodeItemKey(kContainer, {PartitionKeyOf(0), IdOf(0)})),
      entry_key_(EncodeIndexKey(kIndex, IndexFamily::kTs, kTs, {PartitionKeyOf(0), IdOf(0)})),
      record_(Record()) {}

absl::StatusOr<std::unique_ptr<RawDatabase>> RawDatabase::Open(const std::string& directory,
                                                               const RawOptions& options) {
  std::unique_ptr<RawDatabase> database(new RawDatabase(options));
  leveldb::DB* db = nullptr;
  TTL_RETURN_IF_ERROR(ToStatus(leveldb::DB::Open(database->Options(), directory, &db)));
  database->db_.reset(db);
  return database;
}

leveldb::Options RawDatabase::Options() {
  leveldb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.block_cache = cache_.get();
  options.filter_policy = filter_.get();
  options.write_buffer_size = static_cast<size_t>(options_.write_buffer_mib) << 20;
  options.max_file_size = static_cast<size_t>(options_.max_file_mib) << 20;
  return options;
}

absl::Status RawDatabase::Load(uint64_t items) {
  for (uint64_t first = 0; first < items; first += kLoadBatch) {
    for (uint64_t item = first; item < first + kLoadBatch && item < items; ++item)
      AddPuts(item, record_key_, entry_key_, batch_);
    TTL_RETURN_IF_ERROR(WriteBatch());
  }
  // Compactions would be carried into what is measured next.
  AwaitQuiet(0);
  return absl::OkStatus();
}

absl::StatusOr<Sample> RawDatabase::WriteBatches(uint64_t first, uint64_t batch,
                                                 const Window& window) {
  WindowMeter meter(window, 0);
  uint64_t sequence = first;
  do {
    for (uint64_t i = 0; i < batch; ++i) {
      AddPuts(Scattered(sequence++), record_key_, entry_key_, batch_);
    }
    TTL_RETURN_IF_ERROR(WriteBatch());
  } while (meter.Count(static_cast<int64_t>(batch)));
  return meter.Result();
}

absl::StatusOr<Sample> RawDatabase::WriteFromThreads(uint64_t first, int threads,
                                                     const Window& window) {
  std::atomic<uint64_t> next = first;
  std::atomic<bool> over = false;
  std::vector<std::future<absl::Status>> writers;
  for (int i = 0; i < threads; ++i) {
    writers.push_back(std::async(std::launch::async, [&]() -> absl::Status {
      std::string record_key = record_key_;
      std::string entry_key = entry_key_;
      leveldb::WriteOptions durable;
      durable.sync = true;
      while (!over) {
        leveldb::WriteBatch batch;
        AddPuts(Scattered(next.fetch_add(1)), record_key, entry_key, batch);
        TTL_RETURN_IF_ERROR(ToStatus(db_->Write(durable, &batch)));
      }
      return absl::OkStatus();
    }));
  }
  WindowMeter meter(window, 0);
  uint64_t counted = first;
  uint64_t done = 0;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    done = next - std::exchange(counted, next.load());
  } while (meter.Count(static_cast<int64_t>(done)));
  over = true;
  absl::Status status;
  for (auto& writer : writers) status.Update(writer.get());
  if (!status.ok()) return status;
  return meter.Result();
}

absl::StatusOr<Sample> RawDatabase::ReadRandomly(uint64_t items, uint64_t seed,
                                                 const Window& window) {
  std::mt19937_64 random(seed);
  std::string value;
  WindowMeter meter(window, 0);
  do {
    RenumberDatabaseKey(record_key_, random() % items);
    TTL_RETURN_IF_ERROR(ToStatus(db_->Get(Checked(), record_key_, &value)));
  } while (meter.Count(1));
  return meter.Result();
}

absl::StatusOr<Sample> RawDatabase::DeleteAll(uint64_t items, uint64_t batch) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cpu_begin = CpuTime(0);
  TTL_ASSIGN_OR_RETURN(const uint64_t deleted, DeleteScanned(batch));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double> cpu = CpuTime(0) - cpu_begin;
  if (deleted != items) {
    return absl::NotFoundError(absl::StrCat("deleted ", deleted, " items instead of ", items));
  }
  return Sample{static_cast<double>(items) / seconds.count(), cpu.count() / seconds.count(), 0};
}

absl::StatusOr<uint64_t> RawDatabase::DeleteScanned(uint64_t batch) {
  const std::string prefix = IndexFamilyPrefix(kIndex, IndexFamily::kTs);
  const size_t time_end = IndexSeekKey(kIndex, IndexFamily::kTs, 0).size();
  std::string record_key = ItemPrefix(kContainer);
  const size_t item_begin = record_key.size();
  const std::unique_ptr<leveldb::Iterator> entry(db_->NewIterator(Checked()));
  uint64_t deleted = 0;
  for (entry->Seek(prefix); entry->Valid() && entry->key().starts_with(prefix); entry->Next()) {
    const leveldb::Slice key = entry->key();
    record_key.resize(item_begin);
    record_key.append(key.data() + time_end, key.size() - time_end);
    batch_.Delete(key);
    batch_.Delete(record_key);
    if (++deleted % batch == 0) TTL_RETURN_IF_ERROR(WriteBatch());
  }
  TTL_RETURN_IF_ERROR(ToStatus(entry->status()));
  TTL_RETURN_IF_ERROR(WriteBatch());
  return deleted;
}

void RawDatabase::AddPuts(uint64_t item, std::string& record_key, std::string& entry_key,
                          leveldb::WriteBatch& batch) const {
  RenumberDatabaseKey(record_key, item);
  RenumberDatabaseKey(entry_key, item);
  batch.Put(record_key, record_);
  batch.Put(entry_key, "");
}

absl::Status RawDatabase::WriteBatch() {
  leveldb::WriteOptions durable;
  durable.sync = true;
  const leveldb::Status written = db_->Write(durable, &batch_);
  batch_.Clear();
  return ToStatus(written);
}

}  // namespace ttl::bench
