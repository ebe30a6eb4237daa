// A volume so full that what becomes of deletes cannot be kept.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/security/credentials.h"
#include "service/base/done.h"
#include "service/expiry/sweep/sweeper.h"
#include "service/storage/levers.h"
#include "service/storage/storage.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

constexpr int kItems = 50;

// On a real volume, since only that has a free space. Each run is a process of its own.
class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto storage = Open(0);
    ContainerSettings settings;
    settings.policy.default_ttl = 10;
    const auto created = Await<absl::StatusOr<ContainerPtr>>(
        [&](auto done) { storage->containers().Create("c", settings, kTestNow, std::move(done)); });
    ASSERT_TRUE(created.ok());
    SweepFor(*storage, absl::Seconds(2));  // the store is known
    std::vector<ItemReport> reports;
    for (int i = 0; i < kItems; ++i) {
      reports.push_back({KeyOf(absl::StrCat(i)), {{kStart - 100, {}}, "", {}, 0}});
      store_.Put("c", reports.back().key, reports.back().version);
    }
    const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
      storage->items().Track((*created)->number, reports, AdoptionTerms(), std::move(done));
    });
    ASSERT_TRUE(tracked.ok());
  }

  std::unique_ptr<Storage> Open(int64_t outcome_floor_bytes) {
    StorageOptions options;
    options.directory = directory_.File("db");
    options.report_floor_bytes = options.outcome_floor_bytes = outcome_floor_bytes;
    auto storage = Storage::Open(options);
    EXPECT_TRUE(storage.ok()) << storage.status();
    return *std::move(storage);
  }

  // Returns why the store is in doubt, if it is.
  std::string SweepFor(Storage& storage, absl::Duration duration) {
    const GuardedClock guarded(clock_, std::nullopt);
    PublishedSweep published;
    UsageMeter usage;
    const std::unique_ptr<Levers> levers = Levers::Load(storage, {}).value();
    WakeSignal wake;
    PrimaryStoreClient client(store_.address(), grpc::InsecureChannelCredentials());
    SweeperOptions options;
    options.batch_items = kItems;
    options.max_calls_under_way = 1;
    options.not_found_burst_items = kItems;
    MomentReader moments(clock_, guarded);
    Sweeper sweeper(options, {storage, &client, published, usage, *levers, wake, moments});
    const absl::Time end = *clock_.Read().wall + duration;
    while (*clock_.Read().wall < end) {
      Sweeper::StepResult step = sweeper.RunOnce();
      while (sweeper.AwaitCall()) sweeper.TakeIn(step);
      clock_.Advance(absl::Milliseconds(100));
    }
    return levers->store_trust().doubt();
  }

  TempDir directory_;
  FakeClock clock_;
  FakePrimaryStore store_{[this] { return *clock_.Read().wall; }};
};

// Field report B85.
TEST_F(FullDiskTest, NothingIsDeletedWithoutRoomForOutcomesAndDeletesResumeByThemselves) {
  {
    const auto full = Open(std::numeric_limits<int64_t>::max());
    EXPECT_EQ(SweepFor(*full, absl::Minutes(2)), "");
    EXPECT_TRUE(store_.ReceivedDeletes().empty());
    EXPECT_EQ(store_.Count("c"), kItems);
  }
  const auto freed = Open(0);
  EXPECT_EQ(SweepFor(*freed, absl::Seconds(10)), "");
  EXPECT_EQ(store_.Count("c"), 0);
  EXPECT_EQ(store_.Deleted().size(), static_cast<size_t>(kItems));
}

}  // namespace
}  // namespace ttl
