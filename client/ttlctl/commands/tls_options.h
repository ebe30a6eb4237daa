#ifndef TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/ttlctl/commands/session.h"
#include "ttl/tls_credentials.h"

namespace ttl {

// The TLS options of the command line.
struct TlsOptions {
  bool tls = false;  // also without other options
  ClientTlsFiles files;
  std::string server_name;
};

// Adds the TLS options, which all commands have. `options` must outlive the parsing.
void AddTlsOptions(CLI::App& app, TlsOptions& options);

// Sets the credentials of `session`. INVALID_ARGUMENT, naming the file, if one cannot be used.
absl::Status Secure(const TlsOptions& options, GlobalOptions& session);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_TLS_OPTIONS_H_
