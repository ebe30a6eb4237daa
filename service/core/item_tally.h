#ifndef TTL_SERVICE_CORE_ITEM_TALLY_H_
#define TTL_SERVICE_CORE_ITEM_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

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

// A sum over items that are grouped by time: off by `error_bound_items` at most.
struct ItemEstimate {
  ItemSum sum;
  int64_t error_bound_items = 0;
};

// Items grouped by a time: by the second while they spread over few of them, by two,
// four, eight... seconds as they spread over more, so that memory has a bound. Negative
// times count as 0. A value.
class TimeHistogram {
 public:
  static constexpr size_t kMaxBuckets = 1024;

  void Add(int64_t seconds, int64_t bytes);
  // One that was added before. Returns whether there was one at such a time; if not,
  // nothing changes.
  bool Remove(int64_t seconds, int64_t bytes);
  // All that `other` holds.
  void Add(const TimeHistogram& other);

  // Items at or before `seconds`.
  ItemEstimate CountUpTo(int64_t seconds) const;

  // Groups that there are now, at most kMaxBuckets.
  size_t bucket_count() const { return buckets_.size(); }

  // Whether both may hold the same items: they are equal once both are grouped by
  // the wider of their groups.
  bool Agrees(const TimeHistogram& other) const;

 private:
  struct Bucket {
    int64_t start;
    ItemSum sum;

    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  int64_t StartOf(int64_t seconds) const;
  std::vector<Bucket>::iterator FindAtOrAfter(int64_t start);
  void AddSum(int64_t seconds, const ItemSum& sum);
  void Widen();

  int64_t width_ = 1;            // seconds per bucket, a power of two
  std::vector<Bucket> buckets_;  // by start; none is empty
};

// How the items of one container spread over time: those that inherit by `_ts`, those
// with an end of their own by the time they expire. So it can be said what any policy
// makes of them, without a look at them. A value.
class ItemTally {
 public:
  void Add(const ItemTimes& times, int64_t bytes);
  // One that was added before; if there can be none, nothing changes.
  void Remove(const ItemTimes& times, int64_t bytes);
  // All that `other` holds.
  void Add(const ItemTally& other);

  // All items.
  const ItemSum& total() const { return total_; }

  // Items due at `now_seconds` by `rule`. With a rule without delay: expired items.
  ItemEstimate CountDue(const DueRule& rule, int64_t now_seconds) const;

  // Items due by `rule` at `now_seconds` and not by `other`.
  ItemEstimate CountDueOnlyBy(const DueRule& rule, const DueRule& other, int64_t now_seconds) const;

  // Whether both may hold the same items; see TimeHistogram::Agrees.
  bool Agrees(const ItemTally& other) const;

 private:
  // The histogram that holds an item, and at which time; null if it can never expire.
  struct Place {
    TimeHistogram* histogram = nullptr;
    int64_t seconds = 0;
  };
  Place PlaceOf(const ItemTimes& times);

  ItemSum total_;
  TimeHistogram by_ts_;           // items that inherit
  TimeHistogram by_expire_time_;  // items with an end of their own
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ITEM_TALLY_H_
