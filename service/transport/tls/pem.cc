#include "service/transport/tls/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

namespace ttl {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using OwnedBio = std::unique_ptr<BIO, FreeBio>;

OwnedBio ReaderOf(const std::string& text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Keeps OpenSSL from asking for the password of a key on the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

}  // namespace

std::vector<OwnedCertificate> CertificatesIn(const std::string& pem) {
  std::vector<OwnedCertificate> certificates;
  const OwnedBio reader = ReaderOf(pem);
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();  // the end of the text is one
  return certificates;
}

OwnedKey PrivateKeyIn(const std::string& pem) {
  OwnedKey key(PEM_read_bio_PrivateKey(ReaderOf(pem).get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  return key;
}

}  // namespace ttl
