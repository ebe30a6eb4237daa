#include "service/server/metrics/sidecar_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/server/metrics/metric_catalog.h"
#include "service/server/metrics/metrics_server.h"
#include "service/storage/levers.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/scrape.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

// All that the metrics look at, with nothing going on.
struct QuietSources {
  StorageForTest storage;
  FakeClock clock{kTestNow};
  GuardedClock guarded_clock{clock, std::nullopt};
  PublishedSweep published;
  UsageMeter usage;
  std::unique_ptr<Levers> levers = Levers::Load(*storage, {}).value();
  CallCounters calls;
  CheckCounters checks;
  AccessCounters access;
  WakeSignal wake;
  PublishedReconciliation reconciliations{wake};
  std::atomic<bool> is_ready = true;
  ExpiryView::Parts parts{*storage,        guarded_clock,         clock,       published, usage,
                          levers->limit(), levers->store_trust(), std::nullopt};
  ExpiryView view{parts};
  FeedProgress feed_progress;
  SentMarks sent;
  FeedView feeds{{storage->feed(), feed_progress, sent}};
  OverdueWatch overdue{parts, feeds, absl::ZeroDuration()};
  ExpiryMetrics expiry{{*storage, published, view, absl::ZeroDuration(), overdue}};
  FeedMetrics feed{{storage->containers(), published, feeds, guarded_clock}};

  SidecarMetrics::Sources Get() {
    return {*storage,
            expiry,
            feed,
            calls,
            checks,
            access,
            storage->data_trust(),
            reconciliations,
            [this] { return is_ready.load(); }};
  }
};

Scrape Read(const SidecarMetrics& metrics) { return Scrape::Parse(metrics.Text()).value(); }

TEST(SidecarMetricsTest, BeforeTheSidecarServesOnlyTheProcessIsDescribed) {
  const SidecarMetrics metrics("1.2.3");
  const Scrape scrape = Read(metrics);
  EXPECT_EQ(scrape.Value("ttl_sidecar_ready"), 0);
  EXPECT_EQ(scrape.Value("ttl_sidecar_build_info{version=\"1.2.3\"}"), 1);
  EXPECT_GT(scrape.Value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_FALSE(scrape.Find("ttl_sidecar_storage_writable").has_value());
}

TEST(SidecarMetricsTest, TheProcessIsThisOne) {
  const SidecarMetrics metrics("1");
  const Scrape scrape = Read(metrics);
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  EXPECT_NEAR(scrape.Value("process_start_time_seconds"), now, 3600);
  EXPECT_GE(scrape.Value("process_open_fds"), 3);
  EXPECT_LE(scrape.Value("process_open_fds"), scrape.Value("process_max_fds"));
  EXPECT_GE(scrape.Value("process_threads"), 1);
  EXPECT_GE(scrape.Value("process_cpu_seconds_total"), 0);
  EXPECT_GT(scrape.Value("process_virtual_memory_bytes"),
            scrape.Value("process_resident_memory_bytes"));
}

TEST(SidecarMetricsTest, EveryScrapeIsCounted) {
  const SidecarMetrics metrics("1");
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_scrapes_total"), 1);
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_scrapes_total"), 2);
  EXPECT_GT(Read(metrics).Value("ttl_sidecar_last_scrape_duration_seconds"), 0);
}

TEST(SidecarMetricsTest, ReadinessIsThatOfTheHealthService) {
  QuietSources sources;
  SidecarMetrics metrics("1");
  metrics.Attach(sources.Get());
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_ready"), 1);
  sources.is_ready = false;
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_ready"), 0);
  metrics.Detach();
}

TEST(SidecarMetricsTest, AFailedWriteShows) {
  QuietSources sources;
  sources.storage.Create("c", 100);
  SidecarMetrics metrics("1");
  metrics.Attach(sources.Get());
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_storage_writable"), 1);
  sources.storage.env().FailWrites(true);
  ItemReport report;
  report.key = KeyOf("a");
  report.version.times = {1, std::nullopt};
  EXPECT_FALSE(sources.storage.Track("c", {report}).ok());
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_storage_writable"), 0);
  sources.storage.env().FailWrites(false);
  sources.storage.FinishHousekeeping();
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_storage_writable"), 1);
  metrics.Detach();
}

TEST(SidecarMetricsTest, DoubtAndReconciliationAreThoseOfStorageAndBoard) {
  QuietSources sources;
  SidecarMetrics metrics("1");
  metrics.Attach(sources.Get());
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_data_in_doubt"), 0);
  EXPECT_FALSE(Read(metrics).Find("ttl_sidecar_reconciliation_scanned_items").has_value());
  sources.storage->data_trust().Doubt("test");
  ASSERT_TRUE(sources.reconciliations.Request({}, kTestNow).ok());
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_data_in_doubt"), 1);
  EXPECT_EQ(Read(metrics).Value("ttl_sidecar_reconciliation_scanned_items"), 0);
  metrics.Detach();
}

TEST(SidecarMetricsTest, NothingIsShownThatTheCatalogDoesNotHave) {
  QuietSources sources;
  sources.storage.Create("c", 100);
  SidecarMetrics metrics("1");
  metrics.Attach(sources.Get());
  std::set<std::string> known;
  for (const MetricInfo* info : AllMetrics()) known.insert(info->name);
  for (const std::string& metric : Read(metrics).Metrics()) {
    EXPECT_TRUE(known.contains(metric)) << metric;
  }
  metrics.Detach();
}

// A scrape reads no items, so it costs the same however many there are.
TEST(SidecarMetricsTest, AScrapeDoesNotWalkOverItems) {
  QuietSources sources;
  sources.storage.Create("c", 100);
  std::vector<ItemReport> reports(5000);
  for (size_t i = 0; i < reports.size(); ++i) {
    reports[i].key = KeyOf(absl::StrCat(i));
    reports[i].version.times = {absl::ToUnixSeconds(kTestNow) - 1000, std::nullopt};
  }
  ASSERT_TRUE(sources.storage.Track("c", std::move(reports)).ok());
  SidecarMetrics metrics("1");
  metrics.Attach(sources.Get());
  const OperationCounts before = sources.storage->Counts();
  const Scrape scrape = Read(metrics);
  const OperationCounts after = sources.storage->Counts();
  EXPECT_EQ(scrape.Value("ttl_sidecar_backlog_items{container=\"c\"}"), 5000);
  EXPECT_EQ(scrape.Value("ttl_sidecar_oldest_due_age_seconds{container=\"c\"}"), 900);
  EXPECT_LE(after.steps - before.steps, 10);
  EXPECT_LE(after.seeks - before.seeks, 10);
  EXPECT_LE(after.gets - before.gets, 10);
  metrics.Detach();
}

TEST(SidecarMetricsTest, ScrapesGoOnWhileTheSidecarComesAndGoes) {
  SidecarMetrics metrics("1");
  const auto server = MetricsServer::Start("--metrics-listen", "127.0.0.1:0",
                                           [&metrics] { return metrics.Text(); });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string port = absl::StrCat((*server)->port());
  std::atomic<bool> done = false;
  std::atomic<int> scrapes = 0;
  std::thread scraper([&] {
    while (!done) {
      const auto scrape = Scrape::Get(port);
      EXPECT_TRUE(scrape.ok()) << scrape.status();
      ++scrapes;
    }
  });
  for (int i = 0; i < 20 || scrapes < 20; ++i) {
    auto sources = std::make_unique<QuietSources>();
    sources->storage.Create("c", 100);
    metrics.Attach(sources->Get());
    for (int k = 0; k < 10; ++k) sources->storage.TrackOne("c", absl::StrCat(k), 1'800'000'000);
    metrics.Detach();
  }
  done = true;
  scraper.join();
}

}  // namespace
}  // namespace ttl
