#ifndef TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_

#include "absl/strings/string_view.h"
#include "service/transport/access/role.h"

namespace ttl {

// The roles that may call a method.
struct MethodRoles {
  Roles roles;                // one of them is enough
  bool for_everyone = false;  // needs no role
};

// Returns the roles of a method such as "ItemService/GetItem"; none for an unknown method.
using MethodRolesTable = MethodRoles (*)(absl::string_view method);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_
