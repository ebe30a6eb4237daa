#ifndef TTL_CLIENT_CPP_TLS_CREDENTIALS_H_
#define TTL_CLIENT_CPP_TLS_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/security/credentials.h"

namespace ttl {

// PEM files for a connection by TLS.
struct ClientTlsFiles {
  std::string ca_file;         // whom to trust; empty: whom the system trusts
  std::string cert_file = {};  // our certificate, if the sidecar asks for one
  std::string key_file = {};   // its key; both or none
};

// Credentials for TtlClientOptions: TLS, 1.2 at least. The files are read again every
// second, so that what was renewed counts from the next connection on. INVALID_ARGUMENT,
// which names the file, if one cannot be read or certificate and key do not come together.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> NewTlsCredentials(
    const ClientTlsFiles& files);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_TLS_CREDENTIALS_H_
