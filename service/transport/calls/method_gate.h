#ifndef TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_

#include <grpcpp/server_context.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/transport/access/allowed_roles.h"
#include "service/transport/access/server_access.h"

namespace ttl {

// Authorizes the calls of one method on one address, and logs refusals, internal failures, and the
// caller and trace of changes. If every caller may call the method, a call costs one comparison.
// Thread-safe.
class MethodGate {
 public:
  // `method` as in "ItemService/GetItem". `access` must outlive this.
  MethodGate(std::string method, const ServerAccess& access);

  // PERMISSION_DENIED, naming caller, method and role, if the caller has no role of the method;
  // this is logged and counted. UNAVAILABLE if the server is stopping.
  absl::Status Admit(const grpc::ServerContextBase& context) const {
    if (access_.is_closed() && !allowed_.for_everyone) return Closed();
    return is_open_ ? absl::OkStatus() : AdmitCaller(context);
  }

  // The same for a request over a connection whose client presented a verified certificate with
  // these names, such as one for the status page, which answers as the method would. `peer` is the
  // client's address as gRPC writes it.
  absl::Status Admit(const CertificateNames& names, absl::string_view peer) const;

  // To be called when a call has ended.
  void LogEnd(const grpc::ServerContextBase& context, const absl::Status& status) const {
    if (is_change_ || !status.ok()) LogEnded(context, status);
  }

 private:
  static absl::Status Closed();
  absl::Status AdmitCaller(const grpc::ServerContextBase& context) const;
  // `trace` is the field of the log line about the call's trace; empty: it has none.
  absl::Status Refuse(const ServerAccess::Caller& caller, absl::string_view peer,
                      const std::string& trace) const;
  bool IsNamedChange(const grpc::ServerContextBase& context, const absl::Status& status) const;
  void LogEnded(const grpc::ServerContextBase& context, const absl::Status& status) const;

  const std::string method_;
  const ServerAccess& access_;
  const MethodRoles allowed_;
  const bool is_open_;    // every caller on the address may call
  const bool is_change_;  // only admins may call
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_METHOD_GATE_H_
