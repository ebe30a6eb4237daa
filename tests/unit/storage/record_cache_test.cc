#include "service/storage/commit/record_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

StoredItemPtr ItemWithTs(int64_t ts) {
  StoredItem item;
  item.version.times.ts = ts;
  return std::make_shared<const StoredItem>(item);
}

RecordCache::Lookup FindTimes(RecordCache& cache, absl::string_view key) {
  RecordCache::Lookup lookup{key};
  cache.FindTimes(absl::MakeSpan(&lookup, 1));
  return lookup;
}

TEST(RecordCacheTest, RemembersItemsAndTheirAbsence) {
  RecordCache cache(1 << 20);
  RecordCache::Ticket ticket;
  EXPECT_FALSE(cache.Find("a", ticket).has_value());
  cache.Put("a", ItemWithTs(5));
  cache.Put("b", nullptr);
  EXPECT_EQ((*cache.Find("a", ticket))->version.times.ts, 5);
  EXPECT_EQ(*cache.Find("b", ticket), nullptr);
}

TEST(RecordCacheTest, TimesAreThoseOfTheItemAndNothingKnownIsNotAbsence) {
  RecordCache cache(1 << 20);
  const RecordCache::Lookup nothing = FindTimes(cache, "a");
  EXPECT_FALSE(nothing.known);
  cache.Offer("a", ItemWithTs(5), nothing.ticket);
  ASSERT_TRUE(FindTimes(cache, "a").known);
  EXPECT_EQ(FindTimes(cache, "a").times, (ItemTimes{5, std::nullopt}));

  StoredItem with_ttl;
  with_ttl.version.times = {6, -1};
  cache.Put("a", std::make_shared<const StoredItem>(with_ttl));
  EXPECT_EQ(FindTimes(cache, "a").times, (ItemTimes{6, -1}));

  cache.Put("a", nullptr);
  ASSERT_TRUE(FindTimes(cache, "a").known);
  EXPECT_EQ(FindTimes(cache, "a").times, std::nullopt);

  StoredItem unknown;
  unknown.state_unknown = true;
  cache.Put("a", std::make_shared<const StoredItem>(unknown));
  ASSERT_TRUE(FindTimes(cache, "a").known);
  EXPECT_EQ(FindTimes(cache, "a").times, std::nullopt);
}

// More than are looked up together, in every shard, some of them twice and some unknown.
TEST(RecordCacheTest, ManyAreFoundTogetherEachItsOwn) {
  RecordCache cache(1 << 20);
  for (int i = 0; i < 1000; i += 2) cache.Put(absl::StrCat("key", i), ItemWithTs(i + 1));
  std::vector<std::string> keys;
  for (int i = 0; i < 1500; ++i) keys.push_back(absl::StrCat("key", i % 1000));
  std::vector<RecordCache::Lookup> lookups;
  for (const std::string& key : keys) lookups.push_back({key});
  cache.FindTimes(absl::MakeSpan(lookups));
  for (int i = 0; i < 1500; ++i) {
    ASSERT_EQ(lookups[i].known, i % 2 == 0) << i;
    if (lookups[i].known) {
      ASSERT_EQ(lookups[i].times->ts, i % 1000 + 1);
    } else {
      cache.Offer(keys[i], ItemWithTs(i % 1000 + 1), lookups[i].ticket);
    }
  }
  cache.FindTimes(absl::MakeSpan(lookups));
  for (int i = 0; i < 1500; ++i) ASSERT_EQ(lookups[i].times->ts, i % 1000 + 1);
}

TEST(RecordCacheTest, AMissIsNotedOnceItHappened) {
  RecordCache cache(1 << 20);
  EXPECT_FALSE(FindTimes(cache, "a").missed_again);
  EXPECT_FALSE(FindTimes(cache, "b").missed_again);
  EXPECT_TRUE(FindTimes(cache, "a").missed_again);
}

// What was asked for since the hand passed stays, what was not goes.
TEST(RecordCacheTest, WhatIsAskedForStays) {
  RecordCache cache(256 << 10);
  RecordCache::Ticket ticket;
  cache.Put("asked", ItemWithTs(1));
  cache.Put("forgotten", ItemWithTs(1));
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(cache.Find("asked", ticket).has_value()) << i;
    cache.Put(absl::StrCat("key", i), ItemWithTs(i));
  }
  EXPECT_FALSE(cache.Find("forgotten", ticket).has_value());
}

TEST(RecordCacheTest, AReaderMayPutBackWhatNobodyChanged) {
  RecordCache cache(1 << 20);
  RecordCache::Ticket ticket;
  ASSERT_FALSE(cache.Find("a", ticket).has_value());
  cache.Offer("a", ItemWithTs(1), ticket);
  EXPECT_EQ((*cache.Find("a", ticket))->version.times.ts, 1);
}

TEST(RecordCacheTest, AReaderNeverPutsBackAnOlderRecordThanTheCommitters) {
  RecordCache cache(64);  // too small to keep anything: the newer record is evicted at once
  RecordCache::Ticket ticket;
  ASSERT_FALSE(cache.Find("a", ticket).has_value());
  cache.Put("a", ItemWithTs(2));
  cache.Offer("a", ItemWithTs(1), ticket);
  EXPECT_FALSE(cache.Find("a", ticket).has_value());
}

TEST(RecordCacheTest, AReaderNeverPutsBackAnAbsenceThatIsOver) {
  RecordCache cache(1 << 20);
  RecordCache::Ticket ticket;
  ASSERT_FALSE(cache.Find("a", ticket).has_value());
  cache.Put("a", ItemWithTs(2));
  cache.Offer("a", nullptr, ticket);
  EXPECT_EQ((*cache.Find("a", ticket))->version.times.ts, 2);
}

TEST(RecordCacheTest, ClearRefusesOffersOnTheirWay) {
  RecordCache cache(1 << 20);
  RecordCache::Ticket ticket;
  ASSERT_FALSE(cache.Find("a", ticket).has_value());
  cache.Clear();
  cache.Offer("a", ItemWithTs(1), ticket);
  EXPECT_FALSE(cache.Find("a", ticket).has_value());
}

TEST(RecordCacheTest, StaysWithinItsBytes) {
  constexpr size_t kCapacity = 256 << 10;
  RecordCache cache(kCapacity);
  for (int i = 0; i < 10000; ++i) cache.Put(absl::StrCat("key", i), ItemWithTs(i));
  EXPECT_LE(cache.SizeBytes(), kCapacity);
  EXPECT_GT(cache.SizeBytes(), kCapacity / 2);
}

// The database and the committer's order, in small: a value that only grows. If
// an older value than one already committed were ever put back, a reader would
// see time run backwards.
TEST(RecordCacheTest, ReadersNeverSeeTimeRunBackwards) {
  RecordCache cache(4 << 10);  // small, so that records come and go
  std::atomic<int64_t> database = 0;
  std::atomic<int64_t> committed = 0;
  std::atomic<bool> stop = false;
  std::atomic<int> stale = 0;

  const auto read = [&] {
    while (!stop) {
      const int64_t at_least = committed;
      RecordCache::Ticket ticket;
      std::optional<StoredItemPtr> known = cache.Find("a", ticket);
      if (!known.has_value()) {
        known = ItemWithTs(database);
        cache.Offer("a", *known, ticket);
      }
      if ((*known)->version.times.ts < at_least) ++stale;
    }
  };
  cache.Put("a", ItemWithTs(0));
  std::thread first(read);
  std::thread second(read);
  for (int64_t value = 1; value <= 20000; ++value) {
    database = value;
    cache.Put("a", ItemWithTs(value));
    committed = value;
    for (int i = 0; i < 4; ++i) cache.Put(absl::StrCat("other", value % 100, "/", i), nullptr);
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(stale, 0);
}

}  // namespace
}  // namespace ttl
