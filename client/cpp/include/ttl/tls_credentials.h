#ifndef TTL_TLS_CREDENTIALS_H_
#define TTL_TLS_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/security/credentials.h"

namespace ttl {

// PEM files for a TLS connection.
struct ClientTlsFiles {
  std::string ca_file;  // CAs that sign the sidecar's certificate; empty: those of the system
  std::string cert_file = {};  // client certificate, if the sidecar requires one
  std::string key_file = {};   // its private key; both or none
};

// Credentials for TtlClientOptions: TLS 1.2 or later. The files are checked every second; renewed
// ones apply from the next connection on. INVALID_ARGUMENT, naming the file, if one cannot be read,
// or if only one of certificate and key is given.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> NewTlsCredentials(
    const ClientTlsFiles& files);

}  // namespace ttl

#endif  // TTL_TLS_CREDENTIALS_H_
