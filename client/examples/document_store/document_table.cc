#include "client/examples/document_store/document_table.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

constexpr char kStoreIdKey[] = "mstore_id";
constexpr char kSequenceKey[] = "msequence";
constexpr char kOutboxPrefix[] = "o";
// Sequences are reserved on disk in blocks, so that not every write has to store the counter. A
// crash skips the rest of a block.
constexpr uint64_t kSequenceBlock = 1 << 20;
constexpr size_t kMaxPageBytes = 2 << 20;

absl::Status FromLevelDb(const leveldb::Status& status) {
  return status.ok() ? absl::OkStatus()
                     : absl::UnavailableError(absl::StrCat("storage: ", status.ToString()));
}

// Fixed-width hexadecimal sorts like the number.
std::string OutboxKey(uint64_t sequence) {
  return absl::StrCat(kOutboxPrefix, absl::Hex(sequence, absl::kZeroPad16));
}

absl::string_view View(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

bool Parse(const leveldb::Slice& slice, google::protobuf::MessageLite& message) {
  return message.ParseFromArray(slice.data(), static_cast<int>(slice.size()));
}

std::string RandomId() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

std::string Mark(const Change& change) {
  storage::v1::UnreportedRecord mark;
  mark.set_container(change.key.container);
  mark.set_partition_key(change.key.partition_key);
  mark.set_id(change.key.id);
  mark.set_ts(change.ts);
  return mark.SerializeAsString();
}

// Discards LevelDB's info log, whose file would grow without bound.
class LineLogger : public leveldb::Logger {
 public:
  void Logv(const char* format, std::va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    spdlog::debug("leveldb: detail=\"{}\"", absl::CHexEscape(line));
  }
};

}  // namespace

DocumentTable::DocumentTable() : logger_(std::make_unique<LineLogger>()) {}

absl::StatusOr<std::unique_ptr<DocumentTable>> DocumentTable::Open(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::unique_ptr<DocumentTable> table(new DocumentTable());
  leveldb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.write_buffer_size = 16 << 20;
  options.max_file_size = 16 << 20;
  options.filter_policy = table->filter_.get();
  options.info_log = table->logger_.get();
  leveldb::DB* db = nullptr;
  if (auto status = leveldb::DB::Open(options, directory, &db); !status.ok()) {
    return FromLevelDb(status);
  }
  table->db_.reset(db);
  if (auto status = table->LoadIdentity(); !status.ok()) return status;
  if (auto status = table->LoadCounts(); !status.ok()) return status;
  return table;
}

absl::Status DocumentTable::LoadIdentity() {
  std::string ceiling;
  leveldb::Status status = db_->Get({}, kStoreIdKey, &store_id_);
  if (status.IsNotFound()) {
    store_id_ = RandomId();
    leveldb::WriteBatch batch;
    batch.Put(kStoreIdKey, store_id_);
    return Write(batch, /*sync=*/true);
  }
  if (status.ok()) status = db_->Get({}, kSequenceKey, &ceiling);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromLevelDb(status);
  if (!absl::SimpleAtoi(ceiling, &sequence_ceiling_)) {
    return absl::DataLossError(absl::StrCat("storage: sequence is \"", ceiling, "\""));
  }
  next_sequence_ = sequence_ceiling_;
  return absl::OkStatus();
}

absl::Status DocumentTable::LoadCounts() {
  std::unique_ptr<leveldb::Iterator> it(db_->NewIterator({}));
  for (it->Seek(AllDocumentsPrefix()); it->Valid(); it->Next()) {
    const auto key = DecodeKey(View(it->key()));
    if (!key) break;
    ++counts_[key->container].stored;
  }
  for (it->Seek(kOutboxPrefix); it->Valid() && it->key().starts_with(kOutboxPrefix); it->Next()) {
    uint64_t sequence = 0;
    if (!absl::SimpleHexAtoi(View(it->key()).substr(1), &sequence)) {
      return absl::DataLossError("storage: the key of a mark cannot be read");
    }
    unreported_.insert(sequence);
  }
  return FromLevelDb(it->status());
}

absl::StatusOr<std::optional<DocumentRecord>> DocumentTable::Get(const DocumentKey& key) const {
  std::string value;
  const leveldb::Status status = db_->Get({}, EncodeKey(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromLevelDb(status);
  DocumentRecord record;
  if (!Parse(value, record)) return absl::DataLossError("storage: a document cannot be read");
  return record;
}

absl::StatusOr<DocumentTable::Page> DocumentTable::Scan(const std::string& prefix,
                                                        const std::string& from, int limit) const {
  Page page;
  size_t bytes = 0;
  std::unique_ptr<leveldb::Iterator> it(db_->NewIterator({}));
  for (it->Seek(from.empty() ? prefix : from); it->Valid(); it->Next()) {
    if (!it->key().starts_with(prefix)) break;
    bytes += it->key().size() + it->value().size();
    const auto read = static_cast<int>(page.documents.size());
    if (read == limit || (read > 0 && bytes > kMaxPageBytes)) {
      page.next = it->key().ToString();
      break;
    }
    const auto key = DecodeKey(View(it->key()));
    DocumentRecord record;
    if (!key || !Parse(it->value(), record)) {
      return absl::DataLossError("storage: a document cannot be read");
    }
    page.documents.emplace_back(*key, std::move(record));
  }
  if (auto status = FromLevelDb(it->status()); !status.ok()) return status;
  return page;
}

absl::StatusOr<uint64_t> DocumentTable::ReserveSequences(int count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (next_sequence_ + count > sequence_ceiling_) {
    const uint64_t ceiling = next_sequence_ + count + kSequenceBlock;
    leveldb::WriteBatch batch;
    batch.Put(kSequenceKey, absl::StrCat(ceiling));
    if (auto status = Write(batch, /*sync=*/true); !status.ok()) return status;
    sequence_ceiling_ = ceiling;
  }
  next_sequence_ += count;
  return next_sequence_ - count;
}

absl::Status DocumentTable::Commit(const std::vector<Change>& changes) {
  leveldb::WriteBatch batch;
  std::map<std::string, int64_t> added;
  for (const Change& change : changes) {
    if (change.record) {
      batch.Put(EncodeKey(change.key), change.record->SerializeAsString());
    } else {
      batch.Delete(EncodeKey(change.key));
    }
    batch.Put(OutboxKey(change.sequence), Mark(change));
    added[change.key.container] += change.record.has_value() - change.existed;
  }
  if (auto status = Write(batch, /*sync=*/true); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Change& change : changes) unreported_.insert(change.sequence);
  for (const auto& [container, count] : added) counts_[container].stored += count;
  return absl::OkStatus();
}

absl::Status DocumentTable::CommitExpired(const std::string& container,
                                          const std::vector<DocumentKey>& keys, absl::Time now) {
  if (keys.empty()) return absl::OkStatus();
  leveldb::WriteBatch batch;
  for (const DocumentKey& key : keys) batch.Delete(EncodeKey(key));
  if (auto status = Write(batch, /*sync=*/true); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts& counts = counts_[container];
  counts.stored -= static_cast<int64_t>(keys.size());
  counts.expired_deleted += static_cast<int64_t>(keys.size());
  counts.last_expired_delete = now;
  return absl::OkStatus();
}

std::vector<uint64_t> DocumentTable::ListUnreported() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {unreported_.begin(), unreported_.end()};
}

absl::StatusOr<std::optional<Change>> DocumentTable::GetUnreported(uint64_t sequence) const {
  std::string value;
  const leveldb::Status status = db_->Get({}, OutboxKey(sequence), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromLevelDb(status);
  storage::v1::UnreportedRecord mark;
  if (!Parse(value, mark)) return absl::DataLossError("storage: a mark cannot be read");
  Change change;
  change.key = {mark.container(), mark.partition_key(), mark.id()};
  change.sequence = sequence;
  change.ts = mark.ts();
  auto record = Get(change.key);
  if (!record.ok()) return record.status();
  change.record = *std::move(record);
  return change;
}

absl::Status DocumentTable::ForgetMarks(const std::vector<Change>& changes) {
  leveldb::WriteBatch batch;
  for (const Change& change : changes) batch.Delete(OutboxKey(change.sequence));
  // Not synced: a mark that reappears after a crash is reported again, which is harmless.
  if (auto status = Write(batch, /*sync=*/false); !status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Change& change : changes) unreported_.erase(change.sequence);
  return absl::OkStatus();
}

int64_t DocumentTable::CountUnreported() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(unreported_.size());
}

DocumentTable::Counts DocumentTable::CountsOf(const std::string& container) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counts_.find(container);
  return found == counts_.end() ? Counts() : found->second;
}

absl::Status DocumentTable::Write(leveldb::WriteBatch& batch, bool sync) {
  if (failed_) return absl::UnavailableError("storage: a write failed; restart the store");
  leveldb::WriteOptions options;
  options.sync = sync;
  const leveldb::Status status = db_->Write(options, &batch);
  if (!status.ok()) failed_ = true;
  return FromLevelDb(status);
}

}  // namespace documentstore
