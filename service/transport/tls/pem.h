#ifndef TTL_SERVICE_TRANSPORT_TLS_PEM_H_
#define TTL_SERVICE_TRANSPORT_TLS_PEM_H_

#include <openssl/evp.h>
#include <openssl/types.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace ttl {

// Frees what is read from PEM.
struct FreePem {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using OwnedCertificate = std::unique_ptr<X509, FreePem>;
using OwnedKey = std::unique_ptr<EVP_PKEY, FreePem>;

// The certificates in `pem` up to the first that cannot be read. Leaves no error of OpenSSL behind.
std::vector<OwnedCertificate> CertificatesIn(const std::string& pem);

// The first private key in `pem`; null if there is none, or if it has a password, which is never
// asked for. Leaves no error of OpenSSL behind.
OwnedKey PrivateKeyIn(const std::string& pem);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_PEM_H_
