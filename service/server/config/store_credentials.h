#ifndef TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_
#define TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "service/transport/tls_files.h"

namespace ttl {

// For the connection to the primary store: TLS, 1.2 at least, if there is a CA file,
// else none. The files are read again every second, and what was replaced counts from
// the next connection on. Errors are those of ReadTlsFiles().
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeStoreCredentials(
    const TlsFiles& files);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_STORE_CREDENTIALS_H_
