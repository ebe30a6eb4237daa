// What many containers cost of which each is nearly empty: work that grows with their number,
// and not with its square. Work is counted in blocks read, with no memory for blocks.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/core/due_rules.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

std::string IdOf(int i) { return absl::StrCat("c", i); }

StorageOptions WithoutBlockCache() {
  StorageOptions options;
  options.block_cache_bytes = 0;
  return options;
}

// As many at a time as share a commit.
template <typename Start>
void ForAll(int containers, Start start) {
  constexpr int kTogether = 1000;
  for (int from = 0; from < containers; from += kTogether) {
    const int to = std::min(from + kTogether, containers);
    std::latch left(to - from);
    for (int i = from; i < to; ++i) {
      start(i, [&left](auto result) {
        EXPECT_TRUE(result.ok());
        left.count_down();
      });
    }
    left.wait();
  }
}

class ManyContainers {
 public:
  explicit ManyContainers(int containers)
      : containers_(containers), storage_(std::make_unique<StorageForTest>(WithoutBlockCache())) {
    ContainerSettings settings;
    settings.policy.default_ttl = 60;
    ForAll(containers_, [&](int i, auto done) {
      (*storage_)->containers().Create(IdOf(i), settings, kTestNow, std::move(done));
    });
  }

  void TrackOneItemInEach() {
    ForAll(containers_, [&](int i, auto done) {
      (*storage_)->items().Track(NumberOf(i), {{KeyOf("a"), {{kT, {}}, "", {}, 0}}},
                                 AdoptionTerms(), std::move(done));
    });
  }

  void DeleteTheItemOfEach() {
    ForAll(containers_, [&](int i, auto done) {
      const DueScan scan = storage_->Scan(IdOf(i), kT + 60);
      if (scan.due.size() != 1) return done(absl::InternalError("its item is not due"));
      DeleteReport gone;
      gone.key = scan.due[0].key;
      gone.generation = scan.due[0].item.generation;
      (*storage_)->expiry_index().ApplyOutcomes(NumberOf(i), {gone}, std::move(done));
    });
  }

  void DeleteAll() {
    ForAll(containers_, [&](int i, auto done) {
      (*storage_)->containers().Delete(IdOf(i), "", /*force=*/false, std::move(done));
    });
  }

  // In an order that has nothing to do with their numbers, a few for each step of housekeeping.
  void DeleteAllWhileTheyArePurged() {
    constexpr int kTogether = 10;
    std::vector<int> order(containers_);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (int from = 0; from < containers_; from += kTogether) {
      const int count = std::min(kTogether, containers_ - from);
      ForAll(count, [&](int i, auto done) {
        (*storage_)->containers().Delete(IdOf(order[from + i]), "", /*force=*/false,
                                         std::move(done));
      });
      (*storage_)->RunHousekeeping();
    }
  }

  // A start, with the first look into each container.
  void Start() {
    storage_->Reopen();
    for (int i = 0; i < containers_; ++i) ASSERT_TRUE(storage_->Scan(IdOf(i), kT + 60).due.empty());
    storage_->FinishHousekeeping();
  }

  // What housekeeping does until there is nothing more to do.
  int FinishHousekeeping() {
    int steps = 0;
    while ((*storage_)->RunHousekeeping()) ++steps;
    return steps;
  }

  int64_t BlocksRead() { return storage_->env().reads(); }
  StorageForTest& storage() { return *storage_; }

 private:
  uint64_t NumberOf(int i) { return storage_->Find(IdOf(i))->number; }

  const int containers_;
  const std::unique_ptr<StorageForTest> storage_;
};

int64_t BlocksReadByAStart(int containers) {
  ManyContainers many(containers);
  many.TrackOneItemInEach();
  many.DeleteTheItemOfEach();
  many.storage().Reopen();  // so that what was erased is in tables
  const int64_t before = many.BlocksRead();
  many.Start();
  return many.BlocksRead() - before;
}

struct PurgeWork {
  int64_t blocks_read = 0;
  int steps = 0;
};

PurgeWork WorkOfAPurge(int containers) {
  ManyContainers many(containers);
  many.TrackOneItemInEach();
  many.DeleteAll();
  many.storage().Reopen();
  const int64_t before = many.BlocksRead();
  const int steps = many.FinishHousekeeping();
  many.storage().Reopen();
  // What was erased is in nobody's way afterwards.
  for (int i = 0; i < 100; ++i) many.storage()->RunHousekeeping();
  return {many.BlocksRead() - before, steps};
}

// Processor time for each container, in microseconds: what is erased is not in tables yet.
double TimeOfAPurgeBesideDeletes(int containers) {
  ManyContainers many(containers);
  many.TrackOneItemInEach();
  many.storage().FinishHousekeeping();
  const auto cpu = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
  };
  const double before = cpu();
  many.DeleteAllWhileTheyArePurged();
  return (cpu() - before) / containers;
}

constexpr int kContainers = 3000;

TEST(ManyContainersTest, AStartOverEmptiedContainersReadsInProportionToThem) {
  const int64_t some = BlocksReadByAStart(kContainers);
  const int64_t twice = BlocksReadByAStart(2 * kContainers);
  std::printf("blocks read by a start: %d containers %ld, %d containers %ld\n", kContainers, some,
              2 * kContainers, twice);
  EXPECT_LE(twice, some * 5 / 2);
}

TEST(ManyContainersTest, APurgeOfDeletedContainersTakesStepsInProportionToThem) {
  const PurgeWork some = WorkOfAPurge(kContainers);
  const PurgeWork twice = WorkOfAPurge(2 * kContainers);
  std::printf("purge: %d containers %ld blocks in %d steps, %d containers %ld blocks in %d steps\n",
              kContainers, some.blocks_read, some.steps, 2 * kContainers, twice.blocks_read,
              twice.steps);
  EXPECT_LE(twice.blocks_read, some.blocks_read * 5 / 2);
  // Containers share commits.
  EXPECT_LE(twice.steps, 2 * kContainers / 100);
}

TEST(ManyContainersTest, APurgeBesideDeletesInAnyOrderTakesTimeInProportionToThem) {
  const double some = TimeOfAPurgeBesideDeletes(kContainers);
  const double many = TimeOfAPurgeBesideDeletes(6 * kContainers);
  std::printf("purge beside deletes: %d containers %.0f us each, %d containers %.0f us each\n",
              kContainers, some, 6 * kContainers, many);
  EXPECT_LE(many, 2 * some);
}

}  // namespace
}  // namespace ttl
