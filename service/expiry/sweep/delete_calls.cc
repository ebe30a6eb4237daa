#include "service/expiry/sweep/delete_calls.h"

#include <algorithm>
#include <utility>

namespace ttl {
namespace {

// Added to a not_after, because the store's clock may be a little slow.
constexpr absl::Duration kSettleMargin = absl::Milliseconds(250);

}  // namespace

DeleteCalls::DeleteCalls(PrimaryStoreClient* store, int64_t max_calls, absl::Duration deadline,
                         WakeSignal& wake)
    : store_(store), max_calls_(max_calls), deadline_(deadline), ended_(wake) {}

DeleteCalls::~DeleteCalls() {
  while (count() > 0) {
    AwaitOne();
    TakeEnded();
  }
}

bool DeleteCalls::HasRoomFor(bool in_trouble) const {
  if (!HasRoom()) return false;
  return !in_trouble || in_trouble_ < std::max<int64_t>(max_calls_ / 2, 1);
}

void DeleteCalls::Send(DeleteCall call) {
  const uint64_t number = call.container->number;
  if (call.in_trouble) ++in_trouble_;
  DeleteCall& sent = *(in_flight_[number] = std::make_unique<DeleteCall>(std::move(call)));
  sent.trace = traces_.Next(sent.in_trouble || sent.after_slow, sent.sent.steady);
  store_->DeleteItems(sent.batch.request, sent.trace.trace_parent, deadline_,
                      [this, number, &sent](auto response) {
                        sent.response = std::move(response);
                        ended_.Put(number);
                      });
}

std::vector<std::unique_ptr<DeleteCall>> DeleteCalls::TakeEnded() {
  std::vector<std::unique_ptr<DeleteCall>> ended;
  for (const uint64_t number : ended_.TakeAll()) {
    auto entry = in_flight_.extract(number);
    if (entry.mapped()->in_trouble) --in_trouble_;
    ended.push_back(std::move(entry.mapped()));
  }
  return ended;
}

void DeleteCalls::AwaitOne() {
  if (count() > 0) ended_.Await();
}

void DeleteCalls::KeepUntilSettled(DeleteCall& call) {
  unsettled_.push_back({std::move(call.pass), call.sent.steady + deadline_ + kSettleMargin});
  std::sort(unsettled_.begin(), unsettled_.end(),
            [](const Unsettled& a, const Unsettled& b) { return a.settled < b.settled; });
}

void DeleteCalls::ReleaseSettled(absl::Duration now) {
  while (!unsettled_.empty() && unsettled_.front().settled <= now) unsettled_.pop_front();
}

absl::Duration DeleteCalls::NextSettled() const {
  return unsettled_.empty() ? absl::InfiniteDuration() : unsettled_.front().settled;
}

}  // namespace ttl
