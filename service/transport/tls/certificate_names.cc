#include "service/transport/tls/certificate_names.h"

#include <openssl/asn1.h>
#include <openssl/objects.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace ttl {
namespace {

// Appends `text` in UTF-8; text that is not valid names nobody.
void Append(const ASN1_STRING* text, std::vector<std::string>& names) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return;
  names.emplace_back(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
}

void AppendAlternativeNames(const X509& certificate, CertificateNames& names) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> found(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  if (found == nullptr) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type == GEN_URI) Append(name->d.uniformResourceIdentifier, names.uri);
    if (name->type == GEN_DNS) Append(name->d.dNSName, names.dns);
  }
}

}  // namespace

CertificateNames NamesOf(const X509& certificate) {
  CertificateNames names;
  AppendAlternativeNames(certificate, names);
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int first = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (first >= 0) {
    Append(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, first)), names.common_name);
  }
  return names;
}

}  // namespace ttl
