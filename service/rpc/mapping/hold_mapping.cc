#include "service/rpc/mapping/hold_mapping.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/base/utf8.h"

namespace ttl {
namespace {

// Longest text of a caller in a log line.
constexpr size_t kMaxLoggedAuthorBytes = 512;

// The last second that a Timestamp can hold: the end of the year 9999.
constexpr int64_t kMaxUntilSeconds = 253'402'300'799;

absl::Status ValidateSize(absl::string_view field, absl::string_view value, size_t min,
                          size_t max) {
  if (value.size() >= min && value.size() <= max) return absl::OkStatus();
  return InvalidField(field, absl::StrCat(field, " is ", Quoted(value), " (", value.size(),
                                          " bytes): must have ", min, " to ", max, " bytes"));
}

absl::StatusOr<std::optional<absl::Time>> ReadHoldEnd(const v1::PlaceHoldRequest& request,
                                                      absl::Time now) {
  if (!request.has_until()) return std::nullopt;
  const google::protobuf::Timestamp& until = request.until();
  const bool is_timestamp = until.nanos() >= 0 && until.nanos() < 1'000'000'000;
  const int64_t round_up = until.nanos() > 0 ? 1 : 0;
  if (is_timestamp && until.seconds() <= kMaxUntilSeconds - round_up && FromProto(until) > now) {
    return absl::FromUnixSeconds(until.seconds() + round_up);
  }
  return InvalidField(
      "until", absl::StrCat("until is ", until.seconds(), " s and ", until.nanos(),
                            " ns since 1970: must be later than the sidecar's clock, which shows ",
                            ExactTimeText(now), ", and before the year 10000"));
}

absl::StatusOr<ItemsByKey> ReadKeys(const v1::HeldKeys& keys) {
  const auto count = static_cast<size_t>(keys.keys_size());
  if (count < 1 || count > kMaxHoldKeysPerCall) {
    return InvalidField(
        "keys.keys",
        absl::StrCat("keys.keys has ", count, " entries: must have 1 to ", kMaxHoldKeysPerCall));
  }
  ItemsByKey scope;
  scope.keys.reserve(count);
  for (int i = 0; i < keys.keys_size(); ++i) {
    const v1::HeldKey& key = keys.keys(i);
    const std::string path = absl::StrCat("keys.keys[", i, "].");
    TTL_RETURN_IF_ERROR(
        ValidateSize(path + "partition_key", key.partition_key(), 0, kMaxPartitionKeyBytes));
    TTL_RETURN_IF_ERROR(ValidateSize(path + "id", key.id(), 0, kMaxIdBytes));
    scope.keys.push_back({key.partition_key(), key.id()});
  }
  return scope;
}

absl::StatusOr<decltype(HoldRequest::scope)> ReadScope(const v1::PlaceHoldRequest& request) {
  using Request = v1::PlaceHoldRequest;
  switch (request.scope_case()) {
    case Request::kKeys:
      return ReadKeys(request.keys());
    case Request::kPartitionKey:
      TTL_RETURN_IF_ERROR(
          ValidateSize("partition_key", request.partition_key(), 0, kMaxPartitionKeyBytes));
      return ItemsOfPartition{request.partition_key()};
    case Request::kAllItems:
      if (request.all_items()) return AllItems{};
      return InvalidField(
          "all_items", "all_items is false: must be true, or give keys or partition_key instead");
    case Request::SCOPE_NOT_SET:
      break;
  }
  return InvalidField("scope", "scope is absent: must be keys, partition_key or all_items");
}

std::string DescribeScope(const Hold& hold) {
  switch (hold.scope) {
    case Hold::Scope::kKeys:
      return absl::StrCat(hold.key_count, "_keys");
    case Hold::Scope::kPartition:
      return absl::StrCat("partition ", Quoted(hold.partition_key));
    case Hold::Scope::kAll:
      return "all_items";
  }
  return "unknown";
}

}  // namespace

absl::StatusOr<HoldRequest> ReadHoldRequest(const v1::PlaceHoldRequest& request, std::string author,
                                            absl::Time now) {
  TTL_RETURN_IF_ERROR(ValidateHoldId(request.hold_id()));
  TTL_RETURN_IF_ERROR(ValidateSize("reason", request.reason(), 1, kMaxHoldReasonBytes));
  HoldRequest hold;
  hold.hold_id = request.hold_id();
  hold.reason = request.reason();
  hold.author = std::move(author);
  TTL_ASSIGN_OR_RETURN(hold.until, ReadHoldEnd(request, now));
  TTL_ASSIGN_OR_RETURN(hold.scope, ReadScope(request));
  return hold;
}

absl::Status ValidateHoldId(absl::string_view hold_id) {
  const std::string unmet = UnmetByName(hold_id, kMaxHoldIdBytes);
  if (unmet.empty()) return absl::OkStatus();
  return InvalidField("hold_id", absl::StrCat("hold_id is ", Quoted(hold_id), " (", hold_id.size(),
                                              " bytes): ", unmet));
}

v1::Hold ToProto(const Hold& hold, absl::string_view container_id) {
  v1::Hold proto;
  proto.set_container(std::string(container_id));
  proto.set_hold_id(hold.hold_id);
  proto.set_reason(hold.reason);
  if (hold.until.has_value()) *proto.mutable_until() = ToProto(*hold.until);
  *proto.mutable_create_time() = ToProto(hold.create_time);
  proto.set_author(hold.author);
  switch (hold.scope) {
    case Hold::Scope::kKeys:
      proto.set_key_count(hold.key_count);
      break;
    case Hold::Scope::kPartition:
      proto.set_partition_key(hold.partition_key);
      break;
    case Hold::Scope::kAll:
      proto.set_all_items(true);
      break;
  }
  return proto;
}

v1::HeldKey ToProto(const ItemKey& key) {
  v1::HeldKey proto;
  proto.set_partition_key(key.partition_key);
  proto.set_id(key.id);
  return proto;
}

v1::PlaceHoldResult ToProto(PlaceHoldResult result) {
  switch (result) {
    case PlaceHoldResult::kHeld:
      return v1::PLACE_HOLD_RESULT_HELD;
    case PlaceHoldResult::kNotTracked:
      return v1::PLACE_HOLD_RESULT_NOT_TRACKED;
    case PlaceHoldResult::kAlreadyDeleted:
      return v1::PLACE_HOLD_RESULT_ALREADY_DELETED;
  }
  return v1::PLACE_HOLD_RESULT_UNSPECIFIED;
}

v1::HoldCounts ToProto(const HoldCounts& counts) {
  v1::HoldCounts proto;
  proto.set_holds(counts.holds);
  proto.set_on_all_items(counts.on_all_items);
  proto.set_items_set_aside(counts.items_set_aside);
  proto.set_ending(counts.ending);
  return proto;
}

std::string Describe(const Hold& hold) {
  return absl::StrCat("{scope=", DescribeScope(hold),
                      " reason=", Quoted(hold.reason, kMaxHoldReasonBytes),
                      " until=", hold.until.has_value() ? TimeText(*hold.until) : "released",
                      " author=", Quoted(hold.author, kMaxLoggedAuthorBytes), "}");
}

}  // namespace ttl
