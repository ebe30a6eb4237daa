#include "tests/testing/storage_for_test.h"

#include <leveldb/db.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "service/core/due_rules.h"

namespace ttl {
namespace {

void AbortUnlessOk(const absl::Status& status, const char* doing) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", doing, status.ToString().c_str());
  std::abort();
}

template <typename T>
T ValueOrAbort(absl::StatusOr<T> value, const char* doing) {
  AbortUnlessOk(value.status(), doing);
  return *std::move(value);
}

}  // namespace

ItemKey KeyOf(const std::string& id) { return {"p", id}; }

JudgingTime SoundTime(int64_t now) {
  const absl::Time time = absl::FromUnixSeconds(now);
  return {.now = time, .for_deletes = time, .latest = time, .deletes_allowed = true};
}

StorageForTest::StorageForTest(StorageOptions options) : options_(std::move(options)) {
  if (options_.directory.empty()) {
    options_.directory = "/ttl";
    options_.env = &env_;
  }
  Reopen();
}

StorageForTest::~StorageForTest() {
  if (storage_ != nullptr && !is_damaged_)
    AbortUnlessOk(storage_->CheckInvariants(), "checking the invariants");
}

void StorageForTest::Reopen() {
  Close();
  if (!to_damage_.empty()) {
    is_damaged_ = true;
    leveldb::Options options;
    if (options_.env != nullptr) options.env = options_.env;
    leveldb::DB* opened = nullptr;
    if (!leveldb::DB::Open(options, options_.directory, &opened).ok()) std::abort();
    const std::unique_ptr<leveldb::DB> database(opened);
    for (const std::string& key : std::exchange(to_damage_, {})) {
      if (!database->Put({}, key, "\xff").ok()) std::abort();
    }
  }
  storage_ = ValueOrAbort(Storage::Open(options_), "opening");
}

void StorageForTest::ReopenIn(const std::string& directory) {
  Close();
  options_.directory = directory;
  Reopen();
}

void StorageForTest::Close() { storage_.reset(); }

std::vector<std::pair<std::string, std::string>> StorageForTest::Records(
    const std::string& prefix) {
  Close();
  leveldb::Options options;
  if (options_.env != nullptr) options.env = options_.env;
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, options_.directory, &opened).ok()) std::abort();
  const std::unique_ptr<leveldb::DB> database(opened);
  const std::unique_ptr<leveldb::Iterator> iterator(database->NewIterator({}));
  std::vector<std::pair<std::string, std::string>> records;
  for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix);
       iterator->Next()) {
    records.emplace_back(iterator->key().ToString(), iterator->value().ToString());
  }
  return records;
}

ContainerPtr StorageForTest::Create(const std::string& id, std::optional<int64_t> default_ttl,
                                    IndexingMode mode) {
  ContainerSettings settings;
  settings.policy.default_ttl = default_ttl;
  settings.indexing_mode = mode;
  return ValueOrAbort(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                        storage_->containers().Create(id, settings, kTestNow, std::move(done));
                      }),
                      "creating a container");
}

absl::StatusOr<ContainerPtr> StorageForTest::Update(const std::string& id,
                                                    const ContainerSettings& settings,
                                                    absl::Duration grace) {
  return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    storage_->containers().Update(
        id, [settings](const Container&) { return settings; }, kTestNow, grace, /*force=*/false,
        std::move(done));
  });
}

ContainerPtr StorageForTest::SetDefaultTtl(const std::string& id,
                                           std::optional<int64_t> default_ttl,
                                           absl::Duration grace) {
  ContainerSettings settings = Find(id)->settings;
  settings.policy.default_ttl = default_ttl;
  return ValueOrAbort(Update(id, settings, grace), "updating a container");
}

absl::Status StorageForTest::Delete(const std::string& id) {
  return Await<absl::Status>(
      [&](auto done) { storage_->containers().Delete(id, "", /*force=*/false, std::move(done)); });
}

void StorageForTest::Pause(const std::string& id, bool paused) {
  std::optional<ttl::Pause> pause;
  if (paused) pause = ttl::Pause{"test", kTestNow};
  ValueOrAbort(Await<absl::StatusOr<ContainerPtr>>(
                   [&](auto done) { storage_->containers().SetPause(id, pause, std::move(done)); }),
               "pausing");
}

absl::StatusOr<std::vector<TrackOutcome>> StorageForTest::Track(const std::string& id,
                                                                std::vector<ItemReport> reports) {
  const uint64_t number = Find(id)->number;
  return Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
    storage_->items().Track(number, std::move(reports), AdoptionTerms(), std::move(done));
  });
}

TrackOutcome StorageForTest::TrackOne(const std::string& id, const std::string& key, int64_t ts,
                                      std::optional<int64_t> ttl,
                                      std::optional<uint64_t> sequence) {
  ItemReport report;
  report.key = KeyOf(key);
  report.version.times = {ts, ttl};
  report.version.sequence = sequence;
  return ValueOrAbort(Track(id, {report}), "tracking").at(0);
}

void StorageForTest::AllowTouch(const std::string& id, bool allowed) {
  ContainerSettings settings = Find(id)->settings;
  settings.allow_touch = allowed;
  ValueOrAbort(Update(id, settings), "allowing touches");
}

absl::StatusOr<TouchedItems> StorageForTest::Touch(const std::string& id,
                                                   const std::vector<std::string>& keys,
                                                   int64_t now, int64_t unless_touched_within) {
  TouchRequest request = {.keys = {}, .unless_touched_within = unless_touched_within};
  for (const std::string& key : keys) request.keys.push_back(KeyOf(key));
  return Await<absl::StatusOr<TouchedItems>>([&](auto done) {
    storage_->touches().Touch(
        Find(id)->number, std::move(request), [now] { return SoundTime(now); }, std::move(done));
  });
}

TouchedItem StorageForTest::TouchOne(const std::string& id, const std::string& key, int64_t now) {
  return ValueOrAbort(Touch(id, {key}, now), "touching").items.at(0);
}

UntrackOutcome StorageForTest::UntrackOne(const std::string& id, const std::string& key, int64_t ts,
                                          std::optional<uint64_t> sequence) {
  const uint64_t number = Find(id)->number;
  return ValueOrAbort(
             Await<absl::StatusOr<std::vector<UntrackOutcome>>>([&](auto done) {
               storage_->items().Untrack(number, {{KeyOf(key), ts, sequence}}, std::move(done));
             }),
             "untracking")
      .at(0);
}

std::optional<TrackedItem> StorageForTest::FindItem(const std::string& id, const std::string& key) {
  return ValueOrAbort(storage_->items().Find(Find(id)->number, KeyOf(key)), "finding an item");
}

FoundTimes StorageForTest::FindTimes(const std::string& id, const std::string& key) {
  const ItemKey item = KeyOf(key);
  const KeyView view{item.partition_key, item.id};
  std::vector<FoundTimes> times;
  storage_->items().FindTimes(Find(id)->number, absl::MakeConstSpan(&view, 1), times);
  return times[0];
}

DueScan StorageForTest::Scan(const std::string& id, int64_t now, size_t max_due,
                             size_t max_examined) {
  const ContainerPtr container = Find(id);
  const DueRule rule = ComputeDueRule(container->settings.policy, container->replaced_policies,
                                      absl::FromUnixSeconds(now));
  return ValueOrAbort(
      storage_->expiry_index().ScanDue(*container, rule, now, {max_due, max_examined, false}),
      "scanning");
}

std::vector<std::string> StorageForTest::DueIds(const std::string& id, int64_t now) {
  std::vector<std::string> ids;
  for (const DueItem& item : Scan(id, now).due) ids.push_back(item.key.id);
  return ids;
}

int64_t StorageForTest::Tidy(const std::string& id, std::vector<IndexEntry> entries) {
  return ValueOrAbort(Await<absl::StatusOr<int64_t>>([&](auto done) {
                        storage_->expiry_index().Tidy(Find(id)->number, std::move(entries),
                                                      std::move(done));
                      }),
                      "tidying");
}

int64_t StorageForTest::Apply(const std::string& id, std::vector<DeleteReport> reports) {
  return ValueOrAbort(Await<absl::StatusOr<int64_t>>([&](auto done) {
                        storage_->expiry_index().ApplyOutcomes(Find(id)->number, std::move(reports),
                                                               std::move(done));
                      }),
                      "applying outcomes");
}

void StorageForTest::FinishHousekeeping() {
  while (storage_->RunHousekeeping()) {
  }
}

}  // namespace ttl
