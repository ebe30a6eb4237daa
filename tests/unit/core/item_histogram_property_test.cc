#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/due_rules.h"
#include "service/core/forecast.h"
#include "service/core/item_histogram.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

using generators::kMaxInt64;

// The plainest histogram: every item apart.
class Model {
 public:
  void Add(int64_t seconds, int64_t bytes) { ++items_[{std::max<int64_t>(seconds, 0), bytes}]; }

  bool RemoveAny(size_t choice, TimeHistogram& histogram) {
    if (items_.empty()) return false;
    const auto it = std::next(items_.begin(), choice % items_.size());
    const auto [seconds, bytes] = it->first;
    if (--it->second == 0) items_.erase(it);
    return histogram.Remove(seconds, bytes);
  }

  ItemSum CountUpTo(int64_t seconds) const {
    ItemSum sum;
    for (const auto& [key, count] : items_) {
      if (key.first <= seconds) sum += {count, count * key.second};
    }
    return sum;
  }

  TimeHistogram Fresh() const {
    TimeHistogram histogram;
    for (const auto& [key, count] : items_) {
      for (int i = 0; i < count; ++i) histogram.Add(key.first, key.second);
    }
    return histogram;
  }

  bool empty() const { return items_.empty(); }

 private:
  std::map<std::pair<int64_t, int64_t>, int> items_;
};

// Times that crowd, that spread, and that cannot be.
int64_t AnyTime(int64_t spread) {
  return *rc::gen::weightedOneOf<int64_t>(
      {{20, rc::gen::inRange<int64_t>(1'800'000'000, 1'800'000'000 + spread)},
       {1, rc::gen::arbitrary<int64_t>()},
       {1, generators::OneOf({-1, 0, 1, kMaxInt64 - 1, kMaxInt64})}});
}

RC_GTEST_PROP(TimeHistogramProperty, EveryEstimateIsWithinItsBound, ()) {
  const int64_t spread = *generators::OneOf({5, 800, 3000, 100'000, 100'000'000});
  const int operations = *rc::gen::inRange(1, 3000);
  TimeHistogram histogram;
  Model model;
  for (int i = 0; i < operations; ++i) {
    if (*rc::gen::inRange(0, 4) != 0) {
      const int64_t seconds = AnyTime(spread);
      const int64_t bytes = *rc::gen::inRange<int64_t>(0, 100);
      histogram.Add(seconds, bytes);
      model.Add(seconds, bytes);
    } else if (!model.empty()) {
      RC_ASSERT(model.RemoveAny(*rc::gen::arbitrary<uint32_t>(), histogram));
    }
    RC_ASSERT(histogram.bucket_count() <= TimeHistogram::kMaxBuckets);
  }
  for (int i = 0; i < 20; ++i) {
    const int64_t cut = AnyTime(spread);
    const ItemEstimate estimate = histogram.CountUpTo(cut);
    const ItemSum truth = model.CountUpTo(cut);
    RC_ASSERT(std::abs(estimate.sum.items - truth.items) <= estimate.error_bound_items);
    if (estimate.error_bound_items == 0) RC_ASSERT(estimate.sum == truth);
  }
  RC_ASSERT((histogram.CountUpTo(kMaxInt64).sum == model.CountUpTo(kMaxInt64)));
  RC_ASSERT(histogram.Agrees(model.Fresh()));
}

RC_GTEST_PROP(TimeHistogramProperty, IsExactWhileItemsStandInFewSeconds, ()) {
  TimeHistogram histogram;
  Model model;
  const int operations = *rc::gen::inRange(1, 2000);
  for (int i = 0; i < operations; ++i) {
    const int64_t seconds = *rc::gen::inRange<int64_t>(1000, 2000);
    histogram.Add(seconds, 1);
    model.Add(seconds, 1);
  }
  const int64_t cut = *rc::gen::inRange<int64_t>(990, 2010);
  RC_ASSERT(histogram.CountUpTo(cut).error_bound_items == 0);
  RC_ASSERT(histogram.CountUpTo(cut).sum == model.CountUpTo(cut));
}

RC_GTEST_PROP(TimeHistogramProperty, IntervalsAreWithinTheirBoundsAndLoseNothing, ()) {
  const int64_t spread = *generators::OneOf({5, 3000, 100'000, 100'000'000});
  const int count = *rc::gen::inRange(0, 3000);
  TimeHistogram histogram;
  Model model;
  for (int i = 0; i < count; ++i) {
    const int64_t seconds = AnyTime(spread);
    histogram.Add(seconds, i);
    model.Add(seconds, i);
  }
  std::vector<int64_t> cuts = {std::numeric_limits<int64_t>::min(), kMaxInt64};
  const int cut_count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < cut_count; ++i) cuts.push_back(AnyTime(spread));
  std::sort(cuts.begin(), cuts.end());
  const std::vector<ItemEstimate> counts = histogram.CountBetween(cuts);
  RC_ASSERT(counts.size() == cuts.size() - 1);
  ItemSum all;
  for (size_t i = 0; i < counts.size(); ++i) {
    ItemSum truth = model.CountUpTo(cuts[i + 1]);
    truth -= model.CountUpTo(cuts[i]);
    RC_ASSERT(std::abs(counts[i].sum.items - truth.items) <= counts[i].error_bound_items);
    if (counts[i].error_bound_items == 0) RC_ASSERT(counts[i].sum == truth);
    all += counts[i].sum;
  }
  RC_ASSERT(all == model.CountUpTo(kMaxInt64));
}

// Policies as a container has them after changes: each replaced one is respected until its end.
RC_GTEST_PROP(ItemHistogramProperty, StepsCountWhatBecomesDueInThem, ()) {
  const Policy policy = *generators::AnyPolicy();
  std::vector<ReplacedPolicy> replaced;
  const int changes = *rc::gen::inRange(0, 3);
  for (int i = 0; i < changes; ++i) {
    replaced.push_back({*generators::AnyPolicy(),
                        absl::FromUnixSeconds(*rc::gen::inRange<int64_t>(1, 6'000'000'000))});
  }
  std::vector<int64_t> times;
  const int steps = *rc::gen::inRange(1, 30);
  for (int i = 0; i < steps; ++i) {
    times.push_back(*rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 400),
                                    rc::gen::inRange<int64_t>(1, 6'000'000'000)));
  }
  std::sort(times.begin(), times.end());
  ItemHistogram tally;
  std::vector<ItemSum> truth(times.size());
  const int count = *rc::gen::inRange(0, 200);
  for (int i = 0; i < count; ++i) {
    const ItemTimes item = *generators::Item(generators::AnyTtl());
    tally.Add(item, i);
    for (size_t step = 0; step < times.size(); ++step) {
      const DueRule rule = ComputeDueRule(policy, replaced, absl::FromUnixSeconds(times[step]));
      const std::optional<int64_t> due = DueTime(rule, item);
      if (!due.has_value() || *due > times[step]) continue;
      truth[step] += {1, i};
      break;
    }
  }
  const std::vector<ItemEstimate> counts = tally.CountDueSteps(DueMoments(policy, replaced, times));
  RC_ASSERT(counts.size() == times.size());
  for (size_t step = 0; step < times.size(); ++step) {
    RC_ASSERT(counts[step].error_bound_items == 0);
    RC_ASSERT(counts[step].sum == truth[step]);
  }
}

RC_GTEST_PROP(ItemHistogramProperty, CountsWhatTheRulesCallDue, ()) {
  const Policy policy = *generators::AnyPolicy();
  const Policy other = *generators::AnyPolicy();
  const DueRule rule = ComputeDueRule(policy, {}, absl::InfinitePast());
  const DueRule other_rule = ComputeDueRule(other, {}, absl::InfinitePast());
  const int64_t now = *rc::gen::inRange<int64_t>(1, 6'000'000'000);
  const auto is_due = [now](const DueRule& by, const ItemTimes& item) {
    const std::optional<int64_t> due = DueTime(by, item);
    return due.has_value() && *due <= now;
  };
  ItemHistogram tally;
  ItemSum due, only_due;
  const int count = *rc::gen::inRange(0, 200);
  for (int i = 0; i < count; ++i) {
    const ItemTimes item = *generators::Item(generators::AnyTtl());
    const ItemSum one = {1, i};
    tally.Add(item, i);
    if (is_due(rule, item)) due += one;
    if (is_due(rule, item) && !is_due(other_rule, item)) only_due += one;
  }
  RC_ASSERT(tally.total().items == count);
  RC_ASSERT(tally.CountDue(rule, now).sum == due);
  RC_ASSERT(tally.CountDueOnlyBy(rule, other_rule, now).sum == only_due);
  RC_ASSERT(tally.CountDueOnlyBy(rule, other_rule, now).error_bound_items == 0);
}

}  // namespace
}  // namespace ttl
