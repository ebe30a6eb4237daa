#include "service/expiry/sweep/agenda.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ttl {
namespace {

// All that are awake, in one round.
std::vector<uint64_t> Awake(const Agenda& agenda) {
  std::vector<uint64_t> awake;
  for (auto next = agenda.Next(0); next.has_value(); next = agenda.Next(*next)) {
    if (!awake.empty() && *next <= awake.back()) break;
    awake.push_back(*next);
  }
  return awake;
}

using Numbers = std::vector<uint64_t>;

TEST(AgendaTest, ThoseAwakeComeInTheOrderOfTheirNumbers) {
  Agenda agenda;
  for (const uint64_t container : {7, 3, 5}) agenda.Wake(container);
  EXPECT_EQ(Awake(agenda), (Numbers{3, 5, 7}));
  EXPECT_EQ(agenda.Next(5), 7u);
  EXPECT_EQ(agenda.Next(7), 3u);
  EXPECT_EQ(Agenda().Next(7), std::nullopt);
}

TEST(AgendaTest, SleepersWakeWhenTheirTimeHasCome) {
  Agenda agenda;
  agenda.Sleep(1, absl::Seconds(10));
  agenda.Sleep(2, absl::Seconds(5));
  agenda.Sleep(3, absl::InfiniteDuration());
  EXPECT_EQ(agenda.NextWake(), absl::Seconds(5));
  agenda.WakeDue(absl::Seconds(4));
  EXPECT_EQ(Awake(agenda), Numbers{});
  agenda.WakeDue(absl::Seconds(5));
  EXPECT_EQ(Awake(agenda), Numbers{2});
  agenda.WakeDue(absl::Hours(1000));
  EXPECT_EQ(Awake(agenda), (Numbers{1, 2}));
  EXPECT_EQ(agenda.NextWake(), absl::InfiniteDuration());
}

TEST(AgendaTest, TheLastWordCounts) {
  Agenda agenda;
  agenda.Sleep(1, absl::Seconds(10));
  agenda.Sleep(1, absl::Seconds(20));
  agenda.WakeDue(absl::Seconds(10));
  EXPECT_EQ(Awake(agenda), Numbers{});
  agenda.Wake(1);
  EXPECT_EQ(Awake(agenda), Numbers{1});
  agenda.WakeDue(absl::Seconds(20));
  agenda.Sleep(1, absl::InfiniteDuration());
  EXPECT_EQ(Awake(agenda), Numbers{});
  agenda.Wake(1);
  agenda.Forget(1);
  EXPECT_EQ(Awake(agenda), Numbers{});
}

}  // namespace
}  // namespace ttl
