#include "service/rpc/status/expiry_view.h"

#include "service/core/due_rules.h"
#include "service/core/state/unconfirmed_store.h"
#include "service/rpc/status/container_status.h"

namespace ttl {

std::string ExpiryView::Unconfirmed(const StoreView& store) const {
  return UnconfirmedReason(parts_.trust, store);
}

ExpiryView::Snapshot ExpiryView::TakeSnapshot() const {
  Snapshot snapshot = {.clock = parts_.clock.Status(),
                       .steady = parts_.system_clock.Read().boot,
                       .store = parts_.published.Store(),
                       .sweeper = parts_.published.Sweeper(),
                       .all_paused = parts_.storage.containers().PauseOfAll(),
                       .limit_per_second = parts_.limit.Get(),
                       .write_health = parts_.storage.WriteHealth()};
  snapshot.store.unconfirmed = Unconfirmed(snapshot.store);
  return snapshot;
}

bool ExpiryView::WaitsForRetry(const Snapshot& snapshot, const Container& container) const {
  const absl::Time now = snapshot.clock.time.now;
  const DueRule rule = ComputeDueRule(container.settings.policy, container.replaced_policies, now);
  return parts_.storage.expiry_index()
      .HasRetries(container, rule, absl::ToUnixSeconds(now))
      .value_or(false);
}

ExpiryView::Freedom ExpiryView::FreedomAt(const Snapshot& snapshot, const Container& container,
                                          bool with_expire_at) const {
  return Compute(snapshot, container, with_expire_at, WaitsForRetry(snapshot, container));
}

ExpiryView::Freedom ExpiryView::Compute(const Snapshot& snapshot, const Container& container,
                                        bool with_expire_at, bool waits_for_retry) const {
  Freedom freedom;
  freedom.sweep = parts_.published.View(container.number);
  std::optional<double> used;
  if (snapshot.steady.has_value()) {
    used = parts_.usage.RequestRate(container.number, *snapshot.steady);
  }
  const PaceView& pace = freedom.sweep.pace;
  freedom.windows = ViewWindows(container.settings.windows, snapshot.clock.time);
  freedom.rates =
      ComputeDeleteRates(container.settings, parts_.container_max_deletes_per_second,
                         snapshot.limit_per_second, used, pace.learned_cost, freedom.windows);
  freedom.allowed_per_second = freedom.rates.Allowed(pace.bearable_per_second);
  freedom.allowed_but_windows = freedom.rates.AllowedButWindows(pace.bearable_per_second);
  const StorageFacts storage = parts_.storage.FactsForDeletes(container.number);
  const HoldInputs inputs = {
      .container = container,
      .storage = storage,
      .time = snapshot.clock.time,
      .store = snapshot.store,
      .pace = pace,
      .rates = freedom.rates,
      .adopted = parts_.storage.tallies().Adopted(container.number),
      .waits_for_retry = waits_for_retry,
      .with_expire_at = with_expire_at,
  };
  freedom.holds = ComputeDeleteHolds(inputs);
  freedom.deletes_begin = DeletesBegin(inputs, freedom.holds);
  return freedom;
}

}  // namespace ttl
