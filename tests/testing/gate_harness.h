#ifndef TTL_TESTS_TESTING_GATE_HARNESS_H_
#define TTL_TESTS_TESTING_GATE_HARNESS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/storage/feed.h"
#include "service/storage/touches.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {

// A SweepHarness with a container "c" that has a feed, and gated subscriptions of it whose
// consumers read and acknowledge when they are told to. For one thread, except for HasRead().
class GateHarness : public SweepHarness {
 public:
  explicit GateHarness(FeedSettings feed = {}, std::optional<int64_t> default_ttl = -1,
                       SweeperOptions options = {})
      : SweepHarness(options) {
    CreateWithFeed("c", default_ttl, feed);
  }

  ContainerPtr Container() { return storage.Find("c"); }
  Feed& feed() { return storage->feed(); }

  static Subscription GateOf(const std::string& name,
                             absl::Duration give_up_after = absl::ZeroDuration()) {
    Subscription gate;
    gate.name = name;
    gate.gate = true;
    gate.give_up_after_seconds = absl::ToInt64Seconds(give_up_after);
    return gate;
  }

  // Creates a gate, and its consumer. REQUIRES: no delete is in flight.
  absl::StatusOr<SubscriptionView> CreateGate(const std::string& name,
                                              absl::Duration give_up_after = absl::ZeroDuration()) {
    auto created = Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
      feed().Subscribe("c", GateOf(name, give_up_after), kTestNow, std::move(done));
    });
    if (created.ok()) AddConsumer(*created);
    return created;
  }

  // The consumer of a gate that was created otherwise.
  void AddConsumer(const SubscriptionView& created) {
    const Subscription& gate = created.subscription;
    consumers_[gate.name] = {gate.acknowledged_sequence, {}};
  }

  absl::Status DeleteGate(const std::string& name) {
    consumers_.erase(name);
    return Await<absl::Status>([&](auto done) { feed().Unsubscribe("c", name, std::move(done)); });
  }

  // The consumer of `name` reads at most `limit` events, or all, and acknowledges them. If events
  // were dropped that it has not read, it goes on behind them.
  void Consume(const std::string& name, size_t limit = 100'000) {
    Consumer& consumer = consumers_.at(name);
    consumer.position = std::max(consumer.position, feed().Figures(*Container()).dropped_sequence);
    FeedQuery query;
    query.containers = {Container()};
    query.after = consumer.position;
    query.max_events = limit;
    const FeedPage page = feed().Read(query).value();
    for (const FeedPage::Entry& entry : page.entries) {
      if (entry.event.kind == EventKind::kExpired) consumer.read.insert(entry.event.sequence);
    }
    consumer.position = page.reached;
    Acknowledge(name, consumer.position);
  }

  void Acknowledge(const std::string& name, uint64_t sequence) {
    const auto acknowledged = Await<absl::StatusOr<uint64_t>>([&](auto done) {
      feed().Acknowledge("c", name, feed().EpochOf(*Container()), sequence, std::move(done));
    });
    if (!acknowledged.ok()) std::abort();
  }

  // Whether the consumer has read and acknowledged the EXPIRED with this sequence.
  bool HasRead(const std::string& name, uint64_t expired_sequence) const {
    return consumers_.at(name).read.contains(expired_sequence);
  }
  std::vector<std::string> Gates() const {
    std::vector<std::string> names;
    for (const auto& [name, consumer] : consumers_) names.push_back(name);
    return names;
  }

  uint64_t ExpiredSequenceOf(const std::string& id) {
    const std::optional<TrackedItem> item = storage.FindItem("c", id);
    return item.has_value() ? item->expired_sequence : 0;
  }
  FeedFigures Figures() { return feed().Figures(*Container()); }

  void SetTtl(std::optional<int64_t> default_ttl) { storage.SetDefaultTtl("c", default_ttl); }

  // Everything that housekeeping has to do now.
  void KeepHouse() {
    while (storage->RunHousekeeping()) {
    }
  }

 private:
  struct Consumer {
    uint64_t position = 0;
    std::set<uint64_t> read;
  };
  std::map<std::string, Consumer> consumers_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_GATE_HARNESS_H_
