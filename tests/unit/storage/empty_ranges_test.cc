#include "service/storage/engine/empty_ranges.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

using Look = EmptyRanges::Look;

std::string Key(uint64_t number) { return ItemPrefix(number) + "k"; }

void Learn(EmptyRanges& ranges, const std::string& start, std::optional<std::string> found) {
  Look look(ranges, start, [] {});
  look.Found(found);
}

std::string FromOf(EmptyRanges& ranges, const std::string& start) {
  return Look(ranges, start, [] {}).from();
}

void Put(EmptyRanges& ranges, const std::string& key) {
  const EmptyRanges::Writes writes = {{key, "value"}};
  ranges.BeginWrite(writes);
  ranges.EndWrite();
}

TEST(EmptyRangesTest, ASeekBeginsBehindWhatIsKnownToBeEmpty) {
  EmptyRanges ranges;
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), ItemPrefix(1));
  Learn(ranges, ItemPrefix(1), Key(500));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(500));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(250)), Key(500));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(0)), ItemPrefix(0));
  EXPECT_EQ(FromOf(ranges, Key(500)), Key(500));
}

TEST(EmptyRangesTest, NarrowRangesAreNotKept) {
  EmptyRanges ranges;
  Learn(ranges, ItemPrefix(1), ItemPrefix(EmptyRanges::kMinNumbers));
  EXPECT_EQ(ranges.size(), 0u);
  Learn(ranges, ItemPrefix(1), ItemPrefix(1 + EmptyRanges::kMinNumbers));
  EXPECT_EQ(ranges.size(), 1u);
}

TEST(EmptyRangesTest, TheEndOfATableAndOfTheDatabaseAreKept) {
  EmptyRanges ranges;
  Learn(ranges, ItemPrefix(1), PurgeKey(1));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(2)), PurgeKey(1));
  Learn(ranges, IndexPrefix(1), std::nullopt);
  EXPECT_GT(FromOf(ranges, IndexPrefix(2)), IndexPrefix(UINT64_MAX));
}

TEST(EmptyRangesTest, RangesThatMeetBecomeOne) {
  EmptyRanges ranges;
  Learn(ranges, ItemPrefix(1), Key(100));
  Learn(ranges, Key(100), Key(200));
  Learn(ranges, ItemPrefix(50), Key(300));
  EXPECT_EQ(ranges.size(), 1u);
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(300));
}

TEST(EmptyRangesTest, AWriteCutsItsKeyOut) {
  EmptyRanges ranges;
  Learn(ranges, ItemPrefix(1), Key(500));
  Put(ranges, Key(100));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(100));
  EXPECT_EQ(FromOf(ranges, Key(100)), Key(100));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(101)), Key(500));
  Put(ranges, Key(10));  // what is left before it is narrow
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), ItemPrefix(1));
}

TEST(EmptyRangesTest, AnErasedKeyLeavesARangeWhole) {
  EmptyRanges ranges;
  Learn(ranges, ItemPrefix(1), Key(500));
  const EmptyRanges::Writes writes = {{Key(100), std::nullopt}};
  ranges.BeginWrite(writes);
  ranges.EndWrite();
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(500));
}

TEST(EmptyRangesTest, AWriteThatBeginsDuringALookLimitsIt) {
  EmptyRanges ranges;
  Look look(ranges, ItemPrefix(1), [] {});
  Put(ranges, Key(100));
  look.Found(Key(500));
  EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(100));
}

TEST(EmptyRangesTest, AWriteThatALookBeginsInLimitsIt) {
  const EmptyRanges::Writes writes = {{Key(100), "value"}};
  for (const bool ends_before : {false, true}) {
    EmptyRanges ranges;
    ranges.BeginWrite(writes);
    Look look(ranges, ItemPrefix(1), [] {});
    if (ends_before) ranges.EndWrite();
    look.Found(Key(500));
    EXPECT_EQ(FromOf(ranges, ItemPrefix(1)), Key(100)) << ends_before;
    if (!ends_before) ranges.EndWrite();
  }
}

// A database in the most naive way, whose writes and seeks take turns at random: a write is
// there from some moment between its begin and its end, and a seek sees what was there when
// it began.
RC_GTEST_PROP(EmptyRangesPropertyTest, ASeekNeverBeginsBehindAKeyThatIsThere, ()) {
  struct Seek {
    std::string start;
    std::set<std::string> snapshot;
    std::unique_ptr<Look> look;
  };
  EmptyRanges ranges;
  std::set<std::string> keys;
  std::vector<Seek> seeks;
  std::optional<EmptyRanges::Writes> writes;
  bool applied = false;
  const auto any_number = [] { return *rc::gen::inRange<uint64_t>(0, 200); };
  const auto apply = [&] {
    if (std::exchange(applied, true)) return;
    for (const auto& [key, value] : *writes) {
      value.has_value() ? void(keys.insert(key)) : void(keys.erase(key));
    }
  };
  for (int i = 0; i < 60; ++i) {
    const int step = *rc::gen::inRange(0, 7);
    if (step == 0 && !writes.has_value()) {
      writes.emplace();
      const int count = *rc::gen::inRange(1, 4);
      for (int j = 0; j < count; ++j) {
        const bool erase = *rc::gen::arbitrary<bool>();
        writes->emplace_back(Key(any_number()),
                             erase ? std::nullopt : std::optional<std::string>("v"));
      }
      applied = false;
      ranges.BeginWrite(*writes);
    } else if (step == 1 && writes.has_value()) {
      apply();
    } else if (step == 2 && writes.has_value()) {
      apply();
      ranges.EndWrite();
      writes.reset();
    } else if (step <= 4 && seeks.size() < 3) {
      Seek seek = {ItemPrefix(any_number()), {}, nullptr};
      seek.look = std::make_unique<Look>(ranges, seek.start, [&] { seek.snapshot = keys; });
      const auto first = seek.snapshot.lower_bound(seek.start);
      RC_ASSERT(seek.look->from() >= seek.start);
      if (first != seek.snapshot.end()) RC_ASSERT(seek.look->from() <= *first);
      seeks.push_back(std::move(seek));
    } else if (!seeks.empty()) {
      Seek& seek = seeks.front();
      const auto first = seek.snapshot.lower_bound(seek.start);
      seek.look->Found(first == seek.snapshot.end() ? std::nullopt
                                                    : std::optional<absl::string_view>(*first));
      seeks.erase(seeks.begin());
    }
  }
  seeks.clear();
}

}  // namespace
}  // namespace ttl
