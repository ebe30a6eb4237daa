#ifndef TTL_SERVICE_SERVER_PAGE_SERVER_H_
#define TTL_SERVICE_SERVER_PAGE_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "service/server/http/http_server.h"
#include "service/server/page/status_page.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/access/identity_roles.h"
#include "service/transport/access/server_access.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/tls/tls_server.h"

namespace ttl {

// The status page on its address: in plain text on loopback or a Unix socket, elsewhere over TLS,
// to clients whose certificates may call what the page calls.
class PageServer {
 public:
  struct Parts {
    std::string address;  // --status-page
    StatusPage::Calls calls;
    std::unique_ptr<TlsServer> tls;  // null: plain text
    const IdentityRoles& identities;
    AccessCounters& counters;
  };

  // Listens and serves, and logs the address. Returns the errors of HttpServer::Start().
  // The references of `parts` must outlive this.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(Parts parts);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

 private:
  PageServer(const Parts& parts);

  absl::Status Listen(const std::string& address, std::unique_ptr<TlsServer> tls);
  std::optional<HttpAnswer> Answer(absl::string_view received, const TlsConnection* tls);

  const ServerAccess access_;
  const MethodGate gate_;
  StatusPage page_;
  std::unique_ptr<HttpServer> server_;  // last, since its thread uses the others
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_PAGE_SERVER_H_
