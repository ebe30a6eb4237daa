#include "service/transport/calls/status_mapping.h"

#include <cstddef>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

// The metadata of a call is limited to 8 KiB by default, and a byte of the message takes up to
// three when it is escaped.
constexpr size_t kMaxStatusBytes = 2048;

// A full commit queue has room again after a few commits.
constexpr absl::Duration kPushback = absl::Milliseconds(100);

// A sidecar that stops is usually restarted at once.
constexpr absl::Duration kPushbackOfShutdown = absl::Milliseconds(250);
constexpr char kIsShuttingDown[] = "ttl/shutting-down";

bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string CutMessage(absl::string_view message) {
  if (message.size() <= kMaxStatusBytes) return std::string(message);
  size_t end = kMaxStatusBytes;
  while (end > 0 && IsContinuationByte(message[end])) --end;
  return absl::StrCat(message.substr(0, end), "...");
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                      CutMessage(status.message()));
}

absl::Status ShuttingDown() {
  absl::Status status = absl::UnavailableError("the sidecar is shutting down");
  status.SetPayload(kIsShuttingDown, absl::Cord());
  return status;
}

std::optional<absl::Duration> RetryPushback(const absl::Status& status) {
  if (status.GetPayload(kIsShuttingDown).has_value()) return kPushbackOfShutdown;
  if (!absl::IsResourceExhausted(status)) return std::nullopt;
  return kPushback;
}

void AddRetryPushback(const absl::Status& status, grpc::ServerContextBase& context) {
  const auto pushback = RetryPushback(status);
  if (!pushback.has_value()) return;
  context.AddTrailingMetadata(kRetryPushbackKey,
                              absl::StrCat(absl::ToInt64Milliseconds(*pushback)));
}

}  // namespace ttl
