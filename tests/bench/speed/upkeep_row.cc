#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/speed/rows.h"
#include "tests/testing/sweep_harness.h"

namespace ttl::bench {
namespace {

constexpr int64_t kItems = 100;
constexpr int64_t kTouchesPerPeriod = 30;
constexpr int64_t kPeriods = 2;

struct Lifetime {
  const char* name;
  int64_t seconds;
};
constexpr Lifetime kLifetimes[] = {
    {"60 s", 60}, {"1 h", 3600}, {"1 day", 86400}, {"30 days", 30 * int64_t{86400}}};

// Time passes, with a look of the sweeper now and then: more looks find nothing more.
void SweepFor(absl::Duration duration, SweepHarness& harness) {
  constexpr int kLooks = 60;
  for (int i = 0; i < kLooks; ++i) {
    harness.clock.Advance(duration / kLooks);
    harness.guarded_clock->Tick();
    harness.SweepNow();
  }
}

// Puts for each touch of items that are touched kTouchesPerPeriod times in their ttl,
// their own or the container's, what the sweeper writes meanwhile included.
double PutsPerTouch(int64_t ttl, bool is_own) {
  SweepHarness harness;
  harness.storage.Create("c", is_own ? -1 : ttl);
  const std::optional<int64_t> own = is_own ? std::optional<int64_t>(ttl) : std::nullopt;
  harness.WriteMany("c", "item", kItems, harness.Now(), own);
  const int64_t before = harness.storage->Counts().puts;
  constexpr int64_t kTouches = kTouchesPerPeriod * kPeriods;
  for (int64_t i = 0; i < kTouches; ++i) {
    SweepFor(absl::Seconds(ttl) / kTouchesPerPeriod, harness);
    harness.WriteMany("c", "item", kItems, harness.Now(), own);
  }
  const int64_t puts = harness.storage->Counts().puts - before;
  return static_cast<double>(puts) / static_cast<double>(kTouches * kItems);
}

}  // namespace

absl::StatusOr<Row> RetrackUpkeep(const RowOptions& /*options*/) {
  std::vector<double> all;
  std::vector<std::string> notes;
  for (const Lifetime& lifetime : kLifetimes) {
    const double inherited = PutsPerTouch(lifetime.seconds, /*is_own=*/false);
    const double own = PutsPerTouch(lifetime.seconds, /*is_own=*/true);
    all.insert(all.end(), {inherited, own});
    notes.push_back(
        absl::StrFormat("ttl of %s: %.3f inherited, %.3f own", lifetime.name, inherited, own));
  }
  Row row;
  row.name = "retrack";
  row.work = "re-tracking the same items, 30 touches per ttl, worst of 8 cases";
  row.unit = "puts/touch";
  const double worst = SpreadOf(all).max;
  row.ours = {worst, worst, worst};
  row.comparisons = {
      {"one put per touch", {1, 1, 1}, row.ours, Target{Target::Kind::kAtMost, 1.1}}};
  row.note = absl::StrJoin(notes, "; ");
  return row;
}

}  // namespace ttl::bench
