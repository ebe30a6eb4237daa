#include "service/expiry/store/retry_info.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "service/base/proto_time.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {
namespace {

constexpr absl::string_view kRetryInfoType = "/google.rpc.RetryInfo";
constexpr absl::string_view kPayload = "ttl-sidecar/retry-info";

// The serialized RetryInfo among the details; absent if there is none.
std::optional<std::string> FindRetryInfo(const std::string& details) {
  errors::v1::ErrorStatus status;
  if (details.empty() || !status.ParseFromString(details)) return std::nullopt;
  for (const google::protobuf::Any& detail : status.details()) {
    if (absl::EndsWith(detail.type_url(), kRetryInfoType)) return detail.value();
  }
  return std::nullopt;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (const auto info = FindRetryInfo(status.error_details()); info.has_value()) {
    result.SetPayload(kPayload, absl::Cord(*info));
  }
  return result;
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  errors::v1::RetryInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return std::nullopt;
  if (!info.has_retry_delay()) return std::nullopt;
  const absl::Duration delay = FromProto(info.retry_delay());
  if (delay < absl::ZeroDuration()) return std::nullopt;
  return delay;
}

}  // namespace ttl
