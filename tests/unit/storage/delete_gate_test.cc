#include "service/storage/delete_gate.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

TEST(DeleteGateTest, IsOpenAtFirst) {
  DeleteGate gate;
  EXPECT_TRUE(gate.TryEnter(1).has_value());
  EXPECT_FALSE(gate.IsClosed(1));
}

TEST(DeleteGateTest, AChangeGoesOnAtOnceIfNothingIsOnItsWay) {
  DeleteGate gate;
  bool drained = false;
  gate.Close(1, [&] { drained = true; });
  EXPECT_TRUE(drained);
  EXPECT_TRUE(gate.IsClosed(1));
  EXPECT_FALSE(gate.TryEnter(1).has_value());
  EXPECT_TRUE(gate.TryEnter(2).has_value());
  gate.Open(1);
  EXPECT_TRUE(gate.TryEnter(1).has_value());
}

TEST(DeleteGateTest, AChangeWaitsForTheLastPass) {
  DeleteGate gate;
  bool drained = false;
  auto first = gate.TryEnter(1);
  auto second = gate.TryEnter(1);
  const auto other = gate.TryEnter(2);
  gate.Close(1, [&] { drained = true; });
  first.reset();
  EXPECT_FALSE(drained);
  second.reset();
  EXPECT_TRUE(drained);
}

TEST(DeleteGateTest, AChangeOfAllWaitsForEveryContainer) {
  DeleteGate gate;
  bool drained = false;
  auto pass = gate.TryEnter(7);
  gate.Close(DeleteGate::kAllContainers, [&] { drained = true; });
  EXPECT_FALSE(gate.TryEnter(8).has_value());
  EXPECT_FALSE(drained);
  pass.reset();
  EXPECT_TRUE(drained);
  gate.Open(DeleteGate::kAllContainers);
  EXPECT_TRUE(gate.TryEnter(8).has_value());
}

TEST(DeleteGateTest, ThePassesThatAreOutAreAwaitedWithoutClosing) {
  DeleteGate gate;
  bool ended = false;
  auto first = gate.TryEnter(1);
  auto of_all = gate.TryEnter(DeleteGate::kAllContainers);
  const auto other = gate.TryEnter(2);
  gate.AwaitPresent(1, [&] { ended = true; });
  const auto later = gate.TryEnter(1);
  EXPECT_TRUE(later.has_value());
  first.reset();
  EXPECT_FALSE(ended);
  of_all.reset();
  EXPECT_TRUE(ended);
  gate.AwaitPresent(3, [&] { ended = false; });
  EXPECT_FALSE(ended) << "at once if there are none";
}

TEST(DeleteGateTest, ThePassesOfAllContainersAreAwaitedButNoLaterOnes) {
  DeleteGate gate;
  bool ended = false;
  auto first = gate.TryEnter(1);
  auto other = gate.TryEnter(2);
  gate.AwaitPresent(DeleteGate::kAllContainers, [&] { ended = true; });
  const auto later = gate.TryEnter(1);
  first.reset();
  EXPECT_FALSE(ended);
  other.reset();
  EXPECT_TRUE(ended);
}

TEST(DeleteGateTest, ClosingsAddUp) {
  DeleteGate gate;
  gate.Close(1, [] {});
  gate.Close(1, [] {});
  gate.Open(1);
  EXPECT_FALSE(gate.TryEnter(1).has_value());
  gate.Open(1);
  EXPECT_TRUE(gate.TryEnter(1).has_value());
}

TEST(DeleteGateTest, AMovedPassIsGivenBackOnce) {
  DeleteGate gate;
  bool drained = false;
  auto pass = gate.TryEnter(1);
  DeleteGate::Pass moved = *std::move(pass);
  pass.reset();
  gate.Close(1, [&] { drained = true; });
  EXPECT_FALSE(drained);
  { const DeleteGate::Pass last = std::move(moved); }
  EXPECT_TRUE(drained);
}

}  // namespace
}  // namespace ttl
