// Rebuild, reconcile, verify, back up, restore and repair, with the real sidecar.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/ttlctl/ttlctl.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/operator_client.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kContainers[] = R"(containers:
  - id: orders
    default_ttl: 3600
)";

class MaintenanceTest : public testing::Test {
 protected:
  MaintenanceTest() {
    std::ofstream(dir_.File("containers.yaml")) << kContainers;
    store_.SetScanMessageItems(50);
  }

  SidecarProcessOptions Options(std::vector<std::string> flags = {}) const {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store_.address();
    options.flags = std::move(flags);
    options.flags.insert(options.flags.end(), {"--containers", dir_.File("containers.yaml")});
    return options;
  }
  static std::vector<std::string> Rebuild(std::vector<std::string> more = {}) {
    more.push_back("--rebuild-from-store=if-needed");
    return more;
  }

  void Start(SidecarProcess& sidecar) {
    const absl::Status started = sidecar.Start();
    ASSERT_TRUE(started.ok()) << started;
    TtlClientOptions options;
    options.address = sidecar.address();
    // A machine that stands still for a second or two fails no check.
    options.check_deadline = absl::Seconds(20);
    options.report_deadline = absl::Seconds(20);
    options.admin_deadline = absl::Seconds(20);
    client_ = std::make_unique<TtlClient>(options);
  }

  void FillStore(int count, int64_t ts) {
    for (int i = 0; i < count; ++i) {
      ItemVersion version;
      version.times.ts = ts;
      store_.Put("orders", {"p", absl::StrCat("item", i)}, version);
    }
  }

  v1::Visibility Check(const std::string& id) {
    v1::VisibilityCheck check;
    check.set_partition_key("p");
    check.set_id(id);
    const auto answer = client_->CheckItem("orders", check);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->visibility : v1::VISIBILITY_UNSPECIFIED;
  }

  // Runs ttlctl, and returns how it ended; what it wrote is in `written_`.
  ExitCode Ttlctl(const SidecarProcess& sidecar, std::vector<std::string> arguments) {
    std::istringstream in;
    std::ostringstream out;
    arguments.insert(arguments.begin(), {"--server", sidecar.address()});
    const ExitCode code = RunTtlctl(arguments, {in, out, out});
    written_ = out.str();
    return code;
  }

  int ExitCodeOf(SidecarProcess& sidecar) {
    if (!sidecar.Launch().ok()) return -1;
    const absl::StatusOr<ExitStatus> status = sidecar.process()->Wait(absl::Seconds(30));
    return status.ok() ? status->code.value_or(-2) : -3;
  }

  const int64_t now_ = absl::ToUnixSeconds(absl::Now());
  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<TtlClient> client_;
  std::string written_;
};

TEST_F(MaintenanceTest, AnEmptyDirectoryIsRebuiltBeforeItIsReady) {
  FillStore(500, now_ - 7200);
  SidecarProcess sidecar(Options(Rebuild()));
  Start(sidecar);  // waits for readiness
  const auto reconciliation = client_->operations().GetReconciliation();
  ASSERT_TRUE(reconciliation.ok()) << reconciliation.status();
  EXPECT_TRUE(reconciliation->rebuild());
  EXPECT_EQ(reconciliation->counts().missing(), 500);
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }, absl::Seconds(30)))
      << "what has expired is deleted after the rebuild";
  ASSERT_TRUE(sidecar.Stop().ok());
  Start(sidecar);
  EXPECT_FALSE(client_->operations().GetReconciliation().ok()) << "the second start needs none";
}

void CutManifest(const fs::path& data) {
  for (const auto& entry : fs::directory_iterator(data)) {
    if (entry.path().filename().string().starts_with("MANIFEST-")) fs::resize_file(entry, 0);
  }
}

// A pause that was set before is in the damaged data: what takes their place is paused from
// its beginning on, wherever the process is killed.
TEST_F(MaintenanceTest, WhateverAKillInterruptsDeletesArePausedAfterDamage) {
  const auto has_log = [&](const fs::path& directory) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (entry.path().extension() == ".log") return true;
    }
    return false;
  };
  const struct {
    const char* name;
    std::function<bool(const fs::path&)> is_reached;
  } moments[] = {
      {"before it sets aside", [](const auto& data) { return fs::exists(data / "damaged"); }},
      {"while it sets aside",
       [&](const auto& data) { return fs::exists(data / "damaged" / "CURRENT"); }},
      {"when the logs are set aside", [&](const auto& data) { return has_log(data / "damaged"); }},
      {"while it makes the new one",
       [&](const auto& data) {
         return fs::exists(data / "damaged" / "CURRENT") && fs::exists(data / "CURRENT");
       }},
      {"when the new one has a log",
       [&](const auto& data) { return has_log(data / "damaged") && has_log(data); }},
  };
  for (const auto& moment : moments) {
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(absl::StrCat(moment.name, ", round ", round));
      SidecarProcess sidecar(Options(Rebuild()));
      fs::remove_all(sidecar.data_dir());
      Start(sidecar);
      ASSERT_EQ(Ttlctl(sidecar, {"pause", "--all", "--reason", "keep"}), ExitCode::kOk) << written_;
      sidecar.Kill();
      CutManifest(sidecar.data_dir());
      ASSERT_TRUE(sidecar.Launch().ok());
      while (!moment.is_reached(sidecar.data_dir()) && sidecar.process()->IsRunning()) continue;
      sidecar.Kill();
      Start(sidecar);
      const auto status = client_->operations().GetExpiryStatus();
      ASSERT_TRUE(status.ok()) << status.status();
      EXPECT_NE(status->sidecar().pause().reason(), "");
    }
  }
}

TEST_F(MaintenanceTest, ARebuildSurvivesBeingKilledAgainAndAgain) {
  FillStore(600, now_ - 10);
  // So slow that none is done when it is killed, however long that takes.
  SidecarProcess slow(Options(Rebuild({"--scan-items-per-second", "5"})));
  for (int kills = 0; kills < 3; ++kills) {
    const size_t scans = store_.ReceivedScans().size();
    ASSERT_TRUE(slow.Launch().ok());
    ASSERT_TRUE(
        WaitUntil([&] { return store_.ReceivedScans().size() > scans; }, absl::Seconds(30)));
    slow.Kill();
    EXPECT_EQ(store_.Count("orders"), 600) << "nothing is deleted meanwhile";
  }
  SidecarProcess sidecar(Options(Rebuild()));
  Start(sidecar);
  const auto status = client_->operations().GetExpiryStatus();
  ASSERT_TRUE(status.ok());
  EXPECT_FALSE(status->sidecar().data().in_doubt());
  for (int i = 0; i < 600; i += 37) {
    EXPECT_EQ(Check(absl::StrCat("item", i)), v1::VISIBILITY_VISIBLE) << i;
  }
  EXPECT_EQ(Ttlctl(sidecar, {"verify"}), ExitCode::kOk) << written_;
}

TEST_F(MaintenanceTest, ADamagedDirectoryIsSetAsideRebuiltAndPaused) {
  FillStore(100, now_ - 10);
  SidecarProcess sidecar(Options(Rebuild()));
  Start(sidecar);
  ASSERT_TRUE(sidecar.Stop().ok());
  fs::remove(sidecar.data_dir() + "/CURRENT");
  Start(sidecar);
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_VISIBLE);
  const auto status = client_->operations().GetExpiryStatus();
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(status->sidecar().pause().reason(), HasSubstr("damaged"));
  EXPECT_TRUE(fs::exists(sidecar.data_dir() + "/damaged"));
}

TEST_F(MaintenanceTest, ADamagedDirectoryIsRefusedWithoutARebuild) {
  SidecarProcess sidecar(Options());
  Start(sidecar);
  ASSERT_TRUE(sidecar.Stop().ok());
  fs::remove(sidecar.data_dir() + "/CURRENT");
  EXPECT_EQ(ExitCodeOf(sidecar), 1);
  EXPECT_SOON(sidecar.Log(), HasSubstr("no file CURRENT"));
}

TEST_F(MaintenanceTest, ReconcileShowsDifferencesFirstAndThenMakesThemGo) {
  SidecarProcess sidecar(Options());
  Start(sidecar);
  FillStore(30, now_ - 10);
  EXPECT_EQ(Ttlctl(sidecar, {"reconcile", "orders", "--dry-run"}), ExitCode::kOk) << written_;
  EXPECT_THAT(written_, HasSubstr("missing"));
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ(Ttlctl(sidecar, {"reconcile", "orders"}), ExitCode::kOk) << written_;
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(Ttlctl(sidecar, {"rebuild"}), ExitCode::kOk) << written_;
  EXPECT_EQ(Ttlctl(sidecar, {"reconcile", "nothing"}), ExitCode::kNotFound);
  EXPECT_EQ(Ttlctl(sidecar, {"reconcile"}), ExitCode::kUsage);
}

TEST_F(MaintenanceTest, ABackupIsRestoredPausedAndInDoubtUntilItIsRebuilt) {
  FillStore(50, now_ - 10);
  SidecarProcess sidecar(Options(Rebuild()));
  Start(sidecar);
  ASSERT_EQ(Ttlctl(sidecar, {"backup", dir_.File("backup")}), ExitCode::kOk) << written_;
  EXPECT_EQ(Ttlctl(sidecar, {"backup", dir_.File("backup")}), ExitCode::kUsage)
      << "no file is overwritten";
  EXPECT_EQ(Ttlctl(sidecar, {"backup", ""}), ExitCode::kUsage);

  SidecarProcessOptions restoring = Options({"--restore", dir_.File("backup")});
  restoring.name = "restored";
  SidecarProcess restore(restoring);
  ASSERT_EQ(ExitCodeOf(restore), 0) << restore.Log();
  EXPECT_EQ(ExitCodeOf(restore), 1) << "not into a directory that has something";

  SidecarProcessOptions options = Options();
  options.name = "restored";
  SidecarProcess restored(options);
  Start(restored);
  const auto status = client_->operations().GetExpiryStatus();
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(status->sidecar().pause().reason(), HasSubstr("restored"));
  EXPECT_TRUE(status->sidecar().data().in_doubt());
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_UNTRACKED) << "it may have been written since";
  EXPECT_EQ(Ttlctl(restored, {"rebuild"}), ExitCode::kOk) << written_;
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(Ttlctl(restored, {"data", "trust"}), ExitCode::kRefused) << "it is whole now";
}

TEST_F(MaintenanceTest, ADamagedDirectoryIsRepairedIntoAnother) {
  FillStore(50, now_ - 10);
  SidecarProcess sidecar(Options(Rebuild()));
  Start(sidecar);
  SidecarProcessOptions repairing = Options({"--repair", sidecar.data_dir()});
  repairing.name = "repaired";
  SidecarProcess repair(repairing);
  EXPECT_EQ(ExitCodeOf(repair), 1) << "it is in use";
  EXPECT_SOON(repair.Log(), HasSubstr("stop it first"));
  ASSERT_TRUE(sidecar.Stop().ok());
  fs::remove(sidecar.data_dir() + "/CURRENT");
  fs::remove_all(repair.data_dir());
  ASSERT_EQ(ExitCodeOf(repair), 0) << repair.Log();

  SidecarProcessOptions options = Options();
  options.name = "repaired";
  SidecarProcess repaired(options);
  Start(repaired);
  EXPECT_EQ(Ttlctl(repaired, {"data", "trust"}), ExitCode::kOk) << written_;
  EXPECT_EQ(Check("item7"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(Ttlctl(repaired, {"verify"}), ExitCode::kOk) << written_;
}

TEST_F(MaintenanceTest, AStopDoesNotWaitForABackupThatNobodyReads) {
  // A stop that did wait would last longer than Stop() waits for it.
  SidecarProcess sidecar(Options({"--stop-deadline-seconds=600"}));
  Start(sidecar);
  FillStore(20000, now_ - 10);
  store_.SetScanMessageItems(1000);
  ASSERT_EQ(Ttlctl(sidecar, {"reconcile", "--all"}), ExitCode::kOk) << written_;
  grpc::ClientContext context;
  const auto stub = v1::MaintenanceService::NewStub(sidecar.channel());
  const auto reader = stub->BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse first;
  ASSERT_TRUE(reader->Read(&first));
  const absl::Status stopped = sidecar.Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
}

}  // namespace
}  // namespace ttl
