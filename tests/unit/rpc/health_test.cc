#include "service/rpc/status/health.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SweepStallTest, CountsFromTheLastStepOrElseFromTheStart) {
  SweeperView sweeper;
  const absl::Duration start = absl::Hours(1);
  EXPECT_EQ(SweepStall(sweeper, start, start + kSweepStall), std::nullopt);
  EXPECT_EQ(SweepStall(sweeper, start, start + absl::Seconds(31)), absl::Seconds(31));
  sweeper.last_step = start + absl::Seconds(20);
  EXPECT_EQ(SweepStall(sweeper, start, start + absl::Seconds(31)), std::nullopt);
  EXPECT_EQ(SweepStall(sweeper, start, start + absl::Seconds(60)), absl::Seconds(40));
}

// All that health looks at, at rest: all is well.
struct HealthSituation {
  HealthSituation() {
    store.configured = true;
    store.reachable = true;
  }

  std::vector<std::string> Reasons() const {
    return DegradedReasons({.sweep_stall = sweep_stall,
                            .write_health = write_health,
                            .storage_problems = storage_problems,
                            .clock = clock,
                            .store = store,
                            .report_health = report_health,
                            .troubles = troubles});
  }

  std::optional<absl::Duration> sweep_stall;
  absl::Status write_health;
  std::vector<std::string> storage_problems;
  ClockStatus clock;
  StoreView store;
  absl::Status report_health;
  std::vector<std::string> troubles;
};

TEST(HealthTest, AllIsWellAtRest) { EXPECT_THAT(HealthSituation().Reasons(), IsEmpty()); }

struct Case {
  std::string name;
  std::function<void(HealthSituation&)> change;
  std::string want;
};

class DegradedTest : public testing::TestWithParam<Case> {};

TEST_P(DegradedTest, SaysWhyInOneSentence) {
  HealthSituation situation;
  GetParam().change(situation);
  EXPECT_THAT(situation.Reasons(), ElementsAre(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, DegradedTest,
    testing::Values(
        Case{"SweeperStalled", [](HealthSituation& s) { s.sweep_stall = absl::Seconds(45); },
             "The sweeper has taken no step for 45 s: nothing is deleted."},
        Case{"StorageRefusesWrites",
             [](HealthSituation& s) { s.write_health = absl::UnavailableError("no space left"); },
             "Storage refuses writes: no space left."},
        Case{"ReportsRefused",
             [](HealthSituation& s) {
               s.report_health = absl::ResourceExhaustedError("5 bytes free");
             },
             "Reports are refused: 5 bytes free."},
        Case{"Overdue", [](HealthSituation& s) { s.troubles = {"Deletes make no progress."}; },
             "Deletes make no progress."},
        Case{"AllWritesRefused",
             [](HealthSituation& s) {
               s.write_health = s.report_health = absl::UnavailableError("broken");
             },
             "Storage refuses writes: broken."},
        Case{"StoredDataDamaged",
             [](HealthSituation& s) { s.storage_problems = {"container number 7 is left out"}; },
             "Stored data is damaged: container number 7 is left out."},
        Case{"ClockSuspect",
             [](HealthSituation& s) {
               s.clock.suspect = true;
               s.clock.reason = "the wall is 7 s ahead";
             },
             "The clock is suspect: the wall is 7 s ahead."},
        Case{"StoreUnreachable",
             [](HealthSituation& s) {
               s.store.reachable = false;
               s.store.last_error = "connection refused";
             },
             "The primary store cannot be reached: connection refused."},
        Case{"StoreUnconfirmed",
             [](HealthSituation& s) { s.store.unconfirmed = "its store_id changed"; },
             "The primary store has to be confirmed: its store_id changed."},
        Case{"SkewTooLarge",
             [](HealthSituation& s) {
               s.store.skew_too_large = true;
               s.store.clock_skew = absl::Milliseconds(-90'500);
             },
             "Our clock and the primary store's are too far apart, by 1m30s: deletes are "
             "suspended."}),
    [](const auto& info) { return info.param.name; });

TEST(HealthTest, AStoreThatWasNotAskedYetIsNoTrouble) {
  HealthSituation situation;
  situation.store.reachable = false;
  EXPECT_THAT(situation.Reasons(), IsEmpty());
}

TEST(HealthTest, WithoutAStoreItIsNotMissed) {
  HealthSituation situation;
  situation.store = StoreView();
  situation.store.last_error = "never asked";
  situation.store.skew_too_large = true;
  EXPECT_THAT(situation.Reasons(), IsEmpty());
}

TEST(HealthTest, ADoubtIsToldOfAlsoWithoutAStore) {
  HealthSituation situation;
  situation.store = StoreView();
  situation.store.unconfirmed = "1000 NOT_FOUND in a row";
  EXPECT_THAT(situation.Reasons(), SizeIs(1));
}

TEST(HealthTest, AFormerReasonOfASoundClockIsNone) {
  HealthSituation situation;
  situation.clock.reason = "the memory it was given was nonsense";
  EXPECT_THAT(situation.Reasons(), IsEmpty());
}

TEST(HealthTest, EveryReasonIsGiven) {
  HealthSituation situation;
  situation.sweep_stall = absl::Seconds(31);
  situation.write_health = absl::UnavailableError("full");
  situation.clock.suspect = true;
  situation.store.unconfirmed = "why";
  EXPECT_THAT(situation.Reasons(), SizeIs(4));
}

}  // namespace
}  // namespace ttl
