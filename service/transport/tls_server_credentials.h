#ifndef TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_
#define TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "service/base/mutex.h"
#include "service/transport/tls_files.h"

namespace ttl {

// TLS, 1.2 at least, for one address to listen on. With a CA file, clients must show a
// certificate that this CA has signed.
//
// The files are looked at whenever a client connects, so that what was replaced counts
// from the next connection on; connections that are there stay. Files that do not go
// together, as while they are being replaced, are passed over, and the ones before stay
// in use; gRPC's own FileWatcherCertificateProvider would refuse all clients meanwhile.
class TlsServerCredentials final : public grpc::ServerCredentials {
 public:
  // Errors are those of ReadTlsFiles().
  static absl::StatusOr<std::shared_ptr<TlsServerCredentials>> Make(const TlsFiles& files);

  // REQUIRES: the server is destroyed.
  ~TlsServerCredentials() override;

  // Not supported.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  using Config = grpc_ssl_server_certificate_config;

  explicit TlsServerCredentials(TlsFiles files);

  int AddPortToServer(const std::string& address, grpc_server* server) override;

  // What gRPC asks before each handshake.
  static grpc_ssl_certificate_config_reload_status Fetch(void* credentials, Config** config);
  grpc_ssl_certificate_config_reload_status FetchChanged(Config** config);

  const TlsFiles files_;
  Mutex mutex_;
  std::string stamp_ ABSL_GUARDED_BY(mutex_);  // of what was read last
  grpc_server_credentials* const credentials_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_
