// Kills sidecar and store at random moments under load, again and again, and
// compares every answer and the final state with an oracle.
//
//   TTL_KILL_ROUNDS  number of kills, default 24
//   TTL_KILL_SEED    seed of moments and load, default 1

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "service/storage/storage.h"
#include "tests/bench/workload/random.h"
#include "tests/bench/workload/workload.h"
#include "tests/testing/channel.h"
#include "tests/testing/document_store_process.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using workload::Random;
using workload::Tally;
using workload::Workload;
using workload::WorkloadOptions;

constexpr int kRounds = 24;
constexpr int64_t kSeed = 1;
// A kill comes at a random moment within this after the last recovery.
constexpr double kLongestLifeSeconds = 1.5;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

WorkloadOptions KillOptions(int64_t seed) {
  WorkloadOptions options;
  // Write-heavy, with deletes, and with ttls of 1 to 14 seconds once scaled, so
  // that items expire and are swept all the time, and others outlive the test.
  for (const char* name : {"cluster12", "cluster14", "cluster21", "cluster23", "cluster37"}) {
    options.clusters.push_back(*workload::FindCluster(name));
  }
  options.seed = static_cast<uint64_t>(seed);
  options.documents = 4000;
  options.ttl_scale = 0.02;
  options.max_value_bytes = 200;
  return options;
}

// Sidecar and store as processes, and their load.
class KillTest : public testing::Test {
 protected:
  KillTest()
      : seed_(FromEnvironment("TTL_KILL_SEED", kSeed)),
        random_(static_cast<uint64_t>(seed_)),
        sidecar_({.dir = dir_.path(),
                  .store_address = "unix:" + dir_.File("store.sock"),
                  .flags = {},
                  .env = {}}),
        store_({.dir = dir_.path(), .sidecar_address = sidecar_.address(), .flags = {}, .env = {}}),
        workload_(KillOptions(seed_), NewTestChannel(store_.address())) {}

  // What a failed run is looked into with.
  void TearDown() override {
    if (!HasFailure()) return;
    const Tally tally = workload_.Total();
    for (const std::string& sample : tally.mismatch_samples) ADD_FAILURE() << sample;
    ADD_FAILURE() << "seed " << seed_ << "\nlog of the sidecar:\n"
                  << sidecar_.Log() << "\nlog of the store:\n"
                  << store_.Log();
  }

  // One kill and recovery: of the sidecar, of the store, or of both.
  void KillAndRestart(int round) {
    const bool kills_sidecar = round % 3 != 1;
    const bool kills_store = round % 3 != 0;
    if (kills_sidecar) sidecar_.Kill();
    if (kills_store) store_.Kill();
    if (kills_sidecar) {
      const absl::Status started = sidecar_.Start();
      ASSERT_TRUE(started.ok()) << started;
    }
    if (kills_store) {
      const absl::Status started = store_.Start();
      ASSERT_TRUE(started.ok()) << started;
    }
  }

  void LiveForARandomTime() {
    const auto life = std::chrono::duration<double>(random_.Fraction() * kLongestLifeSeconds);
    std::this_thread::sleep_for(life);
  }

  absl::Status CheckDataDirectory() const {
    StorageOptions options;
    options.directory = sidecar_.data_dir();
    const auto storage = Storage::Open(options);
    return storage.ok() ? (*storage)->CheckInvariants() : storage.status();
  }

  const TempDir dir_;
  const int64_t seed_;
  Random random_;
  SidecarProcess sidecar_;
  DocumentStoreProcess store_;
  Workload workload_;
};

TEST_F(KillTest, NothingIsLostAndNothingIsLeftOver) {
  const int64_t rounds = FromEnvironment("TTL_KILL_ROUNDS", kRounds);
  ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
  ASSERT_TRUE(store_.Start().ok()) << store_.Log();
  const absl::Status created = workload_.CreateContainers(sidecar_.channel());
  ASSERT_TRUE(created.ok()) << created;

  std::atomic<bool> stop = false;
  std::thread load([&] {
    workload_.Load(stop);
    workload_.Run(absl::InfiniteDuration(), std::numeric_limits<int64_t>::max(), stop);
  });
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    LiveForARandomTime();
    KillAndRestart(round);
  }
  stop = true;
  load.join();
  ASSERT_FALSE(HasFatalFailure());

  const absl::Status drained = workload_.AwaitExactStore(absl::Seconds(60));
  EXPECT_TRUE(drained.ok()) << drained;
  const absl::Status compared = workload_.CompareContents();
  EXPECT_TRUE(compared.ok()) << compared;
  const Tally tally = workload_.Total();
  EXPECT_EQ(tally.mismatches, 0);
  EXPECT_GT(tally.unanswered, 0) << "no kill met any load";
  absl::PrintF(
      "seed %d: %d kills, %d documents put, %d answers judged, %d calls unanswered, "
      "%d documents resolved, %d live at the end\n",
      seed_, rounds, tally.puts, tally.shown + tally.hidden, tally.unanswered, tally.resolved,
      workload_.CountLive(absl::Now()));

  EXPECT_TRUE(store_.Stop().ok());
  const absl::Status stopped = sidecar_.Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
  const absl::Status invariants = CheckDataDirectory();
  EXPECT_TRUE(invariants.ok()) << invariants;
}

}  // namespace
}  // namespace ttl
