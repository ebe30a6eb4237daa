#include "service/transport/calls/status_mapping.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/utf8.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {
namespace {

using Details = google::protobuf::RepeatedPtrField<google::protobuf::Any>;

// The metadata of a call is limited to 8 KiB by default. A byte of the message takes up to three
// when it is escaped, and 4/3 in the details, which have the message again.
constexpr size_t kMaxStatusBytes = 1536;

// A full commit queue has room again after a few commits.
constexpr absl::Duration kPushback = absl::Milliseconds(100);

// A sidecar that stops is usually restarted at once.
constexpr absl::Duration kPushbackOfShutdown = absl::Milliseconds(250);

// A negative pushback keeps gRPC and the clients from retrying.
constexpr char kDoNotRetry[] = "-1";

bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string CutValid(absl::string_view message) {
  if (message.size() <= kMaxStatusBytes) return std::string(message);
  size_t end = kMaxStatusBytes;
  while (end > 0 && IsContinuationByte(message[end])) --end;
  return absl::StrCat(message.substr(0, end), "...");
}

// Text in the details must be UTF-8, and must be the same as the message.
std::string CutMessage(absl::string_view message) {
  return IsValidUtf8(message) ? CutValid(message) : CutValid(absl::CHexEscape(message));
}

void AddDetail(absl::string_view type, std::string bytes, Details& details) {
  google::protobuf::Any& detail = *details.Add();
  detail.set_type_url(std::string(type));
  detail.set_value(std::move(bytes));
}

std::string GenericInfo(const absl::Status& status) {
  errors::v1::ErrorInfo info;
  info.set_reason(absl::StatusCodeToString(status.code()));
  info.set_domain(kErrorDomain);
  return info.SerializeAsString();
}

std::string RetryInfoOf(absl::Duration delay) {
  errors::v1::RetryInfo info;
  *info.mutable_retry_delay() = ToProto(delay);
  return info.SerializeAsString();
}

Details DetailsOf(const absl::Status& status) {
  Details details;
  const auto info = status.GetPayload(kErrorInfoType);
  AddDetail(kErrorInfoType, info.has_value() ? std::string(*info) : GenericInfo(status), details);
  if (const auto request = status.GetPayload(kBadRequestType); request.has_value()) {
    AddDetail(kBadRequestType, std::string(*request), details);
  }
  if (const auto pushback = RetryPushback(status); pushback.has_value()) {
    AddDetail(kRetryInfoType, RetryInfoOf(*pushback), details);
  }
  return details;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  errors::v1::ErrorStatus error;
  error.set_code(status.raw_code());
  error.set_message(CutMessage(status.message()));
  *error.mutable_details() = DetailsOf(status);
  return grpc::Status(static_cast<grpc::StatusCode>(error.code()), error.message(),
                      error.SerializeAsString());
}

absl::Status ShuttingDown() {
  return MakeError(Reason::kShuttingDown, "the sidecar is shutting down");
}

std::optional<absl::Duration> RetryPushback(const absl::Status& status) {
  if (absl::IsUnavailable(status) && ReasonOf(status) == EntryOf(Reason::kShuttingDown).name) {
    return kPushbackOfShutdown;
  }
  if (!absl::IsResourceExhausted(status)) return std::nullopt;
  return kPushback;
}

void AddRetryPushback(const absl::Status& status, grpc::ServerContextBase& context) {
  // It may last for hours, and a read is served without its touch.
  if (absl::IsUnavailable(status) && ReasonOf(status) == EntryOf(Reason::kTouchUnavailable).name) {
    context.AddTrailingMetadata(kRetryPushbackKey, kDoNotRetry);
    return;
  }
  const auto pushback = RetryPushback(status);
  if (!pushback.has_value()) return;
  context.AddTrailingMetadata(kRetryPushbackKey,
                              absl::StrCat(absl::ToInt64Milliseconds(*pushback)));
}

}  // namespace ttl
