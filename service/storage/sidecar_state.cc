#include "service/storage/sidecar_state.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/event_writer.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

constexpr absl::string_view kClockFact = "clock";
constexpr absl::string_view kStoreDoubtFact = "store_doubt";
constexpr absl::string_view kOtherStoreFact = "other_store";
constexpr absl::string_view kDeleteLimitFact = "delete_limit";
constexpr absl::string_view kDeleteDeadlineFact = "delete_deadline";
constexpr absl::string_view kSourcePositionFact = "source_position";

// Reads the value under `key` and decodes it; absent if there is none.
template <typename T>
absl::StatusOr<std::optional<T>> Load(const Database& database, const std::string& key,
                                      absl::StatusOr<T> (*decode)(absl::string_view)) {
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, database.Get(key));
  if (!bytes.has_value()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(T value, decode(*bytes));
  return std::optional<T>(std::move(value));
}

void Save(CommitQueue& queue, std::string key, std::string value, DoneStatus done) {
  const size_t bytes = key.size() + value.size();
  auto put = [key = std::move(key), value = std::move(value)](Transaction& transaction) {
    transaction.Put(key, value);
    return absl::OkStatus();
  };
  queue.Submit(bytes, std::move(put), std::move(done));
}

void Clear(CommitQueue& queue, std::string key, DoneStatus done) {
  auto erase = [key = std::move(key)](Transaction& transaction) {
    transaction.Erase(key);
    return absl::OkStatus();
  };
  queue.Submit(0, std::move(erase), std::move(done));
}

absl::StatusOr<std::optional<DataDoubt>> ReadDataDoubt(const Transaction& transaction) {
  TTL_ASSIGN_OR_RETURN(const auto bytes, transaction.Get(MetaKey(kDataDoubtFact)));
  if (!bytes.has_value()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(DataDoubt doubt, DecodeDataDoubt(*bytes));
  return doubt;
}

absl::StatusOr<std::optional<std::string>> LoadIdentity(const Database& database,
                                                        absl::string_view fact) {
  TTL_ASSIGN_OR_RETURN(std::optional<StoredStore> store,
                       Load(database, MetaKey(fact), &DecodeStore));
  if (!store.has_value()) return std::nullopt;
  return std::move(store->store_id);
}

}  // namespace

SidecarState::SidecarState(const Database& database, CommitQueue& queue)
    : database_(database), queue_(queue) {}

absl::StatusOr<std::optional<ClockMemory>> SidecarState::LoadClockMemory() const {
  return Load(database_, MetaKey(kClockFact), &DecodeClockMemory);
}

void SidecarState::SaveClockMemory(const ClockMemory& memory, DoneStatus done) {
  Save(queue_, MetaKey(kClockFact), EncodeClockMemory(memory), std::move(done));
}

absl::StatusOr<std::optional<std::string>> SidecarState::LoadStoreId() const {
  return LoadIdentity(database_, kStoreFact);
}

void SidecarState::SaveStoreId(std::string store_id, DoneStatus done) {
  const size_t bytes = store_id.size();
  auto save = [store_id = std::move(store_id)](Transaction& transaction) {
    transaction.PutStore({store_id, transaction.StoreEpoch()});
    return absl::OkStatus();
  };
  queue_.Submit(bytes, std::move(save), std::move(done));
}

absl::StatusOr<std::optional<std::string>> SidecarState::LoadStoreDoubt() const {
  return Load(database_, MetaKey(kStoreDoubtFact), &DecodeStoreDoubt);
}

void SidecarState::SaveStoreDoubt(std::string reason, DoneStatus done) {
  Save(queue_, MetaKey(kStoreDoubtFact), EncodeStoreDoubt(reason), std::move(done));
}

absl::StatusOr<std::optional<std::string>> SidecarState::LoadOtherStoreId() const {
  return LoadIdentity(database_, kOtherStoreFact);
}

void SidecarState::SaveOtherStoreId(std::string store_id, DoneStatus done) {
  Save(queue_, MetaKey(kOtherStoreFact), EncodeStore({.store_id = std::move(store_id)}),
       std::move(done));
}

void SidecarState::ClearOtherStoreId(DoneStatus done) {
  Clear(queue_, MetaKey(kOtherStoreFact), std::move(done));
}

void SidecarState::ConfirmStore(std::string store_id, Done<DataDoubt> done) {
  const size_t bytes = store_id.size();
  auto doubt = std::make_shared<DataDoubt>();
  auto confirm = [store_id = std::move(store_id), doubt](Transaction& transaction) {
    const uint64_t epoch = transaction.StoreEpoch() + 1;
    doubt->reason = absl::StrCat("the primary store was confirmed (confirmation ", epoch,
                                 "): it may have returned to an older state");
    doubt->store_epoch = epoch;
    transaction.PutStore({store_id, epoch});
    transaction.Erase(MetaKey(kStoreDoubtFact));
    transaction.Erase(MetaKey(kOtherStoreFact));
    transaction.Put(MetaKey(kDataDoubtFact), EncodeDataDoubt(*doubt));
    return absl::OkStatus();
  };
  queue_.Submit(bytes, std::move(confirm),
                [doubt, done = std::move(done)](absl::Status status) mutable {
                  if (!status.ok()) return done(std::move(status));
                  done(*doubt);
                });
}

absl::StatusOr<std::optional<StoredDeleteLimit>> SidecarState::LoadDeleteLimit() const {
  return Load(database_, MetaKey(kDeleteLimitFact), &DecodeDeleteLimit);
}

void SidecarState::SaveDeleteLimit(const StoredDeleteLimit& limit, DoneStatus done) {
  Save(queue_, MetaKey(kDeleteLimitFact), EncodeDeleteLimit(limit), std::move(done));
}

void SidecarState::ClearDeleteLimit(DoneStatus done) {
  Clear(queue_, MetaKey(kDeleteLimitFact), std::move(done));
}

absl::StatusOr<std::optional<absl::Duration>> SidecarState::LoadDeleteDeadline() const {
  return Load(database_, MetaKey(kDeleteDeadlineFact), &DecodeDeleteDeadline);
}

void SidecarState::SaveDeleteDeadline(absl::Duration deadline, DoneStatus done) {
  Save(queue_, MetaKey(kDeleteDeadlineFact), EncodeDeleteDeadline(deadline), std::move(done));
}

absl::StatusOr<std::optional<std::string>> SidecarState::LoadSourcePosition() const {
  return Load(database_, MetaKey(kSourcePositionFact), &DecodeSourcePosition);
}

void SidecarState::SaveSourcePosition(absl::string_view position, DoneStatus done) {
  Save(queue_, MetaKey(kSourcePositionFact), EncodeSourcePosition(position), std::move(done));
}

absl::StatusOr<std::optional<DataDoubt>> SidecarState::LoadDataDoubt() const {
  return Load(database_, MetaKey(kDataDoubtFact), &DecodeDataDoubt);
}

void SidecarState::SaveDataDoubt(const DataDoubt& doubt, DoneStatus done) {
  Save(queue_, MetaKey(kDataDoubtFact), EncodeDataDoubt(doubt), std::move(done));
}

void SidecarState::UpdateDataDoubt(const DataDoubt& doubt, DoneStatus done) {
  auto update = [doubt](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(std::optional<DataDoubt> saved, ReadDataDoubt(transaction));
    if (!saved.has_value() || saved->reason != doubt.reason) return absl::OkStatus();
    saved->container = doubt.container;
    saved->page_token = doubt.page_token;
    transaction.Put(MetaKey(kDataDoubtFact), EncodeDataDoubt(*saved));
    return absl::OkStatus();
  };
  queue_.Submit(0, std::move(update), std::move(done));
}

void SidecarState::ClearDataDoubt(std::string reason, DoneStatus done) {
  auto clear = [reason = std::move(reason)](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const std::optional<DataDoubt> saved, ReadDataDoubt(transaction));
    if (!saved.has_value() || saved->reason != reason) return absl::OkStatus();
    transaction.Erase(MetaKey(kDataDoubtFact));
    for (const ContainerPtr& container : transaction.AllContainers()) {
      if (container->feed.is_on()) LogResync(transaction.feed(), *container);
    }
    return absl::OkStatus();
  };
  queue_.Submit(0, std::move(clear), std::move(done));
}

absl::StatusOr<bool> SidecarState::IsNew() const {
  TTL_ASSIGN_OR_RETURN(const auto next_number, database_.Get(MetaKey(kNextNumberFact)));
  return !next_number.has_value();
}

absl::StatusOr<std::optional<std::string>> SidecarState::LoadAppliedEntry(
    absl::string_view container_id) const {
  return Load(database_, AppliedEntryKey(container_id), &DecodeAppliedEntry);
}

void SidecarState::SaveAppliedEntry(std::string container_id, std::string entry, DoneStatus done) {
  Save(queue_, AppliedEntryKey(container_id), EncodeAppliedEntry(entry), std::move(done));
}

}  // namespace ttl
