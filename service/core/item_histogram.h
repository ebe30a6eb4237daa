#ifndef TTL_SERVICE_CORE_ITEM_HISTOGRAM_H_
#define TTL_SERVICE_CORE_ITEM_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "service/core/due_rules.h"
#include "service/core/item.h"

namespace ttl {

// A number of items and their size.
struct ItemSum {
  int64_t items = 0;
  int64_t bytes = 0;

  ItemSum& operator+=(const ItemSum& other);
  ItemSum& operator-=(const ItemSum& other);
  friend bool operator==(const ItemSum&, const ItemSum&) = default;
};

// A sum over items that are grouped by time; at most `error_bound_items` off.
struct ItemEstimate {
  ItemSum sum;
  int64_t error_bound_items = 0;
};

// The rule by which items are due at `time`, Unix seconds.
struct DueMoment {
  int64_t time = 0;
  DueRule rule;
};

// A histogram of items by time. Buckets are one second wide at first and double in width as needed,
// so that there are at most kMaxBuckets. Negative times count as 0. A value; not thread-safe.
class TimeHistogram {
 public:
  static constexpr size_t kMaxBuckets = 1024;

  void Add(int64_t seconds, int64_t bytes);
  // Removes an item that was added before. Returns false, and changes nothing, if there is none at
  // such a time.
  bool Remove(int64_t seconds, int64_t bytes);
  // Adds all items of `other`.
  void Add(const TimeHistogram& other);

  // The items at or before `seconds`.
  ItemEstimate CountUpTo(int64_t seconds) const;

  // The items of each interval between two neighbours of `cuts`, which ascend: those after cuts[i],
  // and at or before cuts[i + 1]. One pass, whatever the number of cuts. The bound of an interval
  // is at most the items of the two buckets in which it begins and ends. REQUIRES: there is a cut.
  std::vector<ItemEstimate> CountBetween(absl::Span<const int64_t> cuts) const;

  // The number of buckets, at most kMaxBuckets.
  size_t bucket_count() const { return buckets_.size(); }

  // Whether both may hold the same items: they are equal once both have the wider buckets of the
  // two.
  bool Agrees(const TimeHistogram& other) const;

 private:
  struct Bucket {
    int64_t start;
    ItemSum sum;

    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  int64_t StartOf(int64_t seconds) const;
  // The last second of `bucket`.
  int64_t EndOf(const Bucket& bucket) const { return bucket.start + (width_ - 1); }
  // The items of `bucket` at or before `seconds`; they are taken to be spread evenly.
  ItemSum PartUpTo(const Bucket& bucket, int64_t seconds) const;
  void AddShares(const Bucket& bucket, absl::Span<const int64_t> cuts,
                 absl::Span<ItemEstimate> counts) const;
  std::vector<Bucket>::iterator FindAtOrAfter(int64_t start);
  void AddSum(int64_t seconds, const ItemSum& sum);
  void Widen();

  int64_t width_ = 1;            // seconds per bucket, a power of two
  std::vector<Bucket> buckets_;  // by start; none is empty
};

// The items of one container by time: those that inherit by base(), those with an end of their own
// by their expire time. The effect of any policy can be computed from it without reading the items.
// A value; not thread-safe.
class ItemHistogram {
 public:
  void Add(const ItemTimes& times, int64_t bytes);
  // Removes an item that was added before. No effect if there can be none.
  void Remove(const ItemTimes& times, int64_t bytes);
  // Adds all items of `other`.
  void Add(const ItemHistogram& other);

  // All items.
  const ItemSum& total() const { return total_; }

  // Items due at `now_seconds` under `rule`. With a rule without delay: expired items.
  ItemEstimate CountDue(const DueRule& rule, int64_t now_seconds) const;

  // Items due at `now_seconds` under `rule` but not under `other`.
  ItemEstimate CountDueOnlyBy(const DueRule& rule, const DueRule& other, int64_t now_seconds) const;

  // The items that become due at each of `moments`, which ascend, since the one before it; at the
  // first one, all that are due by then. The rule of a moment must keep nothing that the rule of an
  // earlier one does not.
  std::vector<ItemEstimate> CountDueSteps(absl::Span<const DueMoment> moments) const;

  // Whether both may hold the same items; see TimeHistogram::Agrees.
  bool Agrees(const ItemHistogram& other) const;

 private:
  // The histogram and the time to which an item belongs; null if it can never expire.
  struct Place {
    TimeHistogram* histogram = nullptr;
    int64_t seconds = 0;
  };
  Place PlaceOf(const ItemTimes& times);

  ItemSum total_;
  TimeHistogram by_base_;         // items that inherit
  TimeHistogram by_expire_time_;  // items with an end of their own
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ITEM_HISTOGRAM_H_
