#include "client/ttlctl/commands/tls_options.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/definition/command_tree.h"

namespace ttl {
namespace {

bool WantsTls(const TlsOptions& options) {
  return options.tls || !options.files.ca_file.empty() || !options.files.cert_file.empty() ||
         !options.files.key_file.empty() || !options.server_name.empty();
}

}  // namespace

void AddTlsOptions(CLI::App& app, TlsOptions& options) {
  app.add_flag("--tls", options.tls, "Connect over TLS; implied by the next four options");
  AddTextOption(app, "--ca-file",
                "PEM file with the CAs that sign the sidecar's certificate; default: the system's",
                options.files.ca_file)
      ->type_name(kFileType)
      ->envname("TTL_SIDECAR_CA_FILE");
  AddTextOption(app, "--cert-file", "PEM file with the client certificate", options.files.cert_file)
      ->type_name(kFileType)
      ->envname("TTL_SIDECAR_CERT_FILE");
  AddTextOption(app, "--key-file", "PEM file with the private key of --cert-file",
                options.files.key_file)
      ->type_name(kFileType)
      ->envname("TTL_SIDECAR_KEY_FILE");
  AddTextOption(app, "--server-name",
                "Name expected in the sidecar's certificate; default: the host of --server",
                options.server_name)
      ->envname("TTL_SIDECAR_SERVER_NAME");
}

absl::Status Secure(const TlsOptions& options, GlobalOptions& session) {
  if (!WantsTls(options)) return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      NewTlsCredentials(options.files);
  if (!credentials.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ca-file, --cert-file, --key-file: ", credentials.status().message()));
  }
  session.credentials = *std::move(credentials);
  session.tls_server_name = options.server_name;
  return absl::OkStatus();
}

}  // namespace ttl
