#include "client/ttlctl/tls_options.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/command.h"

namespace ttl {
namespace {

bool WantsTls(const TlsOptions& options) {
  return options.tls || !options.files.ca_file.empty() || !options.files.cert_file.empty() ||
         !options.files.key_file.empty() || !options.server_name.empty();
}

}  // namespace

void AddTlsOptions(CLI::App& app, TlsOptions& options) {
  app.add_flag("--tls", options.tls,
               "Connect by TLS; not needed if one of the next four options is given");
  AddTextOption(app, "--ca-file",
                "PEM file of the CAs of the sidecar; those of the system if "
                "not given",
                options.files.ca_file)
      ->envname("TTL_SIDECAR_CA_FILE");
  AddTextOption(app, "--cert-file", "PEM file of the certificate to show to the sidecar",
                options.files.cert_file)
      ->envname("TTL_SIDECAR_CERT_FILE");
  AddTextOption(app, "--key-file", "PEM file of the key of --cert-file", options.files.key_file)
      ->envname("TTL_SIDECAR_KEY_FILE");
  AddTextOption(app, "--server-name",
                "Name that the certificate of the sidecar must have; the "
                "host of --server if not given",
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
