#ifndef TTL_TESTS_TESTING_FEED_FOR_TEST_H_
#define TTL_TESTS_TESTING_FEED_FOR_TEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/core/feed/feed_event.h"
#include "service/storage/feed.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {

// A storage, as StorageForTest, whose containers have feeds, with a time that stands until it is
// set. For one thread.
class FeedForTest {
 public:
  explicit FeedForTest(StorageOptions options = {});

  StorageForTest& storage() { return storage_; }
  Feed& feed() { return storage_->feed(); }
  void Reopen();
  void ReopenIn(const std::string& directory);

  // The time, Unix seconds, and whether items may be judged.
  int64_t now = kT;
  bool is_judging = true;

  // Aborts if storage refuses the change.
  ContainerPtr Create(const std::string& id, std::optional<int64_t> default_ttl,
                      std::optional<FeedSettings> settings = FeedSettings());
  absl::StatusOr<ContainerPtr> SetFeed(const std::string& id, std::optional<FeedSettings> settings,
                                       bool force = false);
  ContainerPtr Find(const std::string& id) { return storage_.Find(id); }
  bool IsAnnounced(const std::string& id, const std::string& key);

  // Each tells items of a container, which need not exist, and returns how many were announced.
  int64_t Announce(const std::string& id, const std::vector<std::string>& keys);
  int64_t AnnounceExpiring(const std::string& id, const std::vector<std::string>& keys);
  int64_t Revive(const std::string& id, const std::vector<std::string>& keys);

  // The store has deleted an item as it is tracked now, or as it was judged then.
  DeleteReport Judge(const std::string& id, const std::string& key);
  void Apply(const std::string& id, DeleteReport report, DeleteReport::Kind kind, bool deleted);

  absl::StatusOr<SubscriptionView> Subscribe(const std::string& id, const std::string& name,
                                             std::vector<EventKind> kinds = {});
  absl::StatusOr<SubscriptionView> Subscribe(const std::string& id,
                                             const Subscription& subscription);
  absl::StatusOr<uint64_t> Acknowledge(const std::string& id, const std::string& name,
                                       uint64_t sequence);
  absl::StatusOr<uint64_t> Acknowledge(const std::string& id, const std::string& name,
                                       uint64_t sequence, uint64_t epoch);

  // All events of a container behind `after`. Aborts if they cannot be read.
  std::vector<FeedEvent> Events(const std::string& id, uint64_t after = 0);
  // The same as text, such as "REPLACED a of 1 late": the kind, the id, and the place in this list,
  // from 1 on, of the EXPIRED that it ends (0: it was dropped).
  std::vector<std::string> Log(const std::string& id);

 private:
  std::vector<AnnouncedItem> Items(const std::string& id, const std::vector<std::string>& keys);
  void SetClock();

  StorageForTest storage_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FEED_FOR_TEST_H_
