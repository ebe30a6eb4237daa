#include "service/server/metrics/feed_metrics.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "service/server/metrics/container_label.h"
#include "service/server/metrics/metric_catalog.h"

namespace ttl {
namespace {

absl::Duration AgeOf(absl::Time time, absl::Time now) {
  return std::max(absl::ZeroDuration(), now - time);
}

// The feeds under one label.
struct FeedRow {
  std::optional<absl::Duration> watermark_lag;  // the greatest; absent: nothing was judged yet
  bool is_stalled = false;                      // one of them does
  int64_t expired_items = 0;
  int64_t bytes = 0;
  int64_t gated_items = 0;
  bool is_full = false;  // one of them is
};

// The subscriptions of one name under one label.
struct SubscriptionRow {
  absl::Duration unacknowledged_age;  // the greatest
  bool has_lost_events = false;
};

// The rows of a scrape, by label; of subscriptions by label and name.
struct FeedRows {
  using Names = std::pair<std::string, std::string>;
  std::map<std::string, FeedRow> feeds;
  std::map<Names, SubscriptionRow> subscriptions;
  std::map<Names, absl::Duration> gate_waits;  // of gated ones; the longest
};

void AddFeedOf(const FeedView& feeds, const Container& container, absl::Time now, FeedRow& row) {
  const FeedFigures figures = feeds.parts().feed.Figures(container);
  const FeedProgress::View progress = feeds.parts().progress.Of(container);
  // While it is not known, it is no younger than this.
  const std::optional<absl::Time> announced_until =
      progress.watermark.has_value() ? progress.watermark : progress.unknown_since;
  if (announced_until.has_value()) {
    row.watermark_lag =
        std::max(row.watermark_lag.value_or(absl::ZeroDuration()), AgeOf(*announced_until, now));
  }
  row.is_stalled = row.is_stalled || !progress.stall.empty();
  row.expired_items += figures.announced_items;
  row.bytes += figures.bytes;
  row.gated_items += figures.gated_items;
  row.is_full = row.is_full || figures.is_full;
}

void AddSubscriptionsOf(const FeedView& feeds, const Container& container, const std::string& label,
                        absl::Time now, FeedRows& rows) {
  for (const SubscriptionView& view :
       feeds.parts().feed.List(container.id, "", "", kMaxSubscriptions)) {
    SubscriptionRow& row = rows.subscriptions[{label, view.subscription.name}];
    const absl::Time oldest = feeds.OldestUnacknowledged(container, view).value_or(now);
    row.unacknowledged_age = std::max(row.unacknowledged_age, AgeOf(oldest, now));
    row.has_lost_events = row.has_lost_events || view.has_lost_events;
    if (view.subscription.gate) rows.gate_waits[{label, view.subscription.name}];
  }
}

void AddGatesOf(const FeedView& feeds, const Container& container, const std::string& label,
                absl::Time now, FeedRows& rows) {
  for (const FeedView::WaitingGate& gate : feeds.WaitingGates(container)) {
    absl::Duration& wait = rows.gate_waits[{label, gate.name}];
    wait = std::max(wait, AgeOf(gate.since.value_or(now), now));
  }
}

void SetRows(const FeedRows& rows, MetricSheet& sheet) {
  for (const auto& [label, row] : rows.feeds) {
    if (row.watermark_lag.has_value()) {
      sheet.Set(metric::kFeedWatermarkLag, absl::ToDoubleSeconds(*row.watermark_lag), {label});
    }
    sheet.Set(metric::kFeedStalled, row.is_stalled, {label});
    sheet.Set(metric::kFeedExpiredItems, row.expired_items, {label});
    sheet.Set(metric::kFeedBytes, row.bytes, {label});
    sheet.Set(metric::kFeedGatedItems, row.gated_items, {label});
    sheet.Set(metric::kFeedFull, row.is_full, {label});
  }
  for (const auto& [labels, row] : rows.subscriptions) {
    sheet.Set(metric::kFeedUnacknowledgedAge, absl::ToDoubleSeconds(row.unacknowledged_age),
              {labels.first, labels.second});
    sheet.Set(metric::kFeedLostEvents, row.has_lost_events, {labels.first, labels.second});
  }
  for (const auto& [labels, wait] : rows.gate_waits) {
    sheet.Set(metric::kFeedGateWait, absl::ToDoubleSeconds(wait), {labels.first, labels.second});
  }
}

}  // namespace

void FeedMetrics::Add(MetricSheet& sheet) const {
  const absl::Time now = parts_.clock.Read().now;
  const std::vector<ContainerPtr> containers = parts_.containers.All();
  std::vector<uint64_t> numbers;
  numbers.reserve(containers.size());
  for (const ContainerPtr& container : containers) numbers.push_back(container->number);
  const SweepBreakdown breakdown = parts_.published.Breakdown(numbers);
  FeedRows rows;
  for (const ContainerPtr& container : containers) {
    if (!container->feed.is_on()) continue;
    const bool is_named = breakdown.named.contains(container->number);
    const std::string label = is_named ? ContainerLabel(*container) : std::string(kOtherContainers);
    AddFeedOf(parts_.feeds, *container, now, rows.feeds[label]);
    AddSubscriptionsOf(parts_.feeds, *container, label, now, rows);
    AddGatesOf(parts_.feeds, *container, label, now, rows);
  }
  SetRows(rows, sheet);
  sheet.Set(metric::kFeedEventsSent, parts_.feeds.parts().sent.events());
}

}  // namespace ttl
