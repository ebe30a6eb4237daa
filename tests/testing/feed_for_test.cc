#include "tests/testing/feed_for_test.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"

namespace ttl {
namespace {

template <typename T>
T OrAbort(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::abort();
}

std::string NameOf(EventKind kind) {
  switch (kind) {
    case EventKind::kExpired:
      return "EXPIRED";
    case EventKind::kPurged:
      return "PURGED";
    case EventKind::kGone:
      return "GONE";
    case EventKind::kRevived:
      return "REVIVED";
    case EventKind::kReplaced:
      return "REPLACED";
    case EventKind::kPolicyChanged:
      return "POLICY_CHANGED";
    case EventKind::kResync:
      return "RESYNC";
    case EventKind::kExpiring:
      return "EXPIRING";
  }
  return "?";
}

}  // namespace

FeedForTest::FeedForTest(StorageOptions options) : storage_(std::move(options)) { SetClock(); }

void FeedForTest::SetClock() {
  feed().SetClock([this] {
    FeedMoment moment = {absl::FromUnixSeconds(now), std::nullopt};
    if (is_judging) moment.judged_at = moment.now;
    moment.steady = absl::Seconds(now);
    return moment;
  });
}

void FeedForTest::Reopen() {
  storage_.Reopen();
  SetClock();
}

void FeedForTest::ReopenIn(const std::string& directory) {
  storage_.ReopenIn(directory);
  SetClock();
}

ContainerPtr FeedForTest::Create(const std::string& id, std::optional<int64_t> default_ttl,
                                 std::optional<FeedSettings> settings) {
  ContainerSettings all;
  all.policy.default_ttl = default_ttl;
  all.feed = settings;
  // Before all items, so that none is late because of it.
  const absl::Time time = absl::FromUnixSeconds(kT - 1'000'000);
  return OrAbort(Await<absl::StatusOr<ContainerPtr>>(
      [&](auto done) { storage_->containers().Create(id, all, time, std::move(done)); }));
}

absl::StatusOr<ContainerPtr> FeedForTest::SetFeed(const std::string& id,
                                                  std::optional<FeedSettings> settings,
                                                  bool force) {
  const auto change = [settings](const Container& present) {
    ContainerSettings next = present.settings;
    next.feed = settings;
    return next;
  };
  return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    storage_->containers().Update(id, change, absl::FromUnixSeconds(now), absl::ZeroDuration(),
                                  force, std::move(done));
  });
}

bool FeedForTest::IsAnnounced(const std::string& id, const std::string& key) {
  const std::optional<TrackedItem> item = storage_.FindItem(id, key);
  return item.has_value() && Find(id)->feed.IsAnnounced(item->expired_sequence);
}

std::vector<AnnouncedItem> FeedForTest::Items(const std::string& id,
                                              const std::vector<std::string>& keys) {
  std::vector<AnnouncedItem> items;
  for (const std::string& key : keys) {
    const std::optional<TrackedItem> item = storage_.FindItem(id, key);
    items.push_back({KeyOf(key), item.has_value() ? item->generation : 1});
  }
  return items;
}

int64_t FeedForTest::Announce(const std::string& id, const std::vector<std::string>& keys) {
  return OrAbort(Await<absl::StatusOr<int64_t>>(
      [&](auto done) { feed().Announce(Find(id)->number, Items(id, keys), std::move(done)); }));
}

int64_t FeedForTest::AnnounceExpiring(const std::string& id, const std::vector<std::string>& keys) {
  return OrAbort(Await<absl::StatusOr<int64_t>>([&](auto done) {
    feed().AnnounceExpiring(Find(id)->number, Items(id, keys), std::move(done));
  }));
}

int64_t FeedForTest::Revive(const std::string& id, const std::vector<std::string>& keys) {
  return OrAbort(Await<absl::StatusOr<int64_t>>(
      [&](auto done) { feed().Revive(Find(id)->number, Items(id, keys), std::move(done)); }));
}

DeleteReport FeedForTest::Judge(const std::string& id, const std::string& key) {
  const TrackedItem item = storage_.FindItem(id, key).value();
  DeleteReport report;
  report.key = KeyOf(key);
  report.generation = item.generation;
  report.times = item.version.times;
  report.expired_sequence = item.expired_sequence;
  report.lateness_seconds = 7;
  return report;
}

void FeedForTest::Apply(const std::string& id, DeleteReport report, DeleteReport::Kind kind,
                        bool deleted) {
  report.kind = kind;
  report.deleted = deleted;
  if (kind == DeleteReport::Kind::kStateUnknown) report.retry_time = now + 60;
  storage_.Apply(id, {std::move(report)});
}

absl::StatusOr<SubscriptionView> FeedForTest::Subscribe(const std::string& id,
                                                        const std::string& name,
                                                        std::vector<EventKind> kinds) {
  Subscription subscription;
  subscription.name = name;
  subscription.kinds = std::move(kinds);
  return Subscribe(id, subscription);
}

absl::StatusOr<SubscriptionView> FeedForTest::Subscribe(const std::string& id,
                                                        const Subscription& subscription) {
  return Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
    feed().Subscribe(id, subscription, absl::FromUnixSeconds(now), std::move(done));
  });
}

absl::StatusOr<uint64_t> FeedForTest::Acknowledge(const std::string& id, const std::string& name,
                                                  uint64_t sequence) {
  const ContainerPtr container = Find(id);
  return Acknowledge(id, name, sequence, container == nullptr ? 0 : feed().EpochOf(*container));
}

absl::StatusOr<uint64_t> FeedForTest::Acknowledge(const std::string& id, const std::string& name,
                                                  uint64_t sequence, uint64_t epoch) {
  return Await<absl::StatusOr<uint64_t>>(
      [&](auto done) { feed().Acknowledge(id, name, epoch, sequence, std::move(done)); });
}

std::vector<FeedEvent> FeedForTest::Events(const std::string& id, uint64_t after) {
  FeedQuery query;
  query.containers = {Find(id)};
  query.after = after;
  std::vector<FeedEvent> events;
  bool more = true;
  while (more) {
    FeedPage page = OrAbort(feed().Read(query));
    for (FeedPage::Entry& entry : page.entries) events.push_back(std::move(entry.event));
    query.after = page.reached;
    more = page.more;
  }
  return events;
}

std::vector<std::string> FeedForTest::Log(const std::string& id) {
  std::vector<std::string> log;
  std::vector<uint64_t> sequences;
  for (const FeedEvent& event : Events(id)) {
    sequences.push_back(event.sequence);
    std::string& line = log.emplace_back(NameOf(event.kind));
    if (!event.key.id.empty()) absl::StrAppend(&line, " ", event.key.id);
    if (event.expired_sequence != 0) {
      size_t place = 0;
      for (size_t i = 0; i < sequences.size(); ++i) {
        if (sequences[i] == event.expired_sequence) place = i + 1;
      }
      absl::StrAppend(&line, " of ", place);
    }
    if (event.late) line += " late";
    if (event.superseded) line += " superseded";
  }
  return log;
}

}  // namespace ttl
