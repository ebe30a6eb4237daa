#include "service/transport/tls/tls_server.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/transport/tls/pem.h"

namespace ttl {
namespace {

constexpr size_t kMaxReasonBytes = 4096;

absl::Status Refused(absl::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " cannot be used for TLS: ", reason == nullptr ? "unknown" : reason));
}

absl::Status UseIdentity(const TlsMaterial& material, SSL_CTX* context) {
  const std::vector<OwnedCertificate> chain = CertificatesIn(material.cert);
  if (SSL_CTX_use_certificate(context, chain.at(0).get()) != 1) {
    return Refused("the certificate");
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return Refused("the certificate");
  }
  const OwnedKey key = PrivateKeyIn(material.key);
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) return Refused("the private key");
  return absl::OkStatus();
}

// The names of the CAs are sent too: a browser chooses among its certificates by them. As with
// gRPC, a CA may be an intermediate whose issuer is not known.
absl::Status TrustClientsOf(const std::string& ca, SSL_CTX* context) {
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context),
                       X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  for (const OwnedCertificate& certificate : CertificatesIn(ca)) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1 ||
        SSL_CTX_add_client_CA(context, certificate.get()) != 1) {
      return Refused("the client CA");
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsServer>> TlsServer::Make(const TlsFiles& files) {
  TTL_ASSIGN_OR_RETURN(const TlsMaterial material, ReadTlsFiles(files));
  TTL_ASSIGN_OR_RETURN(Context context, MakeContext(material));
  return std::unique_ptr<TlsServer>(new TlsServer(files, std::move(context)));
}

TlsServer::TlsServer(TlsFiles files, Context context)
    : files_(std::move(files)), context_(std::move(context)) {}

absl::StatusOr<TlsServer::Context> TlsServer::MakeContext(const TlsMaterial& material) {
  Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Refused("OpenSSL");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // Send() sends what the socket takes, and goes on from a buffer elsewhere.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // Otherwise SSL_read() goes on for as long as records without data come, such as key updates.
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  TTL_RETURN_IF_ERROR(UseIdentity(material, context.get()));
  TTL_RETURN_IF_ERROR(TrustClientsOf(material.ca, context.get()));
  return context;
}

std::unique_ptr<TlsConnection> TlsServer::Accept(int socket) {
  Refresh();
  TlsConnection::Owned connection(SSL_new(context_.get()));
  if (connection == nullptr || SSL_set_fd(connection.get(), socket) != 1) return nullptr;
  SSL_set_accept_state(connection.get());
  return std::make_unique<TlsConnection>(std::move(connection));
}

void TlsServer::Refresh() {
  const std::optional<TlsMaterial> changed = files_.ReadChanged();
  if (!changed.has_value()) return;
  absl::StatusOr<Context> context = MakeContext(*changed);
  if (context.ok()) {
    context_ = *std::move(context);
  } else {
    spdlog::error("certificates not loaded, the previous ones stay in use: reason={}",
                  Quoted(context.status().message(), kMaxReasonBytes));
  }
}

}  // namespace ttl
