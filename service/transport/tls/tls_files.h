#ifndef TTL_SERVICE_TRANSPORT_TLS_TLS_FILES_H_
#define TTL_SERVICE_TRANSPORT_TLS_TLS_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ttl {

// The PEM files of one side of TLS. Certificate and key are set together. An empty name means that
// the file is not used.
struct TlsFiles {
  std::string cert_file = {};  // our certificate, followed by its intermediate CAs
  std::string key_file = {};   // private key of our certificate
  std::string ca_file = {};    // CAs that sign the peers' certificates
};

// The contents of TlsFiles.
struct TlsMaterial {
  std::string cert;
  std::string key;
  std::string ca;
  absl::Time expires = absl::InfiniteFuture();  // of our certificate
};

// Reads and validates the files. INVALID_ARGUMENT, naming the file, if one cannot be read or holds
// no certificate or key, or if key and certificate do not match, as may happen while files are
// replaced.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// A value that changes whenever one of the files is replaced or written. Costs a stat() of each.
std::string StampOf(const TlsFiles& files);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_TLS_FILES_H_
