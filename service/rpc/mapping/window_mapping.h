#ifndef TTL_SERVICE_RPC_MAPPING_WINDOW_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_WINDOW_MAPPING_H_

#include <string>

#include "absl/status/statusor.h"
#include "service/core/windows/delete_windows.h"
#include "ttl/v1/container.pb.h"

// Conversions between windows of the API and ours. Pure functions.
namespace ttl {

// INVALID_ARGUMENT for days and times that are none; ValidateWindows() checks the rest.
absl::StatusOr<DeleteWindows> ReadWindows(const v1::DeleteWindows& proto);

// Days are left out if they are all of them, and the rate outside if it is 0.
v1::DeleteWindows ToProto(const DeleteWindows& windows);

// The windows in one line, for the log.
std::string Describe(const DeleteWindows& windows);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_WINDOW_MAPPING_H_
