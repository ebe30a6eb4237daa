#include "service/transport/calls/method_gate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/transport/access/trace_parent.h"
#include "service/transport/calls/status_mapping.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

constexpr size_t kMaxMessageBytes = 1024;

// The first of the roles; absent if no role may call the method.
std::optional<Role> FirstOf(Roles roles) {
  for (const Role role : kRoles) {
    if (roles.Has(role)) return role;
  }
  return std::nullopt;
}

// "store or admin"; empty if no role grants the method.
std::string NeededRoles(Roles roles) {
  std::string needed;
  for (const Role role : kRoles) {
    if (roles.Has(role)) absl::StrAppend(&needed, needed.empty() ? "" : " or ", RoleName(role));
  }
  return needed;
}

std::string RefusalReason(const std::string& needed, Roles present) {
  if (needed.empty()) return "no role grants this method";
  return absl::StrCat("it needs the role ", needed, " and has ", Describe(present));
}

std::string Unquoted(absl::string_view quoted) {
  return std::string(absl::StripSuffix(absl::StripPrefix(quoted, "\""), "\""));
}

// " trace_id=..." if the call belongs to a trace, otherwise empty.
std::string TraceField(const grpc::ServerContextBase& context) {
  const absl::string_view trace_id = TraceIdOf(context);
  return trace_id.empty() ? "" : absl::StrCat(" trace_id=", trace_id);
}

// Whether the code means a fault of the sidecar.
bool IsFault(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsDataLoss(status) || absl::IsUnknown(status);
}

}  // namespace

MethodGate::MethodGate(std::string method, const ServerAccess& access)
    : method_(std::move(method)),
      access_(access),
      allowed_(access.options().roles_of_method(method_)),
      is_open_(allowed_.for_everyone || access.options().roles.Meets(allowed_.roles)),
      is_change_(allowed_.roles == Roles{Role::kAdmin}) {}

absl::Status MethodGate::Closed() { return ShuttingDown(); }

absl::Status MethodGate::AdmitCaller(const grpc::ServerContextBase& context) const {
  const ServerAccess::Caller caller = access_.CallerOf(context);
  if (caller.roles.Meets(allowed_.roles)) return absl::OkStatus();
  return Refuse(caller, context.peer(), TraceField(context));
}

absl::Status MethodGate::Admit(const CertificateNames& names, absl::string_view peer) const {
  const ServerAccess::Caller caller = access_.CallerOf(names);
  return caller.roles.Meets(allowed_.roles) ? absl::OkStatus() : Refuse(caller, peer, "");
}

absl::Status MethodGate::Refuse(const ServerAccess::Caller& caller, absl::string_view peer,
                                const std::string& trace) const {
  if (const std::optional<Role> role = FirstOf(allowed_.roles); role.has_value()) {
    ++access_.counters().RefusedFor(*role);
  }
  const std::string needed = NeededRoles(allowed_.roles);
  access_.LogRefusal(absl::StrCat(method_, caller.name),
                     absl::StrCat("call refused: method=", method_, " caller=", caller.name,
                                  " address=", Quoted(access_.options().address, kMaxMessageBytes),
                                  " needs=", Quoted(needed.empty() ? "none" : needed),
                                  " has=", Describe(caller.roles),
                                  " peer=", Quoted(peer, kMaxMessageBytes), trace));
  return MakeError(Reason::kRoleMissing,
                   absl::StrCat(caller.name, " may not call ", method_, ": ",
                                RefusalReason(needed, caller.roles)),
                   {{"caller", Unquoted(caller.name)}, {"method", method_}, {"needs", needed}});
}

// Whether the call is a change with a caller or trace that the log line of the change itself lacks.
bool MethodGate::IsNamedChange(const grpc::ServerContextBase& context,
                               const absl::Status& status) const {
  if (!is_change_ || absl::IsPermissionDenied(status)) return false;
  return access_.options().has_client_certificates || !TraceIdOf(context).empty();
}

void MethodGate::LogEnded(const grpc::ServerContextBase& context,
                          const absl::Status& status) const {
  const bool is_fault = IsFault(status);
  if (!is_fault && !IsNamedChange(context, status)) return;
  spdlog::log(
      is_fault ? spdlog::level::err : spdlog::level::info, "{}: method={} caller={} code={}{}{}",
      is_fault ? "call failed" : "admin call", method_, access_.CallerOf(context).name,
      absl::StatusCodeToString(status.code()),
      status.ok() ? "" : absl::StrCat(" reason=", Quoted(status.message(), kMaxMessageBytes)),
      TraceField(context));
}

}  // namespace ttl
