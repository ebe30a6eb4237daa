#include "service/storage/format/feed_codec.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "ttl/storage/v1/record.pb.h"

namespace ttl {
namespace {

template <typename Message>
absl::StatusOr<Message> ParseOfFeed(absl::string_view what, absl::string_view bytes) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
  return absl::DataLossError(
      absl::StrCat("unreadable ", what, " record of ", bytes.size(), " bytes"));
}

absl::StatusOr<EventKind> ToEventKind(uint32_t stored) {
  if (stored >= 1 && stored <= kEventKinds) return static_cast<EventKind>(stored);
  return absl::DataLossError(absl::StrCat("a stored event has the unknown kind ", stored));
}

absl::StatusOr<TtlSource> ToTtlSource(uint32_t stored) {
  if (stored == 0) return TtlSource::kNone;
  if (stored <= static_cast<uint32_t>(TtlSource::kExpireAt)) return static_cast<TtlSource>(stored);
  return absl::DataLossError(absl::StrCat("a stored event has the unknown ttl source ", stored));
}

}  // namespace

std::string EncodeEvent(const FeedEvent& event) {
  storage::v1::EventRecord record;
  record.set_kind(static_cast<uint32_t>(event.kind));
  record.set_event_time_us(absl::ToUnixMicros(event.time));
  record.set_partition_key(event.key.partition_key);
  record.set_id(event.key.id);
  record.set_ts(event.ts);
  if (event.ttl_source != TtlSource::kNone) {
    record.set_ttl_source(static_cast<uint32_t>(event.ttl_source));
  }
  if (event.expire_time.has_value()) record.set_expire_time(*event.expire_time);
  record.set_expired_sequence(event.expired_sequence);
  record.set_late(event.late);
  record.set_superseded(event.superseded);
  record.set_lateness_seconds(event.lateness_seconds);
  record.set_new_ts(event.new_ts);
  if (event.default_ttl.has_value()) record.set_default_ttl(*event.default_ttl);
  if (event.old_default_ttl.has_value()) record.set_old_default_ttl(*event.old_default_ttl);
  for (const std::string& name : event.given_up_subscriptions) {
    record.add_given_up_subscriptions(name);
  }
  record.set_served_seconds(event.served_seconds);
  return record.SerializeAsString();
}

absl::StatusOr<FeedEvent> DecodeEvent(uint64_t sequence, absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record, ParseOfFeed<storage::v1::EventRecord>("event", bytes));
  FeedEvent event;
  TTL_ASSIGN_OR_RETURN(event.kind, ToEventKind(record.kind()));
  event.sequence = sequence;
  event.time = absl::FromUnixMicros(record.event_time_us());
  event.key = {record.partition_key(), record.id()};
  event.ts = record.ts();
  TTL_ASSIGN_OR_RETURN(event.ttl_source, ToTtlSource(record.ttl_source()));
  if (record.has_expire_time()) event.expire_time = record.expire_time();
  event.expired_sequence = record.expired_sequence();
  event.late = record.late();
  event.superseded = record.superseded();
  event.lateness_seconds = record.lateness_seconds();
  event.new_ts = record.new_ts();
  if (record.has_default_ttl()) event.default_ttl = record.default_ttl();
  if (record.has_old_default_ttl()) event.old_default_ttl = record.old_default_ttl();
  event.given_up_subscriptions.assign(record.given_up_subscriptions().begin(),
                                      record.given_up_subscriptions().end());
  event.served_seconds = record.served_seconds();
  return event;
}

std::string EncodeFeedTrim(uint64_t dropped_sequence) {
  storage::v1::FeedTrimRecord record;
  record.set_dropped_sequence(dropped_sequence);
  return record.SerializeAsString();
}

absl::StatusOr<uint64_t> DecodeFeedTrim(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record,
                       ParseOfFeed<storage::v1::FeedTrimRecord>("feed trim", bytes));
  return record.dropped_sequence();
}

std::string EncodeSubscription(const Subscription& subscription) {
  storage::v1::SubscriptionRecord record;
  for (const EventKind kind : subscription.kinds) record.add_kinds(static_cast<uint32_t>(kind));
  record.set_consumer(subscription.consumer);
  record.set_create_time_us(absl::ToUnixMicros(subscription.create_time));
  record.set_acknowledged_sequence(subscription.acknowledged_sequence);
  record.set_gate(subscription.gate);
  record.set_give_up_after_seconds(subscription.give_up_after_seconds);
  record.set_gate_sequence(subscription.gate_sequence);
  record.set_served_seconds(subscription.served_seconds);
  return record.SerializeAsString();
}

absl::StatusOr<Subscription> DecodeSubscription(absl::string_view name, absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(const auto record,
                       ParseOfFeed<storage::v1::SubscriptionRecord>("subscription", bytes));
  Subscription subscription;
  subscription.name = std::string(name);
  for (const uint32_t stored : record.kinds()) {
    TTL_ASSIGN_OR_RETURN(const EventKind kind, ToEventKind(stored));
    subscription.kinds.push_back(kind);
  }
  subscription.consumer = record.consumer();
  subscription.create_time = absl::FromUnixMicros(record.create_time_us());
  subscription.acknowledged_sequence = record.acknowledged_sequence();
  subscription.gate = record.gate();
  subscription.give_up_after_seconds = record.give_up_after_seconds();
  subscription.gate_sequence = record.gate_sequence();
  subscription.served_seconds = record.served_seconds();
  return subscription;
}

}  // namespace ttl
