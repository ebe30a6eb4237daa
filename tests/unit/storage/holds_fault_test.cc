// Holds on a disk that fails, and after a loss of power: what was acknowledged counts, and no item
// is lost between the families of the index.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/base/done.h"
#include "service/storage/holds.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

const std::vector<std::string> kIds = {"a", "b", "d"};

class HoldsOnABadDisk {
 public:
  HoldsOnABadDisk() {
    storage_.Create("c", 60);
    for (const std::string& id : kIds) storage_.TrackOne("c", id, kT - 100);
    EXPECT_TRUE(Place("1", {"a", "b"}));
  }

  // The `nth` write from now on fails, and all after it; then the power.
  void Run(FaultEnv::Fault fault, int nth) {
    storage_.env().FailFrom(fault, nth);
    const bool placed = Place("2", {"b"});
    SetAside();
    const bool released = Release("1");
    for (int i = 0; i < 3; ++i) storage_->RunHousekeeping();
    storage_.Close();
    storage_.env().FailFrom(fault, 0);  // none, should it not have come yet
    storage_.env().FailWrites(false);
    storage_.env().DropUnsynced();
    storage_.Reopen();

    EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
    EXPECT_TRUE(!placed || IsHeld("b"));
    EXPECT_NE(IsHeld("a"), released);
    EXPECT_FALSE(IsHeld("d"));
    Release("1");
    Release("2");
    storage_.FinishHousekeeping();
    EXPECT_EQ(storage_->holds().Counts(Number()).ending, 0);
    EXPECT_EQ(storage_.DueIds("c", kT + 1).size(), kIds.size());
  }

 private:
  uint64_t Number() { return storage_.Find("c")->number; }
  bool IsHeld(const std::string& id) { return *storage_->holds().IsHeld(Number(), KeyOf(id)); }

  bool Place(const std::string& hold_id, const std::vector<std::string>& ids) {
    HoldRequest request;
    request.hold_id = hold_id;
    request.reason = "audit";
    ItemsByKey keys;
    for (const std::string& id : ids) keys.keys.push_back(KeyOf(id));
    request.scope = std::move(keys);
    return Await<absl::StatusOr<PlacedHold>>(
               [&](auto done) { storage_->holds().Place("c", request, kTestNow, std::move(done)); })
        .ok();
  }
  bool Release(const std::string& hold_id) {
    return Await<absl::Status>([&](auto done) {
             storage_->holds().Release("c", hold_id, kTestNow, std::move(done));
           })
        .ok();
  }
  void SetAside() {
    std::vector<HeldItem> items;
    for (const std::string& id : kIds) {
      items.push_back({KeyOf(id), storage_.FindItem("c", id)->generation});
    }
    (void)Await<absl::StatusOr<int64_t>>([&](auto done) {
      storage_->holds().SetAside(Number(), std::move(items), std::move(done));
    });
  }

  StorageForTest storage_;
};

TEST(HoldsFaultTest, WhateverWriteFailsWhatWasAcknowledgedCounts) {
  using Fault = FaultEnv::Fault;
  for (const Fault fault : {Fault::kFailedSync, Fault::kShortWrite, Fault::kNoSpace}) {
    for (int nth = 1; nth <= 12; ++nth) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(fault) << " " << nth);
      HoldsOnABadDisk().Run(fault, nth);
    }
  }
}

}  // namespace
}  // namespace ttl
