#ifndef TTL_SERVICE_TRANSPORT_TLS_TLS_SERVER_H_
#define TTL_SERVICE_TRANSPORT_TLS_TLS_SERVER_H_

#include <openssl/ssl.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/transport/tls/tls_connection.h"
#include "service/transport/tls/watched_tls_files.h"

namespace ttl {

// Makes the server's ends of TLS connections, of TLS 1.2 or later, whose clients must present a
// certificate signed by one of the CAs. As for gRPC's addresses (TlsServerCredentials), replaced
// files apply from the next connection on. No session is resumed, so that every connection is
// verified by the files as they are. Not thread-safe.
class TlsServer {
 public:
  // Returns the errors of ReadTlsFiles(); INVALID_ARGUMENT if OpenSSL refuses what the files
  // contain, such as a key that is too short. REQUIRES: a CA file.
  static absl::StatusOr<std::unique_ptr<TlsServer>> Make(const TlsFiles& files);

  // The end of a connection that was accepted as `socket`, non-blocking, which must outlive it.
  // Absent if OpenSSL is out of memory.
  std::unique_ptr<TlsConnection> Accept(int socket);

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  using Context = std::unique_ptr<SSL_CTX, Free>;

  TlsServer(TlsFiles files, Context context);

  static absl::StatusOr<Context> MakeContext(const TlsMaterial& material);
  void Refresh();

  WatchedTlsFiles files_;
  Context context_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_TLS_SERVER_H_
