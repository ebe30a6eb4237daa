#ifndef TTL_SERVICE_SERVER_CONFIG_ACCESS_FILE_H_
#define TTL_SERVICE_SERVER_CONFIG_ACCESS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "service/transport/access/identity_roles.h"

namespace ttl {

// Parses the text of an access file, which assigns roles to the names in client
// certificates:
//
//   identities:
//     - uri: spiffe://shop.example/ns/shop/sa/store  # or dns: ..., or cn: ...
//       roles: [store, reader]
//
// INVALID_ARGUMENT names file, line, key, value and what is allowed; unknown keys and
// duplicate identities are errors. `file_name` is used in messages only.
absl::StatusOr<IdentityRoles> ParseAccess(const std::string& file_name, const std::string& text);

// Reads the file at `path`. INVALID_ARGUMENT also if it cannot be read.
absl::StatusOr<IdentityRoles> ReadAccessFile(const std::string& path);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_ACCESS_FILE_H_
