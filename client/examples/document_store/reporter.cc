#include "client/examples/document_store/reporter.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

constexpr size_t kOutboxBatch = 500;
constexpr absl::Duration kMaxRetryInterval = absl::Seconds(30);

void AddTo(ttl::v1::TrackItemsRequest& request, const Change& change) {
  ttl::v1::Item& item = *request.add_items();
  item.set_partition_key(change.key.partition_key);
  item.set_id(change.key.id);
  item.set_ts(change.record->ts());
  if (change.record->has_ttl()) item.set_ttl(change.record->ttl());
  if (change.record->has_expire_at()) item.set_expire_at(change.record->expire_at());
  item.set_etag(std::to_string(change.record->sequence()));
  item.set_sequence(change.record->sequence());
  item.set_size_bytes(static_cast<int64_t>(change.record->body().size()));
}

void AddTo(ttl::v1::UntrackItemsRequest& request, const DocumentKey& key, int64_t ts,
           uint64_t sequence) {
  ttl::v1::ItemDeletion& deletion = *request.add_items();
  deletion.set_partition_key(key.partition_key);
  deletion.set_id(key.id);
  deletion.set_ts(ts);
  deletion.set_sequence(sequence);
}

}  // namespace

Reporter::Reporter(DocumentTable& table, SidecarClient& sidecar, absl::Duration retry_interval)
    : table_(table), sidecar_(sidecar), retry_interval_(retry_interval) {
  retry_thread_ = std::thread([this] { RetryUntilStopped(); });
}

Reporter::~Reporter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  retry_thread_.join();
}

absl::Status Reporter::Report(const std::string& container, const std::vector<Change>& changes) {
  absl::Status status = Send(container, changes);
  if (status.ok()) return table_.ForgetMarks(changes);
  const std::lock_guard<std::mutex> lock(mutex_);
  behind_ = true;
  wake_.notify_all();
  return status;
}

absl::Status Reporter::Send(const std::string& container, const std::vector<Change>& changes) {
  ttl::v1::TrackItemsRequest track;
  ttl::v1::UntrackItemsRequest untrack;
  track.set_container(container);
  untrack.set_container(container);
  std::vector<Change> tracked;
  for (const Change& change : changes) {
    if (change.record) {
      AddTo(track, change);
      tracked.push_back(change);
    } else {
      AddTo(untrack, change.key, change.ts, change.sequence);
    }
  }
  if (track.items_size() > 0) {
    if (auto status = sidecar_.Track(track); !status.ok()) return status;
    if (auto status = UntrackIfGone(container, tracked); !status.ok()) return status;
  }
  return untrack.items_size() > 0 ? sidecar_.Untrack(untrack) : absl::OkStatus();
}

// The report of a delete may have overtaken that of the write before it. The write, arriving last,
// would be tracked for ever.
absl::Status Reporter::UntrackIfGone(const std::string& container,
                                     const std::vector<Change>& tracked) {
  ttl::v1::UntrackItemsRequest untrack;
  untrack.set_container(container);
  for (const Change& change : tracked) {
    const auto record = table_.Get(change.key);
    if (!record.ok()) return record.status();
    if (!*record) AddTo(untrack, change.key, change.record->ts(), change.record->sequence());
  }
  return untrack.items_size() > 0 ? sidecar_.Untrack(untrack) : absl::OkStatus();
}

absl::Status Reporter::ReportOutbox() {
  absl::Status result;
  std::set<std::string> unknown_containers;
  const std::vector<uint64_t> sequences = table_.ListUnreported();
  for (size_t begin = 0; begin < sequences.size(); begin += kOutboxBatch) {
    std::map<std::string, std::vector<Change>> by_container;
    for (size_t i = begin; i < std::min(begin + kOutboxBatch, sequences.size()); ++i) {
      auto change = table_.GetUnreported(sequences[i]);
      if (!change.ok()) return change.status();
      if (*change) by_container[(*change)->key.container].push_back(**std::move(change));
    }
    for (const auto& [container, changes] : by_container) {
      if (unknown_containers.contains(container)) continue;
      absl::Status status = Report(container, changes);
      if (absl::IsInvalidArgument(status)) status = ReportOneByOne(container, changes);
      if (absl::IsNotFound(status)) unknown_containers.insert(container);
      result.Update(status);
      if (!status.ok() && !absl::IsNotFound(status) && !absl::IsInvalidArgument(status)) {
        return status;
      }
    }
  }
  return result;
}

// The sidecar refuses a batch as a whole, so this finds the changes that it refuses.
absl::Status Reporter::ReportOneByOne(const std::string& container,
                                      const std::vector<Change>& changes) {
  absl::Status result;
  for (const Change& change : changes) {
    const absl::Status status = Report(container, {change});
    if (!status.ok() && !absl::IsInvalidArgument(status)) return status;
    result.Update(status);
  }
  return result;
}

void Reporter::RetryUntilStopped() {
  absl::Duration interval = retry_interval_;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (!behind_) {
      wake_.wait(lock, [this] { return stop_ || behind_; });
      continue;
    }
    wake_.wait_for(lock, absl::ToChronoNanoseconds(interval), [this] { return stop_; });
    if (stop_) return;
    behind_ = false;
    lock.unlock();
    const absl::Status status = ReportOutbox();
    if (!status.ok()) {
      spdlog::warn("outbox not reported: changes={} reason=\"{}\"", table_.CountUnreported(),
                   absl::CHexEscape(status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
    }
    interval = status.ok() ? retry_interval_ : std::min(interval * 2, kMaxRetryInterval);
    lock.lock();
  }
}

}  // namespace documentstore
