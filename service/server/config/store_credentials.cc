#include "service/server/config/store_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "service/base/status_macros.h"

namespace ttl {
namespace {

constexpr unsigned kReadIntervalSeconds = 1;

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeStoreCredentials(
    const TlsFiles& files) {
  if (files.ca_file.empty()) return grpc::InsecureChannelCredentials();
  TTL_RETURN_IF_ERROR(ReadTlsFiles(files).status());
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key_file, files.cert_file, files.ca_file, kReadIntervalSeconds));
  options.watch_root_certs();
  if (!files.cert_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace ttl
