#include "service/server/sidecar.h"

#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/scrape.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

using testing::IsEmpty;

// A whole sidecar in this process, by the real clock, with a scripted store.
class SidecarTest : public testing::Test {
 protected:
  // Else the library shuts down with each sidecar, which now and then takes long.
  static void SetUpTestSuite() { grpc_init(); }

  ServerConfig Config() const {
    ServerConfig config;
    config.listen_sockets = {{.path = directory_.File("sidecar.sock")}};
    config.data_dir = directory_.File("data");
    config.store = store_.address();
    config.delete_deadline = absl::Seconds(1);
    config.policy_grace = absl::ZeroDuration();
    return config;
  }

  void Start(const ServerConfig& config) {
    client_.reset();
    sidecar_.reset();
    absl::StatusOr<std::unique_ptr<Sidecar>> sidecar = Sidecar::Start(config);
    ASSERT_TRUE(sidecar.ok()) << sidecar.status();
    sidecar_ = *std::move(sidecar);
    TtlClientOptions options;
    options.address = absl::StrCat("unix:", config.listen_sockets[0].path);
    // A machine that stands still for a second fails no call.
    options.check_deadline = absl::Seconds(20);
    options.report_deadline = absl::Seconds(20);
    options.admin_deadline = absl::Seconds(20);
    client_ = std::make_unique<TtlClient>(std::move(options));
  }

  // An item of the container "c" that expired a while ago, in sidecar and store.
  void WriteExpired(const std::string& id) {
    v1::Container container;
    container.set_id("c");
    container.set_default_ttl(-1);
    ASSERT_TRUE(client_->containers().Create(container).ok());
    v1::Item item;
    item.set_id(id);
    item.set_ts(absl::ToUnixSeconds(absl::Now()) - 100);
    item.set_ttl(10);
    ItemVersion version;
    version.times = {item.ts(), item.ttl()};
    store_.Put("c", {"", id}, version);
    ASSERT_TRUE(client_->TrackItem("c", item).ok());
  }

  v1::SidecarStatus Status() { return client_->operations().GetExpiryStatus().value().sidecar(); }

  const TempDir directory_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<Sidecar> sidecar_;
  std::unique_ptr<TtlClient> client_;
};

TEST_F(SidecarTest, StartedPausedItDeletesNothingUntilItIsResumed) {
  ServerConfig config = Config();
  config.store = "";
  Start(config);
  WriteExpired("a");

  config = Config();
  config.start_paused = true;
  Start(config);
  EXPECT_EQ(Status().pause().reason(), "started with --start-paused");
  // It sweeps, and says how much would go.
  ASSERT_TRUE(WaitUntil([&] { return Status().sweep().has_last_step_time(); }));
  EXPECT_EQ(client_->operations().GetExpiryStatus("c")->container().backlog(), 1);
  EXPECT_THAT(store_.ReceivedDeletes(), IsEmpty());

  ASSERT_TRUE(client_->operations().ResumeAllDeletes().ok());
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }));
}

// The page has a thread of its own.
TEST_F(SidecarTest, ThePageIsReadWhileItemsAreWrittenAndDeleted) {
  ServerConfig config = Config();
  config.status_page = absl::StrCat("unix:", directory_.File("page.sock"));
  Start(config);
  WriteExpired("a");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      for (const char* target : {"/status.json", "/stuck.json?container=c",
                                 "/explain.json?container=c&id=b", "/reconciliation.json"}) {
        const auto answer =
            HttpExchange(directory_.File("page.sock"),
                         absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: any\r\n\r\n"));
        EXPECT_THAT(answer.value_or(""), testing::StartsWith("HTTP/1.1 "));
      }
    }
  });
  v1::Item item;
  item.set_id("b");
  item.set_ts(absl::ToUnixSeconds(absl::Now()));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(client_->TrackItem("c", item).ok());
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }));
  done = true;
  reader.join();
}

TEST_F(SidecarTest, APauseThatStandsKeepsItsReason) {
  Start(Config());
  ASSERT_TRUE(client_->operations().PauseAllDeletes("night").ok());
  ServerConfig config = Config();
  config.start_paused = true;
  Start(config);
  EXPECT_EQ(Status().pause().reason(), "night");
}

TEST_F(SidecarTest, ThePauseOfAStartLastsOverTheNext) {
  ServerConfig config = Config();
  config.start_paused = true;
  Start(config);
  Start(Config());
  EXPECT_EQ(Status().pause().reason(), "started with --start-paused");
}

TEST_F(SidecarTest, ALimitSetAtRunTimeWinsOverTheOptionUntilItIsTakenBack) {
  ServerConfig config = Config();
  config.max_deletes_per_second = 50;
  Start(config);
  EXPECT_EQ(Status().max_deletes_per_second(), 50);
  ASSERT_TRUE(client_->operations().SetMaxDeletesPerSecond(7).ok());
  Start(config);
  EXPECT_EQ(Status().max_deletes_per_second(), 7);
  ASSERT_TRUE(client_->operations().SetUnlimitedDeletes().ok());
  Start(config);
  EXPECT_FALSE(Status().has_max_deletes_per_second());
  ASSERT_TRUE(client_->operations().ResetMaxDeletesPerSecond().ok());
  Start(config);
  EXPECT_EQ(Status().max_deletes_per_second(), 50);
}

TEST_F(SidecarTest, DeletesGoOnWhenTheLimitIsRaised) {
  ServerConfig config = Config();
  config.max_deletes_per_second = 0;
  Start(config);
  WriteExpired("a");
  EXPECT_THAT(client_->operations().GetExpiryStatus("c")->container().holds(),
              testing::Contains(v1::DELETE_HOLD_ZERO_RATE));
  EXPECT_THAT(store_.ReceivedDeletes(), IsEmpty());
  ASSERT_TRUE(client_->operations().SetMaxDeletesPerSecond(100).ok());
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }));
}

TEST_F(SidecarTest, HealthOfTheSweepHasANameOfItsOwn) {
  Start(Config());
  const auto channel = NewTestChannel(absl::StrCat("unix:", Config().listen_sockets[0].path));
  EXPECT_EQ(CheckHealth(channel, "sweep", absl::Seconds(20)), absl::OkStatus());
  EXPECT_EQ(CheckHealth(channel, "readiness", absl::Seconds(20)), absl::OkStatus());
  EXPECT_TRUE(WaitUntil([&] { return Status().health().state() == v1::HEALTH_STATE_HEALTHY; }));
}

TEST_F(SidecarTest, DeletesHaveWhatTheClientSaysIsLeftOver) {
  Start(Config());
  v1::Container container;
  container.set_id("c");
  container.mutable_delete_policy()->set_request_units_per_second(100);
  ASSERT_TRUE(client_->containers().Create(container).ok());
  const auto budget = [&] {
    return client_->operations().GetExpiryStatus("c")->container().budget();
  };
  EXPECT_FALSE(budget().has_used_by_requests());
  EXPECT_EQ(budget().deletes_per_second(), 0);
  // Some 30 in a second, for as long as it takes until it shows: the next report after the
  // last of them tells of nothing again.
  double most_used = 0;
  ASSERT_TRUE(WaitUntil([&] {
    client_->AddUsage("c", 0.3);
    most_used = budget().used_by_requests();
    return most_used > 0;
  }));
  EXPECT_LT(most_used, 31);
  // Nothing more is used, and the client says so.
  EXPECT_TRUE(WaitUntil([&] { return budget().deletes_per_second() == 100; }));
}

TEST_F(SidecarTest, AnotherStoreThanBeforeIsInDoubtUntilItIsConfirmed) {
  Start(Config());
  ASSERT_TRUE(WaitUntil([&] { return Status().store().reachable(); }));
  WriteExpired("a");
  ASSERT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }));

  store_.SetStoreId("restored-store");
  Start(Config());
  ASSERT_TRUE(WaitUntil([&] { return !Status().store().unconfirmed().empty(); }));
  EXPECT_EQ(Status().health().state(), v1::HEALTH_STATE_DEGRADED);
  EXPECT_FALSE(client_->operations().ConfirmStore("fake-store").ok());
  // Of before, at a later position than the store is at now.
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  v1::Item newer;
  newer.set_id("restored");
  newer.set_ts(now);
  newer.set_ttl(100'000);
  newer.set_sequence(900);
  ASSERT_TRUE(client_->TrackItem("c", newer).ok());
  store_.Put("c", {"", "restored"}, {{now - 500, 1}, "", 400, 0});
  ASSERT_TRUE(client_->operations().StartReconciliation("", /*dry_run=*/false).ok());
  ASSERT_TRUE(WaitUntil([&] {
    return client_->operations().GetReconciliation()->state() == v1::RECONCILIATION_STATE_FAILED;
  }));
  EXPECT_THAT(client_->operations().GetReconciliation()->problem(),
              testing::HasSubstr("has to be confirmed"));

  ASSERT_TRUE(client_->operations().ConfirmStore("restored-store").ok());
  EXPECT_EQ(Status().store().unconfirmed(), "");
  EXPECT_TRUE(WaitUntil([&] { return !Status().data().in_doubt(); }));
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; })) << "its own state counts";
}

TEST_F(SidecarTest, ANewContainerOverOldItemsIsPreviewedAndDeletesAGraceLater) {
  ServerConfig config = Config();
  config.policy_grace = absl::Seconds(3);
  Start(config);
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  for (int i = 0; i < 5; ++i) {
    store_.Put("old", {"", absl::StrCat(i)}, {{now - 1000, {}}, "", {}, 0});
  }
  v1::Container container;
  container.set_id("old");
  container.set_default_ttl(60);
  container.mutable_delete_policy()->mutable_brake()->set_max_newly_due_items(3);
  v1::PreviewContainerResponse preview;
  ASSERT_TRUE(client_->containers()
                  .PreviewCreate(container,
                                 [&](const v1::PreviewContainerResponse& last) { preview = last; })
                  .ok());
  EXPECT_EQ(preview.scanned_items(), 5);
  EXPECT_EQ(preview.due_items(), 5);
  EXPECT_TRUE(preview.brake_would_pull());
  EXPECT_TRUE(absl::IsNotFound(client_->containers().Get("old").status()));

  ASSERT_TRUE(client_->containers().Create(container).ok());
  ASSERT_TRUE(client_->operations().StartReconciliation("old", /*dry_run=*/false).ok());
  ASSERT_TRUE(WaitUntil(
      [&] { return client_->operations().GetExpiryStatus("old")->container().has_brake(); }));
  EXPECT_EQ(store_.CountAll(), 5);
  ASSERT_TRUE(client_->operations().ConfirmPolicy("old", "").ok());
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }));
  EXPECT_TRUE(absl::IsAlreadyExists(
      client_->containers().PreviewCreate(container, [](const auto& /*message*/) {})));
}

}  // namespace
}  // namespace ttl
