#include "service/storage/record_codec.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/core/status_macros.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

template <typename Message>
absl::StatusOr<Message> Parse(absl::string_view what, absl::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError(
        absl::StrCat("unreadable ", what, " record of ", bytes.size(),
                     " bytes: ", absl::BytesToHexString(bytes.substr(0, 32))));
  }
  return message;
}

storage::v1::PolicyRecord ToRecord(const Policy& policy) {
  storage::v1::PolicyRecord record;
  if (policy.default_ttl.has_value()) record.set_default_ttl(*policy.default_ttl);
  record.set_delay_seconds(policy.delay_seconds);
  return record;
}

absl::StatusOr<Policy> FromRecord(const storage::v1::PolicyRecord& record) {
  Policy policy;
  if (record.has_default_ttl()) policy.default_ttl = record.default_ttl();
  policy.delay_seconds = record.delay_seconds();
  if (!ValidateTtl("default_ttl", policy.default_ttl).ok() || policy.delay_seconds < 0) {
    return absl::DataLossError(
        absl::StrCat("stored policy is impossible: ", record.ShortDebugString()));
  }
  return policy;
}

storage::v1::PauseRecord ToRecord(const Pause& pause) {
  storage::v1::PauseRecord record;
  record.set_reason(pause.reason);
  record.set_since_us(absl::ToUnixMicros(pause.since));
  return record;
}

Pause FromRecord(const storage::v1::PauseRecord& record) {
  return {record.reason(), absl::FromUnixMicros(record.since_us())};
}

void FillRecord(const StoredItem& item, storage::v1::ItemRecord& record) {
  record.set_ts(item.version.times.ts);
  if (item.version.times.ttl.has_value()) record.set_ttl(*item.version.times.ttl);
  record.set_etag(item.version.etag);
  if (item.version.sequence.has_value()) record.set_sequence(*item.version.sequence);
  record.set_size_bytes(item.version.size_bytes);
  record.set_generation(item.generation);
  record.set_attempts(item.attempts);
  record.set_last_error(item.last_error);
  record.set_state_unknown(item.state_unknown);
  if (item.claim.index == 0) return;
  record.set_index_number(item.claim.index);
  record.set_index_family(static_cast<uint32_t>(item.claim.family));
  record.set_index_time(item.claim.time);
}

}  // namespace

std::string EncodeItem(const StoredItem& item) {
  storage::v1::ItemRecord record;
  FillRecord(item, record);
  return record.SerializeAsString();
}

absl::StatusOr<StoredItem> DecodeStoredItem(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(auto record, Parse<storage::v1::ItemRecord>("item", bytes));
  StoredItem item;
  item.version.times.ts = record.ts();
  if (record.has_ttl()) item.version.times.ttl = record.ttl();
  item.version.etag = std::move(*record.mutable_etag());
  if (record.has_sequence()) item.version.sequence = record.sequence();
  item.version.size_bytes = record.size_bytes();
  item.generation = record.generation();
  item.attempts = static_cast<int32_t>(record.attempts());
  item.last_error = std::move(*record.mutable_last_error());
  item.state_unknown = record.state_unknown();
  if (record.index_number() == 0) return item;
  if (record.index_family() < 1 || record.index_family() > 3) {
    return absl::DataLossError(
        absl::StrCat("item record names unknown index family ", record.index_family()));
  }
  item.claim = {record.index_number(), static_cast<IndexFamily>(record.index_family()),
                record.index_time()};
  return item;
}

std::string EncodeContainer(const Container& container) {
  storage::v1::ContainerRecord record;
  record.set_id(container.id);
  *record.mutable_policy() = ToRecord(container.settings.policy);
  record.set_indexing_mode(static_cast<uint32_t>(container.settings.indexing_mode));
  record.set_index_number(container.index_number);
  if (container.settings.max_deletes_per_second.has_value()) {
    record.set_max_deletes_per_second(*container.settings.max_deletes_per_second);
  }
  record.set_revision(container.revision);
  record.set_create_time_us(absl::ToUnixMicros(container.create_time));
  record.set_update_time_us(absl::ToUnixMicros(container.update_time));
  if (container.pause.has_value()) *record.mutable_pause() = ToRecord(*container.pause);
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    auto* entry = record.add_replaced_policies();
    *entry->mutable_policy() = ToRecord(replaced.policy);
    entry->set_until_us(absl::ToUnixMicros(replaced.until));
  }
  if (container.index_build.has_value()) {
    record.mutable_index_build()->set_cursor(container.index_build->cursor);
    record.mutable_index_build()->set_items_indexed(container.index_build->items_indexed);
  }
  return record.SerializeAsString();
}

absl::StatusOr<Container> DecodeContainer(uint64_t number, absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::ContainerRecord>("container", bytes));
  if (record.id().empty() || record.indexing_mode() < 1 || record.indexing_mode() > 3) {
    return absl::DataLossError(
        absl::StrCat("container record ", number, " is impossible: ", record.ShortDebugString()));
  }
  Container container;
  container.number = number;
  container.id = record.id();
  TTL_ASSIGN_OR_RETURN(container.settings.policy, FromRecord(record.policy()));
  container.settings.indexing_mode = static_cast<IndexingMode>(record.indexing_mode());
  container.index_number = record.index_number();
  if (record.has_max_deletes_per_second()) {
    container.settings.max_deletes_per_second = record.max_deletes_per_second();
  }
  container.revision = record.revision();
  container.create_time = absl::FromUnixMicros(record.create_time_us());
  container.update_time = absl::FromUnixMicros(record.update_time_us());
  if (record.has_pause()) container.pause = FromRecord(record.pause());
  for (const auto& entry : record.replaced_policies()) {
    TTL_ASSIGN_OR_RETURN(Policy policy, FromRecord(entry.policy()));
    container.replaced_policies.push_back({policy, absl::FromUnixMicros(entry.until_us())});
  }
  if (record.has_index_build()) {
    container.index_build.emplace();
    container.index_build->cursor = record.index_build().cursor();
    container.index_build->items_indexed = record.index_build().items_indexed();
  }
  return container;
}

std::string EncodePause(const Pause& pause) { return ToRecord(pause).SerializeAsString(); }

absl::StatusOr<Pause> DecodePause(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::PauseRecord>("pause", bytes));
  return FromRecord(record);
}

std::string EncodeClockMemory(const ClockMemory& memory) {
  storage::v1::ClockRecord record;
  record.set_anchor_wall_us(absl::ToUnixMicros(memory.anchor_wall));
  record.set_anchor_boot_us(absl::ToInt64Microseconds(memory.anchor_boot));
  record.set_boot_id(memory.boot_id);
  record.set_high_water_us(absl::ToUnixMicros(memory.high_water));
  record.set_max_apart_us(absl::ToInt64Microseconds(memory.max_apart));
  return record.SerializeAsString();
}

absl::StatusOr<ClockMemory> DecodeClockMemory(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::ClockRecord>("clock", bytes));
  ClockMemory memory;
  memory.anchor_wall = absl::FromUnixMicros(record.anchor_wall_us());
  memory.anchor_boot = absl::Microseconds(record.anchor_boot_us());
  memory.boot_id = record.boot_id();
  memory.high_water = absl::FromUnixMicros(record.high_water_us());
  memory.max_apart = absl::Microseconds(record.max_apart_us());
  return memory;
}

std::string EncodePurge(bool is_container) {
  storage::v1::PurgeRecord record;
  record.set_is_container(is_container);
  return record.SerializeAsString();
}

absl::StatusOr<bool> DecodePurge(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::PurgeRecord>("purge", bytes));
  return record.is_container();
}

std::string EncodeStoreId(absl::string_view store_id) {
  storage::v1::StoreRecord record;
  record.set_store_id(std::string(store_id));
  return record.SerializeAsString();
}

absl::StatusOr<std::string> DecodeStoreId(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::StoreRecord>("store", bytes));
  return record.store_id();
}

std::string EncodeAppliedEntry(absl::string_view entry) {
  storage::v1::AppliedEntryRecord record;
  record.set_entry(std::string(entry));
  return record.SerializeAsString();
}

absl::StatusOr<std::string> DecodeAppliedEntry(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record,
                       Parse<storage::v1::AppliedEntryRecord>("applied entry", bytes));
  return record.entry();
}

}  // namespace ttl
