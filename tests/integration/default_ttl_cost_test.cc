#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kT = 1'800'000'000;

void Load(StorageForTest& storage, int64_t count) {
  constexpr int64_t kItemsPerCall = 10000;
  for (int64_t first = 0; first < count; first += kItemsPerCall) {
    std::vector<ItemReport> reports;
    for (int64_t i = first; i < std::min(first + kItemsPerCall, count); ++i) {
      reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, "", {}, 0}});
    }
    ASSERT_TRUE(storage.Track("c", std::move(reports)).ok());
  }
}

// LevelDB operations of a walk through all kinds of change.
std::vector<int64_t> OperationsOfChanges(int64_t items) {
  StorageForTest storage;
  storage.Create("c", std::nullopt);
  Load(storage, items);
  std::vector<int64_t> operations;
  for (const std::optional<int64_t> ttl :
       {std::optional<int64_t>(60), std::optional<int64_t>(-1), std::optional<int64_t>(30),
        std::optional<int64_t>(), std::optional<int64_t>(-1)}) {
    const auto before = storage->Counts();
    storage.SetDefaultTtl("c", ttl);
    const auto after = storage->Counts();
    operations.push_back(after.puts + after.deletes + after.gets + after.seeks + after.steps -
                         before.puts - before.deletes - before.gets - before.seeks - before.steps);
  }
  return operations;
}

TEST(DefaultTtlCostTest, AChangeCostsTheSameForAMillionItemsAsForTen) {
  EXPECT_EQ(OperationsOfChanges(1'000'000), OperationsOfChanges(10));
}

}  // namespace
}  // namespace ttl
