#ifndef TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_
#define TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "service/transport/tls/tls_files.h"

namespace ttl {

// Credentials for the connection to the primary store: TLS 1.2 or later if there is a CA file,
// otherwise plain text. The files are checked every second; replaced ones apply from the next
// connection on. Returns the errors of ReadTlsFiles().
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeStoreCredentials(
    const TlsFiles& files);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_
