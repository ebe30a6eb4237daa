#include "client/postgres/row/visible_position.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace ttl::postgres {
namespace {

TEST(VisiblePositionTest, KnowsNothingAtFirst) {
  VisiblePosition position;
  position.ObserveSnapshot(0, 10, 10);
  position.ObserveSnapshot(0, 11, 11);
  EXPECT_EQ(position.Get(), 0);
}

TEST(VisiblePositionTest, AcknowledgedCountsWhenAllThatHadBegunHasEnded) {
  VisiblePosition position;
  position.Acknowledge(100);
  position.ObserveSnapshot(100, /*xmin=*/7, /*end=*/10);
  EXPECT_EQ(position.Get(), 0);
  position.ObserveSnapshot(100, 9, 12);
  EXPECT_EQ(position.Get(), 0);
  position.ObserveSnapshot(100, 10, 12);
  EXPECT_EQ(position.Get(), 100);
}

TEST(VisiblePositionTest, OneSnapshotIsNotEnough) {
  VisiblePosition position;
  position.Acknowledge(100);
  position.ObserveSnapshot(100, 10, 10);
  EXPECT_EQ(position.Get(), 0);
}

TEST(VisiblePositionTest, WhatIsAcknowledgedAfterTheSnapshotDoesNotCount) {
  VisiblePosition position;
  position.Acknowledge(100);
  position.Acknowledge(200);
  position.ObserveSnapshot(100, 10, 10);
  position.ObserveSnapshot(200, 10, 10);
  EXPECT_EQ(position.Get(), 100);
  position.ObserveSnapshot(200, 10, 10);
  EXPECT_EQ(position.Get(), 200);
}

TEST(VisiblePositionTest, NeverGoesBack) {
  VisiblePosition position;
  position.Acknowledge(100);
  position.Acknowledge(50);
  EXPECT_EQ(position.acknowledged(), 100);
  position.ObserveSnapshot(100, 10, 10);
  position.ObserveSnapshot(100, 10, 10);
  position.ObserveSnapshot(50, 10, 10);
  position.ObserveSnapshot(50, 10, 10);
  EXPECT_EQ(position.Get(), 100);
}

// A database in which transactions begin, are streamed and acknowledged, and only then are
// seen: what Get() covers is seen by every snapshot.
RC_GTEST_PROP(VisiblePositionProperty, CoversOnlyWhatIsSeen, ()) {
  VisiblePosition position;
  uint64_t next_xid = 3;
  uint64_t lsn = 0;
  std::set<uint64_t> running;
  std::vector<std::pair<uint64_t, uint64_t>> unseen;  // the LSN of a commit, and its xid
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    if (step == 0) {
      running.insert(next_xid++);
    } else if (step == 1 && running.size() > unseen.size()) {
      auto xid = running.begin();
      while (std::any_of(unseen.begin(), unseen.end(),
                         [&](const auto& commit) { return commit.second == *xid; })) {
        ++xid;
      }
      unseen.emplace_back(++lsn, *xid);
      position.Acknowledge(lsn);
    } else if (step == 2 && !unseen.empty()) {
      const size_t index = *rc::gen::inRange<size_t>(0, unseen.size());
      running.erase(unseen[index].second);
      unseen.erase(unseen.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (step == 3) {
      const uint64_t xmin = running.empty() ? next_xid : *running.begin();
      position.ObserveSnapshot(position.acknowledged(), xmin, next_xid);
    }
    for (const auto& commit : unseen) RC_ASSERT(commit.first > position.Get());
  }
}

}  // namespace
}  // namespace ttl::postgres
