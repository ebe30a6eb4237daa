#include "service/storage/format/feed_codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

TEST(FeedCodecTest, AnEventComesBackWithEveryField) {
  FeedEvent event;
  event.sequence = 7;
  event.time = absl::FromUnixMicros(1'800'000'000'000'001);
  event.key = {std::string("p\0q", 3), "id"};
  event.ts = 1'800'000'000;
  event.ttl_source = TtlSource::kExpireAt;
  event.expire_time = 1'800'000'060;
  event.expired_sequence = uint64_t{1} << 63;
  event.late = true;
  event.superseded = true;
  event.lateness_seconds = 3;
  event.new_ts = 1'800'000'061;
  event.default_ttl = kNeverExpires;
  event.old_default_ttl = 60;
  event.given_up_subscriptions = {"archive", "mail"};
  event.served_seconds = 11;
  for (int kind = 1; kind <= kEventKinds; ++kind) {
    event.kind = static_cast<EventKind>(kind);
    EXPECT_EQ(*DecodeEvent(7, EncodeEvent(event)), event);
  }
  FeedEvent least;
  least.kind = EventKind::kResync;
  least.time = absl::UnixEpoch();
  EXPECT_EQ(*DecodeEvent(0, EncodeEvent(least)), least);
}

TEST(FeedCodecTest, ASubscriptionComesBackWithEveryField) {
  const Subscription subscription = {
      "s", {EventKind::kExpired, EventKind::kPurged}, "cn:worker", absl::FromUnixSeconds(5), 9};
  EXPECT_EQ(*DecodeSubscription("s", EncodeSubscription(subscription)), subscription);
  Subscription gate = subscription;
  gate.gate = true;
  gate.give_up_after_seconds = 60;
  gate.gate_sequence = 7;
  gate.served_seconds = 3;
  EXPECT_EQ(*DecodeSubscription("s", EncodeSubscription(gate)), gate);
}

TEST(FeedCodecTest, DamagedRecordsAreDataLoss) {
  FeedEvent event;
  event.kind = static_cast<EventKind>(kEventKinds + 1);
  EXPECT_EQ(DecodeEvent(1, EncodeEvent(event)).status().code(), absl::StatusCode::kDataLoss);
  event.kind = EventKind::kExpired;
  event.ttl_source = static_cast<TtlSource>(9);
  EXPECT_EQ(DecodeEvent(1, EncodeEvent(event)).status().code(), absl::StatusCode::kDataLoss);
  for (const std::string bytes : {"\xff", "\x08"}) {
    EXPECT_EQ(DecodeEvent(1, bytes).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(DecodeFeedTrim(bytes).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(DecodeSubscription("s", bytes).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(FeedCodecTest, KeysOfEventsAreInTheOrderOfTheirSequencesAndTheirFeeds) {
  std::string before;
  for (const uint64_t feed : {uint64_t{1}, uint64_t{256}}) {
    for (const uint64_t sequence : {uint64_t{1}, uint64_t{255}, uint64_t{256}, uint64_t{1} << 63}) {
      const std::string key = EventKey(feed, sequence);
      EXPECT_LT(before, key);
      EXPECT_EQ(DecodeNumber(key), feed);
      EXPECT_EQ(DecodeEventSequence(key), sequence);
      before = key;
    }
  }
  EXPECT_EQ(DecodeEventSequence(EventPrefix(1)), std::nullopt);
  EXPECT_EQ(DecodeEventSequence(FeedTrimKey(1)), std::nullopt);
  EXPECT_EQ(DecodeSubscriptionName(SubscriptionKey(1, "a/b")), "a/b");
  EXPECT_EQ(DecodeSubscriptionName(SubscriptionPrefix(1)), std::nullopt);
}

TEST(FeedCodecTest, APurgeRecordSaysWhatItIsOf) {
  for (const PurgeKind kind : {PurgeKind::kIndex, PurgeKind::kContainer, PurgeKind::kFeed}) {
    EXPECT_EQ(*DecodePurge(EncodePurge(kind)), kind);
  }
}

}  // namespace
}  // namespace ttl
