#ifndef TTL_SERVICE_TRANSPORT_TLS_FILES_H_
#define TTL_SERVICE_TRANSPORT_TLS_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ttl {

// PEM files that make one side of TLS. Certificate and key go together; an empty name:
// not used.
struct TlsFiles {
  std::string cert_file = {};  // our certificate, then those that lead to its CA
  std::string key_file = {};   // the key of the first
  std::string ca_file = {};    // whom to trust
};

// What stands in them.
struct TlsMaterial {
  std::string cert;
  std::string key;
  std::string ca;
  absl::Time expires = absl::InfiniteFuture();  // of our certificate
};

// Reads the files and checks them. INVALID_ARGUMENT, which names the file, if one cannot
// be read, holds no certificate or key, or if the key is not that of the certificate,
// as may be while somebody replaces them.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Changes whenever one of the files was replaced or written; costs a look at each.
std::string StampOf(const TlsFiles& files);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_FILES_H_
