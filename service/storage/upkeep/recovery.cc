#include "service/storage/upkeep/recovery.h"

#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/lock_owner.h"
#include "service/storage/engine/sync_directory.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/format/sidecar_facts.h"
#include "service/storage/upkeep/backup_file.h"

// Each operation leaves a mark in the directory for as long as it is not finished: kUnfinishedFile
// for a restore and a repair, kReplacingFile for the replacement of a damaged database.
// CheckFinished() refuses a directory with a mark. The last two steps are to write the pause and
// the doubt, and to remove the mark; so no database is opened without them.
namespace ttl {
namespace {

namespace fs = std::filesystem;

// Exists while a database is being created.
constexpr char kUnfinishedFile[] = "unfinished";
// Exists while a damaged database is being replaced; contains the description of the damage.
constexpr char kReplacingFile[] = "replacing-damaged";
constexpr char kLockFile[] = "LOCK";
constexpr char kDamagedFolder[] = "damaged";
constexpr size_t kKeysPerWrite = 2000;
constexpr size_t kMaxLosses = 100;
constexpr size_t kNumberedPrefixBytes = 9;  // bytes of a key

absl::Status FileError(absl::string_view doing, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(doing, ": ", error.message()));
}

// Creates the directory, which must be missing or empty, and marks it as unfinished.
absl::Status BeginDirectory(const std::string& directory) {
  std::error_code error;
  fs::create_directory(directory, error);
  if (error) return FileError(absl::StrCat("creating ", directory), error);
  std::ofstream mark(fs::path(directory) / kUnfinishedFile);
  mark << "A restore or repair that has not finished.\n";
  mark.close();
  if (mark) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write to ", directory));
}

absl::Status WriteSynced(const std::string& path, const std::string& text) {
  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewWritableFile(path, &opened);
  const std::unique_ptr<leveldb::WritableFile> file(opened);
  if (status.ok()) status = file->Append(text);
  if (status.ok()) status = file->Sync();
  return status.ok() ? absl::OkStatus() : absl::UnavailableError(status.ToString());
}

absl::Status CheckEmpty(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename() == "lost+found") continue;  // of a volume's root
    return absl::FailedPreconditionError(
        absl::StrCat("the directory ", directory, " is not empty: it has ",
                     entry.path().filename().string(), "; name a new or an empty directory"));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return FileError(absl::StrCat("listing ", directory), error);
  }
  return absl::OkStatus();
}

// Unlike any that was before, whatever of it is left.
uint64_t NewHoldsEpoch() {
  std::random_device random;
  std::uniform_int_distribution<uint64_t> numbers(kFirstHoldsEpoch + 1);
  return numbers(random);
}

// Pauses deletes and puts the data in doubt, whatever is stored about them. Whether holds are
// complete must be stated anew.
absl::Status WriteDoubt(Database& database, const std::string& pause_reason,
                        const std::string& doubt_reason, absl::Time now) {
  return database.Write({{MetaKey(kPauseOfAllFact), EncodePause({pause_reason, now})},
                         {MetaKey(kDataDoubtFact), EncodeDataDoubt({doubt_reason, "", ""})},
                         {MetaKey(kHoldsEpochFact), EncodeHoldsEpoch(NewHoldsEpoch())}});
}

// Lets the database be used.
absl::Status RemoveMark(const std::string& directory, const char* mark) {
  std::error_code error;
  fs::remove(fs::path(directory) / mark, error);
  return error ? FileError("ending", error) : absl::OkStatus();
}

absl::Status Finish(Database& database, const std::string& directory, const std::string& reason,
                    absl::Time now) {
  const std::string pause = absl::StrCat(reason, "; resume after a look at the status");
  TTL_RETURN_IF_ERROR(WriteDoubt(database, pause, reason, now));
  return RemoveMark(directory, kUnfinishedFile);
}

absl::Status Replay(std::istream& file, const std::string& name, Database& database) {
  return ReadBackup(file, name, [&](WriteSet changes) { return database.Write(changes); }).status();
}

// --- Repair ---

// Holds the lock of a database, so that no process can use it.
class SourceLock {
 public:
  static absl::StatusOr<SourceLock> Take(const std::string& directory) {
    leveldb::FileLock* lock = nullptr;
    const std::string path = directory + "/LOCK";
    const auto locked = leveldb::Env::Default()->LockFile(path, &lock);
    if (locked.ok()) return SourceLock(lock);
    // LevelDB detects a lock of this process, for which LockOwner() must not be called.
    const bool is_own = absl::StrContains(locked.ToString(), "already held by process");
    return absl::FailedPreconditionError(
        absl::StrCat("the database in ", directory, ": ",
                     is_own ? "this process has it open" : DescribeLockOwner(path), " (",
                     locked.ToString(), "): stop it first"));
  }
  ~SourceLock() {
    if (lock_ != nullptr) leveldb::Env::Default()->UnlockFile(lock_);
  }
  SourceLock(SourceLock&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}

 private:
  explicit SourceLock(leveldb::FileLock* lock) : lock_(lock) {}
  leveldb::FileLock* lock_;
};

// Whether LevelDB keeps its data under such a name: "CURRENT", "MANIFEST-000004",
// "000007.ldb".
bool IsDatabaseFile(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "CURRENT" || absl::StartsWith(name, "MANIFEST-")) return true;
  const std::string stem = path.stem().string();
  const std::string extension = path.extension().string();
  return !stem.empty() && std::all_of(stem.begin(), stem.end(), absl::ascii_isdigit) &&
         (extension == ".ldb" || extension == ".sst" || extension == ".log");
}

absl::StatusOr<std::vector<fs::path>> ListDatabaseFiles(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return absl::NotFoundError(absl::StrCat("\"", directory, "\" is not a directory"));
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.is_regular_file() && IsDatabaseFile(entry.path())) files.push_back(entry.path());
  }
  if (error) return FileError(absl::StrCat("listing ", directory), error);
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "\"", directory, "\" has no file of a database: name the data directory to be repaired"));
  }
  return files;
}

absl::Status CopyFiles(const std::vector<fs::path>& files, const std::string& target) {
  std::error_code error;
  for (const fs::path& file : files) {
    fs::copy_file(file, fs::path(target) / file.filename(), error);
    if (error) return FileError(absl::StrCat("copying ", file.string()), error);
  }
  return absl::OkStatus();
}

// Changes nothing if `source` has no database.
absl::Status CopyDatabase(const std::string& source, const std::string& target) {
  TTL_RETURN_IF_ERROR(ListDatabaseFiles(source).status());
  TTL_ASSIGN_OR_RETURN(const SourceLock lock, SourceLock::Take(source));
  // Listed again: until the lock was taken, a process may have changed them.
  TTL_ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListDatabaseFiles(source));
  TTL_RETURN_IF_ERROR(BeginDirectory(target));
  return CopyFiles(files, target);
}

absl::Status RunLevelDbRepair(const std::string& directory) {
  const std::unique_ptr<const leveldb::FilterPolicy> filter(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.filter_policy = filter.get();
  const leveldb::Status repaired = leveldb::RepairDB(directory, options);
  // Its log is of no use in a data directory.
  std::error_code error;
  fs::remove(fs::path(directory) / "LOG", error);
  fs::remove_all(fs::path(directory) / "lost", error);
  if (repaired.ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("nothing could be repaired in ", directory, ": ", repaired.ToString()));
}

// Makes the records that LevelDB's repair has saved consistent.
class RecordRepair {
 public:
  explicit RecordRepair(Database& database) : database_(database) {}

  absl::StatusOr<RepairReport> Run() {
    TTL_RETURN_IF_ERROR(ReadNextNumber());
    TTL_RETURN_IF_ERROR(ReadContainers());
    TTL_RETURN_IF_ERROR(DropDeleted());
    TTL_RETURN_IF_ERROR(NotePurged());
    TTL_RETURN_IF_ERROR(DropFeedsSwitchedOff());
    for (const char table : {kItemTable, kHoldTable, kKeyHoldsTable, kHoldKeysTable}) {
      TTL_RETURN_IF_ERROR(PurgeUnknown(table, PurgeKind::kContainer));
    }
    for (const char table : {kEventTable, kFeedTrimTable, kSubscriptionTable}) {
      TTL_RETURN_IF_ERROR(PurgeUnknown(table, PurgeKind::kFeed));
    }
    TTL_RETURN_IF_ERROR(PurgeUnknown(kIndexTable, PurgeKind::kIndex));
    TTL_RETURN_IF_ERROR(CheckItems());
    TTL_RETURN_IF_ERROR(NoteLostTouches());
    TTL_RETURN_IF_ERROR(RepairHolds());
    TTL_RETURN_IF_ERROR(RepairFeeds());
    TTL_RETURN_IF_ERROR(EraseTable(kTotalsTable));
    GiveNewIndexes();
    TTL_RETURN_IF_ERROR(RaiseFormat());
    Change(MetaKey(kNextNumberFact), absl::StrCat(next_number_));
    TTL_RETURN_IF_ERROR(Flush());
    return std::move(report_);
  }

 private:
  void Change(std::string key, std::optional<std::string> value) {
    changes_.emplace_back(std::move(key), std::move(value));
  }
  // Writes the changes; call it when no cursor is open.
  absl::Status Flush() {
    for (size_t i = 0; i < changes_.size(); i += kKeysPerWrite) {
      const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(i);
      const size_t count = std::min(kKeysPerWrite, changes_.size() - i);
      TTL_RETURN_IF_ERROR(
          database_.Write(WriteSet(begin, begin + static_cast<std::ptrdiff_t>(count))));
    }
    changes_.clear();
    return absl::OkStatus();
  }

  void Lose(std::string what) {
    if (report_.losses.size() < kMaxLosses) report_.losses.push_back(std::move(what));
  }
  void NoteNumber(uint64_t number) { next_number_ = std::max(next_number_, number + 1); }

  absl::Status ReadNextNumber() {
    TTL_ASSIGN_OR_RETURN(const auto stored, database_.Get(MetaKey(kNextNumberFact)));
    uint64_t number = 0;
    if (stored.has_value() && absl::SimpleAtoi(*stored, &number)) NoteNumber(number);
    return absl::OkStatus();
  }

  // Erases deleted containers that the repair has brought back: their items are being purged, or
  // another container has their id.
  absl::Status DropDeleted() {
    std::map<std::string, uint64_t> newest;
    for (const Container& container : containers_) {
      uint64_t& number = newest[container.id];
      number = std::max(number, container.number);
    }
    std::vector<Container> living;
    for (Container& container : containers_) {
      TTL_ASSIGN_OR_RETURN(const auto purged, database_.Get(PurgeKey(container.number)));
      if (!purged.has_value() && newest[container.id] == container.number) {
        living.push_back(std::move(container));
      } else {
        Change(ContainerKey(container.number), std::nullopt);
      }
    }
    containers_ = std::move(living);
    report_.containers = static_cast<int64_t>(containers_.size());
    return absl::OkStatus();
  }

  absl::Status ReadContainers() {
    auto cursor = database_.WalkPrefix(std::string(1, kContainerTable), {&kContainerTable, 1});
    for (; cursor.Valid(); cursor.Next()) {
      const uint64_t number = DecodeNumber(cursor.key()).value_or(0);
      NoteNumber(number);
      absl::StatusOr<Container> container = DecodeContainer(number, cursor.value());
      if (container.ok()) {
        NoteNumber(container->index_number);
        NoteNumber(container->feed.number);
        containers_.push_back(*std::move(container));
        continue;
      }
      Lose(absl::StrCat("container number ", number,
                        " with all its items: ", container.status().message()));
      Change(std::string(cursor.key()), std::nullopt);
    }
    return cursor.status();
  }

  absl::Status NotePurged() {
    auto cursor = database_.WalkPrefix(std::string(1, kPurgeTable), {&kPurgeTable, 1});
    for (; cursor.Valid(); cursor.Next()) NoteNumber(DecodeNumber(cursor.key()).value_or(0));
    return cursor.status();
  }

  bool IsContainer(uint64_t number) const {
    return std::any_of(containers_.begin(), containers_.end(),
                       [number](const Container& container) { return container.number == number; });
  }

  bool IsFeed(uint64_t number) const {
    return std::any_of(
        containers_.begin(), containers_.end(),
        [number](const Container& container) { return container.feed.number == number; });
  }

  // Adds purge records for numbers that are not in use: of deleted containers, of feeds that were
  // switched off, and of every index, because all are rebuilt.
  absl::Status PurgeUnknown(char table, PurgeKind kind) {
    const std::string prefix(1, table);
    auto cursor = database_.WalkPrefix(prefix, prefix);
    while (cursor.Valid()) {
      const std::optional<uint64_t> number = DecodeNumber(cursor.key());
      if (!number.has_value()) {
        Change(std::string(cursor.key()), std::nullopt);
        cursor.Next();
        continue;
      }
      NoteNumber(*number);
      const bool is_used = (kind == PurgeKind::kContainer && IsContainer(*number)) ||
                           (kind == PurgeKind::kFeed && IsFeed(*number));
      if (!is_used) Change(PurgeKey(*number), EncodePurge(kind));
      // Behind all keys of that number.
      cursor.Seek(PrefixEnd(std::string(cursor.key().substr(0, kNumberedPrefixBytes))));
    }
    return cursor.status();
  }

  absl::Status CheckItems() {
    for (Container& container : containers_) {
      int64_t lost = 0;
      const std::string prefix = ItemPrefix(container.number);
      auto cursor = database_.WalkPrefix(prefix, prefix);
      for (; cursor.Valid(); cursor.Next()) {
        const absl::StatusOr<StoredItem> item = DecodeStoredItem(cursor.value());
        if (DecodeItemKey(cursor.key()).has_value() && item.ok()) {
          ++report_.items;
          if (item->version.times.expire_at.has_value()) NoteExpireAt(container);
          if (item->version.times.touch_time != 0) container.has_touches = true;
          NoteSequence(item->expired_sequence);
          NoteSequence(item->noticed_sequence);
          continue;
        }
        ++lost;
        Change(std::string(cursor.key()), std::nullopt);
      }
      TTL_RETURN_IF_ERROR(cursor.status());
      if (lost > 0) Lose(absl::StrCat(lost, " unreadable items of container ", container.id));
    }
    return absl::OkStatus();
  }

  // This format says that there is a container with touches. If none is known, the record of one is
  // back as it was before, and its touched items are lost: it may be any of them. Their items then
  // expire late, and never early.
  absl::Status NoteLostTouches() {
    TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> format, database_.DataFormat());
    if (format.value_or(kFirstDataFormat) < kTouchDataFormat || HasTouches()) {
      return absl::OkStatus();
    }
    for (Container& container : containers_) container.has_touches = true;
    return absl::OkStatus();
  }

  bool HasTouches() const {
    return std::any_of(containers_.begin(), containers_.end(),
                       [](const Container& container) { return container.has_touches; });
  }

  // The recovered container and facts may be older than the item; so may has_touches.
  void NoteExpireAt(Container& container) {
    container.has_expire_at = true;
    has_expire_at_ = true;
  }

  // The recovered fact may be older than what needs it.
  absl::Status RaiseFormat() {
    int64_t needed = has_expire_at_ ? kExpireAtDataFormat : kFirstDataFormat;
    for (const Container& container : containers_) {
      const ContainerSettings& settings = container.settings;
      if (settings.show_held || settings.requires_holds || container.has_holds) {
        needed = kHoldsDataFormat;
      }
    }
    if (!holds_.empty()) needed = kHoldsDataFormat;
    if (last_sequence_ > 0) needed = kFeedDataFormat;
    const bool has_windows = std::any_of(
        containers_.begin(), containers_.end(),
        [](const Container& container) { return container.settings.windows.has_value(); });
    if (has_windows) needed = kWindowsDataFormat;
    if (!gates_.empty()) needed = kGateDataFormat;
    if (HasTouches()) needed = kTouchDataFormat;
    TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> present, database_.DataFormat());
    if (needed > present.value_or(kFirstDataFormat)) {
      Change(MetaKey(kDataFormatFact), absl::StrCat(needed));
    }
    return absl::OkStatus();
  }

  void NoteSequence(uint64_t sequence) { last_sequence_ = std::max(last_sequence_, sequence); }

  // A container may be back as it was before its feed was switched off.
  absl::Status DropFeedsSwitchedOff() {
    for (Container& container : containers_) {
      if (!container.feed.is_on()) continue;
      TTL_ASSIGN_OR_RETURN(const auto purged, database_.Get(PurgeKey(container.feed.number)));
      if (!purged.has_value()) continue;
      container.settings.feed.reset();
      container.feed = FeedState();
    }
    return absl::OkStatus();
  }

  // Items and events that are back may contradict each other, so each log begins anew: its events
  // are dropped, which subscriptions are announced, and no sequence is used again. An item that is
  // announced stays so, but where there are gates it is announced again before it is deleted.
  absl::Status RepairFeeds() {
    TTL_ASSIGN_OR_RETURN(const auto next_event, database_.Get(MetaKey(kNextEventFact)));
    uint64_t reserved_end = 0;
    if (next_event.has_value() && absl::SimpleAtoi(*next_event, &reserved_end) &&
        reserved_end > 0) {
      NoteSequence(reserved_end - 1);
    }
    TTL_RETURN_IF_ERROR(ReadEvents());
    TTL_RETURN_IF_ERROR(ReadSubscriptions());
    for (Container& container : containers_) {
      if (!container.feed.is_on()) continue;
      NoteSequence(std::max<uint64_t>(container.feed.first_sequence, 1));
      const bool had_gates = container.feed.has_gates;
      container.feed.has_gates = HasGates(container.feed.number);
      if (!had_gates || container.feed.has_gates) continue;
      Lose(absl::StrCat("a gated subscription of container ", container.id,
                        " may be missing: create it before deletes are resumed"));
    }
    if (last_sequence_ == 0) return absl::OkStatus();
    for (Container& container : containers_) {
      if (!container.feed.is_on()) continue;
      Change(FeedTrimKey(container.feed.number), EncodeFeedTrim(last_sequence_));
    }
    Change(MetaKey(kNextEventFact), absl::StrCat(last_sequence_ + 1));
    for (auto& [key, gate] : gates_) {
      gate.gate_sequence = last_sequence_;
      Change(key, EncodeSubscription(gate));
    }
    return absl::OkStatus();
  }

  bool HasGates(uint64_t feed) const {
    const auto first = gates_.lower_bound(SubscriptionKey(feed, ""));
    return first != gates_.end() && DecodeNumber(first->first) == feed;
  }

  // Erases all events, in parts: there may be more of them than fit in memory.
  absl::Status ReadEvents() {
    std::string next(1, kEventTable);
    while (!next.empty()) {
      TTL_ASSIGN_OR_RETURN(next, ReadSomeEvents(next));
      TTL_RETURN_IF_ERROR(Flush());
    }
    return absl::OkStatus();
  }

  // Returns where to go on; empty: nowhere.
  absl::StatusOr<std::string> ReadSomeEvents(const std::string& start) {
    auto cursor = database_.WalkPrefix(std::string(1, kEventTable), start);
    for (size_t i = 0; cursor.Valid() && i < kKeysPerWrite; ++i, cursor.Next()) {
      NoteSequence(DecodeEventSequence(cursor.key()).value_or(0));
      Change(std::string(cursor.key()), std::nullopt);
    }
    if (cursor.Valid()) return std::string(cursor.key());
    TTL_RETURN_IF_ERROR(cursor.status());
    return std::string();
  }

  absl::Status ReadSubscriptions() {
    auto cursor =
        database_.WalkPrefix(std::string(1, kSubscriptionTable), {&kSubscriptionTable, 1});
    for (; cursor.Valid(); cursor.Next()) {
      const std::string name = DecodeSubscriptionName(cursor.key()).value_or("");
      const auto subscription = DecodeSubscription(name, cursor.value());
      if (subscription.ok()) {
        NoteSequence(subscription->acknowledged_sequence);
        if (subscription->gate) gates_.emplace(cursor.key(), *subscription);
        continue;
      }
      Lose(absl::StrCat("subscription \"", name, "\": ", subscription.status().message()));
      Change(std::string(cursor.key()), std::nullopt);
    }
    return cursor.status();
  }

  // Drops the holds that cannot be read, and makes the records of their keys agree: a key that is
  // in one of the two tables is held.
  absl::Status RepairHolds() {
    TTL_RETURN_IF_ERROR(ReadHolds());
    EndReplacedHolds();
    KeysByHold keys;
    TTL_RETURN_IF_ERROR(ReadHoldKeys(keys));
    TTL_RETURN_IF_ERROR(ReadKeyHolds(keys));
    TTL_RETURN_IF_ERROR(EraseTable(kHoldKeysTable));
    TTL_RETURN_IF_ERROR(EraseTable(kKeyHoldsTable));
    std::map<std::string, std::vector<uint64_t>> holds_by_key;  // by encoded key
    for (auto& [number, hold] : holds_) {
      hold.hold.key_count = 0;
      for (const ItemKey& key : keys[number]) {
        Change(HoldKeysKey(hold.hold.container, number, key), "");
        holds_by_key[KeyHoldsKey(hold.hold.container, key)].push_back(number);
        ++hold.hold.key_count;
      }
      Change(HoldKey(hold.hold.container, number), EncodeHold(hold));
    }
    for (const auto& [key, holds] : holds_by_key) Change(key, EncodeKeyHolds(holds));
    for (Container& container : containers_) container.has_holds = HasHolds(container.number);
    return absl::OkStatus();
  }

  // A hold that had ended when another of its name was placed may be back as it stood before.
  void EndReplacedHolds() {
    std::set<std::pair<uint64_t, std::string>> names;
    for (auto it = holds_.rbegin(); it != holds_.rend(); ++it) {
      StoredHold& stored = it->second;
      if (!stored.stands()) continue;
      const bool is_newest = names.emplace(stored.hold.container, stored.hold.hold_id).second;
      if (!is_newest) stored.end_time = absl::ToUnixSeconds(stored.hold.create_time);
    }
  }

  bool HasHolds(uint64_t container) const {
    return std::any_of(holds_.begin(), holds_.end(), [container](const auto& entry) {
      return entry.second.hold.container == container && entry.second.stands();
    });
  }

  absl::Status ReadHolds() {
    auto cursor = database_.WalkPrefix(std::string(1, kHoldTable), {&kHoldTable, 1});
    for (; cursor.Valid(); cursor.Next()) {
      const uint64_t container = DecodeNumber(cursor.key()).value_or(0);
      const uint64_t number = DecodeHoldNumber(cursor.key()).value_or(0);
      NoteNumber(number);
      if (!IsContainer(container)) continue;
      absl::StatusOr<StoredHold> hold = DecodeHold(container, number, cursor.value());
      if (hold.ok()) {
        holds_.emplace(number, *std::move(hold));
        continue;
      }
      Lose(absl::StrCat("hold number ", number,
                        ", whose items may be deleted now: ", hold.status().message()));
      Change(std::string(cursor.key()), std::nullopt);
    }
    return cursor.status();
  }

  using KeysByHold = std::map<uint64_t, std::set<ItemKey>>;

  absl::Status ReadHoldKeys(KeysByHold& keys) {
    auto cursor = database_.WalkPrefix(std::string(1, kHoldKeysTable), {&kHoldKeysTable, 1});
    for (; cursor.Valid(); cursor.Next()) {
      NoteNumber(DecodeHoldNumber(cursor.key()).value_or(0));
      const std::optional<ItemKey> key = DecodeHoldKeysKey(cursor.key());
      if (key.has_value()) keys[DecodeHoldNumber(cursor.key()).value_or(0)].insert(*key);
    }
    return cursor.status();
  }

  absl::Status ReadKeyHolds(KeysByHold& keys) {
    auto cursor = database_.WalkPrefix(std::string(1, kKeyHoldsTable), {&kKeyHoldsTable, 1});
    for (; cursor.Valid(); cursor.Next()) {
      const std::optional<ItemKey> key = DecodeKeyHoldsKey(cursor.key());
      const absl::StatusOr<std::vector<uint64_t>> holds = DecodeKeyHolds(cursor.value());
      if (!key.has_value() || !holds.ok()) continue;  // the other table has them
      for (const uint64_t number : *holds) keys[number].insert(*key);
    }
    return cursor.status();
  }

  absl::Status EraseTable(char table) {
    const std::string prefix(1, table);
    auto cursor = database_.WalkPrefix(prefix, prefix);
    for (; cursor.Valid(); cursor.Next()) Change(std::string(cursor.key()), std::nullopt);
    return cursor.status();
  }

  // An index with a new number is built in the background; positions with the old number do not
  // count.
  void GiveNewIndexes() {
    for (Container& container : containers_) {
      if (container.index_number != 0) {
        container.index_number = next_number_++;
        container.index_build.emplace();
      }
      Change(ContainerKey(container.number), EncodeContainer(container));
    }
  }

  Database& database_;
  WriteSet changes_;
  std::vector<Container> containers_;
  uint64_t next_number_ = 1;
  bool has_expire_at_ = false;                 // an item has one
  uint64_t last_sequence_ = 0;                 // of all events that there may have been
  std::map<uint64_t, StoredHold> holds_;       // by number
  std::map<std::string, Subscription> gates_;  // by encoded key
  RepairReport report_;
};

// --- Replacing ---

// A kill between any two of these steps leaves the mark, so that all steps are repeated; files
// moved before that stay where they are.
absl::Status BeginReplacing(const std::string& directory, const std::string& damage) {
  const fs::path mark = fs::path(directory) / kReplacingFile;
  const fs::path aside = fs::path(directory) / kDamagedFolder;
  std::error_code error;
  if (fs::exists(mark, error)) return absl::OkStatus();
  fs::remove_all(aside, error);
  if (!error) fs::create_directory(aside, error);
  if (error) return FileError(absl::StrCat("creating ", aside.string()), error);
  TTL_RETURN_IF_ERROR(WriteSynced(mark.string() + ".new", damage));
  fs::rename(mark.string() + ".new", mark, error);
  if (error) return FileError(absl::StrCat("creating ", mark.string()), error);
  return SyncDirectory(directory);
}

absl::StatusOr<std::vector<fs::path>> ListFilesToSetAside(const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path name = entry.path().filename();
    if (entry.is_regular_file() && name != kReplacingFile && name != kLockFile) {
      files.push_back(entry.path());
    }
  }
  if (error) return FileError(absl::StrCat("listing ", directory), error);
  return files;
}

absl::Status SetAside(const std::string& directory) {
  const fs::path aside = fs::path(directory) / kDamagedFolder;
  TTL_ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFilesToSetAside(directory));
  std::error_code error;
  for (const fs::path& file : files) {
    // Then this file belongs to the unfinished new database.
    if (fs::exists(aside / file.filename(), error)) {
      fs::remove(file, error);
    } else if (!error) {
      fs::rename(file, aside / file.filename(), error);
    }
    if (error) return FileError(absl::StrCat("setting aside ", file.string()), error);
  }
  TTL_RETURN_IF_ERROR(SyncDirectory(aside.string()));
  return SyncDirectory(directory);
}

}  // namespace

absl::StatusOr<RestoreReport> RestoreBackup(const std::string& file, const StorageOptions& options,
                                            absl::Time now) {
  TTL_RETURN_IF_ERROR(CheckEmpty(options.directory));
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("the backup file ", file, " cannot be opened"));
  TTL_ASSIGN_OR_RETURN(const BackupSummary summary,
                       ReadBackup(in, file, [](const WriteSet&) { return absl::OkStatus(); }));
  in.clear();
  in.seekg(0);
  TTL_RETURN_IF_ERROR(BeginDirectory(options.directory));
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Open(options));
  TTL_RETURN_IF_ERROR(Replay(in, file, *database));
  TTL_RETURN_IF_ERROR(
      Finish(*database, options.directory,
             absl::StrCat("restored from a backup of ", TimeText(summary.start_time)), now));
  return RestoreReport{summary.start_time, summary.records};
}

absl::StatusOr<RepairReport> RepairCopy(const std::string& source, const StorageOptions& options,
                                        absl::Time now) {
  TTL_RETURN_IF_ERROR(CheckEmpty(options.directory));
  TTL_RETURN_IF_ERROR(CopyDatabase(source, options.directory));
  TTL_RETURN_IF_ERROR(RunLevelDbRepair(options.directory));
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Open(options));
  TTL_ASSIGN_OR_RETURN(RepairReport report, RecordRepair(*database).Run());
  TTL_RETURN_IF_ERROR(Finish(*database, options.directory, "repaired after damage", now));
  return report;
}

absl::Status ReplaceDamaged(const StorageOptions& options, const std::string& damage,
                            absl::Time now) {
  const std::string& directory = options.directory;
  {
    TTL_ASSIGN_OR_RETURN(const SourceLock lock, SourceLock::Take(directory));
    TTL_RETURN_IF_ERROR(BeginReplacing(directory, damage));
    TTL_RETURN_IF_ERROR(SetAside(directory));
  }
  {
    TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Open(options));
    TTL_RETURN_IF_ERROR(WriteDoubt(*database, "the data was damaged, so earlier pauses may be lost",
                                   absl::StrCat("it was damaged: ", damage), now));
  }
  TTL_RETURN_IF_ERROR(RemoveMark(directory, kReplacingFile));
  return SyncDirectory(directory);
}

absl::Status CheckFinished(const std::string& directory) {
  std::ifstream replacing(fs::path(directory) / kReplacingFile);
  if (replacing) {
    return absl::DataLossError(std::string(std::istreambuf_iterator<char>(replacing), {}));
  }
  std::error_code error;
  if (!fs::exists(fs::path(directory) / kUnfinishedFile, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a restore or repair into ", directory,
                                                    " did not finish: empty it and begin again"));
}

}  // namespace ttl
