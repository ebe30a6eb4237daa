// What mass deletes leave behind, on real files: disk space, and work for those who come
// after. The figures are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/core/due_rules.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/storage.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

constexpr int64_t kT = 1'800'000'000;
constexpr int64_t kTtl = 3600;
constexpr int64_t kBatch = 10'000;

// A storage on real files with one container "c", whose items inherit kTtl.
class Disk {
 public:
  Disk() {
    Open();
    ContainerSettings settings;
    settings.policy.default_ttl = kTtl;
    const auto created = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
      storage_->containers().Create("c", settings, absl::FromUnixSeconds(kT), std::move(done));
    });
    EXPECT_TRUE(created.ok()) << created.status();
  }

  // `count` items, numbered from `first` on, a thousand to the second from `ts` on.
  void Load(int64_t first, int64_t count, int64_t ts) {
    for (int64_t from = 0; from < count; from += kBatch) {
      std::vector<ItemReport> reports;
      for (int64_t i = from; i < std::min(from + kBatch, count); ++i) {
        reports.push_back({KeyOf(first + i), {{ts + i / 1000, {}}, "etag-of-it", {}, 1000}});
      }
      ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                    storage_->items().Track(Container()->number, std::move(reports),
                                            AdoptionTerms(), std::move(done));
                  }).ok());
    }
  }

  DueScan Scan(int64_t now) {
    const auto scan =
        storage_->expiry_index().ScanDue(*Container(), {kTtl, 0}, now, {kBatch, kBatch, false});
    EXPECT_TRUE(scan.ok()) << scan.status();
    return scan.ok() ? *scan : DueScan();
  }

  // Scans, and deletes all that is due at `now`, in batches. Returns how many.
  int64_t SweepAll(int64_t now) {
    int64_t swept = 0;
    while (true) {
      std::vector<DeleteReport> gone;
      for (DueItem& item : Scan(now).due) {
        gone.emplace_back();
        gone.back().key = std::move(item.key);
        gone.back().generation = item.item.generation;
      }
      if (gone.empty()) return swept;
      swept += Await<absl::StatusOr<int64_t>>([&](auto done) {
                 storage_->expiry_index().ApplyOutcomes(Container()->number, std::move(gone),
                                                        std::move(done));
               }).value_or(0);
    }
  }

  void FinishHousekeeping() {
    while (storage_->RunHousekeeping()) {
    }
  }

  void Reopen() {
    storage_.reset();
    Open();
  }

  // Bytes of all files of the database.
  int64_t DiskBytes() const {
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      if (file.is_regular_file()) bytes += static_cast<int64_t>(file.file_size());
    }
    return bytes;
  }

  // Bytes of the container's index. Closes the storage and opens it again.
  int64_t IndexBytes() {
    const std::string prefix = IndexPrefix(Container()->index_number);
    storage_.reset();
    int64_t bytes = 0;
    {
      const auto database = Database::Open(Options());
      EXPECT_TRUE(database.ok()) << database.status();
      bytes = static_cast<int64_t>((*database)->ApproximateBytes(prefix, PrefixEnd(prefix)));
    }
    Open();
    return bytes;
  }

  ContainerPtr Container() const { return storage_->containers().Find("c"); }
  Storage& storage() { return *storage_; }

 private:
  // Keys as stores have them: in no order of time.
  static ItemKey KeyOf(int64_t number) {
    const uint64_t mixed = static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15u;
    return {absl::StrCat("tenant-", mixed % 1000),
            absl::StrCat(absl::Hex(mixed, absl::kZeroPad16))};
  }

  StorageOptions Options() const {
    StorageOptions options;
    options.directory = path_;
    return options;
  }

  void Open() {
    auto opened = Storage::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    storage_ = *std::move(opened);
  }

  TempDir directory_;
  const std::string path_ = directory_.File("db");
  std::unique_ptr<Storage> storage_;
};

int64_t Operations(const OperationCounts& counts) {
  return counts.gets + counts.seeks + counts.steps;
}

double MillisecondsOf(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// The quickest of some passes: other work on the machine does not count.
double PassMilliseconds(Disk& disk, int64_t now) {
  double quickest = 1e9;
  for (int i = 0; i < 5; ++i) {
    quickest = std::min(quickest, MillisecondsOf([&] { EXPECT_TRUE(disk.Scan(now).due.empty()); }));
  }
  return quickest;
}

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// Field report B83.
TEST(MassDeleteTest, AMillionDeletesFromTheFrontLeaveNeitherTombstonesNorFullDisks) {
  constexpr int64_t kDue = 1'000'000;
  constexpr int64_t kLive = 100'000;
  constexpr int64_t kLiveTs = kT + 10'000;
  constexpr int64_t kNow = kT + kTtl + 5'000;

  Disk live_only;
  live_only.Load(kDue, kLive, kLiveTs);
  const int64_t live_index_bytes = live_only.IndexBytes();
  const int64_t live_bytes = live_only.DiskBytes();

  Disk disk;
  disk.Load(0, kDue, kT);
  disk.Load(kDue, kLive, kLiveTs);
  const int64_t loaded_index_bytes = disk.IndexBytes();
  const int64_t loaded_bytes = disk.DiskBytes();
  const double counting = MillisecondsOf([&] { disk.FinishHousekeeping(); });
  ASSERT_EQ(disk.SweepAll(kNow), kDue);

  // The next pass begins where the last one ended.
  const auto before = disk.storage().Counts();
  EXPECT_TRUE(disk.Scan(kNow).due.empty());
  EXPECT_LE(Operations(disk.storage().Counts()) - Operations(before), 8);
  const double pass_after_sweep = PassMilliseconds(disk, kNow);
  const int64_t swept_bytes = disk.DiskBytes();

  const double housekeeping = MillisecondsOf([&] { disk.FinishHousekeeping(); });
  const double pass_after_housekeeping = PassMilliseconds(disk, kNow);
  const int64_t shrunk_bytes = disk.DiskBytes();
  disk.Reopen();  // and so without a mark
  const double first_pass_after_start =
      MillisecondsOf([&] { EXPECT_TRUE(disk.Scan(kNow).due.empty()); });
  const int64_t shrunk_index_bytes = disk.IndexBytes();

  std::printf("disk, MiB:  loaded %.1f  swept %.1f  after housekeeping %.1f  live alone %.1f\n",
              Mebibytes(loaded_bytes), Mebibytes(swept_bytes), Mebibytes(shrunk_bytes),
              Mebibytes(live_bytes));
  std::printf("index, MiB: loaded %.1f  after housekeeping %.1f  live alone %.1f\n",
              Mebibytes(loaded_index_bytes), Mebibytes(shrunk_index_bytes),
              Mebibytes(live_index_bytes));
  std::printf(
      "pass, ms:   after the sweep %.2f  after housekeeping (%.0f ms) %.2f  first after a "
      "start %.2f\n",
      pass_after_sweep, housekeeping, pass_after_housekeeping, first_pass_after_start);

  std::printf("counting all items after a start: %.0f ms\n", counting);

  EXPECT_LT(pass_after_sweep, 50);
  EXPECT_LT(pass_after_housekeeping, 50);
  EXPECT_LT(first_pass_after_start, 50);
  // No more than twice the live size is promised; much less is left of a whole compaction.
  EXPECT_LE(shrunk_bytes, live_bytes + live_bytes / 2);
  EXPECT_LE(shrunk_index_bytes, live_index_bytes + live_index_bytes / 2);
  EXPECT_EQ(disk.storage().CheckInvariants(), absl::OkStatus());
}

constexpr int64_t kFewDue = 10;
// To read an item that the cache does not hold: a get, or a seek and some steps.
constexpr int64_t kMaxOperationsPerItem = 10;

// LevelDB operations of a pass that finds kFewDue items due among `live` others.
int64_t OperationsOfAPass(int64_t live) {
  Disk disk;
  disk.Load(0, live, kT + 10'000);
  disk.Load(live, kFewDue, kT);
  disk.FinishHousekeeping();
  disk.Scan(kT + kTtl);  // finds the mark
  const auto before = disk.storage().Counts();
  EXPECT_EQ(disk.Scan(kT + kTtl).due.size(), static_cast<size_t>(kFewDue));
  return Operations(disk.storage().Counts()) - Operations(before);
}

// TTL_SCALE_ITEMS: how many, a million if it is not set.
TEST(MassDeleteTest, APassCostsWhatIsDueHoweverManyItemsLive) {
  int64_t live = 1'000'000;
  if (const char* items = std::getenv("TTL_SCALE_ITEMS")) {
    ASSERT_TRUE(absl::SimpleAtoi(items, &live)) << items;
  }
  const int64_t operations = OperationsOfAPass(live);
  EXPECT_LE(operations, OperationsOfAPass(kFewDue) + kFewDue * kMaxOperationsPerItem);
  std::printf("a pass with %lld due among %lld: %lld operations\n", static_cast<long long>(kFewDue),
              static_cast<long long>(live), static_cast<long long>(operations));
}

}  // namespace
}  // namespace ttl
