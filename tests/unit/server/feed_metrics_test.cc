#include "service/server/metrics/feed_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/scrape.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kNow = kT + 1000;

// The metrics of feeds about which the test says what the announcer would have done.
class FeedMetricsTest : public testing::Test {
 protected:
  FeedMetricsTest() {
    storage_->feed().SetClock([this] {
      const absl::Time now = guarded_clock_.Read().now;
      return FeedMoment{.now = now, .judged_at = now};
    });
  }

  Scrape Read(size_t max_named = 50) {
    PublishedSweep published(max_named);
    const FeedMetrics metrics({storage_->containers(), published, view_, guarded_clock_});
    MetricSheet sheet;
    metrics.Add(sheet);
    return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
  }
  double Of(const std::string& metric, const std::string& container = "c", size_t max_named = 50) {
    return Read(max_named).Value(
        absl::StrCat("ttl_sidecar_feed_", metric, "{container=\"", container, "\"}"));
  }
  double OfSubscription(const std::string& metric, const std::string& name) {
    return Read().Value(
        absl::StrCat("ttl_sidecar_feed_", metric, "{container=\"c\",subscription=\"", name, "\"}"));
  }

  void CreateWithFeed(const std::string& id) {
    storage_.Create(id, -1);
    ContainerSettings settings = storage_.Find(id)->settings;
    settings.feed.emplace();
    ASSERT_TRUE(storage_.Update(id, settings).ok());
  }
  // Tracks an item that is expired, which tells so.
  void Expire(const std::string& id, const std::string& key) { storage_.TrackOne(id, key, kT, 5); }
  void Subscribe(const std::string& name, bool gate = false) {
    Subscription subscription;
    subscription.name = name;
    subscription.gate = gate;
    const auto created = Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
      storage_->feed().Subscribe("c", subscription, guarded_clock_.Read().now, std::move(done));
    });
    ASSERT_TRUE(created.ok()) << created.status();
  }

  FakeClock clock_{absl::FromUnixSeconds(kNow)};
  GuardedClock guarded_clock_{clock_, std::nullopt};
  StorageForTest storage_;
  FeedProgress progress_;
  SentMarks sent_;
  const FeedView view_{{storage_->feed(), progress_, sent_}};
};

TEST_F(FeedMetricsTest, AContainerWithoutAFeedHasNone) {
  storage_.Create("c", -1);
  EXPECT_THAT(Read().Labels("container"), IsEmpty());
  EXPECT_EQ(Read().Value("ttl_sidecar_feed_events_sent_total"), 0);
}

TEST_F(FeedMetricsTest, TheWatermarkAgesAndAStallIsSeen) {
  CreateWithFeed("c");
  EXPECT_EQ(Of("stalled"), 1) << "not started yet";
  EXPECT_FALSE(Read().Find("ttl_sidecar_feed_watermark_lag_seconds{container=\"c\"}").has_value());
  progress_.Cover(*storage_.Find("c"), std::nullopt, "");
  progress_.Advance(absl::FromUnixSeconds(kNow - 7));
  EXPECT_EQ(Of("watermark_lag_seconds"), 7);
  EXPECT_EQ(Of("stalled"), 0);
  progress_.Stall("the clock is suspect");
  EXPECT_EQ(Of("stalled"), 1);
}

TEST_F(FeedMetricsTest, TheLagGrowsWhileTheItemsAreLookedAtForTheFirstTime) {
  CreateWithFeed("c");
  const uint64_t number = storage_.Find("c")->number;
  progress_.Uncover(number, "");
  EXPECT_FALSE(Read().Find("ttl_sidecar_feed_watermark_lag_seconds{container=\"c\"}").has_value());
  for (const int64_t seconds : {0, 30, 60}) {
    progress_.Advance(absl::FromUnixSeconds(kNow + seconds));
    progress_.Uncover(number, "");
    clock_.Advance(absl::FromUnixSeconds(kNow + seconds) - guarded_clock_.Read().now);
    EXPECT_EQ(Of("watermark_lag_seconds"), seconds);
  }
  progress_.Cover(*storage_.Find("c"), std::nullopt, "");
  EXPECT_EQ(Of("watermark_lag_seconds"), 0);
  // After a change of policy it is not known again.
  progress_.Uncover(number, "");
  clock_.Advance(absl::Seconds(7));
  progress_.Advance(guarded_clock_.Read().now);
  EXPECT_EQ(Of("watermark_lag_seconds"), 7);
}

TEST_F(FeedMetricsTest, ExpiredItemsAndBytesAreCounted) {
  CreateWithFeed("c");
  EXPECT_EQ(Of("expired_items"), 0);
  EXPECT_EQ(Of("bytes"), 0);
  Expire("c", "a");
  Expire("c", "b");
  EXPECT_EQ(Of("expired_items"), 2);
  const double bytes = Of("bytes");
  EXPECT_GT(bytes, 0);
  storage_.UntrackOne("c", "a", kNow);
  EXPECT_EQ(Of("expired_items"), 1);
  EXPECT_GT(Of("bytes"), bytes);
}

TEST_F(FeedMetricsTest, ASubscriptionAgesUntilItAcknowledges) {
  CreateWithFeed("c");
  Subscribe("s");
  EXPECT_EQ(OfSubscription("unacknowledged_age_seconds", "s"), 0);
  Expire("c", "a");
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(OfSubscription("unacknowledged_age_seconds", "s"), 30);
  EXPECT_EQ(OfSubscription("lost_events", "s"), 0);
  const uint64_t last = storage_->feed().Find("c", "s")->last_sequence;
  const uint64_t epoch = storage_->feed().EpochOf(*storage_.Find("c"));
  ASSERT_TRUE(Await<absl::StatusOr<uint64_t>>([&](auto done) {
                storage_->feed().Acknowledge("c", "s", epoch, last, std::move(done));
              }).ok());
  EXPECT_EQ(OfSubscription("unacknowledged_age_seconds", "s"), 0);
}

TEST_F(FeedMetricsTest, AGateHasAWaitWhileItemsWaitForIt) {
  CreateWithFeed("c");
  Subscribe("s");
  Subscribe("gate", /*gate=*/true);
  Expire("c", "a");
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(Of("gated_items"), 0);
  EXPECT_EQ(OfSubscription("gate_wait_seconds", "gate"), 0) << "nothing is due";
  const uint64_t container = storage_.Find("c")->number;
  ASSERT_EQ(Await<absl::StatusOr<int64_t>>([&](auto done) {
              storage_->feed().SetAside(
                  container, {{KeyOf("a"), storage_.FindItem("c", "a")->generation, false}},
                  std::move(done));
            }).value_or(0),
            1);
  EXPECT_EQ(Of("gated_items"), 1);
  EXPECT_EQ(OfSubscription("gate_wait_seconds", "gate"), 30);
  EXPECT_EQ(Of("full"), 0);
  EXPECT_FALSE(Read()
                   .Find("ttl_sidecar_feed_gate_wait_seconds{container=\"c\",subscription=\"s\"}")
                   .has_value());
}

TEST_F(FeedMetricsTest, ALogThatAGateFillsIsFull) {
  CreateWithFeed("c");
  ContainerSettings settings = storage_.Find("c")->settings;
  settings.feed->max_bytes = FeedSettings::kMinMaxBytes;
  ASSERT_TRUE(storage_.Update("c", settings).ok());
  Subscribe("gate", /*gate=*/true);
  for (int i = 0; i < 1100; ++i) Expire("c", absl::StrCat(std::string(1000, 'x'), i));
  EXPECT_EQ(Of("full"), 1);
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(OfSubscription("gate_wait_seconds", "gate"), 30);
}

TEST_F(FeedMetricsTest, ContainersBeyondTheLimitAreSummedUp) {
  for (const std::string id : {"c", "d", "e"}) {
    CreateWithFeed(id);
    Expire(id, "a");
  }
  EXPECT_EQ(Of("expired_items", "other", /*max_named=*/1), 2);
}

TEST_F(FeedMetricsTest, SentEventsAreCounted) {
  sent_.CountEvents(3);
  EXPECT_EQ(Read().Value("ttl_sidecar_feed_events_sent_total"), 3);
}

}  // namespace
}  // namespace ttl
