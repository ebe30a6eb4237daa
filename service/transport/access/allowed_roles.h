#ifndef TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_

#include "absl/strings/string_view.h"
#include "service/transport/access/role.h"

namespace ttl {

// Who may call a method.
struct MethodRoles {
  Roles roles;                // any of them will do
  bool for_everyone = false;  // whoever can connect, without any role
};

// The roles of a method, as in "ItemService/GetItem". A method that it does not know is for
// nobody.
using MethodRolesTable = MethodRoles (*)(absl::string_view method);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_ALLOWED_ROLES_H_
