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
#include "service/core/illegal_ttl.h"
#include "service/core/item.h"
#include "service/rpc/checks/check_request.h"
#include "service/storage/items.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"

// Requests, checked against what the protos allow and turned into our own types.
// Pure functions. All errors are INVALID_ARGUMENT and name the path of the field
// ("items[3].ttl"), its value, and what is allowed.
namespace ttl {

inline constexpr int kMaxReportsPerCall = 1000;

// The reports or removals of a call, all valid but for a ttl that is to be kept, in their
// order.
absl::StatusOr<std::vector<ItemReport>> ReadReports(const v1::TrackItemsRequest& request,
                                                    absl::Time now,
                                                    IllegalTtl illegal = IllegalTtl::kRefused);
absl::StatusOr<std::vector<ItemRemoval>> ReadRemovals(const v1::UntrackItemsRequest& request,
                                                      absl::Time now);

// Number of checks and lengths of keys. Carried state is not looked at: a check
// never refuses it.
absl::Status ValidateChecks(const CheckRequest& request);

// The key of a request for one item.
absl::StatusOr<ItemKey> ReadItemKey(absl::string_view partition_key, absl::string_view id);

// What a pause or its end is for: a container's id, or all containers.
struct PauseTarget {
  bool all = false;
  std::string container;  // unless all
};
absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::PauseDeletesRequest& request);
absl::StatusOr<PauseTarget> ReadPauseTarget(const v1::ResumeDeletesRequest& request);

absl::Status ValidatePauseReason(absl::string_view reason);

inline constexpr absl::Duration kMaxUsagePeriod = absl::Minutes(1);
inline constexpr size_t kMaxReporterBytes = 128;

// What a reporter says was used, and in which time.
struct UsageReport {
  double request_units = 0;
  absl::Duration period = absl::Seconds(1);
};
absl::StatusOr<UsageReport> ReadUsage(const v1::ReportUsageRequest& request);

// The limit on all deletes that is asked for: the server's own, or one in its place.
struct LimitChange {
  bool server_default = false;
  std::optional<double> max_deletes_per_second;  // unless server_default; absent: no limit
};
absl::StatusOr<LimitChange> ReadLimitChange(const v1::SetMaxDeletesPerSecondRequest& request);

// Not empty, and of a length that a store may give.
absl::Status ValidateStoreId(absl::string_view store_id);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_REQUEST_VALIDATION_H_
