#ifndef TTL_CLIENT_TTLCTL_TEXT_FEED_FEED_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_FEED_FEED_TEXT_H_

#include <string>

#include "client/ttlctl/text/table.h"
#include "ttl/v1/feed.pb.h"

// Human-readable text of the feed of a container and of its subscriptions. Pure functions.
namespace ttl {

// "kept for 1d and up to 1,073,741,824 bytes; notice 10m". Absent settings have their defaults.
std::string FeedSettingsText(const v1::FeedSettings& settings);

// The exact settings, equal only if they mean the same: "{max age 86400s, ...}".
std::string ExactFeedSettings(const v1::FeedSettings& settings);

// What a status says of the feed of a container, and a line per subscription.
std::string FeedStatusText(const v1::FeedStatus& feed);

// One subscription with all its fields.
std::string SubscriptionText(const v1::Subscription& subscription);

// A table of subscriptions, and one of them in it.
Table SubscriptionTable();
void AddSubscriptionRow(const v1::Subscription& subscription, Table& table);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FEED_FEED_TEXT_H_
