#ifndef TTL_SERVICE_TRANSPORT_TLS_CERTIFICATE_NAMES_H_
#define TTL_SERVICE_TRANSPORT_TLS_CERTIFICATE_NAMES_H_

#include <openssl/types.h>

#include <string>
#include <vector>

namespace ttl {

// The names in a certificate by which access is granted, in UTF-8.
struct CertificateNames {
  std::vector<std::string> uri = {};          // subject alternative names that are URIs
  std::vector<std::string> dns = {};          // subject alternative names that are host names
  std::vector<std::string> common_name = {};  // the first common name of the subject, if any
};

// The names in `certificate`, read as gRPC reads them.
CertificateNames NamesOf(const X509& certificate);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_CERTIFICATE_NAMES_H_
