#ifndef TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_

#include <grpcpp/server_context.h>

#include <string>

#include "absl/status/status.h"
#include "service/transport/access/allowed_roles.h"
#include "service/transport/access/server_access.h"

namespace ttl {

// Decides who may call one method on one address, and logs its calls where that is of
// use: refusals, failures that are the sidecar's own, and by whom or in which trace
// something was changed. Where everyone may call, and for calls that need no line, it
// costs a comparison.
// Thread-safe.
class MethodGate {
 public:
  // `method` as in "ItemService/GetItem". `access` must outlive this.
  MethodGate(std::string method, const ServerAccess& access);

  // OK; or PERMISSION_DENIED that names caller, method and role, and is logged and counted
  // too; or UNAVAILABLE if the server is about to stop.
  absl::Status Admit(const grpc::ServerContextBase& context) const {
    if (access_.is_closed() && !allowed_.for_everyone) return Closed();
    return is_open_ ? absl::OkStatus() : AdmitCaller(context);
  }

  // When a call ends.
  void LogEnd(const grpc::ServerContextBase& context, const absl::Status& status) const {
    if (is_change_ || !status.ok()) LogEnded(context, status);
  }

 private:
  static absl::Status Closed();
  absl::Status AdmitCaller(const grpc::ServerContextBase& context) const;
  absl::Status Refuse(const grpc::ServerContextBase& context,
                      const ServerAccess::Caller& caller) const;
  bool IsNamedChange(const grpc::ServerContextBase& context, const absl::Status& status) const;
  void LogEnded(const grpc::ServerContextBase& context, const absl::Status& status) const;

  const std::string method_;
  const ServerAccess& access_;
  const MethodRoles allowed_;
  const bool is_open_;    // to all who can connect
  const bool is_change_;  // only admins may
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_
