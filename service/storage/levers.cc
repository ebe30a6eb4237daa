#include "service/storage/levers.h"

#include <utility>

#include "service/base/done.h"
#include "service/base/status_macros.h"
#include "service/storage/sidecar_state.h"

namespace ttl {

absl::StatusOr<std::unique_ptr<Levers>> Levers::Load(Storage& storage, Options options) {
  const SidecarState& state = storage.sidecar_state();
  TTL_ASSIGN_OR_RETURN(const std::optional<StoredDeleteLimit> stored, state.LoadDeleteLimit());
  const std::optional<double> limit =
      stored.has_value() ? stored->max_deletes_per_second : options.default_limit_per_second;
  TTL_ASSIGN_OR_RETURN(std::optional<std::string> store_id, state.LoadStoreId());
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> doubt, state.LoadStoreDoubt());
  std::optional<std::string> other;
  if (options.has_store) {
    TTL_ASSIGN_OR_RETURN(other, state.LoadOtherStoreId());
  }
  return std::unique_ptr<Levers>(new Levers(storage, std::move(options), limit, std::move(store_id),
                                            doubt.value_or(""), std::move(other)));
}

Levers::Levers(Storage& storage, Options options, std::optional<double> limit,
               std::optional<std::string> store_id, std::string doubt,
               std::optional<std::string> other_store_id)
    : storage_(storage),
      options_(std::move(options)),
      limit_(limit),
      store_trust_(std::move(store_id), std::move(doubt), other_store_id),
      other_store_id_(std::move(other_store_id)) {}

void Levers::SetLimit(std::optional<double> per_second, DoneStatus done) {
  storage_.sidecar_state().SaveDeleteLimit({per_second}, LimitSetter(per_second, std::move(done)));
}

void Levers::ResetLimit(DoneStatus done) {
  storage_.sidecar_state().ClearDeleteLimit(
      LimitSetter(options_.default_limit_per_second, std::move(done)));
}

DoneStatus Levers::LimitSetter(std::optional<double> per_second, DoneStatus done) {
  return [this, per_second, done = std::move(done)](absl::Status status) mutable {
    if (status.ok()) {
      limit_.Set(per_second);
      NotifyChange();
    }
    done(std::move(status));
  };
}

absl::Status Levers::TakeFirstStore(const std::string& store_id) {
  TTL_RETURN_IF_ERROR(Await<absl::Status>(
      [&](auto done) { storage_.sidecar_state().SaveStoreId(store_id, std::move(done)); }));
  store_trust_.Confirm(store_id);
  return absl::OkStatus();
}

absl::Status Levers::MeetStore(const std::string& store_id) {
  store_trust_.Meet(store_id);
  return KeepOtherStore();
}

// The next run may be asked before the store has answered, so it must know.
absl::Status Levers::KeepOtherStore() {
  std::optional<std::string> other;
  if (store_trust_.store_id() != store_trust_.met()) other = store_trust_.met();
  MutexLock lock(mutex_);
  if (other_store_id_ == other) return absl::OkStatus();
  SidecarState& state = storage_.sidecar_state();
  TTL_RETURN_IF_ERROR(Await<absl::Status>([&](auto done) {
    if (!other.has_value()) return state.ClearOtherStoreId(std::move(done));
    state.SaveOtherStoreId(*other, std::move(done));
  }));
  other_store_id_ = other;
  return absl::OkStatus();
}

absl::Status Levers::DoubtStore(const std::string& reason) {
  store_trust_.Doubt(reason);
  return Await<absl::Status>(
      [&](auto done) { storage_.sidecar_state().SaveStoreDoubt(reason, std::move(done)); });
}

void Levers::ConfirmStore(const std::string& store_id, DoneStatus done) {
  storage_.sidecar_state().ConfirmStore(
      store_id,
      [this, store_id, done = std::move(done)](const absl::StatusOr<DataDoubt>& confirmed) mutable {
        if (confirmed.ok()) {
          // The data first, so that nothing is deleted in between.
          storage_.data_trust().Doubt(confirmed->reason);
          store_trust_.Confirm(store_id);
          NotifyChange();
          if (options_.on_store_confirmed) options_.on_store_confirmed();
        }
        done(confirmed.status());
      });
}

void Levers::TrustData(const std::string& reason, DoneStatus done) {
  storage_.sidecar_state().ClearDataDoubt(
      reason, [this, reason, done = std::move(done)](absl::Status status) mutable {
        if (status.ok()) MarkDataComplete(reason);
        done(std::move(status));
      });
}

absl::Status Levers::EndRebuild(const std::string& reason) {
  TTL_RETURN_IF_ERROR(Await<absl::Status>(
      [&](auto done) { storage_.sidecar_state().ClearDataDoubt(reason, std::move(done)); }));
  MarkDataComplete(reason);
  return absl::OkStatus();
}

void Levers::MarkDataComplete(const std::string& reason) {
  storage_.touches().AwaitDeletesInFlight();
  if (storage_.data_trust().Confirm(reason)) NotifyChange();
}

void Levers::NotifyChange() const {
  if (options_.on_change) options_.on_change();
}

}  // namespace ttl
