#include "service/server/page_server.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/rpc/services/method_roles.h"

namespace ttl {
namespace {

// All methods that the page calls have the roles of this one.
constexpr char kPageMethod[] = "ExpiryService/ListExpiryStatuses";

StatusPage::Hosts HostsOf(const PageServer::Parts& parts) {
  if (parts.tls != nullptr) return StatusPage::Hosts::kOfCertificate;
  return absl::StartsWith(parts.address, "unix:") ? StatusPage::Hosts::kAny
                                                  : StatusPage::Hosts::kLoopback;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Start(Parts parts) {
  std::unique_ptr<PageServer> server(new PageServer(parts));
  TTL_RETURN_IF_ERROR(server->Listen(parts.address, std::move(parts.tls)));
  return server;
}

PageServer::PageServer(const Parts& parts)
    : access_({.address = parts.address,
               .roles = {},
               .has_client_certificates = parts.tls != nullptr,
               .roles_of_method = RolesOfMethod},
              parts.identities, parts.counters),
      gate_(kPageMethod, access_),
      page_(parts.calls, HostsOf(parts)) {}

absl::Status PageServer::Listen(const std::string& address, std::unique_ptr<TlsServer> tls) {
  const bool has_tls = tls != nullptr;
  TTL_ASSIGN_OR_RETURN(
      server_,
      HttpServer::Start(
          "--status-page", address,
          [this](absl::string_view received, const TlsConnection* connection) {
            return Answer(received, connection);
          },
          has_tls ? HttpServer::Reach::kAny : HttpServer::Reach::kLoopback, std::move(tls)));
  const std::string port = server_->port() == 0 ? ""
                                                : absl::StrCat(" tls=", has_tls ? "true" : "false",
                                                               " port=", server_->port());
  spdlog::info("status page: address={}{}", Quoted(address, 256), port);
  return absl::OkStatus();
}

std::optional<HttpAnswer> PageServer::Answer(absl::string_view received, const TlsConnection* tls) {
  if (tls == nullptr) return page_.Answer(received);
  const StatusPage::TlsPeer peer = {
      .is_for = [tls](absl::string_view host) { return tls->IsFor(host); },
      .may_read = [this, tls] { return gate_.Admit(tls->ClientNames(), tls->peer()); }};
  return page_.Answer(received, &peer);
}

}  // namespace ttl
