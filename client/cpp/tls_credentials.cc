#include "ttl/tls_credentials.h"

#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

namespace ttl {
namespace {

constexpr unsigned kReadIntervalSeconds = 1;

absl::Status CheckReadable(const ClientTlsFiles& files) {
  if (files.cert_file.empty() != files.key_file.empty()) {
    return absl::InvalidArgumentError("certificate and key go together: give both files or none");
  }
  for (const std::string* path : {&files.ca_file, &files.cert_file, &files.key_file}) {
    if (path->empty()) continue;
    // A directory can be opened, but not read.
    if (std::ifstream file(*path); file.peek() == std::ifstream::traits_type::eof()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", *path, "\" cannot be read, or is empty; give a PEM file"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> NewTlsCredentials(
    const ClientTlsFiles& files) {
  if (absl::Status status = CheckReadable(files); !status.ok()) return status;
  grpc::experimental::TlsChannelCredentialsOptions options;
  if (!files.ca_file.empty() || !files.cert_file.empty()) {
    options.set_certificate_provider(
        std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
            files.key_file, files.cert_file, files.ca_file, kReadIntervalSeconds));
  }
  if (!files.ca_file.empty()) options.watch_root_certs();
  if (!files.cert_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace ttl
