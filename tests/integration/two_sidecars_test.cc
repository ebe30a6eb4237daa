// Two sidecars beside one store, as after a fail-over that one of them did not notice.
// Real processes and a scripted store; see the field reports B43 and B93.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr int64_t kItems = 100;
constexpr absl::Duration kPatience = absl::Seconds(30);

class TwoSidecarsTest : public testing::Test {
 protected:
  // A sidecar with its own data.
  struct Instance {
    std::unique_ptr<SidecarProcess> process;
    std::unique_ptr<SidecarCalls> calls;

    v1::DeleteTally Deletes() const {
      const auto status = calls->GetStatus("c");
      return status.ok() ? status->container().deletes() : v1::DeleteTally();
    }
  };

  void StartBoth(int delete_deadline_seconds) {
    a_ = StartOne("a", delete_deadline_seconds);
    b_ = StartOne("b", delete_deadline_seconds);
  }

  Instance StartOne(const std::string& name, int delete_deadline_seconds) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.name = name;
    options.store_address = store_.address();
    options.flags = {
        absl::StrCat("--delete-deadline-seconds=", delete_deadline_seconds),
        absl::StrCat("--stop-deadline-seconds=", delete_deadline_seconds + 10),
    };
    Instance instance;
    instance.process = std::make_unique<SidecarProcess>(options);
    const absl::Status started = instance.process->Start();
    EXPECT_TRUE(started.ok()) << started;
    instance.calls = std::make_unique<SidecarCalls>(instance.process->channel());
    EXPECT_TRUE(instance.calls->CreateContainer("c", -1).ok());
    return instance;
  }

  static int64_t Now() { return absl::ToUnixSeconds(absl::Now()); }

  void Put(const std::string& id, int64_t ts, int64_t ttl) {
    ItemVersion version;
    version.times = {ts, ttl};
    store_.Put("c", {"", id}, version);
  }

  // Expired items that the store has.
  void PutDue() {
    for (int64_t i = 0; i < kItems; ++i) Put(absl::StrCat("i", i), due_ts_, 10);
  }
  void Report(Instance& instance) {
    ASSERT_TRUE(instance.calls->TrackMany("c", "i", kItems, due_ts_, 10).ok());
  }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  const int64_t due_ts_ = Now() - 100;
  Instance a_;
  Instance b_;
};

// Field report B93.
TEST_F(TwoSidecarsTest, EachItemIsDeletedAndCountedOnce) {
  // Both have asked for all items before either is answered, and neither gives up meanwhile.
  StartBoth(60);
  store_.Hang();
  PutDue();
  Report(a_);
  Report(b_);
  ASSERT_TRUE(WaitUntil([&] { return store_.HangingCalls() >= 2; }, kPatience));
  store_.Release();
  EXPECT_TRUE(WaitUntil(
      [&] {
        const v1::DeleteTally of_a = a_.Deletes();
        const v1::DeleteTally of_b = b_.Deletes();
        return of_a.deleted() + of_a.not_found() >= kItems &&
               of_b.deleted() + of_b.not_found() >= kItems;
      },
      kPatience));
  EXPECT_EQ(store_.Deleted().size(), static_cast<size_t>(kItems));
  const v1::DeleteTally of_a = a_.Deletes();
  const v1::DeleteTally of_b = b_.Deletes();
  EXPECT_LE(of_a.deleted() + of_b.deleted(), kItems);
  if (of_a.unanswered() + of_b.unanswered() == 0) {
    EXPECT_EQ(of_a.deleted() + of_b.deleted(), kItems);
  }
}

// A stands still from before its deletes are carried out until after their not_after.
// Field report B43.
TEST_F(TwoSidecarsTest, AResumedSidecarDeletesNoRewrittenItem) {
  constexpr int kDeadlineSeconds = 5;
  StartBoth(kDeadlineSeconds);
  PutDue();
  store_.Hang();
  Report(a_);
  ASSERT_TRUE(WaitUntil([&] { return store_.HangingCalls() == 1; }, kPatience));
  ASSERT_TRUE(a_.process->Suspend().ok());
  const absl::Time not_after = absl::Now() + absl::Seconds(kDeadlineSeconds);
  ASSERT_TRUE(
      WaitUntil([&] { return absl::Now() > not_after + absl::Milliseconds(100); }, kPatience));
  store_.Release();
  ASSERT_TRUE(WaitUntil([&] { return store_.HangingCalls() == 0; }, kPatience));

  // B takes over. Half of the items are written again; B is told, and A is not.
  for (int64_t i = 0; i < kItems / 2; ++i) Put(absl::StrCat("i", i), Now(), 3600);
  Report(b_);
  EXPECT_TRUE(WaitUntil([&] { return store_.Count("c") == kItems / 2; }, kPatience));
  ASSERT_TRUE(a_.process->Resume().ok());
  EXPECT_TRUE(WaitUntil(
      [&] {
        const v1::DeleteTally deletes = a_.Deletes();
        return deletes.modified() >= kItems / 2 && deletes.not_found() >= kItems / 2;
      },
      kPatience));
  EXPECT_EQ(a_.Deletes().deleted(), 0);
  EXPECT_EQ(store_.Count("c"), kItems / 2);
}

}  // namespace
}  // namespace ttl
