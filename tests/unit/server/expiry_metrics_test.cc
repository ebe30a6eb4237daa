#include "service/server/metrics/expiry_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/server/metrics/metric_catalog.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

constexpr int64_t kTtl = 100;

// The metrics of a sweeper that works when it is told to.
class ExpiryMetricsTest : public testing::Test {
 protected:
  Scrape Read() {
    const ExpiryView view(ViewParts(published()));
    const ExpiryMetrics metrics(
        {*harness_.storage, published(), view, absl::ZeroDuration(), overdue_});
    MetricSheet sheet;
    metrics.Add(sheet);
    return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
  }
  double Of(const std::string& metric, const std::string& container) {
    return Read().Value(absl::StrCat("ttl_sidecar_", metric, "{container=\"", container, "\"}"));
  }
  double Deletes(const std::string& container, const std::string& outcome) {
    return Read().Value(absl::StrCat("ttl_sidecar_deletes_total{container=\"", container,
                                     "\",outcome=\"", outcome, "\"}"));
  }
  bool IsHeld(const std::string& container, const std::string& hold) {
    return Read()
        .Find(absl::StrCat("ttl_sidecar_delete_hold{container=\"", container, "\",hold=\"", hold,
                           "\"}"))
        .has_value();
  }
  double Value(const std::string& name) { return Read().Value("ttl_sidecar_" + name); }

  void AnswerAll(v1::DeleteOutcome outcome) {
    harness_.store.SetBeforeDelete([outcome](const auto& request, auto& response) {
      for (int i = 0; i < request.items_size(); ++i) {
        response.add_results()->set_outcome(outcome);
      }
      return std::optional<grpc::Status>(grpc::Status::OK);
    });
  }

  void HoldKey(const std::string& container, const std::string& id) {
    const HoldRequest hold = {
        .hold_id = "h", .reason = "r", .author = "", .until = {}, .scope = ItemsByKey{{KeyOf(id)}}};
    const auto placed = Await<absl::StatusOr<PlacedHold>>([&](auto done) {
      harness_.storage->holds().Place(container, hold, absl::FromUnixSeconds(harness_.Now()),
                                      std::move(done));
    });
    ASSERT_TRUE(placed.ok()) << placed.status();
  }

  virtual PublishedSweep& published() { return harness_.published; }

  ExpiryView::Parts ViewParts(PublishedSweep& published) {
    return {.storage = *harness_.storage,
            .clock = *harness_.guarded_clock,
            .system_clock = harness_.clock,
            .published = published,
            .usage = harness_.usage,
            .limit = harness_.levers->limit(),
            .trust = harness_.levers->store_trust(),
            .container_max_deletes_per_second = std::nullopt};
  }

  SweepHarness harness_;
  SentMarks sent_;
  const FeedView feeds_{{harness_.storage->feed(), harness_.feed_progress, sent_}};
  OverdueWatch overdue_{ViewParts(harness_.published), feeds_, absl::ZeroDuration()};
};

TEST_F(ExpiryMetricsTest, TheOldestDueItemAgesUntilItIsDeleted) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "old", harness_.Now());
  harness_.clock.Advance(absl::Seconds(30));
  harness_.Write("c", "new", harness_.Now());
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 0);
  EXPECT_EQ(Of("backlog_items", "c"), 0);

  harness_.clock.Advance(absl::Seconds(kTtl));
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 30);
  EXPECT_EQ(Of("backlog_items", "c"), 2);
  EXPECT_EQ(Of("tracked_items", "c"), 2);

  harness_.SweepNow();
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 0);
  EXPECT_EQ(Of("backlog_items", "c"), 0);
  EXPECT_EQ(Of("tracked_items", "c"), 0);
}

TEST_F(ExpiryMetricsTest, TheForecastCountsItemsUntilTheyExpire) {
  const auto expiring = [this](const std::string& within) {
    return Read().Value(
        absl::StrCat("ttl_sidecar_expiring_items{container=\"c\",within=\"", within, "\"}"));
  };
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "inherits", harness_.Now());
  harness_.Write("c", "day", harness_.Now(), 3601);
  harness_.Write("c", "week", harness_.Now(), 86401);
  harness_.Write("c", "later", harness_.Now(), 9 * 86400);
  EXPECT_EQ(expiring("hour"), 1);
  EXPECT_EQ(expiring("day"), 2);
  EXPECT_EQ(expiring("week"), 3);
  harness_.clock.Advance(absl::Seconds(3600));
  EXPECT_EQ(expiring("hour"), 1);
  EXPECT_EQ(expiring("day"), 2);
  EXPECT_EQ(expiring("week"), 2);
}

TEST_F(ExpiryMetricsTest, ARewrittenItemIsNotTakenForTheOldest) {
  harness_.storage.Create("c", kTtl);
  harness_.storage.Pause("c", true);
  harness_.Write("c", "rewritten", harness_.Now());
  harness_.clock.Advance(absl::Seconds(20));
  harness_.Write("c", "due", harness_.Now());
  harness_.clock.Advance(absl::Seconds(60));
  // Its index entry stays where it is: early.
  harness_.Write("c", "rewritten", harness_.Now());
  harness_.clock.Advance(absl::Seconds(50));
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 10);
}

TEST_F(ExpiryMetricsTest, LatenessIsThatOfTheDeletes) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now());
  harness_.clock.Advance(absl::Seconds(kTtl + 20));
  harness_.SweepNow();
  const Scrape scrape = Read();
  const std::string bucket = "ttl_sidecar_delete_lateness_seconds_bucket{container=\"c\",le=\"";
  EXPECT_EQ(scrape.Value(bucket + "10\"}"), 0);
  EXPECT_EQ(scrape.Value(bucket + "30\"}"), 1);
  EXPECT_EQ(scrape.Value("ttl_sidecar_delete_lateness_seconds_sum{container=\"c\"}"), 20);
}

TEST_F(ExpiryMetricsTest, DeletesCountByOutcome) {
  const std::pair<v1::DeleteOutcome, std::string> kCases[] = {
      {v1::DELETE_OUTCOME_DELETED, "deleted"},
      {v1::DELETE_OUTCOME_NOT_FOUND, "not_found"},
      {v1::DELETE_OUTCOME_NOT_EXPIRED, "not_expired"},
      {v1::DELETE_OUTCOME_THROTTLED, "throttled"},
      {v1::DELETE_OUTCOME_FAILED, "failed"}};
  for (const auto& [outcome, name] : kCases) {
    harness_.storage.Create(name, kTtl);
    harness_.Write(name, "a", harness_.Now() - kTtl);
    AnswerAll(outcome);
    EXPECT_EQ(Deletes(name, name), 0);
    harness_.Step();
    EXPECT_EQ(Deletes(name, name), 1) << name;
    EXPECT_EQ(Of("deletes_sent_total", name), 1) << name;
  }
}

TEST_F(ExpiryMetricsTest, DeletesThatRanOutOfTimeAreNotThrottledOnes) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now() - kTtl);
  harness_.store.SetBeforeDelete([](const auto&, v1::DeleteItemsResponse& response) {
    v1::DeleteResult& result = *response.add_results();
    result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    result.set_throttle_reason(v1::THROTTLE_REASON_OUT_OF_TIME);
    return std::optional<grpc::Status>(grpc::Status::OK);
  });
  harness_.Step();
  EXPECT_EQ(Deletes("c", "out_of_time"), 1);
  EXPECT_EQ(Deletes("c", "throttled"), 0);
  const Scrape scrape = Read();
  EXPECT_EQ(scrape.Value("ttl_sidecar_push_backs_total{kind=\"out_of_time\"}"), 1);
  EXPECT_EQ(scrape.Value("ttl_sidecar_push_backs_total{kind=\"throttled\"}"), 0);
}

TEST_F(ExpiryMetricsTest, AnItemThatFailsCountsUntilItIsGone) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now() - kTtl);
  EXPECT_EQ(Of("failing_items", "c"), 0);
  AnswerAll(v1::DELETE_OUTCOME_FAILED);
  harness_.SweepNow();
  EXPECT_EQ(Of("failing_items", "c"), 1);
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 0);
  harness_.store.SetBeforeDelete(nullptr);
  harness_.SweepFor(absl::Minutes(5));
  EXPECT_EQ(Of("failing_items", "c"), 0);
}

TEST_F(ExpiryMetricsTest, AnItemThatWaitsForAnotherTryIsStillTheOldest) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now() - kTtl);
  AnswerAll(v1::DELETE_OUTCOME_FAILED);
  harness_.SweepFor(absl::Minutes(10));
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 600);
}

TEST_F(ExpiryMetricsTest, FailingItemsAreCountedAnewAfterARestart) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now() - kTtl);
  AnswerAll(v1::DELETE_OUTCOME_FAILED);
  harness_.SweepNow();
  harness_.Restart();
  EXPECT_EQ(Value("uncounted_containers"), 1);
  harness_.storage.FinishHousekeeping();
  EXPECT_EQ(Value("uncounted_containers"), 0);
  EXPECT_EQ(Of("failing_items", "c"), 1);
}

TEST_F(ExpiryMetricsTest, HeldItemsAreCountedAndAreNoBacklog) {
  harness_.storage.Create("c", kTtl);
  HoldKey("c", "a");
  harness_.Write("c", "a", harness_.Now() - kTtl);
  harness_.SweepNow();
  EXPECT_EQ(Of("holds", "c"), 1);
  EXPECT_EQ(Of("items_set_aside", "c"), 1);
  EXPECT_EQ(Of("backlog_items", "c"), 0);
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 0);
}

TEST_F(ExpiryMetricsTest, ItemsThatWaitForAGateAreNoBacklog) {
  harness_.CreateWithFeed("c", kTtl);
  Subscription gate;
  gate.name = "archive";
  gate.gate = true;
  ASSERT_TRUE(Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
                harness_.storage->feed().Subscribe("c", gate, absl::FromUnixSeconds(harness_.Now()),
                                                   std::move(done));
              }).ok());
  harness_.Write("c", "a", harness_.Now() - kTtl);
  harness_.SweepNow();
  EXPECT_EQ(Read().Value("ttl_sidecar_delete_hold{container=\"c\",hold=\"gate\"}"), 1);
  EXPECT_EQ(Of("backlog_items", "c"), 0);
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 0);
}

TEST_F(ExpiryMetricsTest, AnItemThatIsSetAsideAndLivesAgainHidesNoDueItem) {
  harness_.storage.Create("c", kTtl);
  HoldKey("c", "a");
  harness_.Write("c", "a", harness_.Now() - kTtl);
  harness_.SweepNow();
  harness_.Write("c", "a", harness_.Now());
  harness_.Write("c", "b", harness_.Now() - kTtl - 30);
  EXPECT_EQ(Of("backlog_items", "c"), 1);
  EXPECT_EQ(Of("oldest_due_age_seconds", "c"), 30);
}

TEST_F(ExpiryMetricsTest, HoldsAreThereWhileTheyHold) {
  harness_.storage.Create("c", kTtl);
  harness_.SweepNow();
  EXPECT_FALSE(IsHeld("c", "container_paused"));
  harness_.storage.Pause("c", true);
  EXPECT_TRUE(IsHeld("c", "container_paused"));
  harness_.storage.Pause("c", false);
  EXPECT_FALSE(IsHeld("c", "container_paused"));
  harness_.storage.Create("off", std::nullopt);
  EXPECT_TRUE(IsHeld("off", "ttl_off"));
}

// The harness starts at 08:00 UTC.
TEST_F(ExpiryMetricsTest, WindowsSayWhenTheyOpenAndWhatTheyAllow) {
  harness_.storage.Create("c", kTtl);
  harness_.storage.Create("without", kTtl);
  harness_.Write("c", "due", harness_.Now() - kTtl);
  harness_.Write("c", "later", harness_.Now());
  ContainerSettings settings = harness_.storage.Find("c")->settings;
  settings.windows = DeleteWindows{{{DeleteWindow::kEveryDay, 9 * 60, 10 * 60, 0.01}}};
  ASSERT_TRUE(harness_.storage.Update("c", settings).ok());
  EXPECT_TRUE(IsHeld("c", "window"));
  EXPECT_EQ(Of("windows_due_items", "c"), 2);
  EXPECT_EQ(Of("windows_deletable_items", "c"), 7 * 36);
  EXPECT_EQ(Of("windows_next_start_timestamp_seconds", "c"), harness_.Now() + 3600);
  EXPECT_FALSE(Read().Find("ttl_sidecar_windows_due_items{container=\"without\"}").has_value());
  harness_.clock.Advance(absl::Hours(1));
  EXPECT_FALSE(IsHeld("c", "window"));
  EXPECT_EQ(Of("windows_next_start_timestamp_seconds", "c"), 0);
  settings.windows->windows[0].max_deletes_per_second.reset();
  ASSERT_TRUE(harness_.storage.Update("c", settings).ok());
  EXPECT_EQ(Of("windows_deletable_items", "c"), std::numeric_limits<double>::infinity());
}

TEST_F(ExpiryMetricsTest, RatesAllowedFollowTheLimits) {
  ContainerSettings settings = harness_.storage.Create("c", kTtl)->settings;
  EXPECT_EQ(Of("allowed_deletes_per_second", "c"), std::numeric_limits<double>::infinity());
  settings.max_deletes_per_second = 50;
  ASSERT_TRUE(harness_.storage.Update("c", settings).ok());
  EXPECT_EQ(Of("allowed_deletes_per_second", "c"), 50);
  EXPECT_EQ(Value("max_deletes_per_second"), std::numeric_limits<double>::infinity());
  harness_.SetLimit(20);
  EXPECT_EQ(Of("allowed_deletes_per_second", "c"), 20);
  EXPECT_EQ(Value("max_deletes_per_second"), 20);
}

TEST_F(ExpiryMetricsTest, RequestUnitsAreThoseReported) {
  ContainerSettings settings = harness_.storage.Create("c", kTtl)->settings;
  settings.request_units_per_second = 400;
  ASSERT_TRUE(harness_.storage.Update("c", settings).ok());
  const std::string used = "ttl_sidecar_request_units_per_second{container=\"c\",kind=\"used\"}";
  EXPECT_EQ(Read().Value(used), 400) << "without a report all of it counts as used";
  harness_.usage.Report(harness_.storage.Find("c")->number, "r", 100, absl::Seconds(1),
                        *harness_.clock.Read().boot);
  EXPECT_EQ(Read().Value(used), 100);
  EXPECT_EQ(Of("allowed_deletes_per_second", "c"), 300);
}

TEST_F(ExpiryMetricsTest, CallsAndPushBackCountByKind) {
  harness_.storage.Create("c", kTtl);
  harness_.Write("c", "a", harness_.Now() - kTtl);
  harness_.store.SetBeforeDelete([](const auto&, auto&) {
    return std::optional<grpc::Status>(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy"));
  });
  harness_.Step();
  AnswerAll(v1::DELETE_OUTCOME_THROTTLED);
  harness_.SweepFor(absl::Seconds(1));
  const Scrape scrape = Read();
  EXPECT_EQ(scrape.Value("ttl_sidecar_delete_calls_total{code=\"RESOURCE_EXHAUSTED\"}"), 1);
  EXPECT_GE(scrape.Value("ttl_sidecar_delete_calls_total{code=\"OK\"}"), 1);
  EXPECT_EQ(scrape.Value("ttl_sidecar_push_backs_total{kind=\"resource_exhausted\"}"), 1);
  EXPECT_GE(scrape.Value("ttl_sidecar_push_backs_total{kind=\"throttled\"}"), 1);
  EXPECT_EQ(scrape.Value("ttl_sidecar_push_backs_total{kind=\"no_answer\"}"), 0);
  EXPECT_EQ(scrape.Value("ttl_sidecar_delete_call_duration_seconds_count"),
            scrape.Value("ttl_sidecar_delete_calls_total{code=\"OK\"}") + 1);
}

TEST_F(ExpiryMetricsTest, ASweeperThatStandsStillShows) {
  harness_.Step();
  EXPECT_EQ(Value("sweeper_step_age_seconds"), 0);
  harness_.clock.Advance(absl::Seconds(40));
  EXPECT_EQ(Value("sweeper_step_age_seconds"), 40);
}

TEST_F(ExpiryMetricsTest, ContainersWhoseDeletesGetNowhereAreCountedUntilOneSucceeds) {
  harness_.store.SetBeforeDelete(
      [](auto&, auto&) { return grpc::Status(grpc::StatusCode::INTERNAL, "scripted"); });
  for (const char* container : {"c", "d"}) {
    harness_.storage.Create(container, -1);
    harness_.WriteMany(container, "due", 10, harness_.Now() - 5, 1);
  }
  const auto pass = [&](absl::Duration duration) {
    harness_.SweepFor(duration);
    overdue_.RunOnce();
  };
  pass(absl::Minutes(14));
  EXPECT_EQ(Value("overdue_containers"), 0);
  pass(absl::Minutes(3));
  EXPECT_EQ(Value("overdue_containers"), 2);
  harness_.store.SetBeforeDelete(nullptr);
  pass(absl::Hours(1));
  EXPECT_EQ(Value("overdue_containers"), 0);
}

TEST_F(ExpiryMetricsTest, TheStoreIsShownAsTheSweeperSawIt) {
  EXPECT_EQ(Value("store_reachable"), 0);
  harness_.SetStoreClockOffset(absl::Seconds(-7));
  harness_.Step();
  EXPECT_EQ(Value("store_configured"), 1);
  EXPECT_EQ(Value("store_reachable"), 1);
  EXPECT_NEAR(Value("store_clock_skew_seconds"), 7, 1);
  EXPECT_EQ(Value("store_unconfirmed"), 0);
  ASSERT_TRUE(harness_.levers->DoubtStore("test").ok());
  EXPECT_EQ(Value("store_unconfirmed"), 1);
}

TEST_F(ExpiryMetricsTest, AClockThatJumpsIsSuspect) {
  EXPECT_EQ(Value("clock_suspect"), 0);
  EXPECT_EQ(Value("clock_difference_seconds"), 0);
  harness_.clock.StepWall(absl::Hours(1));
  harness_.guarded_clock->Tick();
  EXPECT_EQ(Value("clock_suspect"), 1);
  EXPECT_EQ(Value("clock_difference_seconds"), 3600);
}

TEST_F(ExpiryMetricsTest, AContainerCalledOtherDoesNotMixWithTheOthers) {
  harness_.storage.Create("other", kTtl);
  harness_.storage.Create("other_", kTtl);
  harness_.storage.Create("otherwise", kTtl);
  EXPECT_THAT(Read().Labels("container"), UnorderedElementsAre("other_", "other__", "otherwise"));
}

// With room for two names.
class FewNamesTest : public ExpiryMetricsTest {
 protected:
  PublishedSweep& published() override { return published_; }
  void CreateMany(int count) {
    for (int i = 0; i < count; ++i) harness_.storage.Create(absl::StrCat("c", i), kTtl);
  }

  PublishedSweep published_{2};
};

TEST_F(FewNamesTest, SeriesStayFewWhateverTheNumberOfContainers) {
  CreateMany(3);
  const size_t lines = Read().text().size();
  CreateMany(0);
  for (int i = 3; i < 200; ++i) harness_.storage.Create(absl::StrCat("c", i), kTtl);
  const Scrape scrape = Read();
  EXPECT_EQ(scrape.Labels("container").size(), 3u);
  EXPECT_THAT(scrape.Labels("container"), IsSupersetOf({"other"}));
  EXPECT_LT(scrape.text().size(), lines + 200);
}

TEST_F(FewNamesTest, TheRestIsAddedUp) {
  CreateMany(5);
  for (int i = 0; i < 5; ++i) {
    harness_.Write(absl::StrCat("c", i), "a", harness_.Now() - kTtl - 10 * i);
  }
  const Scrape scrape = Read();
  const auto named = scrape.Labels("container");
  double backlog = 0;
  for (const std::string& name : named) backlog += Of("backlog_items", name);
  EXPECT_EQ(backlog, 5);
  EXPECT_EQ(Of("backlog_items", "other"), 3);
  EXPECT_EQ(Of("tracked_items", "other"), 3);
  double oldest = 0;
  for (const std::string& name : named) {
    oldest = std::max(oldest, Of("oldest_due_age_seconds", name));
  }
  EXPECT_EQ(oldest, 40) << "it is found wherever it is";
}

TEST_F(FewNamesTest, CountsNeverDecreaseWhenContainersGo) {
  CreateMany(4);
  DeleteRecord record;
  record.tally.sent = 1;
  for (int i = 0; i < 4; ++i) {
    published_.AddDeletes(harness_.storage.Find(absl::StrCat("c", i))->number, record);
  }
  EXPECT_EQ(Of("deletes_sent_total", "other"), 2);
  ASSERT_TRUE(harness_.storage.Delete("c0").ok());
  ASSERT_TRUE(harness_.storage.Delete("c3").ok());
  EXPECT_GE(Of("deletes_sent_total", "other"), 2);
  EXPECT_EQ(Of("deletes_sent_total", "c1"), 1);
}

TEST_F(FewNamesTest, OtherIsHeldOnlyByWhatHoldsAllThatHaveSomethingDue) {
  CreateMany(5);
  const auto named = Read().Labels("container");
  std::vector<std::string> others;
  for (int i = 0; i < 5; ++i) {
    const std::string id = absl::StrCat("c", i);
    if (!named.contains(id)) others.push_back(id);
  }
  ASSERT_EQ(others.size(), 3u);
  harness_.Write(others[0], "a", harness_.Now() - kTtl);
  harness_.Write(others[1], "a", harness_.Now() - kTtl);
  harness_.storage.Pause(others[0], true);
  EXPECT_FALSE(IsHeld("other", "container_paused"));
  harness_.storage.Pause(others[1], true);
  EXPECT_TRUE(IsHeld("other", "container_paused"));
}

}  // namespace
}  // namespace ttl
