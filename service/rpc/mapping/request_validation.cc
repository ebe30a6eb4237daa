#include "service/rpc/mapping/request_validation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

// As in GetStoreInfoResponse.
constexpr size_t kMaxStoreIdBytes = 256;

// The position of a message in its request: an element of a list, or the request itself. The path
// is only formatted for an error.
struct MessagePath {
  absl::string_view list;  // empty: the request itself
  int index = 0;

  std::string Of(absl::string_view field) const {
    return list.empty() ? std::string(field) : absl::StrCat(list, "[", index, "].", field);
  }
};

absl::Status ValidateLength(const MessagePath& path, absl::string_view field,
                            absl::string_view value, size_t max_bytes) {
  if (value.size() <= max_bytes) return absl::OkStatus();
  return InvalidField(path.Of(field),
                      absl::StrCat(path.Of(field), " is ", Quoted(value), " (", value.size(),
                                   " bytes): must have at most ", max_bytes, " bytes"));
}

absl::Status ValidateKey(const MessagePath& path, absl::string_view partition_key,
                         absl::string_view id) {
  TTL_RETURN_IF_ERROR(ValidateLength(path, "partition_key", partition_key, kMaxPartitionKeyBytes));
  return ValidateLength(path, "id", id, kMaxIdBytes);
}

bool HasFittingKey(const Check& check) {
  return check.partition_key.size() <= kMaxPartitionKeyBytes && check.id.size() <= kMaxIdBytes;
}

absl::Status ValidateCount(absl::string_view list, int count, int most) {
  if (count >= 1 && count <= most) return absl::OkStatus();
  return InvalidField(list, absl::StrCat(list, " has ", count, " entries: must have 1 to ", most));
}

absl::Status ValidateTimes(const MessagePath& path, const ItemTimes& times, absl::Time now,
                           IllegalTtl illegal) {
  if (!IsLegalTs(times.ts, now))
    return OfField(path.Of("ts"), ValidateTs(path.Of("ts"), times.ts, now));
  if (illegal == IllegalTtl::kKept || HasLegalEnd(times)) return absl::OkStatus();
  TTL_RETURN_IF_ERROR(OfField(path.Of("ttl"), ValidateTtl(path.Of("ttl"), times.ttl)));
  return OfField(path.Of("expire_at"), ValidateExpireAt(path.Of("expire_at"), times.expire_at));
}

absl::StatusOr<ItemReport> ReadReport(const MessagePath& path, const v1::Item& item, absl::Time now,
                                      IllegalTtl illegal) {
  ItemReport report;
  report.version.times.ts = item.ts();
  if (item.has_ttl()) report.version.times.ttl = item.ttl();
  if (item.has_expire_at()) report.version.times.expire_at = item.expire_at();
  if (item.has_sequence()) report.version.sequence = item.sequence();
  TTL_RETURN_IF_ERROR(ValidateKey(path, item.partition_key(), item.id()));
  TTL_RETURN_IF_ERROR(ValidateTimes(path, report.version.times, now, illegal));
  TTL_RETURN_IF_ERROR(ValidateLength(path, "etag", item.etag(), kMaxEtagBytes));
  if (item.size_bytes() < 0) {
    return InvalidField(path.Of("size_bytes"),
                        absl::StrCat(path.Of("size_bytes"), " is ", item.size_bytes(),
                                     ": must be 0 (not known) or more"));
  }
  report.key = {item.partition_key(), item.id()};
  report.version.etag = item.etag();
  report.version.size_bytes = item.size_bytes();
  return report;
}

absl::StatusOr<ItemRemoval> ReadRemoval(const MessagePath& path, const v1::ItemDeletion& deletion,
                                        absl::Time now) {
  TTL_RETURN_IF_ERROR(ValidateKey(path, deletion.partition_key(), deletion.id()));
  ItemRemoval removal{{deletion.partition_key(), deletion.id()}, deletion.ts(), std::nullopt};
  if (deletion.has_sequence()) removal.sequence = deletion.sequence();
  if (deletion.ts() == 0 && deletion.has_sequence()) {
    removal.ts = ItemRemoval::kNewerThanAnyTs;
    return removal;
  }
  TTL_RETURN_IF_ERROR(
      ValidateTimes(path, {deletion.ts(), std::nullopt}, now, IllegalTtl::kRefused));
  return removal;
}

absl::StatusOr<int64_t> ReadUnlessTouchedWithin(const google::protobuf::Duration& within) {
  const bool is_legal =
      within.nanos() == 0 && within.seconds() >= 0 && within.seconds() <= kMaxUnlessTouchedWithin;
  if (is_legal) return within.seconds();
  return InvalidField(
      "unless_touched_within",
      absl::StrCat("unless_touched_within is ", within.seconds(), " s and ", within.nanos(),
                   " ns: must be whole seconds, 0 to ", kMaxUnlessTouchedWithin, " s"));
}

template <typename Request>
absl::StatusOr<PauseTarget> ReadTarget(const Request& request) {
  switch (request.target_case()) {
    case Request::kContainer:
      return PauseTarget{false, request.container()};
    case Request::kAllContainers:
      if (request.all_containers()) return PauseTarget{true, ""};
      return InvalidField("all_containers",
                          "all_containers is false: must be true, or name a container instead");
    case Request::TARGET_NOT_SET:
      break;
  }
  return InvalidField("target", "target is absent: must be a container or all_containers");
}

}  // namespace

absl::StatusOr<std::vector<ItemReport>> ReadReports(const v1::TrackItemsRequest& request,
                                                    absl::Time now, IllegalTtl illegal) {
  TTL_RETURN_IF_ERROR(ValidateCount("items", request.items_size(), kMaxReportsPerCall));
  std::vector<ItemReport> reports;
  reports.reserve(request.items_size());
  for (int i = 0; i < request.items_size(); ++i) {
    TTL_ASSIGN_OR_RETURN(ItemReport report,
                         ReadReport({"items", i}, request.items(i), now, illegal));
    reports.push_back(std::move(report));
  }
  return reports;
}

absl::StatusOr<std::vector<ItemRemoval>> ReadRemovals(const v1::UntrackItemsRequest& request,
                                                      absl::Time now) {
  TTL_RETURN_IF_ERROR(ValidateCount("items", request.items_size(), kMaxReportsPerCall));
  std::vector<ItemRemoval> removals;
  removals.reserve(request.items_size());
  for (int i = 0; i < request.items_size(); ++i) {
    TTL_ASSIGN_OR_RETURN(ItemRemoval removal, ReadRemoval({"items", i}, request.items(i), now));
    removals.push_back(std::move(removal));
  }
  return removals;
}

absl::StatusOr<TouchRequest> ReadTouches(const v1::TouchItemsRequest& request) {
  TTL_RETURN_IF_ERROR(ValidateCount("keys", request.keys_size(), kMaxTouchesPerCall));
  TouchRequest touches;
  TTL_ASSIGN_OR_RETURN(touches.unless_touched_within,
                       ReadUnlessTouchedWithin(request.unless_touched_within()));
  touches.keys.reserve(request.keys_size());
  for (int i = 0; i < request.keys_size(); ++i) {
    const v1::ItemKey& key = request.keys(i);
    TTL_RETURN_IF_ERROR(ValidateKey({"keys", i}, key.partition_key(), key.id()));
    touches.keys.push_back({key.partition_key(), key.id()});
  }
  return touches;
}

absl::Status ValidateChecks(const CheckRequest& request) {
  TTL_RETURN_IF_ERROR(
      ValidateCount("checks", static_cast<int>(request.count()), kMaxChecksPerCall));
  const absl::Span<const Check> checks = request.checks();
  for (size_t i = 0; i < checks.size(); ++i) {
    if (HasFittingKey(checks[i])) continue;
    return ValidateKey({"checks", static_cast<int>(i)}, checks[i].partition_key, checks[i].id);
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Time> ReadAsOf(absl::Time as_of, absl::Time now) {
  if (as_of <= now + kMaxAsOfLead && as_of >= now - kMaxAsOfAge) return std::min(as_of, now);
  return InvalidField(
      "as_of",
      absl::StrCat(
          "as_of is ", ExactTimeText(as_of),
          ": must be at most 1 hour before and 5 seconds after the sidecar's clock, which shows ",
          ExactTimeText(now)));
}

absl::StatusOr<ItemKey> ReadItemKey(absl::string_view partition_key, absl::string_view id) {
  TTL_RETURN_IF_ERROR(ValidateKey({}, partition_key, id));
  return ItemKey{std::string(partition_key), std::string(id)};
}

absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::PauseDeletesRequest& request) {
  return ReadTarget(request);
}

absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::ResumeDeletesRequest& request) {
  return ReadTarget(request);
}

absl::Status ValidatePauseReason(absl::string_view reason) {
  if (!reason.empty() && reason.size() <= kMaxPauseReasonBytes) return absl::OkStatus();
  return InvalidField("reason",
                      absl::StrCat("reason is ", Quoted(reason), " (", reason.size(),
                                   " bytes): must have 1 to ", kMaxPauseReasonBytes, " bytes"));
}

absl::StatusOr<UsageReport> ReadUsage(const v1::ReportUsageRequest& request) {
  UsageReport report;
  report.request_units = request.request_units();
  if (!std::isfinite(report.request_units) || report.request_units < 0) {
    return InvalidField("request_units", absl::StrCat("request_units is ", report.request_units,
                                                      ": must be a finite number, 0 or more"));
  }
  if (request.has_period()) {
    report.period =
        absl::Seconds(request.period().seconds()) + absl::Nanoseconds(request.period().nanos());
  }
  if (report.period <= absl::ZeroDuration() || report.period > kMaxUsagePeriod) {
    return InvalidField("period", absl::StrCat("period is ", absl::FormatDuration(report.period),
                                               ": must be more than 0 and at most 1 minute"));
  }
  TTL_RETURN_IF_ERROR(ValidateLength({}, "reporter", request.reporter(), kMaxReporterBytes));
  return report;
}

absl::StatusOr<LimitChange> ReadLimitChange(const v1::SetMaxDeletesPerSecondRequest& request) {
  using Request = v1::SetMaxDeletesPerSecondRequest;
  const double limit = request.max_deletes_per_second();
  switch (request.limit_case()) {
    case Request::kMaxDeletesPerSecond:
      if (std::isfinite(limit) && limit >= 0) return LimitChange{false, limit};
      return InvalidField(
          "max_deletes_per_second",
          absl::StrCat(
              "max_deletes_per_second is ", limit,
              ": must be a finite number, 0 (no deletes) or more; set unlimited for no limit"));
    case Request::kUnlimited:
      if (request.unlimited()) return LimitChange{false, std::nullopt};
      return InvalidField("unlimited", "unlimited is false: must be true, or give a limit instead");
    case Request::kServerDefault:
      if (request.server_default()) return LimitChange{true, std::nullopt};
      return InvalidField("server_default",
                          "server_default is false: must be true, or give a limit instead");
    case Request::LIMIT_NOT_SET:
      break;
  }
  return InvalidField(
      "limit", "limit is absent: must be max_deletes_per_second, unlimited or server_default");
}

absl::StatusOr<absl::Duration> ReadHeartbeatInterval(bool given,
                                                     const google::protobuf::Duration& interval) {
  constexpr absl::Duration kDefault = absl::Seconds(1);
  constexpr absl::Duration kMin = absl::Milliseconds(100);
  constexpr absl::Duration kMax = absl::Minutes(1);
  if (!given) return kDefault;
  const absl::Duration heartbeat = FromProto(interval);
  if (heartbeat >= kMin && heartbeat <= kMax) return heartbeat;
  return InvalidField("heartbeat_interval",
                      absl::StrCat("heartbeat_interval is ", absl::FormatDuration(heartbeat),
                                   ": must be ", absl::FormatDuration(kMin), " to ",
                                   absl::FormatDuration(kMax), ", or be left out"));
}

absl::Status ValidateStoreId(absl::string_view store_id) {
  if (!store_id.empty() && store_id.size() <= kMaxStoreIdBytes) return absl::OkStatus();
  return InvalidField("store_id",
                      absl::StrCat("store_id is ", Quoted(store_id), " (", store_id.size(),
                                   " bytes): must have 1 to ", kMaxStoreIdBytes, " bytes"));
}

}  // namespace ttl
