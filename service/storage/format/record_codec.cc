#include "service/storage/format/record_codec.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

absl::Status ParseInto(google::protobuf::MessageLite& message, absl::string_view what,
                       absl::string_view bytes) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("unreadable ", what, " record of ", bytes.size(),
                                          " bytes: ", absl::BytesToHexString(bytes.substr(0, 32))));
}

template <typename Message>
absl::StatusOr<Message> Parse(absl::string_view what, absl::string_view bytes) {
  Message message;
  TTL_RETURN_IF_ERROR(ParseInto(message, what, bytes));
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

storage::v1::BrakeRecord ToRecord(const PolicyBrake& brake) {
  storage::v1::BrakeRecord record;
  if (brake.max_newly_due_items.has_value()) {
    record.set_max_newly_due_items(*brake.max_newly_due_items);
  }
  if (brake.max_newly_due_percent.has_value()) {
    record.set_max_newly_due_percent(*brake.max_newly_due_percent);
  }
  record.set_release_after_seconds(brake.release_after_seconds);
  return record;
}

PolicyBrake FromRecord(const storage::v1::BrakeRecord& record) {
  PolicyBrake brake;
  if (record.has_max_newly_due_items()) brake.max_newly_due_items = record.max_newly_due_items();
  if (record.has_max_newly_due_percent()) {
    brake.max_newly_due_percent = record.max_newly_due_percent();
  }
  brake.release_after_seconds = record.release_after_seconds();
  return brake;
}

storage::v1::DeleteWindowsRecord ToRecord(const DeleteWindows& windows) {
  storage::v1::DeleteWindowsRecord record;
  for (const DeleteWindow& window : windows.windows) {
    storage::v1::DeleteWindowRecord& added = *record.add_windows();
    added.set_days(window.days);
    added.set_start_minute(window.start);
    added.set_end_minute(window.end);
    if (const auto rate = window.max_deletes_per_second) added.set_max_deletes_per_second(*rate);
  }
  record.set_time_zone(windows.time_zone);
  record.set_max_deletes_per_second_outside(windows.max_deletes_per_second_outside);
  return record;
}

DeleteWindows FromRecord(const storage::v1::DeleteWindowsRecord& record) {
  DeleteWindows windows;
  for (const storage::v1::DeleteWindowRecord& stored : record.windows()) {
    DeleteWindow& window = windows.windows.emplace_back();
    // What does not fit is damage, and is found by ValidateWindows().
    window.days =
        static_cast<uint8_t>(stored.days() <= DeleteWindow::kEveryDay ? stored.days() : 0);
    window.start = static_cast<int>(stored.start_minute());
    window.end = static_cast<int>(stored.end_minute());
    if (stored.has_max_deletes_per_second()) {
      window.max_deletes_per_second = stored.max_deletes_per_second();
    }
  }
  windows.time_zone = record.time_zone();
  windows.max_deletes_per_second_outside = record.max_deletes_per_second_outside();
  return windows;
}

storage::v1::ReplacedPolicyRecord ToRecord(const ReplacedPolicy& replaced) {
  storage::v1::ReplacedPolicyRecord record;
  *record.mutable_policy() = ToRecord(replaced.policy);
  record.set_until_us(absl::ToUnixMicros(replaced.until));
  if (replaced.braked_items.has_value()) record.set_braked_items(*replaced.braked_items);
  return record;
}

absl::StatusOr<ReplacedPolicy> FromRecord(const storage::v1::ReplacedPolicyRecord& record) {
  ReplacedPolicy replaced;
  TTL_ASSIGN_OR_RETURN(replaced.policy, FromRecord(record.policy()));
  replaced.until = absl::FromUnixMicros(record.until_us());
  if (record.has_braked_items()) replaced.braked_items = record.braked_items();
  if (replaced.braked_items.value_or(0) < 0) {
    return absl::DataLossError(
        absl::StrCat("stored brake is impossible: ", record.ShortDebugString()));
  }
  return replaced;
}

storage::v1::IndexBuildRecord ToRecord(const IndexBuild& build) {
  storage::v1::IndexBuildRecord record;
  record.set_cursor(build.cursor);
  record.set_items_indexed(build.items_indexed);
  return record;
}

IndexBuild FromRecord(const storage::v1::IndexBuildRecord& record) {
  IndexBuild build;
  build.cursor = record.cursor();
  build.items_indexed = record.items_indexed();
  return build;
}

void FillRecord(const FeedSettings& feed, storage::v1::FeedRecord& record) {
  record.set_max_age_seconds(feed.max_age_seconds);
  record.set_max_bytes(feed.max_bytes);
  if (feed.notice_seconds.has_value()) record.set_notice_seconds(*feed.notice_seconds);
}

FeedSettings SettingsFromRecord(const storage::v1::FeedRecord& record) {
  FeedSettings feed;
  feed.max_age_seconds = record.max_age_seconds();
  feed.max_bytes = record.max_bytes();
  if (record.has_notice_seconds()) feed.notice_seconds = record.notice_seconds();
  return feed;
}

void FillRecord(const FeedState& feed, storage::v1::FeedRecord& record) {
  record.set_number(feed.number);
  record.set_epoch(feed.epoch);
  record.set_first_sequence(feed.first_sequence);
  record.set_policy_time(feed.policy_time);
  record.set_policy_revision(feed.policy_revision);
  record.set_revived_revision(feed.revived_revision);
  record.set_has_gates(feed.has_gates);
}

FeedState StateFromRecord(const storage::v1::FeedRecord& record) {
  FeedState feed;
  feed.number = record.number();
  feed.epoch = record.epoch();
  feed.first_sequence = record.first_sequence();
  feed.policy_time = record.policy_time();
  feed.policy_revision = record.policy_revision();
  feed.revived_revision = record.revived_revision();
  feed.has_gates = record.has_gates();
  return feed;
}

void FillRecord(const ContainerSettings& settings, storage::v1::ContainerRecord& record) {
  *record.mutable_policy() = ToRecord(settings.policy);
  record.set_indexing_mode(static_cast<uint32_t>(settings.indexing_mode));
  if (const auto rate = settings.max_deletes_per_second) record.set_max_deletes_per_second(*rate);
  if (const auto units = settings.request_units_per_second) {
    record.set_request_units_per_second(*units);
  }
  if (const auto cost = settings.request_units_per_delete) {
    record.set_request_units_per_delete(*cost);
  }
  if (settings.min_deletes_per_second != 0) {
    record.set_min_deletes_per_second(settings.min_deletes_per_second);
  }
  if (settings.brake.has_value()) *record.mutable_brake() = ToRecord(*settings.brake);
  if (settings.windows.has_value()) {
    *record.mutable_delete_windows() = ToRecord(*settings.windows);
  }
  record.set_show_held(settings.show_held);
  record.set_requires_holds(settings.requires_holds);
  if (settings.feed.has_value()) FillRecord(*settings.feed, *record.mutable_feed());
  record.set_allow_touch(settings.allow_touch);
}

absl::StatusOr<ContainerSettings> SettingsFromRecord(const storage::v1::ContainerRecord& record) {
  ContainerSettings settings;
  TTL_ASSIGN_OR_RETURN(settings.policy, FromRecord(record.policy()));
  settings.indexing_mode = static_cast<IndexingMode>(record.indexing_mode());
  if (record.has_max_deletes_per_second()) {
    settings.max_deletes_per_second = record.max_deletes_per_second();
  }
  if (record.has_request_units_per_second()) {
    settings.request_units_per_second = record.request_units_per_second();
  }
  if (record.has_request_units_per_delete()) {
    settings.request_units_per_delete = record.request_units_per_delete();
  }
  settings.min_deletes_per_second = record.min_deletes_per_second();
  if (record.has_brake()) settings.brake = FromRecord(record.brake());
  if (record.has_delete_windows()) settings.windows = FromRecord(record.delete_windows());
  settings.show_held = record.show_held();
  settings.requires_holds = record.requires_holds();
  if (record.has_feed()) settings.feed = SettingsFromRecord(record.feed());
  settings.allow_touch = record.allow_touch();
  // Settings are validated before they are stored; what does not pass is damage.
  const absl::Status valid = ValidateSettings(settings);
  if (!valid.ok()) {
    return absl::DataLossError(absl::StrCat("stored settings are impossible: ", valid.message()));
  }
  return settings;
}

storage::v1::PauseRecord ToRecord(const Pause& pause) {
  storage::v1::PauseRecord record;
  record.set_reason(pause.reason);
  record.set_since_us(absl::ToUnixMicros(pause.since));
  record.set_author(pause.author);
  return record;
}

Pause FromRecord(const storage::v1::PauseRecord& record) {
  return {record.reason(), absl::FromUnixMicros(record.since_us()), record.author()};
}

storage::v1::AdoptionRecord ToRecord(const AdoptionState& adoption) {
  storage::v1::AdoptionRecord record;
  record.set_freed_until(adoption.freed_until);
  record.set_freed_at(adoption.freed_at);
  record.set_counted_items(adoption.counted_items);
  if (adoption.brake.has_value()) {
    record.set_braked_items(adoption.brake->items);
    record.set_braked_until_us(absl::ToUnixMicros(adoption.brake->until));
  }
  return record;
}

AdoptionState FromRecord(const storage::v1::AdoptionRecord& record) {
  AdoptionState adoption = {record.freed_until(), record.freed_at(), record.counted_items()};
  if (record.has_braked_items()) {
    adoption.brake = {record.braked_items(), absl::FromUnixMicros(record.braked_until_us())};
  }
  return adoption;
}

void FillRecord(const StoredItem& item, storage::v1::ItemRecord& record) {
  record.set_ts(item.version.times.ts);
  if (item.version.times.ttl.has_value()) record.set_ttl(*item.version.times.ttl);
  if (const auto expire_at = item.version.times.expire_at) record.set_expire_at(*expire_at);
  record.set_etag(item.version.etag);
  if (item.version.sequence.has_value()) record.set_sequence(*item.version.sequence);
  record.set_size_bytes(item.version.size_bytes);
  record.set_generation(item.generation);
  record.set_attempts(item.attempts);
  record.set_last_error(item.last_error);
  record.set_state_unknown(item.state_unknown);
  record.set_adopted_until(item.adopted_until);
  record.set_store_epoch(item.store_epoch);
  record.set_held_until(item.held_until);
  record.set_expired_sequence(item.expired_sequence);
  record.set_noticed_expire_time(item.noticed_expire_time);
  record.set_noticed_sequence(item.noticed_sequence);
  record.set_touch_time(item.version.times.touch_time);
  if (item.position.index == 0) return;
  if (item.position.family == IndexFamily::kAdopted) {
    record.set_adopted_index_number(item.position.index);
    return;
  }
  record.set_index_number(item.position.index);
  record.set_index_family(static_cast<uint32_t>(item.position.family));
  record.set_index_time(item.position.time);
}

}  // namespace

std::string EncodeItem(const StoredItem& item) {
  storage::v1::ItemRecord record;
  FillRecord(item, record);
  return record.SerializeAsString();
}

absl::StatusOr<StoredItem> DecodeStoredItem(absl::string_view bytes) {
  // Kept, so that reading an item allocates nothing for it.
  thread_local storage::v1::ItemRecord record;
  TTL_RETURN_IF_ERROR(ParseInto(record, "item", bytes));
  StoredItem item;
  item.version.times.ts = record.ts();
  if (record.has_ttl()) item.version.times.ttl = record.ttl();
  if (record.has_expire_at()) item.version.times.expire_at = record.expire_at();
  item.version.etag = record.etag();
  if (record.has_sequence()) item.version.sequence = record.sequence();
  item.version.size_bytes = record.size_bytes();
  item.generation = record.generation();
  item.attempts = static_cast<int32_t>(record.attempts());
  item.last_error = record.last_error();
  item.state_unknown = record.state_unknown();
  item.adopted_until = record.adopted_until();
  item.store_epoch = record.store_epoch();
  item.held_until = record.held_until();
  item.expired_sequence = record.expired_sequence();
  item.noticed_expire_time = record.noticed_expire_time();
  item.noticed_sequence = record.noticed_sequence();
  item.version.times.touch_time = record.touch_time();
  if (record.adopted_index_number() != 0) {
    item.position = {record.adopted_index_number(), IndexFamily::kAdopted, item.adopted_until};
    return item;
  }
  if (record.index_number() == 0) return item;
  const auto family = static_cast<IndexFamily>(record.index_family());
  const bool is_known = record.index_family() >= 1 && record.index_family() <= kIndexFamilies &&
                        family != IndexFamily::kAdopted;
  if (!is_known) {
    return absl::DataLossError(
        absl::StrCat("item record names unknown index family ", record.index_family()));
  }
  item.position = {record.index_number(), family, record.index_time()};
  return item;
}

std::string EncodeContainer(const Container& container) {
  storage::v1::ContainerRecord record;
  record.set_id(container.id);
  FillRecord(container.settings, record);
  record.set_index_number(container.index_number);
  record.set_revision(container.revision);
  record.set_create_time_us(absl::ToUnixMicros(container.create_time));
  record.set_update_time_us(absl::ToUnixMicros(container.update_time));
  if (container.pause.has_value()) *record.mutable_pause() = ToRecord(*container.pause);
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    *record.add_replaced_policies() = ToRecord(replaced);
  }
  if (container.index_build.has_value()) {
    *record.mutable_index_build() = ToRecord(*container.index_build);
  }
  if (const auto adoption = ToRecord(container.adoption); adoption.ByteSizeLong() > 0) {
    *record.mutable_adoption() = adoption;
  }
  record.set_has_expire_at(container.has_expire_at);
  record.set_has_holds(container.has_holds);
  record.set_has_touches(container.has_touches);
  record.set_accepted_holds_epoch(container.accepted_holds_epoch);
  record.set_held_until(container.held_until);
  if (container.feed.is_on()) FillRecord(container.feed, *record.mutable_feed());
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
  TTL_ASSIGN_OR_RETURN(container.settings, SettingsFromRecord(record));
  container.index_number = record.index_number();
  container.revision = record.revision();
  container.create_time = absl::FromUnixMicros(record.create_time_us());
  container.update_time = absl::FromUnixMicros(record.update_time_us());
  if (record.has_pause()) container.pause = FromRecord(record.pause());
  for (const auto& entry : record.replaced_policies()) {
    TTL_ASSIGN_OR_RETURN(ReplacedPolicy replaced, FromRecord(entry));
    container.replaced_policies.push_back(std::move(replaced));
  }
  if (record.has_index_build()) container.index_build = FromRecord(record.index_build());
  container.adoption = FromRecord(record.adoption());
  container.has_expire_at = record.has_expire_at();
  container.has_holds = record.has_holds();
  container.has_touches = record.has_touches();
  container.accepted_holds_epoch = record.accepted_holds_epoch();
  container.held_until = record.held_until();
  container.feed = StateFromRecord(record.feed());
  if (container.feed.is_on() != container.settings.feed.has_value()) {
    return absl::DataLossError(
        absl::StrCat("the feed of container record ", number, " has settings and no number"));
  }
  return container;
}

std::string EncodeHold(const StoredHold& stored) {
  const Hold& hold = stored.hold;
  storage::v1::HoldRecord record;
  record.set_hold_id(hold.hold_id);
  record.set_reason(hold.reason);
  record.set_author(hold.author);
  record.set_create_time_us(absl::ToUnixMicros(hold.create_time));
  if (hold.until.has_value()) record.set_until(absl::ToUnixSeconds(*hold.until));
  record.set_scope(static_cast<uint32_t>(hold.scope));
  record.set_partition_key(hold.partition_key);
  record.set_key_count(hold.key_count);
  if (stored.end_time.has_value()) record.set_end_time(*stored.end_time);
  return record.SerializeAsString();
}

absl::StatusOr<StoredHold> DecodeHold(uint64_t container, uint64_t number,
                                      absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::HoldRecord>("hold", bytes));
  if (record.hold_id().empty() || record.scope() < 1 || record.scope() > 3) {
    return absl::DataLossError(
        absl::StrCat("hold record ", number, " is impossible: ", record.ShortDebugString()));
  }
  StoredHold stored;
  Hold& hold = stored.hold;
  hold.number = number;
  hold.container = container;
  hold.hold_id = record.hold_id();
  hold.reason = record.reason();
  hold.author = record.author();
  hold.create_time = absl::FromUnixMicros(record.create_time_us());
  if (record.has_until()) hold.until = absl::FromUnixSeconds(record.until());
  hold.scope = static_cast<Hold::Scope>(record.scope());
  hold.partition_key = record.partition_key();
  hold.key_count = record.key_count();
  if (record.has_end_time()) stored.end_time = record.end_time();
  return stored;
}

std::string EncodeKeyHolds(const std::vector<uint64_t>& holds) {
  storage::v1::KeyHoldsRecord record;
  record.mutable_holds()->Add(holds.begin(), holds.end());
  return record.SerializeAsString();
}

absl::StatusOr<std::vector<uint64_t>> DecodeKeyHolds(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::KeyHoldsRecord>("key holds", bytes));
  return std::vector<uint64_t>(record.holds().begin(), record.holds().end());
}

std::string EncodeHoldsEpoch(uint64_t epoch) {
  storage::v1::HoldsEpochRecord record;
  record.set_epoch(epoch);
  return record.SerializeAsString();
}

absl::StatusOr<uint64_t> DecodeHoldsEpoch(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::HoldsEpochRecord>("epoch", bytes));
  if (record.epoch() == 0) return absl::DataLossError("stored epoch of the holds is 0");
  return record.epoch();
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

std::string EncodePurge(PurgeKind kind) {
  storage::v1::PurgeRecord record;
  record.set_is_container(kind == PurgeKind::kContainer);
  record.set_is_feed(kind == PurgeKind::kFeed);
  return record.SerializeAsString();
}

absl::StatusOr<PurgeKind> DecodePurge(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::PurgeRecord>("purge", bytes));
  if (record.is_container()) return PurgeKind::kContainer;
  return record.is_feed() ? PurgeKind::kFeed : PurgeKind::kIndex;
}

std::string EncodeStore(const StoredStore& store) {
  storage::v1::StoreRecord record;
  record.set_store_id(store.store_id);
  record.set_epoch(store.epoch);
  return record.SerializeAsString();
}

absl::StatusOr<StoredStore> DecodeStore(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::StoreRecord>("store", bytes));
  return StoredStore{record.store_id(), record.epoch()};
}

std::string EncodeStoreDoubt(absl::string_view reason) {
  storage::v1::StoreDoubtRecord record;
  record.set_reason(std::string(reason));
  return record.SerializeAsString();
}

absl::StatusOr<std::string> DecodeStoreDoubt(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::StoreDoubtRecord>("doubt", bytes));
  if (record.reason().empty()) return absl::DataLossError("stored doubt has no reason");
  return record.reason();
}

std::string EncodeDataDoubt(const DataDoubt& doubt) {
  storage::v1::DataDoubtRecord record;
  record.set_reason(doubt.reason);
  record.set_container(doubt.container);
  record.set_page_token(doubt.page_token);
  record.set_store_epoch(doubt.store_epoch);
  return record.SerializeAsString();
}

absl::StatusOr<DataDoubt> DecodeDataDoubt(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::DataDoubtRecord>("doubt", bytes));
  if (record.reason().empty()) return absl::DataLossError("stored doubt of the data has no reason");
  return DataDoubt{record.reason(), record.container(), record.page_token(), record.store_epoch()};
}

std::string EncodeDeleteLimit(const StoredDeleteLimit& limit) {
  storage::v1::DeleteLimitRecord record;
  if (const auto rate = limit.max_deletes_per_second) record.set_max_deletes_per_second(*rate);
  return record.SerializeAsString();
}

absl::StatusOr<StoredDeleteLimit> DecodeDeleteLimit(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::DeleteLimitRecord>("limit", bytes));
  StoredDeleteLimit limit;
  if (record.has_max_deletes_per_second()) {
    limit.max_deletes_per_second = record.max_deletes_per_second();
  }
  const double rate = limit.max_deletes_per_second.value_or(0);
  if (!std::isfinite(rate) || rate < 0) {
    return absl::DataLossError(absl::StrCat("stored limit on deletes is impossible: ", rate));
  }
  return limit;
}

std::string EncodeDeleteDeadline(absl::Duration deadline) {
  storage::v1::DeleteDeadlineRecord record;
  record.set_deadline_us(absl::ToInt64Microseconds(deadline));
  return record.SerializeAsString();
}

absl::StatusOr<absl::Duration> DecodeDeleteDeadline(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record,
                       Parse<storage::v1::DeleteDeadlineRecord>("delete deadline", bytes));
  if (record.deadline_us() <= 0) {
    return absl::DataLossError(
        absl::StrCat("stored delete deadline is ", record.deadline_us(), " us: must be above 0"));
  }
  return absl::Microseconds(record.deadline_us());
}

std::string EncodeSourcePosition(absl::string_view position) {
  storage::v1::SourcePositionRecord record;
  record.set_position(std::string(position));
  return record.SerializeAsString();
}

absl::StatusOr<std::string> DecodeSourcePosition(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record,
                       Parse<storage::v1::SourcePositionRecord>("source position", bytes));
  if (record.position().empty()) return absl::DataLossError("stored source position is empty");
  return record.position();
}

std::string EncodeTotals(const ContainerTotals& totals) {
  storage::v1::TotalsRecord record;
  record.set_items(totals.tracked.items);
  record.set_bytes(totals.tracked.bytes);
  record.set_adopted_items(totals.adopted.items);
  record.set_adopted_items_before_run(totals.adopted.items_before_run);
  record.set_adopted_items_left(totals.adopted.left);
  record.set_last_adopted_until(totals.adopted.last_adopted_until);
  return record.SerializeAsString();
}

absl::StatusOr<ContainerTotals> DecodeTotals(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, Parse<storage::v1::TotalsRecord>("totals", bytes));
  if (record.items() < 0 || record.bytes() < 0 || record.adopted_items() < 0 ||
      record.adopted_items_left() < 0) {
    return absl::DataLossError(
        absl::StrCat("stored totals are impossible: ", record.ShortDebugString()));
  }
  return ContainerTotals{{record.items(), record.bytes()},
                         {record.adopted_items(), record.adopted_items_before_run(),
                          record.adopted_items_left(), record.last_adopted_until()}};
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
