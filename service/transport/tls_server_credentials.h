#ifndef TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_
#define TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "service/base/mutex.h"
#include "service/transport/tls/tls_files.h"
#include "service/transport/tls/watched_tls_files.h"

namespace ttl {

// Server credentials for TLS 1.2 or later. With a CA file, clients must present a certificate
// signed by one of its CAs.
//
// The files are checked for changes at each handshake, so replaced certificates apply from the next
// connection on; open connections stay. Files that do not match, as while they are being replaced,
// are ignored and the previous ones stay in use. gRPC's FileWatcherCertificateProvider would refuse
// all clients meanwhile.
class TlsServerCredentials final : public grpc::ServerCredentials {
 public:
  // Returns the errors of ReadTlsFiles().
  static absl::StatusOr<std::shared_ptr<TlsServerCredentials>> Make(const TlsFiles& files);

  // REQUIRES: the server that uses them is destroyed.
  ~TlsServerCredentials() override;

  // Not supported.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  using Config = grpc_ssl_server_certificate_config;

  explicit TlsServerCredentials(TlsFiles files);

  int AddPortToServer(const std::string& address, grpc_server* server) override;

  // gRPC calls this before each handshake.
  static grpc_ssl_certificate_config_reload_status Fetch(void* credentials, Config** config);
  grpc_ssl_certificate_config_reload_status FetchChanged(Config** config);

  Mutex mutex_;
  WatchedTlsFiles files_ ABSL_GUARDED_BY(mutex_);
  grpc_server_credentials* const credentials_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_SERVER_CREDENTIALS_H_
