#include "service/base/error_details.h"

#include <cstddef>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "service/base/utf8.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {
namespace {

// All details must fit into a client's metadata limit, together with the message.
constexpr size_t kMaxValueBytes = 256;
constexpr size_t kMaxPathBytes = 128;
constexpr size_t kMaxDescriptionBytes = 512;

// `text` for a string field of protobuf: valid UTF-8, and not too long.
std::string ToField(absl::string_view text, size_t max_bytes) {
  std::string valid = IsValidUtf8(text) ? std::string(text) : absl::CHexEscape(text);
  if (valid.size() <= max_bytes) return valid;
  valid.resize(max_bytes);
  while (!IsValidUtf8(valid)) valid.pop_back();
  return valid + "...";
}

}  // namespace

absl::Status MakeError(Reason reason, absl::string_view message,
                       absl::Span<const ErrorFact> metadata) {
  const ReasonEntry& entry = EntryOf(reason);
  errors::v1::ErrorInfo info;
  info.set_reason(std::string(entry.name));
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : metadata) {
    (*info.mutable_metadata())[std::string(key)] = ToField(value, kMaxValueBytes);
  }
  absl::Status status(entry.code, message);
  status.SetPayload(kErrorInfoType, absl::Cord(info.SerializeAsString()));
  return status;
}

absl::Status InvalidField(absl::string_view field, absl::string_view message) {
  absl::Status status = MakeError(Reason::kInvalidField, message);
  errors::v1::BadRequest request;
  auto& violation = *request.add_field_violations();
  violation.set_field(ToField(field, kMaxPathBytes));
  violation.set_description(ToField(message, kMaxDescriptionBytes));
  status.SetPayload(kBadRequestType, absl::Cord(request.SerializeAsString()));
  return status;
}

absl::Status OfField(absl::string_view field, const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return InvalidField(field, status.message());
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoType);
  errors::v1::ErrorInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return "";
  return info.reason();
}

std::string TextOf(const absl::Status& status) {
  return status.ToString(absl::StatusToStringMode::kWithNoExtraData);
}

}  // namespace ttl
