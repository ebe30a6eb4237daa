#include "client/postgres/store/bound_address.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl::postgres {

std::string BoundAddress(absl::string_view address, int port) {
  const bool is_socket =
      absl::StartsWith(address, "unix:") || absl::StartsWith(address, "unix-abstract:");
  if (is_socket || !absl::ConsumeSuffix(&address, ":0")) return std::string(address);
  return absl::StrCat(address, ":", port);
}

}  // namespace ttl::postgres
