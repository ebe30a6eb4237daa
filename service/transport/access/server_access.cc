#include "service/transport/access/server_access.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "service/base/quoted.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

constexpr size_t kMaxNameBytes = 256;

std::vector<std::string> PropertyOf(const grpc::AuthContext& certificate, const char* property) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : certificate.FindPropertyValues(property)) {
    values.emplace_back(value.data(), value.size());
  }
  return values;
}

// Adds the roles of the certificate's names of one kind. The caller is named by the first name that
// has a role, or else by the first name.
void AddNames(const std::vector<std::string>& names, absl::string_view kind,
              const IdentityRoles::Map& known, ServerAccess::Caller& caller) {
  for (const std::string& name : names) {
    const auto it = known.find(name);
    const Roles roles = it == known.end() ? Roles() : it->second;
    if (caller.name.empty() || (caller.roles.empty() && !roles.empty())) {
      caller.name = Quoted(absl::StrCat(kind, ":", name), kMaxNameBytes);
    }
    caller.roles.Add(roles);
  }
}

}  // namespace

ServerAccess::Caller ServerAccess::CallerOf(const grpc::ServerContextBase& context) const {
  if (!options_.has_client_certificates) return CallerOf(CertificateNames());
  const std::shared_ptr<const grpc::AuthContext> certificate = context.auth_context();
  return CallerOf(
      CertificateNames{.uri = PropertyOf(*certificate, GRPC_PEER_URI_PROPERTY_NAME),
                       .dns = PropertyOf(*certificate, GRPC_PEER_DNS_PROPERTY_NAME),
                       .common_name = PropertyOf(*certificate, GRPC_X509_CN_PROPERTY_NAME)});
}

ServerAccess::Caller ServerAccess::CallerOf(const CertificateNames& names) const {
  Caller caller;
  AddNames(names.uri, "uri", identities_.uri, caller);
  AddNames(names.dns, "dns", identities_.dns, caller);
  AddNames(names.common_name, "cn", identities_.common_name, caller);
  if (caller.name.empty()) {
    caller.name = Quoted(absl::StrCat("address:", options_.address), kMaxNameBytes);
  }
  caller.roles.Add(options_.roles);
  return caller;
}

std::string ServerAccess::AuthorOf(const grpc::ServerContextBase& context) const {
  return AuthorText(CallerOf(context).name, context.peer());
}

std::string ServerAccess::AuthorText(absl::string_view caller_name, absl::string_view peer) {
  std::string author(absl::StripSuffix(absl::StripPrefix(caller_name, "\""), "\""));
  if (absl::StartsWith(author, "address:") && absl::StartsWith(peer, "ip")) {
    absl::StrAppend(&author, " from ", absl::CHexEscape(peer));
  }
  return author;
}

void ServerAccess::LogRefusal(const std::string& kind, const std::string& line) const {
  MutexLock lock(mutex_);
  const std::optional<int64_t> left_out =
      log_limiter_.Admit(kind, absl::Nanoseconds(since_start_.Nanoseconds()));
  if (!left_out.has_value()) return;
  spdlog::warn("{}{}", line, *left_out == 0 ? "" : absl::StrCat(" left_out=", *left_out));
}

}  // namespace ttl
