#include "service/storage/engine/database.h"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/base/stopwatch.h"
#include "service/storage/engine/directory_env.h"
#include "service/storage/engine/file_list.h"
#include "service/storage/engine/held_work_env.h"
#include "service/storage/engine/lock_owner.h"
#include "service/storage/engine/log_env.h"
#include "service/storage/engine/overlay_env.h"
#include "service/storage/engine/timed_env.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"

// Opening takes LevelDB's lock first and checks the files under it (CheckBeforeOpening): CURRENT,
// the file list of the last clean shutdown, and the list of live logs. Then LevelDB opens, with
// compactions delayed (HeldWorkEnv), so that CheckTableFiles() sees exactly the live tables before
// any is rewritten.
//
// The Envs form a chain, from LevelDB to the disk: TimedEnv measures syncs, HeldWorkEnv delays
// compactions, OverlayEnv keeps writes in memory if the volume accepts none, DirectoryEnv notices
// that the directory was replaced, and LogEnv writes logs with zeros ahead. With an Env of the
// caller, the last two are left out.
//
// The first failed write latches write_health_, because LevelDB's log is damaged behind it.
// Reopen() replaces db_ under open_mutex_, which every use holds shared (Hold); reopening_ and
// reopen_turn_ keep a stream of readers from delaying it for ever.
namespace ttl {
namespace {

constexpr size_t kWriteBufferBytes = size_t{16} << 20;

// Opening writes the contents of the logs as tables. There are at most two logs, unless earlier
// openings failed.
constexpr size_t kMaxOverlayBytes = 4 * kWriteBufferBytes;

// More than the other files need that opening writes.
constexpr int64_t kProbeReserveBytes = int64_t{1} << 20;

// Last bytes of every LevelDB table, little-endian (table/format.h).
constexpr uint64_t kTableMagic = 0xdb4775248b80fb57ull;
constexpr uint64_t kTableFooterBytes = 48;

leveldb::Slice ToSlice(absl::string_view bytes) { return {bytes.data(), bytes.size()}; }
absl::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

absl::Status ToStatus(const leveldb::Status& status, absl::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(doing, ": ", status.ToString());
  if (status.IsCorruption()) return absl::DataLossError(message);
  return MakeError(Reason::kStorageUnavailable, message);
}

// Detects corrupted blocks.
leveldb::ReadOptions Checked() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

// DATA_LOSS unless the file ends as a table does.
absl::Status CheckTableFile(leveldb::Env& env, const std::string& path) {
  const std::string doing = absl::StrCat("reading ", path);
  const auto damaged = [&path](uint64_t size) {
    return absl::DataLossError(absl::StrCat(path, " (", size, " bytes) is truncated or damaged"));
  };
  uint64_t size = 0;
  TTL_RETURN_IF_ERROR(ToStatus(env.GetFileSize(path, &size), doing));
  if (size < kTableFooterBytes) return damaged(size);
  leveldb::RandomAccessFile* opened = nullptr;
  TTL_RETURN_IF_ERROR(ToStatus(env.NewRandomAccessFile(path, &opened), doing));
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  char scratch[sizeof(kTableMagic)];
  leveldb::Slice tail;
  TTL_RETURN_IF_ERROR(
      ToStatus(file->Read(size - sizeof(scratch), sizeof(scratch), &tail, scratch), doing));
  uint64_t magic = 0;
  if (tail.size() == sizeof(magic)) std::memcpy(&magic, tail.data(), sizeof(magic));
  return magic == kTableMagic ? absl::OkStatus() : damaged(size);
}

// The lines of LevelDB's property "leveldb.stats" that are of a level:
//   level files size(MB) time(sec) read(MB) write(MB)
std::vector<LevelFigures> ReadLevels(absl::string_view stats) {
  constexpr int64_t kMib = int64_t{1} << 20;
  std::vector<LevelFigures> levels;
  for (const absl::string_view line : absl::StrSplit(stats, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    std::vector<int64_t> numbers(words.size());
    bool is_level = words.size() == 6;
    for (size_t i = 0; is_level && i < words.size(); ++i) {
      is_level = absl::SimpleAtoi(words[i], &numbers[i]);
    }
    if (!is_level) continue;
    levels.push_back({numbers[0], numbers[1], numbers[2] * kMib, numbers[3], numbers[4] * kMib,
                      numbers[5] * kMib});
  }
  return levels;
}

// Whether writes fail because this process may not write to the directory, not because the volume
// accepts no writes.
bool IsForbidden(const std::string& directory) {
  return access(directory.c_str(), W_OK) != 0 && errno == EACCES;
}

leveldb::Status WriteProbe(leveldb::Env& env, const std::string& path, int64_t bytes) {
  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = env.NewWritableFile(path, &opened);
  const std::unique_ptr<leveldb::WritableFile> file(opened);
  const std::string piece(size_t{64} << 10, 'p');
  for (int64_t left = bytes; status.ok() && left > 0; left -= static_cast<int64_t>(piece.size())) {
    status = file->Append(piece);
  }
  if (status.ok()) status = file->Sync();
  return status.ok() ? file->Close() : status;
}

// The database of each Hold of this thread.
thread_local std::vector<const Database*> held_databases;

bool IsHeld(const Database& database) {
  return std::find(held_databases.begin(), held_databases.end(), &database) != held_databases.end();
}

// Receives LevelDB's own log, whose file would grow without bound.
class LineLogger : public leveldb::Logger {
 public:
  explicit LineLogger(const StorageOptions& options) : log_(options.log) {}

  void Logv(const char* format, std::va_list arguments) override {
    if (!log_) return;
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    log_(StorageOptions::LogLevel::kDebug, absl::StrCat("leveldb: ", line));
  }

 private:
  const std::function<void(StorageOptions::LogLevel, absl::string_view)> log_;
};

}  // namespace

struct Database::LevelDbParts {
  explicit LevelDbParts(const StorageOptions& options)
      : logger(options),
        cache(leveldb::NewLRUCache(options.block_cache_bytes)),
        filter(leveldb::NewBloomFilterPolicy(10)),
        directory_env(&log_env),
        disk(options.env != nullptr ? options.env : &directory_env),
        overlay_env(disk, kMaxOverlayBytes),
        work_env(&overlay_env),
        timed_env(&work_env),
        env(&timed_env) {}

  leveldb::Options Options(bool create) {
    leveldb::Options options;
    options.create_if_missing = create;
    options.paranoid_checks = true;
    options.env = env;
    options.info_log = &logger;
    options.block_cache = cache.get();
    options.filter_policy = filter.get();
    options.write_buffer_size = kWriteBufferBytes;
    // Larger files keep random reads from setting off "seek compactions", which
    // LevelDB cannot be told to leave out.
    options.max_file_size = size_t{16} << 20;
    return options;
  }

  LineLogger logger;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  LogEnv log_env;
  DirectoryEnv directory_env;  // of no use beside an Env of the caller
  leveldb::Env* const disk;
  OverlayEnv overlay_env;
  HeldWorkEnv work_env;
  TimedEnv timed_env;
  leveldb::Env* const env;
};

Database::Database(const StorageOptions& options)
    : options_(options), parts_(std::make_unique<LevelDbParts>(options)) {}

Database::~Database() {
  if (db_ == nullptr) return;
  db_.reset();
  WriteFileList(*parts_->env, options_.directory);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const StorageOptions& options) {
  std::unique_ptr<Database> database(new Database(options));
  if (options.env == nullptr) {
    TTL_RETURN_IF_ERROR(database->parts_->directory_env.Enter(options.directory));
  } else {
    options.env->CreateDir(options.directory);
  }
  const absl::Status opened = database->OpenLevelDb(/*create=*/true);
  if (absl::IsUnavailable(opened)) {
    TTL_RETURN_IF_ERROR(database->OpenForReads(opened));
    database->RefuseWrites(opened.message());
  } else {
    TTL_RETURN_IF_ERROR(opened);
  }
  TTL_RETURN_IF_ERROR(database->CheckFormat());
  return database;
}

// If the file CURRENT is missing, LevelDB creates a new database and removes the files of the old
// one. A database whose creation did not finish has no such files yet.
absl::Status Database::CheckNotHeadless() const {
  std::vector<std::string> names;
  if (parts_->env->FileExists(absl::StrCat(options_.directory, "/CURRENT")) ||
      !parts_->env->GetChildren(options_.directory, &names).ok()) {
    return absl::OkStatus();
  }
  for (const std::string& name : names) {
    if (absl::EndsWith(name, ".log") || absl::EndsWith(name, ".ldb")) {
      return absl::DataLossError(absl::StrCat("the database in ", options_.directory, " has ", name,
                                              " but no file CURRENT: it is incomplete"));
    }
  }
  return absl::OkStatus();
}

// Checks under the lock, because another process may change the files meanwhile.
absl::Status Database::CheckBeforeOpening() const {
  const std::string lock_file = absl::StrCat(options_.directory, "/LOCK");
  leveldb::FileLock* lock = nullptr;
  TTL_RETURN_IF_ERROR(ToOpenStatus(parts_->env->LockFile(lock_file, &lock)));
  absl::Status status = CheckNotHeadless();
  if (status.ok()) status = CheckFileList(*parts_->env, options_.directory);
  if (status.ok() && options_.env == nullptr) {
    status = parts_->log_env.LoadLiveLogs(options_.directory);
  }
  parts_->env->UnlockFile(lock);
  return status;
}

absl::Status Database::ToOpenStatus(const leveldb::Status& status) const {
  const std::string doing = absl::StrCat("opening the database in ", options_.directory);
  const std::string message = status.ToString();
  if (!absl::StartsWith(message, "IO error: lock ")) return ToStatus(status, doing);
  // LevelDB detects a lock of this process, for which LockOwner() must not be called.
  const bool is_own = absl::StrContains(message, "already held by process");
  return absl::FailedPreconditionError(
      absl::StrCat(doing, ": ",
                   is_own ? "this process has it open already"
                          : DescribeLockOwner(absl::StrCat(options_.directory, "/LOCK")),
                   " (", message, ")"));
}

absl::Status Database::OpenLevelDb(bool create) {
  TTL_RETURN_IF_ERROR(CheckBeforeOpening());
  const HeldWorkEnv::Hold no_compaction_yet(parts_->work_env);
  leveldb::DB* db = nullptr;
  const leveldb::Status opened =
      leveldb::DB::Open(parts_->Options(create), options_.directory, &db);
  db_.reset(db);
  parts_->overlay_env.Seal();
  TTL_RETURN_IF_ERROR(ToOpenStatus(opened));
  RemoveFileList(*parts_->env, options_.directory);
  return CheckTableFiles();
}

// If the database could not be opened because the volume accepts no writes, opens it for reads,
// without changing anything on the volume; else returns `failure`.
absl::Status Database::OpenForReads(const absl::Status& failure) {
  db_.reset();
  if (!disk().FileExists(absl::StrCat(options_.directory, "/CURRENT")) ||
      IsForbidden(options_.directory) || ProbeVolume().ok()) {
    return failure;
  }
  parts_->overlay_env.Begin();
  const absl::Status opened = OpenLevelDb(/*create=*/false);
  if (!opened.ok()) {
    db_.reset();
    parts_->overlay_env.End();
    return failure;
  }
  return absl::OkStatus();
}

leveldb::Env& Database::disk() const { return *parts_->disk; }

int64_t Database::LogBytes() const {
  std::vector<std::string> names;
  disk().GetChildren(options_.directory, &names);
  uint64_t bytes = 0;
  for (const std::string& name : names) {
    uint64_t size = 0;
    if (!absl::EndsWith(name, ".log")) continue;
    if (disk().GetFileSize(absl::StrCat(options_.directory, "/", name), &size).ok()) bytes += size;
  }
  return static_cast<int64_t>(bytes);
}

// OK if the volume has room for what opening the database writes, and accepts it.
absl::Status Database::ProbeVolume() const {
  const int64_t bytes = LogBytes() + kProbeReserveBytes;
  if (FreeBytes() < bytes) {
    return absl::UnavailableError(absl::StrCat("the volume of ", options_.directory, " lacks the ",
                                               bytes,
                                               " free bytes that opening the database needs"));
  }
  const std::string path = absl::StrCat(options_.directory, "/write-probe");
  const leveldb::Status written = WriteProbe(disk(), path, bytes);
  const leveldb::Status removed = disk().RemoveFile(path);
  return ToStatus(written.ok() ? removed : written, "probing the volume");
}

// LevelDB detects a missing table when it opens, but a truncated or overwritten one only when it is
// read. After opening, and before the first compaction, the existing table files are the live ones,
// and all must be complete.
absl::Status Database::CheckTableFiles() const {
  std::vector<std::string> names;
  TTL_RETURN_IF_ERROR(
      ToStatus(parts_->env->GetChildren(options_.directory, &names), "listing the database"));
  for (const std::string& name : names) {
    if (!absl::EndsWith(name, ".ldb") && !absl::EndsWith(name, ".sst")) continue;
    TTL_RETURN_IF_ERROR(CheckTableFile(*parts_->env, absl::StrCat(options_.directory, "/", name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<int64_t>> Database::DataFormat() const {
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> stored, Get(MetaKey(kDataFormatFact)));
  if (!stored.has_value()) return std::nullopt;
  int64_t format = 0;
  if (!absl::SimpleAtoi(*stored, &format)) {
    return absl::DataLossError(absl::StrCat("format version is not a number: ", *stored));
  }
  return format;
}

absl::Status Database::CheckFormat() {
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> format, DataFormat());
  if (!format.has_value()) {
    return Write({{MetaKey(kDataFormatFact), absl::StrCat(kFirstDataFormat)}});
  }
  if (*format > kNewestDataFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat("the data in ", options_.directory, " has format ", *format,
                     ", this program reads up to ", kNewestDataFormat, ": use a newer program"));
  }
  return absl::OkStatus();
}

Database::Hold::Hold(const Database& database) : database_(&database) {
  if (!IsHeld(database)) {
    if (database.reopening_) const std::lock_guard<std::mutex> turn(database.reopen_turn_);
    database.open_mutex_.lock_shared();
  }
  held_databases.push_back(&database);
}

Database::Hold::~Hold() {
  if (database_ == nullptr) return;
  held_databases.erase(std::find(held_databases.begin(), held_databases.end(), database_));
  if (!IsHeld(*database_)) database_->open_mutex_.unlock_shared();
}

absl::StatusOr<std::optional<std::string>> Database::Get(absl::string_view key) const {
  const Hold open(*this);
  if (db_ == nullptr)
    return MakeError(Reason::kStorageUnavailable, "the database is closed after an error");
  counters_.gets.fetch_add(1, std::memory_order_relaxed);
  std::string value;
  const leveldb::Status status = db_->Get(Checked(), ToSlice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  TTL_RETURN_IF_ERROR(ToStatus(status, "reading"));
  return value;
}

absl::Status Database::Write(const WriteSet& changes) {
  TTL_RETURN_IF_ERROR(WriteHealth());
  leveldb::WriteBatch batch;
  int64_t puts = 0;
  for (const auto& [key, value] : changes) {
    if (value.has_value()) {
      batch.Put(key, *value);
      ++puts;
    } else {
      batch.Delete(key);
    }
  }
  leveldb::WriteOptions durable;
  durable.sync = true;
  const Hold open(*this);
  const Stopwatch stopwatch;
  empty_ranges_.BeginWrite(changes);
  const absl::Status status = ToStatus(db_->Write(durable, &batch), "writing");
  empty_ranges_.EndWrite();
  writes_.Add(stopwatch.Nanoseconds());
  counters_.puts.fetch_add(puts, std::memory_order_relaxed);
  counters_.deletes.fetch_add(static_cast<int64_t>(changes.size()) - puts,
                              std::memory_order_relaxed);
  counters_.syncs.fetch_add(1, std::memory_order_relaxed);
  if (!status.ok()) RefuseWrites(status.message());
  return status;
}

void Database::RefuseWrites(absl::string_view reason) {
  MutexLock lock(health_mutex_);
  write_health_ = MakeError(Reason::kStorageUnavailable,
                            absl::StrCat("storage refuses writes until it is reopened: ", reason));
  if (options_.log) options_.log(StorageOptions::LogLevel::kError, write_health_.message());
}

void Database::CheckFiles() {
  if (options_.env != nullptr || !WriteHealth().ok()) return;
  const absl::Status status = parts_->directory_env.CheckPaths();
  if (!status.ok()) RefuseWrites(status.message());
}

absl::Status Database::WriteHealth() const {
  MutexLock lock(health_mutex_);
  return write_health_;
}

absl::Status Database::Reopen(absl::FunctionRef<absl::Status()> reload) {
  if (WriteHealth().ok()) return absl::OkStatus();
  absl::Status status = CheckCanReopen();
  if (status.ok()) status = ReplaceLevelDb();
  if (status.ok()) status = reload();
  MutexLock lock(health_mutex_);
  write_health_ =
      status.ok() ? absl::OkStatus()
                  : MakeError(Reason::kStorageUnavailable,
                              absl::StrCat("storage could not be reopened: ", status.message()));
  return status;
}

absl::Status Database::CheckCanReopen() const {
  if (options_.env == nullptr) {
    TTL_RETURN_IF_ERROR(parts_->directory_env.CheckDirectory());
    // The contents of a missing log are still in memory and can be read.
    TTL_RETURN_IF_ERROR(parts_->log_env.CheckLiveLogs());
  }
  if (disk().FileExists(absl::StrCat(options_.directory, "/CURRENT"))) return ProbeVolume();
  return absl::UnavailableError(absl::StrCat("the file CURRENT of the data directory \"",
                                             options_.directory,
                                             "\" is missing: the directory was emptied"));
}

absl::Status Database::ReplaceLevelDb() {
  const std::lock_guard<std::mutex> turn(reopen_turn_);
  reopening_ = true;
  const std::unique_lock<std::shared_mutex> alone(open_mutex_);
  reopening_ = false;
  db_.reset();
  empty_ranges_.Clear();
  parts_->overlay_env.End();
  const absl::Status status = OpenLevelDb(/*create=*/false);
  if (!status.ok()) db_.reset();
  // The volume may have become full or read-only since it was probed.
  if (absl::IsUnavailable(status)) OpenForReads(status).IgnoreError();
  return status;
}

int64_t Database::FreeBytes() const {
  struct statvfs volume;
  if (options_.env != nullptr || statvfs(options_.directory.c_str(), &volume) != 0) {
    return std::numeric_limits<int64_t>::max();
  }
  return static_cast<int64_t>(volume.f_bavail) * static_cast<int64_t>(volume.f_frsize);
}

uint64_t Database::ApproximateBytes(absl::string_view from, absl::string_view to) const {
  const Hold open(*this);
  if (db_ == nullptr) return 0;
  const leveldb::Range range(ToSlice(from), ToSlice(to));
  uint64_t bytes = 0;
  db_->GetApproximateSizes(&range, 1, &bytes);
  return bytes;
}

void Database::CompactRange(absl::string_view from, absl::string_view to) {
  const Hold open(*this);
  if (db_ == nullptr) return;
  const leveldb::Slice begin = ToSlice(from);
  const leveldb::Slice end = ToSlice(to);
  db_->CompactRange(&begin, &end);
}

OperationCounts Database::Counts() const {
  OperationCounts counts;
  counts.gets = counters_.gets;
  counts.puts = counters_.puts;
  counts.deletes = counters_.deletes;
  counts.seeks = counters_.seeks;
  counts.steps = counters_.steps;
  counts.syncs = counters_.syncs;
  return counts;
}

DatabaseFigures Database::Figures() const {
  DatabaseFigures figures;
  figures.gets = counters_.gets;
  figures.puts = counters_.puts;
  figures.deletes = counters_.deletes;
  figures.seeks = counters_.seeks;
  figures.steps = counters_.steps;
  figures.write = writes_.Get();
  figures.sync = parts_->timed_env.Syncs();
  const std::shared_lock<std::shared_mutex> open(open_mutex_, std::try_to_lock);
  if (!open.owns_lock() || db_ == nullptr) return figures;
  std::string value;
  if (db_->GetProperty("leveldb.stats", &value)) figures.levels = ReadLevels(value);
  if (db_->GetProperty("leveldb.approximate-memory-usage", &value)) {
    if (!absl::SimpleAtoi(value, &figures.memory_bytes)) figures.memory_bytes = 0;
  }
  const leveldb::Range everything("", "\xff");
  uint64_t table_bytes = 0;
  db_->GetApproximateSizes(&everything, 1, &table_bytes);
  figures.table_bytes = static_cast<int64_t>(table_bytes);
  return figures;
}

Database::Cursor Database::ReadPrefix(absl::string_view prefix, absl::string_view start) const {
  return Cursor(*this, prefix, start, /*fill_cache=*/true);
}

Database::Cursor Database::WalkPrefix(absl::string_view prefix, absl::string_view start) const {
  return Cursor(*this, prefix, start, /*fill_cache=*/false);
}

absl::StatusOr<std::optional<std::string>> Database::LastKey(const std::string& prefix) const {
  // Bounded by no prefix, because it begins behind the last key.
  Cursor cursor(*this, "", PrefixEnd(prefix), /*fill_cache=*/true);
  TTL_RETURN_IF_ERROR(cursor.status());
  leveldb::Iterator& iterator = *cursor.iterator_;
  if (iterator.Valid()) {
    iterator.Prev();
  } else {
    iterator.SeekToLast();
  }
  counters_.seeks.fetch_add(1, std::memory_order_relaxed);
  TTL_RETURN_IF_ERROR(cursor.status());
  if (!iterator.Valid() || !absl::StartsWith(ToView(iterator.key()), prefix)) return std::nullopt;
  return std::string(ToView(iterator.key()));
}

Database::Cursor::Cursor(const Database& database, absl::string_view prefix,
                         absl::string_view start, bool fill_cache)
    : database_(&database), prefix_(prefix), open_(database) {
  if (database.db_ != nullptr) Begin(start, fill_cache);
}

void Database::Cursor::Begin(absl::string_view start, bool fill_cache) {
  leveldb::ReadOptions options = Checked();
  options.fill_cache = fill_cache;
  EmptyRanges::Look look(database_->empty_ranges_, start,
                         [&] { iterator_.reset(database_->db_->NewIterator(options)); });
  Seek(look.from());
  if (!iterator_->status().ok()) return;
  look.Found(iterator_->Valid() ? std::optional(ToView(iterator_->key())) : std::nullopt);
}

Database::Cursor::Cursor(Cursor&&) noexcept = default;

Database::Cursor::~Cursor() = default;

void Database::Cursor::Seek(absl::string_view key) {
  if (iterator_ == nullptr) return;
  database_->counters_.seeks.fetch_add(1, std::memory_order_relaxed);
  iterator_->Seek(ToSlice(key));
}

void Database::Cursor::Next() {
  database_->counters_.steps.fetch_add(1, std::memory_order_relaxed);
  iterator_->Next();
}

bool Database::Cursor::Valid() const {
  return iterator_ != nullptr && iterator_->Valid() &&
         absl::StartsWith(ToView(iterator_->key()), prefix_);
}

absl::string_view Database::Cursor::key() const { return ToView(iterator_->key()); }
absl::string_view Database::Cursor::value() const { return ToView(iterator_->value()); }

absl::Status Database::Cursor::status() const {
  if (iterator_ == nullptr) {
    return MakeError(Reason::kStorageUnavailable, "the database is closed after an error");
  }
  return ToStatus(iterator_->status(), "reading");
}

}  // namespace ttl
