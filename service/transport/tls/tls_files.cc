#include "service/transport/tls/tls_files.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <time.h>

#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/transport/tls/pem.h"

namespace ttl {
namespace {

constexpr size_t kMaxPathBytes = 4096;

absl::Status Error(const std::string& file, absl::string_view problem) {
  // OpenSSL's errors do not name the file.
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(Quoted(file, kMaxPathBytes), " ", problem));
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  // A directory can be opened, but not read.
  if (!file || !(text << file.rdbuf())) return Error(path, "cannot be read, or is empty");
  return text.str();
}

absl::StatusOr<OwnedCertificate> FirstCertificate(const std::string& file,
                                                  const std::string& text) {
  std::vector<OwnedCertificate> certificates = CertificatesIn(text);
  if (certificates.empty()) return Error(file, "holds no certificate; give a PEM file");
  return std::move(certificates.front());
}

absl::StatusOr<OwnedKey> PrivateKey(const std::string& file, const std::string& text) {
  OwnedKey key = PrivateKeyIn(text);
  if (key == nullptr) {
    return Error(file, "holds no private key; give a PEM file whose key has no password");
  }
  return key;
}

absl::Time ExpiryOf(const X509& certificate) {
  tm parts = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) != 1) return absl::InfiniteFuture();
  return absl::FromTimeT(timegm(&parts));
}

absl::Status ReadIdentity(const TlsFiles& files, TlsMaterial& material) {
  TTL_ASSIGN_OR_RETURN(material.cert, ReadFile(files.cert_file));
  TTL_ASSIGN_OR_RETURN(material.key, ReadFile(files.key_file));
  TTL_ASSIGN_OR_RETURN(const OwnedCertificate certificate,
                       FirstCertificate(files.cert_file, material.cert));
  TTL_ASSIGN_OR_RETURN(const OwnedKey key, PrivateKey(files.key_file, material.key));
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Error(files.key_file, absl::StrCat("is not the key of the first certificate in ",
                                              Quoted(files.cert_file, kMaxPathBytes)));
  }
  material.expires = ExpiryOf(*certificate);
  return absl::OkStatus();
}

void AppendStamp(const std::string& path, std::string& stamp) {
  struct stat info = {};
  if (path.empty() || stat(path.c_str(), &info) != 0) {
    absl::StrAppend(&stamp, "-;");
    return;
  }
  absl::StrAppend(&stamp, info.st_ino, ",", info.st_size, ",", info.st_mtim.tv_sec, ".",
                  info.st_mtim.tv_nsec, ",", info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec, ";");
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial material;
  if (!files.cert_file.empty()) TTL_RETURN_IF_ERROR(ReadIdentity(files, material));
  if (!files.ca_file.empty()) {
    TTL_ASSIGN_OR_RETURN(material.ca, ReadFile(files.ca_file));
    TTL_RETURN_IF_ERROR(FirstCertificate(files.ca_file, material.ca).status());
  }
  return material;
}

std::string StampOf(const TlsFiles& files) {
  std::string stamp;
  for (const std::string* file : {&files.cert_file, &files.key_file, &files.ca_file}) {
    AppendStamp(*file, stamp);
  }
  return stamp;
}

}  // namespace ttl
