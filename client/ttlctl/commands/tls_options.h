#ifndef TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/cpp/tls_credentials.h"
#include "client/ttlctl/commands/session.h"

namespace ttl {

// How the command line wants the connection secured.
struct TlsOptions {
  bool tls = false;  // also without any of the others
  ClientTlsFiles files;
  std::string server_name;
};

// Adds the options of every command that are about TLS. `options` must outlive the
// parsing.
void AddTlsOptions(CLI::App& app, TlsOptions& options);

// Has the session connect as the options say. INVALID_ARGUMENT, which names the file, if
// one is of no use.
absl::Status Secure(const TlsOptions& options, GlobalOptions& session);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_
