#include "service/storage/upkeep/compactor.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

constexpr uint64_t kContainer = 7;
constexpr int64_t kKeysPerWrite = 5000;

class CompactorTest : public testing::Test {
 protected:
  CompactorTest() {
    StorageOptions options;
    options.directory = directory_.File("db");
    auto opened = Database::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.status();
    database_ = *std::move(opened);
    compactor_.emplace(
        Compactor::Parts{*database_, catalog_, marks_, tallies_, tombstones_, feed_log_});
  }

  static std::string Key(uint64_t container, int64_t number) {
    return EncodeItemKey(container, {absl::StrCat("tenant-", number % 100), absl::StrCat(number)});
  }

  // Items whose values no compression makes smaller.
  void Put(uint64_t container, int64_t count, size_t bytes) {
    std::mt19937_64 random(container);
    for (int64_t from = 0; from < count; from += kKeysPerWrite) {
      WriteSet writes;
      for (int64_t i = from; i < from + kKeysPerWrite; ++i) {
        std::string value;
        while (value.size() < bytes) {
          const uint64_t eight = random();
          value.append(reinterpret_cast<const char*>(&eight), sizeof(eight));
        }
        writes.emplace_back(Key(container, i), std::move(value));
      }
      ASSERT_TRUE(database_->Write(writes).ok());
    }
  }

  void Erase(uint64_t container, int64_t count) {
    for (int64_t from = 0; from < count; from += kKeysPerWrite) {
      WriteSet writes;
      for (int64_t i = from; i < from + kKeysPerWrite; ++i) {
        writes.emplace_back(Key(container, i), std::nullopt);
      }
      ASSERT_TRUE(database_->Write(writes).ok());
      tombstones_.AddErased(writes);
    }
  }

  int64_t BytesOf(uint64_t container) const {
    const std::string prefix = ItemPrefix(container);
    return static_cast<int64_t>(database_->ApproximateBytes(prefix, PrefixEnd(prefix)));
  }

  // Compacts all that is worth it. Returns in how many slices.
  int CompactAll() {
    int slices = 0;
    while (compactor_->RunOnce()) ++slices;
    return slices;
  }

  TempDir directory_;
  std::unique_ptr<Database> database_;
  Catalog catalog_;
  LowWaterMarks marks_;
  Tallies tallies_;
  FeedLog feed_log_;
  TombstoneCounts tombstones_;
  std::optional<Compactor> compactor_;
};

TEST_F(CompactorTest, ALargeRangeIsCompactedInSlicesAndItsNeighboursStay) {
  constexpr int64_t kItems = 100'000;
  Put(kContainer - 1, kKeysPerWrite, 10);
  Put(kContainer, kItems, 1000);
  Put(kContainer + 1, kKeysPerWrite, 10);
  EXPECT_GT(BytesOf(kContainer), 64 << 20);
  Erase(kContainer, kItems);
  EXPECT_GE(CompactAll(), 2);
  EXPECT_LT(BytesOf(kContainer), 8 << 20);
  for (const uint64_t neighbour : {kContainer - 1, kContainer + 1}) {
    for (const int64_t number : {int64_t{0}, kKeysPerWrite - 1}) {
      EXPECT_TRUE(database_->Get(Key(neighbour, number))->has_value());
    }
  }
  EXPECT_FALSE(compactor_->RunOnce());
}

TEST_F(CompactorTest, FewDeletesAreNotWorthACompaction) {
  Put(kContainer, kKeysPerWrite, 10);
  Erase(kContainer, Compactor::kMinErased - kKeysPerWrite);
  EXPECT_FALSE(compactor_->RunOnce());
}

TEST_F(CompactorTest, WhereMoreLivesThanWasErasedOnlyTheFrontOfTheIndexIsCompacted) {
  // A container with an index and 200,000 items, as its totals say.
  constexpr uint64_t kIndex = 8;
  Container container;
  container.number = kContainer;
  container.id = "c";
  container.index_number = kIndex;
  ASSERT_TRUE(database_
                  ->Write({{ContainerKey(kContainer), EncodeContainer(container)},
                           {TotalsKey(kContainer), EncodeTotals({{200'000, 0}, {}})}})
                  .ok());
  ASSERT_TRUE(catalog_.Load(*database_).ok());
  ASSERT_TRUE(tallies_.Load(*database_, catalog_).ok());

  Erase(kContainer, Compactor::kMinErased);
  EXPECT_EQ(CompactAll(), 0);
  WriteSet entries;
  for (int64_t i = 0; i < Compactor::kMinErased; ++i) {
    entries.emplace_back(EncodeIndexKey(kIndex, IndexFamily::kTs, i, {"p", "a"}), std::nullopt);
  }
  tombstones_.AddErased(entries);
  EXPECT_EQ(CompactAll(), 1);
  EXPECT_EQ(CompactAll(), 0);
  Erase(kContainer, Compactor::kMinErased);  // now as many as live
  EXPECT_EQ(CompactAll(), 1);
}

// Nothing is written to it any more, so nothing would ever forget it.
TEST_F(CompactorTest, AFeedThatWasSwitchedOffIsCompactedAsAWholeAndForgotten) {
  WriteSet writes;
  for (int64_t i = 0; i < Compactor::kMinErased; ++i) {
    writes.emplace_back(EventKey(kContainer, static_cast<uint64_t>(i)), std::nullopt);
  }
  tombstones_.AddErased(writes);
  EXPECT_GT(CompactAll(), 0);
  EXPECT_TRUE(tombstones_.FindAtLeast(0).empty());
}

}  // namespace
}  // namespace ttl
