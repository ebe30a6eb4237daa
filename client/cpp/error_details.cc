#include "ttl/error_details.h"

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "client/cpp/detail_payloads.h"
#include "ttl/errors/v1/error_details.pb.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

constexpr absl::string_view kPrefix = "type.googleapis.com/google.rpc.";
constexpr absl::string_view kErrorInfo = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr absl::string_view kBadRequest = "type.googleapis.com/google.rpc.BadRequest";
constexpr absl::string_view kRetryInfo = "type.googleapis.com/google.rpc.RetryInfo";

// The detail of that type; an empty message if there is none, or it cannot be read.
template <typename Message>
Message Find(absl::string_view type, const absl::Status& status) {
  const auto payload = status.GetPayload(type);
  Message message;
  if (payload.has_value() && !message.ParseFromString(std::string(*payload))) message.Clear();
  return message;
}

}  // namespace

void AddDetails(const std::string& status_details, absl::Status& status) {
  errors::v1::ErrorStatus parsed;
  if (!parsed.ParseFromString(status_details)) return;
  for (const google::protobuf::Any& detail : parsed.details()) {
    if (!absl::StartsWith(detail.type_url(), kPrefix)) continue;
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
}

std::string ErrorReason(const absl::Status& status) {
  return Find<errors::v1::ErrorInfo>(kErrorInfo, status).reason();
}

std::map<std::string, std::string> ErrorMetadata(const absl::Status& status) {
  const auto info = Find<errors::v1::ErrorInfo>(kErrorInfo, status);
  return {info.metadata().begin(), info.metadata().end()};
}

std::vector<FieldViolation> FieldViolations(const absl::Status& status) {
  const auto request = Find<errors::v1::BadRequest>(kBadRequest, status);
  std::vector<FieldViolation> violations;
  for (const auto& violation : request.field_violations()) {
    violations.push_back({violation.field(), violation.description()});
  }
  return violations;
}

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const auto info = Find<errors::v1::RetryInfo>(kRetryInfo, status);
  if (!info.has_retry_delay()) return std::nullopt;
  return absl::Seconds(info.retry_delay().seconds()) +
         absl::Nanoseconds(info.retry_delay().nanos());
}

}  // namespace ttl
