#ifndef TTL_SERVICE_TRANSPORT_ACCESS_IDENTITY_ROLES_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_IDENTITY_ROLES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "service/transport/access/role.h"

namespace ttl {

// The roles of the identities in client certificates. Names are compared byte for byte, without
// wildcards.
struct IdentityRoles {
  using Map = absl::flat_hash_map<std::string, Roles>;

  Map uri;          // subject alternative names that are URIs, such as SPIFFE ids
  Map dns;          // subject alternative names that are host names
  Map common_name;  // common names of the subject
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_IDENTITY_ROLES_H_
