#include "service/storage/touches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/report_transaction.h"
#include "service/storage/delete_gate.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/stored_item.h"

// A touch changes the record of an item and nothing else: the index entry stays where it is, is
// early from then on, and is moved by the scan that meets it. The generation stays, too: if a
// delete that was judged before the touch removes the item, its outcome must apply.
//
// Only an item that is not expired is touched, and only expired items are deleted. So a delete in
// flight can contain a touched item only in three cases. The item has expired between the judgement
// of the touch and its commit. Or an earlier touch of it is in that case, and this one has found
// the item alive by it. Or the item has counted as touched while the data was in doubt, and the
// delete is from before. (A change of policy cannot revive an item in flight, because it is
// committed when no delete is.) Such a touch is answered when those deletes have ended.
namespace ttl {
namespace {

absl::Status NotAllowed(const Container& container) {
  return MakeError(Reason::kTouchNotAllowed,
                   absl::StrCat("container: the items of \"", container.id,
                                "\" cannot be touched: set its allow_touch"),
                   {{"container", container.id}});
}

// Whether the answer says that the item is alive.
bool IsAlive(TouchOutcome outcome) {
  return outcome == TouchOutcome::kTouched || outcome == TouchOutcome::kRecent;
}

}  // namespace

void TouchWaits::Begin(uint64_t container) {
  MutexLock lock(mutex_);
  ++waiting_[container];
}

void TouchWaits::End(uint64_t container) {
  MutexLock lock(mutex_);
  const auto it = waiting_.find(container);
  if (--it->second == 0) waiting_.erase(it);
}

bool TouchWaits::HasAny(uint64_t container) const {
  MutexLock lock(mutex_);
  return waiting_.contains(container) || waiting_.contains(DeleteGate::kAllContainers);
}

// What Touch() knows between its parts.
struct Touches::Touching {
  uint64_t container = 0;
  TouchRequest request;
  ReadTime read_time;
  TouchedItems answer = {};
  // Unix seconds: the latest time that it may be when the items are judged.
  int64_t latest = 0;
  // The first second, Unix time, at which one of the touched items would have been expired.
  std::optional<int64_t> first_end = {};
};

void Touches::Touch(uint64_t container, TouchRequest request, ReadTime read_time,
                    Done<TouchedItems> done) {
  size_t bytes = 0;
  for (const ItemKey& key : request.keys) {
    bytes += sizeof(ItemKey) + key.partition_key.size() + key.id.size();
  }
  auto touching =
      std::make_shared<Touching>(Touching{container, std::move(request), std::move(read_time)});
  auto touch = [touching](ReportTransaction& transaction) {
    return TouchAll(transaction, *touching);
  };
  parts_.queue.SubmitReport(bytes, std::move(touch),
                            [this, touching, done = std::move(done)](absl::Status status) mutable {
                              if (!status.ok()) return done(std::move(status));
                              Answer(touching, std::move(done));
                            });
}

// Called in the order of the commits, and before the outcome of a delete that is committed later.
// So while an earlier touch waits, one that relies on it sees that. Only those that may be in
// flight themselves count: their passes are all that the others rely on.
void Touches::Answer(std::shared_ptr<Touching> touching, Done<TouchedItems> done) {
  const uint64_t container = touching->container;
  const bool may_be_in_flight = MayBeInFlight(*touching);
  const std::vector<TouchedItem>& items = touching->answer.items;
  const bool has_alive = std::any_of(items.begin(), items.end(),
                                     [](const TouchedItem& item) { return IsAlive(item.outcome); });
  if (!may_be_in_flight && !(has_alive && parts_.waits.HasAny(container))) {
    return done(std::move(touching->answer));
  }
  if (may_be_in_flight) parts_.waits.Begin(container);
  parts_.gate.AwaitPresent(container,
                           [this, touching, may_be_in_flight, done = std::move(done)]() mutable {
                             if (may_be_in_flight) parts_.waits.End(touching->container);
                             done(Settle(*touching));
                           });
}

void Touches::AwaitDeletesInFlight() {
  parts_.waits.Begin(DeleteGate::kAllContainers);
  parts_.gate.AwaitPresent(DeleteGate::kAllContainers,
                           [this] { parts_.waits.End(DeleteGate::kAllContainers); });
}

absl::Status Touches::TouchAll(ReportTransaction& transaction, Touching& touching) {
  const ContainerPtr container = transaction.FindContainer(touching.container);
  if (container == nullptr) {
    return MakeError(Reason::kContainerNotFound, "the container was deleted meanwhile");
  }
  if (!container->settings.allow_touch) return NotAllowed(*container);
  TTL_ASSIGN_OR_RETURN(const JudgingTime time, touching.read_time());
  touching.answer.touch_time = absl::ToUnixSeconds(time.now);
  touching.latest = absl::ToUnixSeconds(time.latest);
  touching.answer.items.reserve(touching.request.keys.size());
  for (const ItemKey& key : touching.request.keys) {
    TTL_ASSIGN_OR_RETURN(const TouchedItem item, TouchOne(transaction, *container, key, touching));
    touching.answer.items.push_back(item);
  }
  return absl::OkStatus();
}

absl::StatusOr<TouchedItem> Touches::TouchOne(ReportTransaction& transaction,
                                              const Container& container, const ItemKey& key,
                                              Touching& touching) {
  TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container.number, key));
  if (before == nullptr || before->state_unknown) return TouchedItem();
  const int64_t now = touching.answer.touch_time;
  const int64_t within = touching.request.unless_touched_within;
  const std::optional<int64_t>& default_ttl = container.settings.policy.default_ttl;
  const ItemTimes& times = before->version.times;
  const std::optional<int64_t> end = ExpireTime(default_ttl, times);
  // What may have been judged expired already stays so, also if the clock was put back since.
  if (end.has_value() && *end <= touching.latest) return TouchedItem{TouchOutcome::kExpired, end};
  if (within > 0 && now - times.base() < within) return TouchedItem{TouchOutcome::kRecent, end};
  if (now <= times.base()) return TouchedItem{TouchOutcome::kTouched, end};
  StoredItem after = *before;
  after.version.times.touch_time = now;
  const TouchedItem touched = {TouchOutcome::kTouched,
                               ExpireTime(default_ttl, after.version.times)};
  transaction.PutTouchedItem(container, key, before, std::move(after));
  if (end.has_value()) {
    touching.first_end = std::min(touching.first_end.value_or(*end), *end);
  }
  return touched;
}

// Whether one of its items may have expired before the touch was committed.
bool Touches::MayBeInFlight(const Touching& touching) {
  if (!touching.first_end.has_value()) return false;
  const absl::StatusOr<JudgingTime> time = touching.read_time();
  return !time.ok() || *touching.first_end <= absl::ToUnixSeconds(time->latest);
}

// Outcomes of deletes are committed before the pass is given back.
absl::StatusOr<TouchedItems> Touches::Settle(Touching& touching) const {
  TouchedItems& answer = touching.answer;
  for (size_t i = 0; i < answer.items.size(); ++i) {
    const TouchOutcome outcome = answer.items[i].outcome;
    if (!IsAlive(outcome)) continue;
    TTL_ASSIGN_OR_RETURN(
        const StoredItemPtr item,
        parts_.reader.Read(EncodeItemKey(touching.container, touching.request.keys[i])));
    // Another version of the item, which was tracked since, is not touched.
    const bool is_there =
        item != nullptr && !item->state_unknown &&
        (outcome == TouchOutcome::kRecent || item->version.times.base() >= answer.touch_time);
    if (!is_there) answer.items[i] = TouchedItem();
  }
  return std::move(answer);
}

}  // namespace ttl
