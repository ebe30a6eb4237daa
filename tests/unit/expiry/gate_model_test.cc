// The promise of gated subscriptions against a model, whatever happens in which order: no item is
// sent to the store whose EXPIRED a gate has neither read and acknowledged nor been given up for;
// and once all gates have, nothing waits for ever.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/gate_harness.h"

namespace ttl {
namespace {

constexpr int64_t kGiveUpSeconds = 90;

FeedSettings ShortFeed() {
  FeedSettings settings;
  settings.max_age_seconds = 60;
  return settings;
}

class GateRun {
 public:
  GateRun() : h_(ShortFeed(), 20) {
    h_.store.SetBeforeDelete([this](const auto& request, auto&) {
      if (!created_in_flight_.empty()) CreateGateInFlight();
      for (const auto& item : request.items()) CheckSent(item.id());
      return std::optional<grpc::Status>();
    });
  }

  void Step() {
    switch (*rc::gen::inRange(0, 16)) {
      case 0:
      case 1:
      case 2:
        return h_.Write("c", AnyItem(), h_.Now(), AnyTtl());
      case 3:
        h_.storage.UntrackOne("c", AnyItem(), ItemRemoval::kNewerThanAnyTs);
        return;
      case 4:
      case 5:
        return Consume(*rc::gen::inRange(1, 4));
      case 6:
        return Consume(100'000);
      case 7:
        return CreateGate(AnyGate());
      case 8:
        return DeleteGate(AnyGate());
      case 9:
        return h_.SetTtl(*rc::gen::element<int64_t>(5, 20, 300));
      case 10:
        h_.AnnounceNow();
        return;
      case 11:
        return h_.KeepHouse();
      case 12:
        return h_.clock.Advance(absl::Seconds(*rc::gen::element(1, 15, 70, 200)));
      case 13:
        if (*rc::gen::inRange(0, 3) == 0) h_.Restart();
        return;
      case 14:
        created_in_flight_ = AnyGate();
        return;
      default:
        h_.SweepFor(absl::Seconds(*rc::gen::element(1, 5, 30)));
    }
  }

  void Check() {
    std::lock_guard lock(mutex_);
    RC_ASSERT(violations_ == std::vector<std::string>());
    RC_ASSERT(h_.storage->CheckInvariants() == absl::OkStatus());
  }

  // All gates read everything, again and again.
  void CheckNothingWaitsForEver() {
    created_in_flight_.clear();
    h_.SetTtl(5);
    for (int i = 0; i < 10; ++i) {
      h_.AnnounceNow();
      h_.SweepFor(absl::Seconds(100));
      for (const std::string& gate : h_.Gates()) h_.Consume(gate);
      h_.KeepHouse();
    }
    Check();
    RC_ASSERT(h_.storage->tallies().Tracked(h_.Container()->number).items == 0);
    RC_ASSERT(h_.Figures().gated_items == 0);
  }

 private:
  static std::string AnyItem() { return absl::StrCat("i", *rc::gen::inRange(0, 5)); }
  static std::string AnyGate() { return absl::StrCat("g", *rc::gen::inRange(0, 3)); }
  // The last of them is given up.
  static absl::Duration GiveUpAfter(const std::string& gate) {
    return gate == "g2" ? absl::Seconds(kGiveUpSeconds) : absl::ZeroDuration();
  }
  static std::optional<int64_t> AnyTtl() {
    return *rc::gen::element<std::optional<int64_t>>(std::nullopt, 5, 40);
  }

  void Consume(size_t limit) {
    const std::vector<std::string> gates = h_.Gates();
    if (gates.empty()) return;
    h_.Consume(gates[*rc::gen::inRange<size_t>(0, gates.size())], limit);
  }
  bool HasGate(const std::string& name) { return h_.feed().Find("c", name).has_value(); }
  void CreateGate(const std::string& name) {
    if (!HasGate(name)) RC_ASSERT(h_.CreateGate(name, GiveUpAfter(name)).ok());
  }
  void DeleteGate(const std::string& name) {
    if (HasGate(name)) RC_ASSERT(h_.DeleteGate(name).ok());
  }

  // On the thread of a call of the store, whose items need not have been read by it.
  void CreateGateInFlight() {
    const std::string name = std::exchange(created_in_flight_, "");
    if (HasGate(name)) return;
    h_.feed().Subscribe("c", GateHarness::GateOf(name, GiveUpAfter(name)), kTestNow,
                        [this](const absl::StatusOr<SubscriptionView>& view) {
                          if (view.ok()) h_.AddConsumer(*view);
                        });
  }

  // On such a thread, while that of the test waits for it.
  void CheckSent(const std::string& id) {
    const uint64_t sequence = h_.ExpiredSequenceOf(id);
    for (const std::string& gate : h_.Gates()) {
      if (h_.HasRead(gate, sequence) || MayBeGivenUp(gate, sequence)) continue;
      std::lock_guard lock(mutex_);
      violations_.push_back(absl::StrCat(id, " with EXPIRED ", sequence, " for ", gate));
    }
  }

  bool MayBeGivenUp(const std::string& gate, uint64_t sequence) {
    if (GiveUpAfter(gate) == absl::ZeroDuration()) return false;
    FeedQuery query;
    query.containers = {h_.Container()};
    query.after = sequence - 1;
    query.max_events = 1;
    const auto page = h_.feed().Read(query);
    if (!page.ok() || page->entries.empty()) return true;  // long ago
    const absl::Time logged = page->entries[0].event.time;
    return logged + GiveUpAfter(gate) <= absl::FromUnixSeconds(h_.Now());
  }

  GateHarness h_;
  std::string created_in_flight_;
  std::mutex mutex_;
  std::vector<std::string> violations_;
};

RC_GTEST_PROP(GateModelTest, NoItemIsSentBeforeItsGatesHavePassedItAndNoneWaitsForEver, ()) {
  GateRun run;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    run.Step();
    run.Check();
  }
  run.CheckNothingWaitsForEver();
}

}  // namespace
}  // namespace ttl
