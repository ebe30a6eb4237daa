#ifndef TTL_SERVICE_RPC_METHOD_ROLES_H_
#define TTL_SERVICE_RPC_METHOD_ROLES_H_

#include "absl/strings/string_view.h"
#include "service/rpc/role.h"

namespace ttl {

// Who may call a method.
struct MethodRoles {
  Roles roles;                // any of them will do
  bool for_everyone = false;  // whoever can connect, without any role
};

// Of a method, as in "ItemService/GetItem". A method that is not listed is for nobody.
MethodRoles RolesOfMethod(absl::string_view method);

// Whether the method is listed.
bool IsMethodListed(absl::string_view method);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_METHOD_ROLES_H_
