#ifndef TTL_SERVICE_RPC_MAPPING_REQUEST_VALIDATION_H_
#define TTL_SERVICE_RPC_MAPPING_REQUEST_VALIDATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "service/core/guarded_clock.h"
#include "service/core/illegal_ttl.h"
#include "service/core/item.h"
#include "service/rpc/checks/check_request.h"
#include "service/storage/items.h"
#include "service/storage/touches.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"

// Validates requests against the limits in the protos and converts them to our types. Pure
// functions. All errors are INVALID_ARGUMENT and name the path of the field ("items[3].ttl"), its
// value, and what is allowed; their details (error_details.h) have the path too.
namespace ttl {

inline constexpr int kMaxReportsPerCall = 1000;
inline constexpr int kMaxTouchesPerCall = 1000;
inline constexpr int64_t kMaxUnlessTouchedWithin = int64_t{366} * 86400;  // seconds

// The reports or removals of a call, in order. An error in one refuses all. With IllegalTtl::kKept
// an illegal ttl is no error. `now` bounds ts.
absl::StatusOr<std::vector<ItemReport>> ReadReports(const v1::TrackItemsRequest& request,
                                                    absl::Time now,
                                                    IllegalTtl illegal = IllegalTtl::kRefused);
absl::StatusOr<std::vector<ItemRemoval>> ReadRemovals(const v1::UntrackItemsRequest& request,
                                                      absl::Time now);

// The keys of a call, and how long ago their countdown must have started.
absl::StatusOr<TouchRequest> ReadTouches(const v1::TouchItemsRequest& request);

// Validates the number of checks and the lengths of keys. Carried states are not validated: a check
// never refuses them.
absl::Status ValidateChecks(const CheckRequest& request);

// The longest time that as_of may be behind the clock.
inline constexpr absl::Duration kMaxAsOfAge = absl::Hours(1);

// The longest time that as_of may be ahead of the clock: the clock may have stepped back by as much
// since it showed as_of.
inline constexpr absl::Duration kMaxAsOfLead = GuardedClock::kTolerance;

// The instant as of which to judge: the earlier of as_of and `now`. INVALID_ARGUMENT if as_of is
// more than kMaxAsOfAge before `now` or more than kMaxAsOfLead after it.
absl::StatusOr<absl::Time> ReadAsOf(absl::Time as_of, absl::Time now);

// The key in a request for one item.
absl::StatusOr<ItemKey> ReadItemKey(absl::string_view partition_key, absl::string_view id);

// The target of PauseDeletes and ResumeDeletes.
struct PauseTarget {
  bool all = false;
  std::string container;  // unless all
};
absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::PauseDeletesRequest& request);
absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::ResumeDeletesRequest& request);

absl::Status ValidatePauseReason(absl::string_view reason);

inline constexpr absl::Duration kMaxUsagePeriod = absl::Minutes(1);
inline constexpr size_t kMaxReporterBytes = 128;

// Request units that a reporter has counted, and the period in which they were used.
struct UsageReport {
  double request_units = 0;
  absl::Duration period = absl::Seconds(1);
};
absl::StatusOr<UsageReport> ReadUsage(const v1::ReportUsageRequest& request);

// The limit on all deletes that a request asks for.
struct LimitChange {
  bool server_default = false;
  std::optional<double> max_deletes_per_second;  // unless server_default; absent: no limit
};
absl::StatusOr<LimitChange> ReadLimitChange(const v1::SetMaxDeletesPerSecondRequest& request);

// The heartbeat_interval of a request to watch: its default if it is absent (`given` is false).
absl::StatusOr<absl::Duration> ReadHeartbeatInterval(bool given,
                                                     const google::protobuf::Duration& interval);

// Must be 1 to 256 bytes, as in GetStoreInfoResponse.
absl::Status ValidateStoreId(absl::string_view store_id);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_REQUEST_VALIDATION_H_
