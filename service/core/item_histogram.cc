#include "service/core/item_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "service/base/saturated_add.h"

namespace ttl {
namespace {

// Items counted up to the cut `now - wait` of one histogram; none without a wait.
ItemEstimate CountUpToCut(const TimeHistogram& histogram, std::optional<int64_t> wait,
                          int64_t now_seconds) {
  if (!wait.has_value()) return {};
  return histogram.CountUpTo(SaturatedAdd(now_seconds, -*wait));
}

// The items in `wide` that are not in `narrow`, which is a part of it.
ItemEstimate DifferenceOf(ItemEstimate wide, const ItemEstimate& narrow) {
  wide.sum -= narrow.sum;
  wide.error_bound_items += narrow.error_bound_items;
  return wide;
}

ItemEstimate Sum(ItemEstimate a, const ItemEstimate& b) {
  a.sum += b.sum;
  a.error_bound_items += b.error_bound_items;
  return a;
}

// The cuts of one histogram for each of `moments`, behind one that is before all items.
std::vector<int64_t> CutsAt(absl::Span<const DueMoment> moments,
                            std::optional<int64_t> DueRule::*wait) {
  std::vector<int64_t> cuts = {std::numeric_limits<int64_t>::min()};
  cuts.reserve(moments.size() + 1);
  for (const DueMoment& moment : moments) {
    const std::optional<int64_t>& seconds = moment.rule.*wait;
    const int64_t cut = seconds.has_value() ? SaturatedAdd(moment.time, -*seconds) : cuts.back();
    cuts.push_back(std::max(cut, cuts.back()));
  }
  return cuts;
}

// Items of one histogram that are due after `wait` but not yet after `longer`.
ItemEstimate CountBetween(const TimeHistogram& histogram, std::optional<int64_t> wait,
                          std::optional<int64_t> longer, int64_t now_seconds) {
  if (wait == longer) return {};
  return DifferenceOf(CountUpToCut(histogram, wait, now_seconds),
                      CountUpToCut(histogram, longer, now_seconds));
}

}  // namespace

ItemSum& ItemSum::operator+=(const ItemSum& other) {
  items += other.items;
  bytes += other.bytes;
  return *this;
}

ItemSum& ItemSum::operator-=(const ItemSum& other) {
  items -= other.items;
  bytes -= other.bytes;
  return *this;
}

int64_t TimeHistogram::StartOf(int64_t seconds) const {
  return std::max<int64_t>(seconds, 0) & ~(width_ - 1);
}

std::vector<TimeHistogram::Bucket>::iterator TimeHistogram::FindAtOrAfter(int64_t start) {
  // Most items are reported as they are written: in the newest bucket, or in a new one.
  if (buckets_.empty() || buckets_.back().start < start) return buckets_.end();
  if (buckets_.back().start == start) return buckets_.end() - 1;
  return std::lower_bound(
      buckets_.begin(), buckets_.end(), start,
      [](const Bucket& bucket, int64_t wanted) { return bucket.start < wanted; });
}

void TimeHistogram::Add(int64_t seconds, int64_t bytes) { AddSum(seconds, {1, bytes}); }

void TimeHistogram::AddSum(int64_t seconds, const ItemSum& sum) {
  const int64_t start = StartOf(seconds);
  const auto it = FindAtOrAfter(start);
  if (it != buckets_.end() && it->start == start) {
    it->sum += sum;
    return;
  }
  if (buckets_.size() == kMaxBuckets) {
    Widen();
    return AddSum(seconds, sum);
  }
  buckets_.insert(it, {start, sum});
}

void TimeHistogram::Add(const TimeHistogram& other) {
  while (width_ < other.width_) Widen();
  for (const Bucket& bucket : other.buckets_) AddSum(bucket.start, bucket.sum);
}

bool TimeHistogram::Remove(int64_t seconds, int64_t bytes) {
  const int64_t start = StartOf(seconds);
  const auto it = FindAtOrAfter(start);
  if (it == buckets_.end() || it->start != start) return false;
  it->sum -= {1, bytes};
  if (it->sum.items == 0) buckets_.erase(it);
  if (buckets_.empty()) width_ = 1;
  return true;
}

// There are at most 2^63 / width_ buckets, so the width never passes 2^54.
void TimeHistogram::Widen() {
  width_ *= 2;
  size_t kept = 0;
  for (const Bucket& bucket : buckets_) {
    const int64_t start = StartOf(bucket.start);
    if (kept > 0 && buckets_[kept - 1].start == start) {
      buckets_[kept - 1].sum += bucket.sum;
    } else {
      buckets_[kept++] = {start, bucket.sum};
    }
  }
  buckets_.resize(kept);
}

ItemSum TimeHistogram::PartUpTo(const Bucket& bucket, int64_t seconds) const {
  if (seconds < bucket.start) return {};
  if (seconds >= EndOf(bucket)) return bucket.sum;
  const double share =
      static_cast<double>(seconds - bucket.start + 1) / static_cast<double>(width_);
  return {std::llround(static_cast<double>(bucket.sum.items) * share),
          std::llround(static_cast<double>(bucket.sum.bytes) * share)};
}

ItemEstimate TimeHistogram::CountUpTo(int64_t seconds) const {
  return CountBetween({std::numeric_limits<int64_t>::min(), seconds}).front();
}

std::vector<ItemEstimate> TimeHistogram::CountBetween(absl::Span<const int64_t> cuts) const {
  std::vector<ItemEstimate> counts(cuts.size() - 1);
  size_t first = 0;  // the first interval that does not end before the bucket
  for (const Bucket& bucket : buckets_) {
    while (first < counts.size() && cuts[first + 1] < bucket.start) ++first;
    if (first == counts.size()) break;
    AddShares(bucket, cuts.subspan(first), absl::MakeSpan(counts).subspan(first));
  }
  return counts;
}

void TimeHistogram::AddShares(const Bucket& bucket, absl::Span<const int64_t> cuts,
                              absl::Span<ItemEstimate> counts) const {
  ItemSum before = PartUpTo(bucket, cuts[0]);
  for (size_t i = 0; i < counts.size() && cuts[i] < EndOf(bucket); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    const ItemSum up_to = PartUpTo(bucket, cuts[i + 1]);
    ItemSum part = up_to;
    part -= before;
    before = up_to;
    counts[i].sum += part;
    // A bucket that is cut may have all of its items on either side.
    const bool is_cut = cuts[i] >= bucket.start || cuts[i + 1] < EndOf(bucket);
    if (is_cut) {
      counts[i].error_bound_items += std::max(part.items, bucket.sum.items - part.items);
    }
  }
}

bool TimeHistogram::Agrees(const TimeHistogram& other) const {
  TimeHistogram a = *this;
  TimeHistogram b = other;
  while (a.width_ < b.width_) a.Widen();
  while (b.width_ < a.width_) b.Widen();
  return a.buckets_ == b.buckets_;
}

ItemHistogram::Place ItemHistogram::PlaceOf(const ItemTimes& times) {
  const OwnEnd own = ComputeOwnEnd(times);
  switch (own.kind) {
    case OwnEnd::Kind::kNever:
      return {};
    case OwnEnd::Kind::kInherited:
      return {&by_base_, times.base()};
    case OwnEnd::Kind::kAt:
      return {&by_expire_time_, own.time};
  }
  return {};
}

void ItemHistogram::Add(const ItemTimes& times, int64_t bytes) {
  total_ += {1, bytes};
  const Place place = PlaceOf(times);
  if (place.histogram != nullptr) place.histogram->Add(place.seconds, bytes);
}

void ItemHistogram::Remove(const ItemTimes& times, int64_t bytes) {
  const Place place = PlaceOf(times);
  const bool found =
      place.histogram == nullptr ? total_.items > 0 : place.histogram->Remove(place.seconds, bytes);
  if (found) total_ -= {1, bytes};
}

void ItemHistogram::Add(const ItemHistogram& other) {
  total_ += other.total_;
  by_base_.Add(other.by_base_);
  by_expire_time_.Add(other.by_expire_time_);
}

ItemEstimate ItemHistogram::CountDue(const DueRule& rule, int64_t now_seconds) const {
  return CountDueOnlyBy(rule, DueRule(), now_seconds);
}

ItemEstimate ItemHistogram::CountDueOnlyBy(const DueRule& rule, const DueRule& other,
                                           int64_t now_seconds) const {
  const DueRule both = StricterOf(rule, other);
  return Sum(CountBetween(by_base_, rule.inherited_wait, both.inherited_wait, now_seconds),
             CountBetween(by_expire_time_, rule.own_extra, both.own_extra, now_seconds));
}

std::vector<ItemEstimate> ItemHistogram::CountDueSteps(absl::Span<const DueMoment> moments) const {
  std::vector<ItemEstimate> steps =
      by_base_.CountBetween(CutsAt(moments, &DueRule::inherited_wait));
  const std::vector<ItemEstimate> own =
      by_expire_time_.CountBetween(CutsAt(moments, &DueRule::own_extra));
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = Sum(steps[i], own[i]);
  return steps;
}

bool ItemHistogram::Agrees(const ItemHistogram& other) const {
  return total_ == other.total_ && by_base_.Agrees(other.by_base_) &&
         by_expire_time_.Agrees(other.by_expire_time_);
}

}  // namespace ttl
