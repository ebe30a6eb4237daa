#include "service/transport/tls_server_credentials.h"

#include <grpc/grpc.h>

#include <optional>
#include <string>
#include <utility>

#include "service/base/status_macros.h"

namespace ttl {
namespace {

grpc_ssl_server_certificate_config* NewConfig(const TlsMaterial& material) {
  const grpc_ssl_pem_key_cert_pair pair = {material.key.c_str(), material.cert.c_str()};
  // gRPC requires a CA even if clients need no certificate.
  const std::string& ca = material.ca.empty() ? material.cert : material.ca;
  return grpc_ssl_server_certificate_config_create(ca.c_str(), &pair, 1);
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsServerCredentials>> TlsServerCredentials::Make(
    const TlsFiles& files) {
  TTL_RETURN_IF_ERROR(ReadTlsFiles(files).status());
  return std::shared_ptr<TlsServerCredentials>(new TlsServerCredentials(files));
}

TlsServerCredentials::TlsServerCredentials(TlsFiles files)
    : files_(std::move(files)),
      credentials_(grpc_ssl_server_credentials_create_with_options(
          grpc_ssl_server_credentials_create_options_using_config_fetcher(
              files_.files().ca_file.empty()
                  ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                  : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
              &TlsServerCredentials::Fetch, this))) {}

TlsServerCredentials::~TlsServerCredentials() { grpc_server_credentials_release(credentials_); }

int TlsServerCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  {
    const MutexLock lock(mutex_);
    files_.Forget();  // a new port has no certificates yet
  }
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

grpc_ssl_certificate_config_reload_status TlsServerCredentials::Fetch(void* credentials,
                                                                      Config** config) {
  return static_cast<TlsServerCredentials*>(credentials)->FetchChanged(config);
}

grpc_ssl_certificate_config_reload_status TlsServerCredentials::FetchChanged(Config** config) {
  const MutexLock lock(mutex_);
  const std::optional<TlsMaterial> material = files_.ReadChanged();
  if (!material.has_value()) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  *config = NewConfig(*material);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace ttl
