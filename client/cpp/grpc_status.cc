#include "client/cpp/grpc_status.h"

#include "absl/strings/str_cat.h"
#include "client/cpp/detail_payloads.h"

namespace ttl {
namespace {

absl::Status WithoutDetails(const grpc::Status& status, absl::string_view address,
                            absl::Duration deadline) {
  if (status.ok()) return absl::OkStatus();
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return absl::UnavailableError(
          absl::StrCat("sidecar at ", address, " is unavailable: ", status.error_message()));
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError(absl::StrCat("no answer from the sidecar at ", address,
                                                      " within ", absl::FormatDuration(deadline),
                                                      ": ", status.error_message()));
    default:
      // Both enums have the same values.
      return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                          status.error_message());
  }
}

}  // namespace

absl::Status ToAbslStatus(const grpc::Status& status, absl::string_view address,
                          absl::Duration deadline) {
  absl::Status result = WithoutDetails(status, address, deadline);
  if (!result.ok()) AddDetails(status.error_details(), result);
  return result;
}

}  // namespace ttl
