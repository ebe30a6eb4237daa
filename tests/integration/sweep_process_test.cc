// The sweep of a real sidecar, counted at a scripted store on a real socket.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/ttl_client.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/retry_info_status.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

class SweepProcessTest : public testing::Test {
 protected:
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
    for (const auto& received : store_.ReceivedDeletes()) {
      if (container.empty() || received.request.container() == container) {
        items += received.request.items_size();
      }
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

  bool Holds(const std::string& container, v1::DeleteHold hold) {
    const auto status = calls_->GetStatus(container);
    if (!status.ok()) return false;
    const auto& holds = status->container().holds();
    return std::find(holds.begin(), holds.end(), hold) != holds.end();
  }

  const TempDir dir_;
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
  const int64_t arrived = Arrived();
  EXPECT_LE(arrived, 200 * absl::ToDoubleSeconds(absl::Now() - start) + 20);
  EXPECT_GT(arrived, 200);

  ASSERT_TRUE(calls_->SetMaxDeletesPerSecond(4000).ok());
  EXPECT_TRUE(WaitUntil([&] { return Arrived() > arrived + 3000; }));

  ASSERT_TRUE(calls_->SetMaxDeletesPerSecond(0).ok());
  EXPECT_TRUE(WaitUntil([&] { return Holds("a", v1::DELETE_HOLD_ZERO_RATE); }));
  EXPECT_TRUE(WaitUntil([&] {
    const auto status = calls_->GetStatus();
    return status.ok() && status->sidecar().sweep().calls_under_way() == 0;
  }));
  EXPECT_EQ(RateWithin(absl::Seconds(1)), 0);

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
  WriteDue("c", 30'000);
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
  const double at_70_percent = RateWithin(absl::Seconds(4), use(700));
  EXPECT_LE(at_70_percent, 360);
  EXPECT_GE(at_70_percent, 100) << "300 are left, less what a busy machine makes of it";

  RateWithin(absl::Milliseconds(2500), use(1200));
  EXPECT_LE(RateWithin(absl::Seconds(2), use(1200)), 15);

  EXPECT_TRUE(WaitUntil([&] { return RateWithin(absl::Seconds(1)) >= 700; }, absl::Seconds(20)))
      << "the client reports that nothing is used";

  client.reset();
  EXPECT_TRUE(WaitUntil([&] { return Holds("c", v1::DELETE_HOLD_RATE) || Arrived() >= 30'000; },
                        absl::Seconds(15)));
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto status = calls_->GetStatus("c");
        return status.ok() && !status->container().budget().has_used_by_requests();
      },
      absl::Seconds(15)))
      << "silence for 10 seconds counts as full use";
}

TEST_F(SweepProcessTest, PushBackIsHonouredAndForgotten) {
  Start({"--max-deletes-per-second=2000"});
  store_.SetBeforeDelete([](auto&, auto&) {
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, absl::Seconds(3));
  });
  CreateWithDue("c", 5000);
  EXPECT_TRUE(WaitUntil([&] { return Holds("c", v1::DELETE_HOLD_BACKOFF); }));
  store_.SetBeforeDelete(nullptr);
  const int64_t arrived = Arrived();
  RateWithin(absl::Seconds(1));
  EXPECT_EQ(Arrived(), arrived);
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("c") == 0; }, absl::Seconds(60)));
  EXPECT_TRUE(WaitUntil([&] { return !Holds("c", v1::DELETE_HOLD_PUSH_BACK); }, absl::Seconds(60)));
}

TEST_F(SweepProcessTest, AStoreThatHangsForOneContainerStopsNoOther) {
  Start({"--delete-deadline-seconds=30", "--stop-deadline-seconds=40"});
  store_.Hang("a-hangs");
  CreateWithDue("a-hangs", 10);
  EXPECT_TRUE(WaitUntil([&] { return store_.HangingCalls() == 1; }));
  CreateWithDue("b-works", 5000);
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("b-works") == 0; }));
  EXPECT_EQ(store_.Count("a-hangs"), 10);
  store_.Release();
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("a-hangs") == 0; }));
}

// B65 with real processes. TTL_SCALE_ITEMS: how many items of the large container are due,
// 20,000 if it is not set.
TEST_F(SweepProcessTest, B65TenItemsBesideManyGoWithinTwoIntervals) {
  const char* scale = std::getenv("TTL_SCALE_ITEMS");
  const int64_t many = scale == nullptr ? 20'000 : std::atoll(scale);
  // A store that need not hold what it deletes.
  store_.SetBeforeDelete([](auto& request, auto& response) {
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
  EXPECT_TRUE(WaitUntil([&] { return Arrived("a-large") > 0; }));

  for (const char* container : {"b-ten", "c-trickle", "c-trickle"}) {
    const int64_t before = Arrived(container);
    ASSERT_TRUE(calls_->TrackMany(container, absl::StrCat("late", before), 10, ts, 10).ok());
    const absl::Time tracked = absl::Now();
    EXPECT_TRUE(WaitUntil([&] { return Arrived(container) == before + 10; }));
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
