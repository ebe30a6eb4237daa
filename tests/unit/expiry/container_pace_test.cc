#include "service/expiry/pace/container_pace.h"

#include <gtest/gtest.h>

#include <optional>

namespace ttl {
namespace {

const absl::Time kWall = absl::FromUnixSeconds(1'800'000'000);

Moment At(absl::Duration steady) {
  const absl::Time wall = kWall + steady;
  return {{.now = wall, .for_deletes = wall, .deletes_allowed = true}, steady};
}

DeleteBudget BudgetOf(double deletes_per_second, double cost = 1) {
  DeleteBudget budget;
  budget.deletes_per_second = deletes_per_second;
  budget.request_units_per_delete = cost;
  return budget;
}

// Deletes that may be sent within `duration`, in batches as they become possible.
int64_t SendFor(ContainerPace& pace, absl::Duration duration, absl::Duration start) {
  int64_t sent = 0;
  for (absl::Duration now = start; now < start + duration; now += absl::Milliseconds(10)) {
    while (pace.TimeUntil(1, now) == absl::ZeroDuration()) {
      pace.Take(1, now);
      ++sent;
    }
  }
  return sent;
}

TEST(ContainerPaceTest, TheLeastOfLimitAndBudgetCounts) {
  struct Case {
    std::optional<double> limit;
    std::optional<double> budget;
    double expected;
  };
  const Case cases[] = {
      {100, std::nullopt, 100},
      {std::nullopt, 50, 50},
      {100, 50, 50},
      {50, 100, 50},
      {100, 0, 0},
      {0, 100, 0},
  };
  for (const Case& c : cases) {
    ContainerPace pace(500, absl::ZeroDuration());
    std::optional<DeleteBudget> budget;
    if (c.budget.has_value()) budget = BudgetOf(*c.budget);
    pace.Update(c.limit, budget, absl::ZeroDuration());
    const int64_t sent = SendFor(pace, absl::Seconds(10), absl::ZeroDuration());
    EXPECT_NEAR(sent, c.expected * 10, c.expected * 0.1 + 1);
  }
}

TEST(ContainerPaceTest, ADeleteThatCostMoreIsPaidForLater) {
  ContainerPace pace(500, absl::ZeroDuration());
  pace.Update(std::nullopt, BudgetOf(100), absl::ZeroDuration());
  pace.Take(10, absl::ZeroDuration());
  pace.NoteAnswer({.items = 10, .took = absl::Milliseconds(1), .cost = 50.0},
                  At(absl::ZeroDuration()));
  EXPECT_DOUBLE_EQ(*pace.learned_cost(), 5);
  // Forty units too many, at 100 a second.
  EXPECT_NEAR(absl::ToDoubleSeconds(pace.TimeUntil(1, absl::ZeroDuration())), 0.41, 0.001);
}

TEST(ContainerPaceTest, ACheaperDeleteEarnsNothingBeyondTheLimit) {
  ContainerPace pace(500, absl::ZeroDuration());
  pace.Update(100, BudgetOf(1000, 10), absl::ZeroDuration());
  pace.Take(10, absl::ZeroDuration());
  pace.NoteAnswer({.items = 10, .took = absl::Milliseconds(1), .cost = 1.0},
                  At(absl::ZeroDuration()));
  EXPECT_GT(pace.TimeUntil(1, absl::ZeroDuration()), absl::ZeroDuration());
}

TEST(ContainerPaceTest, NonsenseChargesAreNotLearned) {
  ContainerPace pace(500, absl::ZeroDuration());
  for (const double charge :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    pace.NoteAnswer({.items = 10, .took = absl::Milliseconds(1), .cost = charge},
                    At(absl::ZeroDuration()));
    EXPECT_EQ(pace.learned_cost(), std::nullopt);
  }
}

TEST(ContainerPaceTest, FailuresHoldForAGrowingTimeByTheirKind) {
  struct Case {
    BatchFailure::Kind kind;
    int64_t count;
    absl::Duration first;
    absl::Duration most;
  };
  using Kind = BatchFailure::Kind;
  const Case cases[] = {
      {Kind::kRefused, 1, absl::Milliseconds(100), absl::Seconds(1)},
      {Kind::kRefused, 2, absl::ZeroDuration(), absl::ZeroDuration()},  // halved at once
      {Kind::kPushBack, 2, absl::Milliseconds(100), absl::Seconds(1)},
      {Kind::kUnavailable, 2, absl::Milliseconds(100), absl::Seconds(1)},
      {Kind::kSlow, 2, absl::Seconds(1), absl::Seconds(5)},
  };
  for (const Case& c : cases) {
    ContainerPace pace(500, absl::ZeroDuration());
    absl::Duration now;
    for (int i = 0; i < 20; ++i) {
      pace.NoteFailure({.items = c.count, .kind = c.kind}, At(now));
      const absl::Duration hold = std::max(pace.held_until() - now, absl::ZeroDuration());
      if (i == 0) {
        EXPECT_EQ(hold, c.first);
      } else if (i == 19) {
        EXPECT_EQ(hold, c.most);
      }
      now += absl::Minutes(1);
    }
    EXPECT_EQ(pace.in_trouble(), c.most > absl::ZeroDuration());
    pace.NoteAnswer({.items = 1, .took = absl::Milliseconds(1)}, At(now));
    EXPECT_FALSE(pace.in_trouble());
  }
}

TEST(ContainerPaceTest, TheStoresWishIsHonouredUpToAnHour) {
  for (const int64_t seconds : {0, 7, 1'000'000}) {
    ContainerPace pace(500, absl::ZeroDuration());
    pace.NoteAnswer({.items = 1,
                     .took = absl::Milliseconds(1),
                     .throttled = true,
                     .retry_after = absl::Seconds(seconds)},
                    At(absl::ZeroDuration()));
    EXPECT_EQ(pace.held_until(), std::min(absl::Seconds(seconds), absl::Hours(1)));
    EXPECT_EQ(pace.View(At(absl::ZeroDuration())).held_until.has_value(), seconds > 0);
  }
}

TEST(ContainerPaceTest, PushBackOfAnyKindSlowsDownAndShows) {
  using Act = void (*)(ContainerPace&, const Moment&);
  const Act acts[] = {
      [](ContainerPace& pace, const Moment& now) {
        pace.NoteAnswer({.items = 100, .took = absl::Milliseconds(1), .throttled = true}, now);
      },
      [](ContainerPace& pace, const Moment& now) {
        for (int i = 0; i < 5; ++i) {
          pace.NoteAnswer({.items = 100, .deleted = 0, .took = absl::Seconds(3)}, now);
        }
      },
      [](ContainerPace& pace, const Moment& now) {
        pace.NoteFailure({.items = 100, .kind = BatchFailure::Kind::kPushBack}, now);
      },
      [](ContainerPace& pace, const Moment& now) {
        pace.NoteFailure({.items = 100, .kind = BatchFailure::Kind::kSlow}, now);
      },
      [](ContainerPace& pace, const Moment& now) {
        pace.NoteFailure({.items = 100, .kind = BatchFailure::Kind::kUnavailable}, now);
        pace.NoteFailure({.items = 100, .kind = BatchFailure::Kind::kUnavailable}, now);
      },
  };
  for (const Act act : acts) {
    ContainerPace pace(500, absl::ZeroDuration());
    absl::Duration now;
    for (int i = 0; i < 20; ++i) {
      pace.Update(1000, std::nullopt, now);
      pace.Take(100, now);
      pace.NoteAnswer({.items = 100, .deleted = 100, .took = absl::Milliseconds(1)}, At(now));
      now += absl::Milliseconds(100);
    }
    EXPECT_EQ(pace.View(At(now)).bearable_per_second, std::nullopt);
    act(pace, At(now));
    EXPECT_NEAR(pace.View(At(now)).bearable_per_second.value_or(0), 500, 51);
    pace.Update(1000, std::nullopt, now);
    EXPECT_LE(pace.MaxItems(), 55);
  }
}

TEST(ContainerPaceTest, BatchesGetSmallerUnlessASuspectedItemExplainsTheFailure) {
  ContainerPace pace(500, absl::ZeroDuration());
  const Moment now = At(absl::ZeroDuration());
  pace.NoteFailure({.items = 500, .suspected = true}, now);
  EXPECT_EQ(pace.MaxItems(), 500);
  pace.NoteFailure({.items = 250, .suspected = true}, now);
  EXPECT_EQ(pace.MaxItems(), 125) << "two in a row are no single item's fault";
  pace.NoteAnswer({.items = 125, .deleted = 125, .took = absl::Milliseconds(1)}, now);
  pace.NoteFailure({.items = 100}, now);
  EXPECT_EQ(pace.MaxItems(), 50);
}

TEST(ContainerPaceTest, PauseThatAStoreWantsAfterDeletesIsNoPushBack) {
  ContainerPace pace(500, absl::ZeroDuration());
  pace.Update(std::nullopt, std::nullopt, absl::ZeroDuration());
  pace.NoteAnswer({.items = 100, .took = absl::Milliseconds(1), .retry_after = absl::Seconds(1)},
                  At(absl::ZeroDuration()));
  EXPECT_EQ(pace.held_until(), absl::Seconds(1));
  EXPECT_EQ(pace.View(At(absl::ZeroDuration())).bearable_per_second, std::nullopt);
  EXPECT_FALSE(pace.in_trouble());
}

}  // namespace
}  // namespace ttl
