#include "tests/testing/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

void Require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "certificates: %s failed\n", what);
  std::abort();
}

EVP_PKEY* NewKey() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  Require(key != nullptr, "EVP_EC_gen");
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Require(extension != nullptr, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string AlternativeNames(const TestNames& names) {
  std::vector<std::string> all;
  for (const std::string& dns : names.dns) all.push_back(absl::StrCat("DNS:", dns));
  for (const std::string& uri : names.uri) all.push_back(absl::StrCat("URI:", uri));
  for (const std::string& ip : names.ip) all.push_back(absl::StrCat("IP:", ip));
  return absl::StrJoin(all, ",");
}

void SetTime(ASN1_TIME* target, absl::Duration from_now) {
  X509_gmtime_adj(target, absl::ToInt64Seconds(from_now));
}

// A certificate without extensions and signature.
X509* NewCertificate(const TestNames& names, EVP_PKEY* key) {
  static std::atomic<long> serial = 1;
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  SetTime(X509_getm_notBefore(certificate), names.valid_from);
  SetTime(X509_getm_notAfter(certificate), names.valid_until);
  X509_set_pubkey(certificate, key);
  if (!names.common_name.empty()) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(names.common_name.c_str()),
                               -1, -1, 0);
  }
  return certificate;
}

// Signed with `issuer_key`, which is the key of `issuer`; null: by itself.
X509* NewCaCertificate(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  X509* certificate = NewCertificate({.common_name = name}, key);
  if (issuer == nullptr) issuer = certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, issuer, NID_key_usage, "critical,keyCertSign");
  Require(X509_sign(certificate, issuer_key, EVP_sha256()) > 0, "X509_sign");
  return certificate;
}

template <typename Write>
std::string ToPem(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  Require(write(bio) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

std::string CertPem(X509* certificate) {
  return ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

TestCa::TestCa(const std::string& name)
    : key_(NewKey()),
      cert_(NewCaCertificate(name, key_.get(), nullptr, key_.get())),
      cert_pem_(CertPem(cert_.get())) {}

TestCa::TestCa(const std::string& name, const TestCa& issuer)
    : key_(NewKey()),
      cert_(NewCaCertificate(name, key_.get(), issuer.cert_.get(), issuer.key_.get())),
      cert_pem_(CertPem(cert_.get())) {}

TestIdentity TestCa::Issue(const TestNames& names) const {
  const std::unique_ptr<EVP_PKEY, Free> key(NewKey());
  const std::unique_ptr<X509, Free> certificate(NewCertificate(names, key.get()));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(cert_.get()));
  const std::string alternatives = AlternativeNames(names);
  if (!alternatives.empty()) {
    AddExtension(certificate.get(), cert_.get(), NID_subject_alt_name, alternatives);
  }
  Require(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0, "X509_sign");
  return {.cert = CertPem(certificate.get()), .key = ToPem([&](BIO* bio) {
                                                return PEM_write_bio_PKCS8PrivateKey(
                                                    bio, key.get(), nullptr, nullptr, 0, nullptr,
                                                    nullptr);
                                              })};
}

void ReplaceFile(const std::string& path, const std::string& text) {
  const std::string next = absl::StrCat(path, ".next");
  std::ofstream(next) << text;
  Require(std::rename(next.c_str(), path.c_str()) == 0, "rename");
}

}  // namespace ttl
