#ifndef TTL_TESTS_TESTING_SWEEP_HARNESS_H_
#define TTL_TESTS_TESTING_SWEEP_HARNESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "service/base/wake_signal.h"
#include "service/core/clock.h"
#include "service/core/feed/feed_settings.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/feed_progress.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/expiry/feed/announcer.h"
#include "service/expiry/feed/feed_judge.h"
#include "service/expiry/moment_reader.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/sweep/sweeper.h"
#include "service/storage/levers.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {

// The time at which the harness starts, in Unix seconds: kTestNow.
inline constexpr int64_t kStart = 1'800'000'000;

// A sweeper and an announcer with storage in memory, a scripted store, and a clock that moves only
// when told to. The clock starts at kTestNow. Calls to the store are real: their deadlines pass in
// real time.
class SweepHarness {
 public:
  explicit SweepHarness(SweeperOptions options = {});
  ~SweepHarness();

  // The store's clock goes like our boot clock, and shows kTestNow plus this at the start.
  void SetStoreClockOffset(absl::Duration offset);
  absl::Duration store_clock_offset() const {
    return absl::Nanoseconds(store_clock_offset_ns_.load());
  }

  // Our seconds now.
  int64_t Now() const;

  // A write as a store makes it: writes, then reports. The key is ("p", `id`).
  void Write(const std::string& container, const std::string& id, int64_t ts,
             std::optional<int64_t> ttl = std::nullopt, const std::string& etag = "");
  void Write(const std::string& container, const ItemKey& key, const ItemVersion& version);
  // `count` items with ids "<prefix>00000", ... in one report.
  void WriteMany(const std::string& container, const std::string& prefix, int64_t count, int64_t ts,
                 std::optional<int64_t> ttl = std::nullopt);

  // Runs one step, for tests that run steps while calls are in flight.
  Sweeper::StepResult RunOnce() { return sweeper_->RunOnce(); }
  // Runs one step, and `change` in it after a batch is found and before the time of sending is
  // read. REQUIRES: no call has ended that the step would handle.
  Sweeper::StepResult RunOnceWith(std::function<void()> change);
  // Runs one step, waits for its calls, and handles their answers. A step that has only called
  // GetStoreInfo continues with the next one.
  Sweeper::StepResult Step();
  // Runs steps until one wants to wait. Returns the number of deletes sent.
  int64_t SweepNow();
  // Lets time pass, with steps at the times that each step asks for.
  int64_t SweepFor(absl::Duration duration);

  // Creates a container with a feed.
  ContainerPtr CreateWithFeed(const std::string& id, std::optional<int64_t> default_ttl,
                              const FeedSettings& feed = {});
  // Runs steps of the announcer until one wants to wait. Returns what they did, and that wait.
  Announcer::StepResult AnnounceNow();
  // The events of a container in the order of its log, such as "EXPIRED a" or "PURGED a late".
  std::vector<std::string> Events(const std::string& container);
  // The watermark of a container, in seconds since kTestNow; absent: not known.
  std::optional<double> Watermark(const std::string& container);

  // Sets the limit over all containers, as an operator does; absent: no limit.
  void SetLimit(std::optional<double> per_second);

  // Restarts the process on the same data: storage, clock memory, sweeper.
  void Restart();
  // Restarts the sweeper only, with other options.
  void RestartSweeper(const SweeperOptions& options);

  FakeClock clock;
  StorageForTest storage;
  PublishedSweep published;
  UsageMeter usage;
  std::unique_ptr<Levers> levers;
  FakePrimaryStore store;
  std::optional<GuardedClock> guarded_clock;
  FeedProgress feed_progress;

  Announcer& announcer() { return *announcer_; }
  PrimaryStoreClient& client() { return *client_; }
  Sweeper& sweeper() { return *sweeper_; }
  DeleteTally TallyOf(const std::string& container);

 private:
  // The sweeper's view of `clock`.
  class HookedClock : public Clock {
   public:
    explicit HookedClock(const Clock& clock) : clock_(clock) {}

    // Runs `action` before the `nth` reading from now on; 1 is the next, 0 none.
    void BeforeRead(int nth, std::function<void()> action) {
      until_action_ = nth;
      action_ = std::move(action);
    }

    ClockReading Read() const override {
      if (until_action_ > 0 && --until_action_ == 0) action_();
      return clock_.Read();
    }
    std::string BootId() const override { return clock_.BootId(); }

   private:
    const Clock& clock_;
    mutable int until_action_ = 0;
    std::function<void()> action_;
  };

  SweeperOptions options_;
  std::atomic<int64_t> store_clock_offset_ns_ = 0;
  WakeSignal wake_;
  std::unique_ptr<PrimaryStoreClient> client_;
  HookedClock hooked_clock_{clock};
  std::optional<MomentReader> moments_;
  std::unique_ptr<Sweeper> sweeper_;
  std::optional<FeedJudge> feed_judge_;
  std::optional<MomentReader> announcer_moments_;
  std::unique_ptr<Announcer> announcer_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SWEEP_HARNESS_H_
