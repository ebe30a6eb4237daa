#include "service/rpc/mapping/feed_mapping.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/utf8.h"
#include "service/rpc/mapping/request_validation.h"

namespace ttl {
namespace {

using ProtoKinds = google::protobuf::RepeatedField<int>;

// "EXPIRED" for EVENT_KIND_EXPIRED.
std::string NameOf(EventKind kind) {
  const std::string name = v1::EventKind_Name(static_cast<v1::EventKind>(kind));
  return std::string(absl::StripPrefix(name, "EVENT_KIND_"));
}

std::string NamesOf(const std::vector<EventKind>& kinds) {
  return absl::StrJoin(
      kinds, ",", [](std::string* out, EventKind kind) { absl::StrAppend(out, NameOf(kind)); });
}

std::string AllNames() {
  std::vector<std::string> names;
  for (int kind = v1::EventKind_MIN + 1; kind <= v1::EventKind_MAX; ++kind) {
    names.push_back(NameOf(static_cast<EventKind>(kind)));
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<std::vector<EventKind>> ReadKinds(absl::string_view field, const ProtoKinds& kinds) {
  std::set<EventKind> read;
  for (int i = 0; i < kinds.size(); ++i) {
    const int kind = kinds[i];
    if (kind == v1::EVENT_KIND_UNSPECIFIED || !v1::EventKind_IsValid(kind)) {
      const std::string path = absl::StrCat(field, "[", i, "]");
      return InvalidField(path, absl::StrCat(path, " is ", kind, ": must be one of ", AllNames()));
    }
    read.insert(static_cast<EventKind>(kind));
  }
  return std::vector<EventKind>(read.begin(), read.end());
}

// Whether it names a caller without a certificate by its connection, as ServerAccess::AuthorOf()
// does.
bool IsOfOneConnection(absl::string_view consumer) {
  return absl::StartsWith(consumer, "address:") && absl::StrContains(consumer, " from ");
}

absl::Status ReadConsumer(const v1::Subscription& from, Subscription& to) {
  to.consumer = from.consumer();
  if (to.consumer.empty()) return absl::OkStatus();
  const std::string unmet = UnmetByName(to.consumer, kMaxConsumerBytes);
  if (!unmet.empty()) {
    return InvalidField("subscription.consumer",
                        absl::StrCat("subscription.consumer is ", Quoted(to.consumer), " (",
                                     to.consumer.size(), " bytes): ", unmet));
  }
  if (IsOfOneConnection(to.consumer)) {
    return InvalidField("subscription.consumer",
                        absl::StrCat("subscription.consumer is ", Quoted(to.consumer),
                                     ": the port of a connection never comes again; give a name in "
                                     "a client certificate, such as cn:shipping"));
  }
  return absl::OkStatus();
}

absl::Status ReadGiveUpAfter(const v1::Subscription& from, Subscription& to) {
  constexpr absl::string_view kField = "subscription.give_up_after";
  if (!from.has_give_up_after()) return absl::OkStatus();
  const int64_t seconds = from.give_up_after().seconds();
  const int32_t nanos = from.give_up_after().nanos();
  const std::string given = absl::StrCat(kField, " is ", seconds, " s and ", nanos, " ns: ");
  if (!to.gate) {
    return InvalidField(kField, absl::StrCat(given, "must be absent, since gate is not set"));
  }
  if (nanos != 0 || seconds < 1 || seconds > kMaxGiveUpAfterSeconds) {
    return InvalidField(kField, absl::StrCat(given, "must be whole seconds, 1 to ",
                                             kMaxGiveUpAfterSeconds, " s, or absent"));
  }
  to.give_up_after_seconds = seconds;
  return absl::OkStatus();
}

// REQUIRES: the kinds are read.
absl::Status ReadGate(const v1::Subscription& from, Subscription& to) {
  to.gate = from.gate();
  const bool reads_expired = to.kinds.empty() || std::find(to.kinds.begin(), to.kinds.end(),
                                                           EventKind::kExpired) != to.kinds.end();
  if (to.gate && !reads_expired) {
    return InvalidField("subscription.kinds",
                        absl::StrCat("subscription.kinds is ", NamesOf(to.kinds),
                                     ": must be empty or contain EXPIRED, since gate is set"));
  }
  return ReadGiveUpAfter(from, to);
}

absl::Status ReadContainers(const v1::WatchedContainers& from, WatchRequest& to) {
  const auto count = static_cast<size_t>(from.ids_size());
  if (count < 1 || count > kMaxWatchedContainers) {
    return InvalidField("containers.ids",
                        absl::StrCat("containers.ids has ", count, " entries: must have 1 to ",
                                     kMaxWatchedContainers));
  }
  to.containers.assign(from.ids().begin(), from.ids().end());
  std::vector<std::string> sorted = to.containers;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return InvalidField("containers.ids", absl::StrCat("containers.ids has ", Quoted(*twice),
                                                       " twice: must have each id once"));
  }
  to.token = from.token();
  TTL_ASSIGN_OR_RETURN(to.kinds, ReadKinds("containers.kinds", from.kinds()));
  return absl::OkStatus();
}

absl::Status ReadSource(const v1::WatchEventsRequest& request, WatchRequest& to) {
  switch (request.source_case()) {
    case v1::WatchEventsRequest::kContainers:
      return ReadContainers(request.containers(), to);
    case v1::WatchEventsRequest::kSubscription:
      to.containers = {request.subscription().container()};
      to.subscription = request.subscription().name();
      return ValidateSubscriptionName("subscription.name", to.subscription);
    case v1::WatchEventsRequest::SOURCE_NOT_SET:
      break;
  }
  return InvalidField("source", "source is absent: must be subscription or containers");
}

std::string DescribeGate(int64_t give_up_after_seconds) {
  if (give_up_after_seconds == 0) return " gate=true give_up_after=never";
  return absl::StrCat(" gate=true give_up_after=", give_up_after_seconds, "s");
}

}  // namespace

absl::StatusOr<WatchRequest> ReadWatchRequest(const v1::WatchEventsRequest& request) {
  WatchRequest watch;
  TTL_RETURN_IF_ERROR(ReadSource(request, watch));
  TTL_ASSIGN_OR_RETURN(watch.heartbeat, ReadHeartbeatInterval(request.has_heartbeat_interval(),
                                                              request.heartbeat_interval()));
  return watch;
}

absl::StatusOr<Subscription> ReadSubscription(const v1::CreateSubscriptionRequest& request) {
  const v1::Subscription& proto = request.subscription();
  TTL_RETURN_IF_ERROR(ValidateSubscriptionName("subscription.name", proto.name()));
  Subscription subscription;
  subscription.name = proto.name();
  TTL_ASSIGN_OR_RETURN(subscription.kinds, ReadKinds("subscription.kinds", proto.kinds()));
  TTL_RETURN_IF_ERROR(ReadConsumer(proto, subscription));
  TTL_RETURN_IF_ERROR(ReadGate(proto, subscription));
  return subscription;
}

absl::Status ValidateSubscriptionName(absl::string_view field, absl::string_view name) {
  const std::string unmet = UnmetByName(name, kMaxSubscriptionNameBytes);
  if (unmet.empty()) return absl::OkStatus();
  return InvalidField(
      field, absl::StrCat(field, " is ", Quoted(name), " (", name.size(), " bytes): ", unmet));
}

v1::Event ToProto(const FeedEvent& event, absl::string_view container_id) {
  v1::Event proto;
  proto.set_kind(static_cast<v1::EventKind>(event.kind));
  proto.set_container(std::string(container_id));
  proto.set_sequence(event.sequence);
  *proto.mutable_event_time() = ToProto(event.time);
  proto.set_partition_key(event.key.partition_key);
  proto.set_id(event.key.id);
  proto.set_ts(event.ts);
  proto.set_ttl_source(static_cast<v1::TtlSource>(event.ttl_source));
  if (event.expire_time.has_value()) proto.set_expire_time(*event.expire_time);
  proto.set_expired_sequence(event.expired_sequence);
  proto.set_late(event.late);
  proto.set_superseded(event.superseded);
  if (event.kind == EventKind::kPurged) {
    *proto.mutable_lateness() = ToProto(absl::Seconds(event.lateness_seconds));
  }
  proto.set_new_ts(event.new_ts);
  if (event.default_ttl.has_value()) proto.set_default_ttl(*event.default_ttl);
  if (event.old_default_ttl.has_value()) proto.set_old_default_ttl(*event.old_default_ttl);
  for (const std::string& name : event.given_up_subscriptions) {
    proto.add_given_up_subscriptions(name);
  }
  return proto;
}

std::string Describe(const Subscription& subscription) {
  const std::string kinds = NamesOf(subscription.kinds);
  return absl::StrCat("{kinds=", kinds.empty() ? "all" : kinds,
                      " consumer=", Quoted(subscription.consumer, kMaxConsumerBytes),
                      subscription.gate ? DescribeGate(subscription.give_up_after_seconds) : "",
                      "}");
}

}  // namespace ttl
