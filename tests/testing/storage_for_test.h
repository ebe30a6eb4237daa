#ifndef TTL_TESTS_TESTING_STORAGE_FOR_TEST_H_
#define TTL_TESTS_TESTING_STORAGE_FOR_TEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/storage/storage.h"
#include "tests/testing/fault_env.h"

namespace ttl {

// A time for tests, in Unix seconds.
inline constexpr int64_t kT = 1'800'000'000;

// A storage with blocking calls, for tests that read like a table: in memory, or in the directory
// of the options if they have one. The destructor aborts if an invariant does not hold. Its own
// methods are not thread-safe.
class StorageForTest {
 public:
  explicit StorageForTest(StorageOptions options = {});
  ~StorageForTest();

  Storage& operator*() { return *storage_; }
  Storage* operator->() { return storage_.get(); }
  FaultEnv& env() { return env_; }

  // Closes storage and reopens it on the same files.
  void Reopen();
  // The same with the files of another directory.
  void ReopenIn(const std::string& directory);
  const StorageOptions& options() const { return options_; }
  // The records of these keys are unreadable from the next Reopen() on, and invariants are no
  // longer checked at the end.
  void DamageAtReopen(std::vector<std::string> keys) { to_damage_ = std::move(keys); }
  // Closes storage; Reopen() opens it again.
  void Close();
  // Closes storage and returns its records whose keys begin with `prefix`.
  std::vector<std::pair<std::string, std::string>> Records(const std::string& prefix);

  // Containers. These abort if storage refuses the change.
  ContainerPtr Create(const std::string& id, std::optional<int64_t> default_ttl,
                      IndexingMode mode = IndexingMode::kConsistent);
  ContainerPtr SetDefaultTtl(const std::string& id, std::optional<int64_t> default_ttl,
                             absl::Duration grace = absl::ZeroDuration());
  absl::StatusOr<ContainerPtr> Update(const std::string& id, const ContainerSettings& settings,
                                      absl::Duration grace = absl::ZeroDuration());
  absl::Status Delete(const std::string& id);
  void Pause(const std::string& id, bool paused);
  ContainerPtr Find(const std::string& id) { return storage_->containers().Find(id); }

  // Items of the container `id`.
  absl::StatusOr<std::vector<TrackOutcome>> Track(const std::string& id,
                                                  std::vector<ItemReport> reports);
  // One item with the key ("p", `key`). Aborts if storage refuses the change.
  TrackOutcome TrackOne(const std::string& id, const std::string& key, int64_t ts,
                        std::optional<int64_t> ttl = std::nullopt,
                        std::optional<uint64_t> sequence = std::nullopt);
  // Allows touches of the container's items, or forbids them. Aborts if storage refuses the change.
  void AllowTouch(const std::string& id, bool allowed = true);
  // Touches items with the keys ("p", key) as of `now`, Unix seconds.
  absl::StatusOr<TouchedItems> Touch(const std::string& id, const std::vector<std::string>& keys,
                                     int64_t now, int64_t unless_touched_within = 0);
  // One item. Aborts if storage refuses the change.
  TouchedItem TouchOne(const std::string& id, const std::string& key, int64_t now);
  UntrackOutcome UntrackOne(const std::string& id, const std::string& key, int64_t ts,
                            std::optional<uint64_t> sequence = std::nullopt);
  std::optional<TrackedItem> FindItem(const std::string& id, const std::string& key);
  FoundTimes FindTimes(const std::string& id, const std::string& key);

  // The items due at `now` by the present policy of the container.
  DueScan Scan(const std::string& id, int64_t now, size_t max_due = 1000,
               size_t max_examined = 100000);
  // The ids of due items, oldest first.
  std::vector<std::string> DueIds(const std::string& id, int64_t now);
  int64_t Tidy(const std::string& id, std::vector<IndexEntry> entries);
  int64_t Apply(const std::string& id, std::vector<DeleteReport> reports);

  // Runs housekeeping until there is nothing left to do.
  void FinishHousekeeping();

 private:
  FaultEnv env_;
  StorageOptions options_;
  std::vector<std::string> to_damage_;
  bool is_damaged_ = false;
  std::unique_ptr<Storage> storage_;
};

// The time to judge by of a sound clock at `now`, Unix seconds.
JudgingTime SoundTime(int64_t now);

// The key ("p", `id`).
ItemKey KeyOf(const std::string& id);

// The instant at which test containers are created and updated.
inline const absl::Time kTestNow = absl::FromUnixSeconds(1'800'000'000);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_STORAGE_FOR_TEST_H_
