// Windows of a real sidecar against a store on a real socket, set by ttlctl: nothing is deleted
// while they are closed, across a kill and a restart without time zones, and all of it when one
// opens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/ttlctl/ttlctl.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class WindowsProcessTest : public testing::Test {
 protected:
  void Start(std::map<std::string, std::string> env = {}) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store_.address();
    options.env = std::move(env);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    calls_ = std::make_unique<SidecarCalls>(sidecar_->channel());
  }

  // Items that are due, in the store and reported.
  void WriteDue(int count) {
    const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 1000;
    for (int i = 0; i < count; ++i) {
      const std::string id = absl::StrCat(i);
      ItemVersion version;
      version.times = {ts, 10};
      store_.Put("C", {id, id}, version);
      ASSERT_TRUE(calls_->Track("C", id, ts, 10).ok());
    }
  }

  // Runs ttlctl, and returns what it wrote.
  std::string Ttlctl(std::vector<std::string> arguments, ExitCode want = ExitCode::kOk) {
    std::istringstream in;
    std::ostringstream out;
    arguments.insert(arguments.begin(), {"--server", sidecar_->address()});
    EXPECT_EQ(RunTtlctl(arguments, {in, out, out}), want) << out.str();
    return out.str();
  }

  v1::ContainerExpiryStatus StatusOfC() {
    const auto status = calls_->GetStatus("C");
    EXPECT_TRUE(status.ok()) << status.status();
    return status.ok() ? status->container() : v1::ContainerExpiryStatus();
  }
  std::vector<std::string> HealthReasons() {
    const auto status = calls_->GetStatus();
    if (!status.ok()) return {};
    const auto& reasons = status->sidecar().health().reasons();
    return {reasons.begin(), reasons.end()};
  }

  // A window of UTC that begins in `hours` and is one hour long, by the full hour.
  static std::string WindowIn(int hours) {
    const absl::Time start = absl::Now() + absl::Hours(hours);
    return absl::StrCat(absl::FormatTime("%H:00-", start, absl::UTCTimeZone()),
                        absl::FormatTime("%H:00", start + absl::Hours(1), absl::UTCTimeZone()));
  }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SidecarCalls> calls_;
};

// As in service/windows.md.
TEST_F(WindowsProcessTest, TheCommandsOfThePageSetShowAndRemoveThem) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_TRUE(calls_->CreateContainer("C", 60).ok());
  EXPECT_THAT(Ttlctl({"containers", "set", "C", "--windows",
                      "mon-fri 22:00-06:00 500/s; sat,sun 00:00-24:00", "--windows-time-zone",
                      "Europe/Berlin"}),
              AllOf(HasSubstr("mon-fri 22:00-06:00 500/s"), HasSubstr("sat,sun 00:00-24:00"),
                    HasSubstr("outside no deletes; time zone Europe/Berlin")));
  EXPECT_THAT(Ttlctl({"containers", "set", "C", "--max-deletes-per-second-outside", "5"}),
              AllOf(HasSubstr("mon-fri 22:00-06:00 500/s"), HasSubstr("outside deletes 5/s")));
  EXPECT_THAT(Ttlctl({"status", "C"}), HasSubstr("due within 7 days"));
  EXPECT_THAT(Ttlctl({"export"}),
              AllOf(HasSubstr("max_deletes_per_second_outside: 5"), HasSubstr("start: \"22:00\"")));
  EXPECT_THAT(Ttlctl({"containers", "set", "C", "--windows-time-zone", "Europe/Atlantis"},
                     ExitCode::kRefused),
              HasSubstr("Europe/Atlantis"));
  EXPECT_THAT(Ttlctl({"containers", "set", "C", "--windows", "none"}), Not(HasSubstr("windows")));
}

TEST_F(WindowsProcessTest, NothingIsDeletedUntilOneOpensAcrossAKill) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_TRUE(calls_->CreateContainer("C", 60).ok());
  Ttlctl({"containers", "set", "C", "--windows", WindowIn(2)});
  WriteDue(20);
  for (int run = 0; run < 2; ++run) {
    EXPECT_SOON(StatusOfC().holds(), Contains(v1::DELETE_HOLD_WINDOW));
    EXPECT_SOON(StatusOfC().backlog(), 20);
    EXPECT_THAT(Ttlctl({"status", "C"}),
                AllOf(HasSubstr("outside of windows"), HasSubstr("closed, no deletes before")));
    EXPECT_EQ(store_.CountAll(), 20);
    sidecar_->Kill();
    ASSERT_TRUE(sidecar_->Start().ok());
  }
  // It is in the present hour or, if that ends just now, in the next one.
  Ttlctl({"containers", "set", "C", "--windows", absl::StrCat(WindowIn(0), "; ", WindowIn(1))});
  EXPECT_SOON(store_.CountAll(), 0);
}

TEST_F(WindowsProcessTest, WithoutTimeZonesNothingElseBreaks) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_TRUE(calls_->CreateContainer("C", 60).ok());
  Ttlctl({"containers", "set", "C", "--windows", "00:00-24:00", "--windows-time-zone",
          "Europe/Berlin", "--max-deletes-per-second", "0"});
  WriteDue(5);
  ASSERT_TRUE(sidecar_->Stop().ok());
  ASSERT_NO_FATAL_FAILURE(Start({{"TZDIR", dir_.File("no-zones")}}));
  EXPECT_SOON(HealthReasons(),
              Contains(AllOf(HasSubstr("time zone \"Europe/Berlin\" of the windows of container "
                                       "\"C\" cannot be loaded"),
                             HasSubstr("tzdata"))));
  Ttlctl({"containers", "set", "C", "--max-deletes-per-second", "default"});
  EXPECT_THAT(StatusOfC().holds(), Contains(v1::DELETE_HOLD_WINDOW));
  EXPECT_FALSE(StatusOfC().windows().has_next_start());
  EXPECT_THAT(Ttlctl({"status", "C"}), HasSubstr("PROBLEM: this machine does not have"));
  EXPECT_EQ(store_.CountAll(), 5);
  // In UTC, which needs no database, the same windows are open.
  Ttlctl({"containers", "set", "C", "--windows-time-zone", "UTC"});
  EXPECT_SOON(store_.CountAll(), 0);
  EXPECT_SOON(HealthReasons(), Not(Contains(HasSubstr("time zone"))));
}

}  // namespace
}  // namespace ttl
