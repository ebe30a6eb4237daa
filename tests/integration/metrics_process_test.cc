// The metrics of a sidecar as a real process, as Prometheus sees them.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/server/metrics/metric_catalog.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);

int64_t Now() { return absl::ToUnixSeconds(absl::Now()); }

// A sidecar with a store; its metrics are on a Unix socket.
class MetricsProcessTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    flags.push_back(absl::StrCat("--metrics-listen=unix:", metrics_));
    SidecarProcessOptions options;
    options.dir = directory_.path();
    options.store_address = store_.address();
    options.flags = std::move(flags);
    sidecar_.emplace(options);
    ASSERT_THAT(sidecar_->Start(), IsOk());
    calls_.emplace(sidecar_->channel());
  }

  Scrape Read() const {
    const auto scrape = Scrape::Get(metrics_);
    EXPECT_THAT(scrape, IsOk());
    return scrape.value_or(*Scrape::Parse(""));
  }
  double Value(const std::string& series) const { return Read().Value("ttl_sidecar_" + series); }

  // Whether a series comes to that value soon: a text may be a moment old.
  bool Comes(const std::string& series, double expected) const {
    return WaitUntil([&] { return Value(series) == expected; }, kPatience);
  }

  // An item that the store has and the sidecar is told of.
  void Write(const std::string& container, const std::string& id, int64_t ts) {
    ItemVersion version;
    version.times.ts = ts;
    store_.Put(container, {id, id}, version);
    ASSERT_THAT(calls_->Track(container, id, ts), IsOk());
  }

  void GiveFeed() {
    const auto containers = v1::ContainerService::NewStub(sidecar_->channel());
    v1::UpdateContainerRequest update;
    update.mutable_container()->set_id("c");
    update.mutable_container()->mutable_feed();
    update.mutable_update_mask()->add_paths("feed");
    grpc::ClientContext update_context;
    v1::UpdateContainerResponse updated;
    ASSERT_TRUE(containers->UpdateContainer(&update_context, update, &updated).ok());
  }
  void Subscribe(const std::string& name, bool gate) {
    const auto feed = v1::FeedService::NewStub(sidecar_->channel());
    v1::CreateSubscriptionRequest create;
    create.mutable_subscription()->set_container("c");
    create.mutable_subscription()->set_name(name);
    create.mutable_subscription()->set_gate(gate);
    grpc::ClientContext create_context;
    v1::CreateSubscriptionResponse created;
    ASSERT_TRUE(feed->CreateSubscription(&create_context, create, &created).ok());
  }

  // Opens both streams of the data path and sends one message on each.
  void UseStreams() {
    const auto stub = v1::ItemService::NewStub(sidecar_->channel());
    grpc::ClientContext check_context;
    const auto checks = stub->StreamCheckVisibility(&check_context);
    v1::StreamCheckVisibilityRequest check;
    check.mutable_request()->set_container("c");
    check.mutable_request()->add_checks()->set_id("a");
    v1::StreamCheckVisibilityResponse answer;
    EXPECT_TRUE(checks->Write(check));
    EXPECT_TRUE(checks->Read(&answer));
    checks->WritesDone();
    EXPECT_TRUE(checks->Finish().ok());
  }

  // Compares all containers with the store.
  void Reconcile() {
    const auto stub = v1::MaintenanceService::NewStub(sidecar_->channel());
    grpc::ClientContext context;
    v1::StartReconciliationResponse response;
    ASSERT_TRUE(stub->StartReconciliation(&context, {}, &response).ok());
    EXPECT_TRUE(Comes("reconciliation{kind=\"reconciliation\",state=\"done\"}", 1));
  }

  const TempDir directory_;
  const std::string metrics_ = directory_.File("metrics.sock");
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::optional<SidecarProcess> sidecar_;
  std::optional<SidecarCalls> calls_;
};

// tests/checks/check_monitoring.sh takes the scrape from here: TTL_SCRAPE_FILE.
TEST_F(MetricsProcessTest, EveryMetricOfTheCatalogIsThereAndNoOther) {
  Start();
  ASSERT_THAT(calls_->CreateContainer("c", 1), IsOk());
  ASSERT_NO_FATAL_FAILURE(GiveFeed());
  ASSERT_NO_FATAL_FAILURE(Subscribe("s", /*gate=*/false));
  v1::DeletePolicy policy;
  policy.set_request_units_per_second(100000);
  policy.set_min_deletes_per_second(1000);
  v1::DeleteWindow& always = *policy.mutable_windows()->add_windows();
  always.set_start("00:00");
  always.set_end("24:00");
  ASSERT_THAT(calls_->SetDeletePolicy("c", policy), IsOk());
  Write("c", "gone", Now() - 10);
  ASSERT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }, kPatience));
  ASSERT_NO_FATAL_FAILURE(Subscribe("gate", /*gate=*/true));
  ASSERT_THAT(calls_->Pause("c", "test"), IsOk());
  ASSERT_THAT(calls_->Check("c", "a"), IsOk());
  UseStreams();
  // Only tables have levels.
  sidecar_->Kill();
  ASSERT_THAT(sidecar_->Start(), IsOk());
  ASSERT_THAT(calls_->Check("c", "a"), IsOk());
  UseStreams();
  ASSERT_TRUE(Comes("store_reachable", 1));
  Reconcile();

  std::set<std::string> expected;
  for (const MetricInfo* info : AllMetrics()) expected.insert(info->name);
  // What comes of work in the background has its first value when that is done.
  WaitUntil([&] { return Read().Metrics() == expected; }, kPatience);
  const Scrape scrape = Read();
  EXPECT_EQ(scrape.Metrics(), expected);
  if (const char* file = std::getenv("TTL_SCRAPE_FILE")) std::ofstream(file) << scrape.text();
}

TEST_F(MetricsProcessTest, AnItemIsSeenToExpireAndGo) {
  Start();
  ASSERT_THAT(calls_->CreateContainer("c", 1), IsOk());
  ASSERT_THAT(calls_->Pause("c", "test"), IsOk());
  // What is due when it is reported within a grace of the creation is due when that is over; what
  // is reported later was due all along.
  Write("c", "adopted", Now() - 60);
  EXPECT_TRUE(Comes("backlog_items{container=\"c\"}", 1));
  Write("c", "a", Now() - 60);
  EXPECT_TRUE(Comes("backlog_items{container=\"c\"}", 2));
  EXPECT_GE(Value("oldest_due_age_seconds{container=\"c\"}"), 59);
  EXPECT_EQ(Value("delete_hold{container=\"c\",hold=\"container_paused\"}"), 1);
  EXPECT_EQ(*calls_->Check("c", "a"), v1::VISIBILITY_EXPIRED);
  EXPECT_TRUE(Comes("checks_total{verdict=\"expired\"}", 1));
  EXPECT_EQ(Value("deletes_total{container=\"c\",outcome=\"deleted\"}"), 0);
  ASSERT_THAT(calls_->Resume("c"), IsOk());
  EXPECT_TRUE(Comes("deletes_total{container=\"c\",outcome=\"deleted\"}", 2));
  EXPECT_TRUE(Comes("oldest_due_age_seconds{container=\"c\"}", 0));
  EXPECT_TRUE(Comes("tracked_items{container=\"c\"}", 0));
  EXPECT_TRUE(Comes("delete_lateness_seconds_bucket{container=\"c\",le=\"300\"}", 2));
  EXPECT_EQ(Value("delete_lateness_seconds_bucket{container=\"c\",le=\"30\"}"), 1);
}

TEST_F(MetricsProcessTest, CountsAreExactAfterALoadOfManyThreads) {
  Start({"--call-threads=2"});
  ASSERT_THAT(calls_->CreateContainer("c", -1), IsOk());
  constexpr int kThreads = 4;
  constexpr int kCalls = 300;
  std::atomic<bool> done = false;
  std::thread scraper([&] {
    double last = 0;
    while (!done) {
      const auto scrape = Scrape::Get(metrics_);
      ASSERT_THAT(scrape, IsOk());
      const double calls = scrape->Value(
          "ttl_sidecar_rpc_calls_total{method=\"ItemService/CheckVisibility\",code=\"OK\"}");
      EXPECT_GE(calls, last) << "a counter went back";
      last = calls;
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      SidecarCalls calls(sidecar_->channel());
      for (int k = 0; k < kCalls; ++k) EXPECT_THAT(calls.Check("c", "a"), IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  scraper.join();
  constexpr double kAll = kThreads * kCalls;
  EXPECT_TRUE(Comes("rpc_calls_total{method=\"ItemService/CheckVisibility\",code=\"OK\"}", kAll));
  EXPECT_TRUE(Comes("checks_total{verdict=\"untracked\"}", kAll));
  EXPECT_TRUE(Comes("rpc_duration_seconds_count{method=\"ItemService/CheckVisibility\"}", kAll));
}

TEST_F(MetricsProcessTest, ContainersBeyondTheLimitShareALabel) {
  Start({"--metrics-containers=3"});
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(calls_->CreateContainer(absl::StrCat("c", i), -1), IsOk());
    Write(absl::StrCat("c", i), "a", Now());
  }
  EXPECT_TRUE(Comes("tracked_items{container=\"other\"}", 7));
  EXPECT_EQ(Read().Labels("container").size(), 4u);
}

TEST_F(MetricsProcessTest, ReadinessAndStopAreSeen) {
  Start();
  // Health says so a moment before, while the metrics still describe the start.
  EXPECT_TRUE(Comes("ready", 1));
  std::atomic<bool> done = false;
  std::thread scraper([&] {
    // Refused or whole: never a part, never for ever.
    while (!done) {
      const auto answer = HttpExchange(metrics_, "GET /metrics HTTP/1.1\r\n\r\n");
      if (answer.ok() && !answer->empty()) {
        EXPECT_THAT(*answer, HasSubstr("process_start_time_seconds"));
      }
    }
  });
  EXPECT_THAT(sidecar_->Stop(), IsOk());
  done = true;
  scraper.join();
  EXPECT_FALSE(Scrape::Get(metrics_).ok());
}

TEST_F(MetricsProcessTest, HangingScrapersHurtNobody) {
  Start();
  ASSERT_THAT(calls_->CreateContainer("c", -1), IsOk());
  std::vector<HttpConnection> hanging;
  for (int i = 0; i < 200; ++i) {
    auto connection = HttpConnection::Open(metrics_);
    ASSERT_THAT(connection, IsOk());
    connection->Send("GET /metrics HTTP/1.1\r\n");
    hanging.push_back(*std::move(connection));
  }
  EXPECT_THAT(calls_->Check("c", "a"), IsOk());
  EXPECT_THAT(Scrape::Get(metrics_), IsOk());
  EXPECT_THAT(sidecar_->Stop(), IsOk());
}

TEST_F(MetricsProcessTest, WithoutTheFlagThereIsNothing) {
  SidecarProcessOptions options;
  options.dir = directory_.path();
  SidecarProcess quiet(options);
  ASSERT_THAT(quiet.Start(), IsOk());
  EXPECT_THAT(quiet.Log(), testing::Not(HasSubstr("metrics")));
}

}  // namespace
}  // namespace ttl
