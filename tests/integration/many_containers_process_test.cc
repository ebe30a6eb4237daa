// What many containers cost a real sidecar: a start over one deleted item in each, and the
// purge of them all, in processor time for each container.

#include <gtest/gtest.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/mutex.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(5);

absl::Duration CpuTime(pid_t pid) {
  clockid_t clock;
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return absl::DurationFromTimespec(used);
}

class ManyContainersTest : public testing::Test {
 protected:
  // Processor time of the sidecar.
  struct Costs {
    absl::Duration
        start;  // over containers whose only item was deleted, until nothing is left to do
    absl::Duration purge;  // of all of them, with the calls that delete them
  };

  // Makes `containers` of one expired item each, lets the items be deleted, starts again, and
  // deletes the containers.
  static void Measure(int containers, Costs& costs) {
    Run run(containers);
    ASSERT_NO_FATAL_FAILURE(run.Start());
    ASSERT_NO_FATAL_FAILURE(run.MakeContainers());
    ASSERT_NO_FATAL_FAILURE(run.AwaitDeletes());
    ASSERT_NO_FATAL_FAILURE(run.Start());
    run.AwaitIdle();
    costs.start = run.Cpu();
    ASSERT_NO_FATAL_FAILURE(run.DeleteContainers());
    run.AwaitIdle();
    costs.purge = run.Cpu() - costs.start;
    run.ExpectAllErased();
  }

 private:
  class Run {
   public:
    explicit Run(int containers) : containers_(containers) {
      store_.SetBeforeDelete([this](auto& request, auto& response) {
        MutexLock lock(mutex_);
        arrived_ += request.items_size();
        for (int i = 0; i < request.items_size(); ++i) {
          response.add_results()->set_outcome(v1::DELETE_OUTCOME_DELETED);
        }
        return grpc::Status::OK;
      });
      SidecarProcessOptions options;
      options.dir = dir_.path();
      options.store_address = store_.address();
      options.flags = {absl::StrCat("--metrics-listen=unix:", metrics_)};
      sidecar_ = std::make_unique<SidecarProcess>(options);
    }

    // Ends the process that runs, if one does.
    void Start() {
      if (sidecar_->IsRunning()) {
        ASSERT_THAT(sidecar_->Stop(), IsOk());
      }
      ASSERT_THAT(sidecar_->Start(), IsOk());
    }

    void MakeContainers() {
      const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 100;
      SidecarCalls calls(sidecar_->channel());
      ForAll([&](const std::string& id) {
        const absl::Status created = calls.CreateContainer(id, 60);
        return created.ok() ? calls.Track(id, "a", ts) : created;
      });
    }

    void AwaitDeletes() {
      ASSERT_TRUE(WaitUntil([&] { return Arrived() >= containers_; }, kPatience)) << Arrived();
      AwaitIdle();
      ASSERT_EQ(Arrived(), containers_);
    }

    void DeleteContainers() {
      TtlClientOptions options;
      options.address = sidecar_->address();
      options.admin_deadline = absl::Seconds(20);
      TtlClient client(options);
      ForAll([&](const std::string& id) { return client.containers().Delete(id); });
    }

    // Until the sidecar has next to nothing to do: looks of its idle threads take a hundredth
    // of a processor.
    void AwaitIdle() {
      constexpr absl::Duration kLook = absl::Milliseconds(500);
      absl::Duration before = Cpu();
      bool is_first = true;
      ASSERT_TRUE(WaitUntil(
          [&] {
            const absl::Duration used = Cpu() - std::exchange(before, Cpu());
            return !std::exchange(is_first, false) && used < kLook / 20;
          },
          kPatience, kLook));
    }

    absl::Duration Cpu() { return CpuTime(sidecar_->process()->pid()); }

    // At least the record and the mark of each container have been erased by now.
    void ExpectAllErased() {
      const auto scrape = Scrape::Get(metrics_);
      ASSERT_THAT(scrape, IsOk());
      EXPECT_GE(scrape->Value("ttl_sidecar_storage_operations_total{operation=\"delete\"}"),
                2 * containers_);
      EXPECT_EQ(Arrived(), containers_) << "nothing is deleted twice";
    }

   private:
    // Calls of some threads share commits.
    void ForAll(const std::function<absl::Status(const std::string& id)>& call) {
      constexpr int kThreads = 16;
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          for (int i = thread; i < containers_; i += kThreads) {
            ASSERT_THAT(call(absl::StrCat("container-", i)), IsOk());
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }

    int64_t Arrived() {
      MutexLock lock(mutex_);
      return arrived_;
    }

    const int containers_;
    const TempDir dir_;
    const std::string metrics_ = dir_.File("metrics.sock");
    Mutex mutex_;
    int64_t arrived_ ABSL_GUARDED_BY(mutex_) = 0;  // deletes at the store
    FakePrimaryStore store_{[] { return absl::Now(); }};
    std::unique_ptr<SidecarProcess> sidecar_;
  };
};

// TTL_SCALE_CONTAINERS: how many the larger run has, 10,000 if it is not set; the smaller one
// has a fifth. What grew with the square would take five times as much for each container.
TEST_F(ManyContainersTest, AStartAndAPurgeCostTheSameForEachContainerHoweverManyThereAre) {
  const char* scale = std::getenv("TTL_SCALE_CONTAINERS");
  const int many = scale == nullptr ? 10'000 : std::atoi(scale);
  const int few = many / 5;
  Costs of_few;
  Costs of_many;
  ASSERT_NO_FATAL_FAILURE(Measure(few, of_few));
  ASSERT_NO_FATAL_FAILURE(Measure(many, of_many));
  const auto per_container = [](absl::Duration all, int containers) {
    return absl::ToDoubleMicroseconds(all) / containers;
  };
  for (const auto& [name, cost] :
       {std::pair("start", &Costs::start), std::pair("purge", &Costs::purge)}) {
    const double us_few = per_container(of_few.*cost, few);
    const double us_many = per_container(of_many.*cost, many);
    std::printf("%s: %d containers %.0f us each, %d containers %.0f us each\n", name, few, us_few,
                many, us_many);
    EXPECT_LE(us_many, 2 * us_few) << name;
  }
}

}  // namespace
}  // namespace ttl
