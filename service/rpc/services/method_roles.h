#ifndef TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_
#define TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_

#include "absl/strings/string_view.h"
#include "service/transport/access/allowed_roles.h"

namespace ttl {

// Of a method, as in "ItemService/GetItem". A method that is not listed is for nobody.
MethodRoles RolesOfMethod(absl::string_view method);

// Whether the method is listed.
bool IsMethodListed(absl::string_view method);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_METHOD_ROLES_H_
