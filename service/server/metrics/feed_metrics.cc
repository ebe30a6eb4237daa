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
  std::optional<absl::Duration> watermark_lag;  // the greatest; absent: none is known
  bool is_stalled = false;                      // one of them does
  int64_t expired_items = 0;
  int64_t bytes = 0;
};

// The subscriptions of one name under one label.
struct SubscriptionRow {
  absl::Duration unacknowledged_age;  // the greatest
  bool has_lost_events = false;
};

// The rows of a scrape, by label.
struct FeedRows {
  std::map<std::string, FeedRow> feeds;
  std::map<std::pair<std::string, std::string>, SubscriptionRow> subscriptions;
};

void AddFeedOf(const FeedView& feeds, const Container& container, absl::Time now, FeedRow& row) {
  const FeedFigures figures = feeds.parts().feed.Figures(container);
  const FeedProgress::View progress = feeds.parts().progress.Of(container);
  if (progress.watermark.has_value()) {
    row.watermark_lag =
        std::max(row.watermark_lag.value_or(absl::ZeroDuration()), AgeOf(*progress.watermark, now));
  }
  row.is_stalled = row.is_stalled || !progress.stall.empty();
  row.expired_items += figures.announced_items;
  row.bytes += figures.bytes;
}

void AddSubscriptionsOf(const FeedView& feeds, const Container& container, const std::string& label,
                        absl::Time now, FeedRows& rows) {
  for (const SubscriptionView& view :
       feeds.parts().feed.List(container.id, "", "", kMaxSubscriptions)) {
    SubscriptionRow& row = rows.subscriptions[{label, view.subscription.name}];
    const absl::Time oldest = feeds.OldestUnacknowledged(container, view).value_or(now);
    row.unacknowledged_age = std::max(row.unacknowledged_age, AgeOf(oldest, now));
    row.has_lost_events = row.has_lost_events || view.has_lost_events;
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
  }
  for (const auto& [labels, row] : rows.subscriptions) {
    sheet.Set(metric::kFeedUnacknowledgedAge, absl::ToDoubleSeconds(row.unacknowledged_age),
              {labels.first, labels.second});
    sheet.Set(metric::kFeedLostEvents, row.has_lost_events, {labels.first, labels.second});
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
  }
  SetRows(rows, sheet);
  sheet.Set(metric::kFeedEventsSent, parts_.feeds.parts().sent.events());
}

}  // namespace ttl
