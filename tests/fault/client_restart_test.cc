// Restarts of the real sidecar, as seen by C++ clients that go on.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl {
namespace {

constexpr int kRestarts = 12;

TtlClientOptions OptionsFor(const std::string& address, bool share_checks) {
  TtlClientOptions options;
  options.address = address;
  options.check_deadline = options.report_deadline = options.admin_deadline = absl::Seconds(60);
  options.share_checks = share_checks;
  return options;
}

// A call made again and again by a thread of its own, until this is destroyed.
class Load {
 public:
  explicit Load(std::function<absl::Status(int n)> call)
      : thread_([this, call = std::move(call)] {
          for (int n = 0; !stop_; ++n) {
            if (const absl::Status status = call(n); !status.ok()) {
              ADD_FAILURE() << status;
              failed_ = true;
              return;
            }
            ++done_;
            absl::SleepFor(absl::Milliseconds(5));
          }
        }) {}
  ~Load() {
    stop_ = true;
    thread_.join();
  }

  int done() const { return done_; }
  bool failed() const { return failed_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<int> done_ = 0;
  std::thread thread_;
};

// A change, and a report without a sequence, may have been sent when the sidecar stopped:
// then it is not known whether it was carried out. Never is it sent twice.
absl::Status OrUnavailable(const absl::Status& status, std::atomic<int>& uncertain) {
  if (!absl::IsUnavailable(status)) return status;
  ++uncertain;
  return absl::OkStatus();
}

v1::VisibilityCheck Check(int n) {
  v1::VisibilityCheck check;
  check.set_id(absl::StrCat(n));
  return check;
}

v1::Item Item(int n, int64_t ts) {
  v1::Item item;
  item.set_id(absl::StrCat(n % 100));
  item.set_ts(ts);
  return item;
}

v1::Container Container(const std::string& id) {
  v1::Container container;
  container.set_id(id);
  return container;
}

TEST(ClientRestartTest, TwelveGracefulRestartsUnderLoadFailNoCallThatMayBeRepeated) {
  const TempDir dir;
  SidecarProcess sidecar({.dir = dir.path(), .store_address = "", .flags = {}, .env = {}});
  ASSERT_TRUE(sidecar.Start().ok());
  TtlClient shared(OptionsFor(sidecar.address(), /*share_checks=*/true));
  TtlClient alone(OptionsFor(sidecar.address(), /*share_checks=*/false));
  ASSERT_TRUE(alone.containers().Create(Container("c")).ok());
  const int64_t ts = absl::ToUnixSeconds(absl::Now());
  std::atomic<int> uncertain = 0;
  std::array<Load, 7> loads = {
      Load([&](int n) { return shared.CheckItem("c", Check(n)).status(); }),
      Load([&](int n) { return shared.CheckItem("c", Check(n)).status(); }),
      Load([&](int n) { return alone.CheckItem("c", Check(n)).status(); }),
      Load([&](int n) {
        v1::Item item = Item(n, ts);
        item.set_sequence(n + 1);
        return alone.TrackItem("c", item).status();
      }),
      Load([&](int) { return alone.operations().GetExpiryStatus("c").status(); }),
      Load([&](int n) {
        return OrUnavailable(alone.TrackItem("c", Item(n, ts)).status(), uncertain);
      }),
      Load([&](int n) {
        const v1::Container made = Container(absl::StrCat("made/", n));
        return OrUnavailable(alone.containers().Create(made).status(), uncertain);
      })};
  for (int n = 0; n < kRestarts && !testing::Test::HasFailure(); ++n) {
    ASSERT_TRUE(sidecar.Stop().ok());
    absl::SleepFor(n * absl::Seconds(1) / (kRestarts - 1));  // how long it is away
    ASSERT_TRUE(sidecar.Start().ok());
    for (const Load& load : loads) {
      const int before = load.done();
      EXPECT_TRUE(WaitUntil([&] { return load.failed() || load.done() > before + 3; }))
          << "after restart " << n;
    }
  }
  EXPECT_LE(uncertain, 2 * kRestarts);
}

}  // namespace
}  // namespace ttl
