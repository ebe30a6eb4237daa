#ifndef TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_
#define TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_

#include "absl/strings/string_view.h"
#include "service/transport/access/allowed_roles.h"

namespace ttl {

// The roles that may call a method, such as "ItemService/GetItem". No role may call a method that
// is not listed.
MethodRoles RolesOfMethod(absl::string_view method);

// Whether the method is listed.
bool IsMethodListed(absl::string_view method);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_
