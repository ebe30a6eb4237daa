#ifndef TTL_SERVICE_RPC_MAPPING_HOLD_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_HOLD_MAPPING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/hold/hold.h"
#include "service/storage/holds.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/hold_service.pb.h"

// Conversions between holds of the API and ours. Pure functions.
namespace ttl {

// The hold that a request asks for. INVALID_ARGUMENT names the path of the field, its value and
// what is allowed. `now` bounds until.
absl::StatusOr<HoldRequest> ReadHoldRequest(const v1::PlaceHoldRequest& request, std::string author,
                                            absl::Time now);

// OK if a hold may have this id; else INVALID_ARGUMENT.
absl::Status ValidateHoldId(absl::string_view hold_id);

// A hold of the container of that id.
v1::Hold ToProto(const Hold& hold, absl::string_view container_id);

v1::HeldKey ToProto(const ItemKey& key);

v1::PlaceHoldResult ToProto(PlaceHoldResult result);

v1::HoldCounts ToProto(const HoldCounts& counts);

// The hold in one line, for the log: its scope, reason, end and author.
std::string Describe(const Hold& hold);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_HOLD_MAPPING_H_
