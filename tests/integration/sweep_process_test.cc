// The sweep of a real sidecar, counted at a scripted store on a real socket.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/mutex.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/retry_info_status.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

class SweepProcessTest : public testing::Test {
 protected:
  SweepProcessTest() { AnswerDeletes(nullptr); }

  // As SetBeforeDelete of the store; what arrives is counted as well.
  void AnswerDeletes(FakePrimaryStore::BeforeDelete answer) {
    store_.SetBeforeDelete([this, answer = std::move(answer)](auto& request, auto& response) {
      {
        MutexLock lock(mutex_);
        arrived_[request.container()] += request.items_size();
      }
      return answer ? answer(request, response) : std::nullopt;
    });
  }

  void Start(std::vector<std::string> flags) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store_.address();
    options.flags = std::move(flags);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    calls_ = std::make_unique<SidecarCalls>(sidecar_->channel());
  }

  // Expired items that the store has and the sidecar tracks.
  void WriteDue(const std::string& container, int64_t count) {
    const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 100;
    for (int64_t i = 0; i < count; ++i) {
      ItemVersion version;
      version.times = {ts, 10};
      store_.Put(container, {"", absl::StrCat("due", i)}, version);
    }
    ASSERT_TRUE(calls_->TrackMany(container, "due", count, ts, 10).ok());
  }

  void CreateWithDue(const std::string& container, int64_t count) {
    ASSERT_TRUE(calls_->CreateContainer(container, -1).ok());
    WriteDue(container, count);
  }

  // Deletes that have arrived at the store.
  int64_t Arrived(const std::string& container = "") {
    int64_t items = 0;
    MutexLock lock(mutex_);
    for (const auto& [name, count] : arrived_) {
      if (container.empty() || name == container) items += count;
    }
    return items;
  }

  // Watches for `duration`; returns how many deletes arrived per second of it.
  double RateWithin(
      absl::Duration duration, const std::function<void()>& meanwhile = [] {}) {
    const absl::Time start = absl::Now();
    const int64_t before = Arrived();
    WaitUntil(
        [&] {
          meanwhile();
          return false;
        },
        duration);
    return static_cast<double>(Arrived() - before) / absl::ToDoubleSeconds(absl::Now() - start);
  }

  // Whether there comes a time of `duration` with a rate in these bounds. A machine that
  // stands still may spoil one or two, by reports and deletes that come late; a sidecar that
  // takes the wrong rate spoils all.
  bool ComesToRate(
      double least, double most, absl::Duration duration,
      const std::function<void()>& meanwhile = [] {}) {
    return WaitUntil(
        [&] {
          const double rate = RateWithin(duration, meanwhile);
          return rate >= least && rate <= most;
        },
        absl::Seconds(40));
  }

  bool Holds(const std::string& container, v1::DeleteHold hold) {
    const auto status = calls_->GetStatus(container);
    if (!status.ok()) return false;
    const auto& holds = status->container().holds();
    return std::find(holds.begin(), holds.end(), hold) != holds.end();
  }

  const TempDir dir_;
  Mutex mutex_;
  std::map<std::string, int64_t> arrived_ ABSL_GUARDED_BY(mutex_);  // items, by container
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SidecarCalls> calls_;
};

TEST_F(SweepProcessTest, TheLimitOnAllIsExactAndChangedWhileItRuns) {
  const absl::Time start = absl::Now();
  Start({"--max-deletes-per-second=200"});
  CreateWithDue("a", 20'000);
  CreateWithDue("b", 20'000);
  RateWithin(absl::Seconds(2));
  EXPECT_TRUE(WaitUntil([&] { return Arrived() > 200; }, kPatience));
  const int64_t arrived = Arrived();
  EXPECT_LE(arrived, 200 * absl::ToDoubleSeconds(absl::Now() - start) + 20);

  ASSERT_TRUE(calls_->SetMaxDeletesPerSecond(4000).ok());
  EXPECT_TRUE(WaitUntil([&] { return Arrived() > arrived + 3000; }, kPatience));

  ASSERT_TRUE(calls_->SetMaxDeletesPerSecond(0).ok());
  EXPECT_TRUE(WaitUntil([&] { return Holds("a", v1::DELETE_HOLD_ZERO_RATE); }, kPatience));
  // What was about to be sent by then may still come.
  EXPECT_TRUE(ComesToRate(0, 0, absl::Seconds(1)));

  // Durable: the flag still says 200.
  ASSERT_TRUE(sidecar_->Stop().ok());
  ASSERT_TRUE(sidecar_->Start().ok());
  EXPECT_EQ(RateWithin(absl::Seconds(1)), 0);
}

TEST_F(SweepProcessTest, DeletesTakeWhatRequestsLeaveOver) {
  Start({});
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  v1::DeletePolicy policy;
  policy.set_request_units_per_second(1000);
  policy.set_min_deletes_per_second(10);
  ASSERT_TRUE(calls_->SetDeletePolicy("c", policy).ok());
  constexpr int64_t kDue = 60'000;
  WriteDue("c", kDue);
  EXPECT_LE(RateWithin(absl::Seconds(2)), 15) << "nobody reports: full use, only the floor";

  TtlClientOptions options;
  options.address = sidecar_->address();
  auto client = std::make_unique<TtlClient>(options);
  // What requests use, by the real clock and reported by the library.
  absl::Time last = absl::Now();
  const auto use = [&](double units_per_second) {
    return [&, units_per_second] {
      const absl::Time now = absl::Now();
      client->AddUsage("c", units_per_second * absl::ToDoubleSeconds(now - last));
      last = now;
    };
  };
  RateWithin(absl::Seconds(3), use(700));
  EXPECT_TRUE(ComesToRate(100, 360, absl::Seconds(4), use(700)))
      << "300 are left, less what a busy machine makes of it";

  RateWithin(absl::Milliseconds(2500), use(1200));
  EXPECT_TRUE(ComesToRate(0, 15, absl::Seconds(2), use(1200)));

  EXPECT_TRUE(ComesToRate(700, 1100, absl::Seconds(1)))
      << "the client reports that nothing is used";

  client.reset();
  EXPECT_TRUE(
      WaitUntil([&] { return Holds("c", v1::DELETE_HOLD_RATE) || Arrived() >= kDue; }, kPatience));
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto status = calls_->GetStatus("c");
        return status.ok() && !status->container().budget().has_used_by_requests();
      },
      kPatience))
      << "silence for 10 seconds counts as full use";
}

TEST_F(SweepProcessTest, PushBackIsHonouredAndForgotten) {
  Start({"--max-deletes-per-second=2000"});
  // For much longer than is looked at.
  AnswerDeletes([](auto&, auto&) {
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, absl::Seconds(10));
  });
  CreateWithDue("c", 5000);
  EXPECT_TRUE(WaitUntil([&] { return Holds("c", v1::DELETE_HOLD_BACKOFF); }, kPatience));
  AnswerDeletes(nullptr);
  const int64_t arrived = Arrived();
  RateWithin(absl::Seconds(1));
  EXPECT_EQ(Arrived(), arrived);
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("c") == 0; }, absl::Seconds(60)));
  EXPECT_TRUE(WaitUntil([&] { return !Holds("c", v1::DELETE_HOLD_PUSH_BACK); }, absl::Seconds(60)));
}

TEST_F(SweepProcessTest, AStoreThatHangsForOneContainerStopsNoOther) {
  Start({"--delete-deadline-seconds=300", "--stop-deadline-seconds=310"});
  store_.Hang("a-hangs");
  CreateWithDue("a-hangs", 10);
  EXPECT_TRUE(WaitUntil([&] { return store_.HangingCalls() == 1; }, kPatience));
  CreateWithDue("b-works", 5000);
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("b-works") == 0; }, kPatience));
  EXPECT_EQ(store_.Count("a-hangs"), 10);
  store_.Release();
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("a-hangs") == 0; }, kPatience));
}

// B65 with real processes. TTL_SCALE_ITEMS: how many items of the large container are due,
// 40,000 if it is not set.
TEST_F(SweepProcessTest, TenItemsBesideManyAreDeletedWithinTwoIntervals) {
  const char* scale = std::getenv("TTL_SCALE_ITEMS");
  const int64_t many = scale == nullptr ? 40'000 : std::atoll(scale);
  // A store that need not hold what it deletes.
  AnswerDeletes([](auto& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_DELETED);
    }
    return grpc::Status::OK;
  });
  Start({"--max-deletes-per-second=1000"});
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(calls_->CreateContainer(absl::StrCat("idle-", i), 60).ok());
  }
  const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 100;
  for (const char* container : {"a-large", "b-ten", "c-trickle"}) {
    ASSERT_TRUE(calls_->CreateContainer(container, -1).ok());
  }
  ASSERT_TRUE(calls_->TrackMany("a-large", "due", many, ts, 10).ok());
  EXPECT_TRUE(WaitUntil([&] { return Arrived("a-large") > 0; }, kPatience));

  for (const char* container : {"b-ten", "c-trickle", "c-trickle"}) {
    const int64_t before = Arrived(container);
    ASSERT_TRUE(calls_->TrackMany(container, absl::StrCat("late", before), 10, ts, 10).ok());
    const absl::Time tracked = absl::Now();
    EXPECT_TRUE(WaitUntil([&] { return Arrived(container) == before + 10; }, kPatience));
    absl::Time gone;
    for (const auto& received : store_.ReceivedDeletes()) {
      if (received.request.container() == container) gone = received.at;
    }
    int64_t large_meanwhile = 0;
    for (const auto& received : store_.ReceivedDeletes()) {
      const bool meanwhile = received.at > tracked && received.at < gone;
      if (meanwhile && received.request.container() == "a-large") {
        large_meanwhile += received.request.items_size();
      }
    }
    // What two intervals of 0.1 s allow, however slow the machine is.
    EXPECT_LE(large_meanwhile, 200) << container;
  }
  EXPECT_LT(Arrived("a-large"), many) << "the large one was done before";
}

}  // namespace
}  // namespace ttl
