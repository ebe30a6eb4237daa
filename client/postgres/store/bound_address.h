#ifndef TTL_CLIENT_POSTGRES_STORE_BOUND_ADDRESS_H_
#define TTL_CLIENT_POSTGRES_STORE_BOUND_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Returns the gRPC address that a server listens on which asked for `address` and got `port`: the
// same one, except that a port 0 is replaced.
std::string BoundAddress(absl::string_view address, int port);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_BOUND_ADDRESS_H_
