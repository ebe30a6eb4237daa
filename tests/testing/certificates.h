#ifndef TTL_TESTS_TESTING_CERTIFICATES_H_
#define TTL_TESTS_TESTING_CERTIFICATES_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace ttl {

// Certificate and key in PEM.
struct TestIdentity {
  std::string cert;
  std::string key;
};

// The names in a certificate, and its validity relative to now.
struct TestNames {
  std::string common_name = {};
  std::vector<std::string> dns = {};
  std::vector<std::string> uri = {};
  std::vector<std::string> ip = {};
  absl::Duration valid_from = -absl::Hours(1);
  absl::Duration valid_until = absl::Hours(1);
};

// A certification authority for tests. Aborts the process if OpenSSL fails.
class TestCa {
 public:
  explicit TestCa(const std::string& name);
  // An intermediate authority.
  TestCa(const std::string& name, const TestCa& issuer);

  // The certificate of the authority itself.
  const std::string& cert() const { return cert_pem_; }

  TestIdentity Issue(const TestNames& names) const;

 private:
  struct Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };

  const std::unique_ptr<EVP_PKEY, Free> key_;
  const std::unique_ptr<X509, Free> cert_;
  const std::string cert_pem_;
};

// Replaces a file atomically, as a program that renews certificates should.
void ReplaceFile(const std::string& path, const std::string& text);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_CERTIFICATES_H_
