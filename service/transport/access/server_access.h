#ifndef TTL_SERVICE_TRANSPORT_ACCESS_SERVER_ACCESS_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_SERVER_ACCESS_H_

#include <grpcpp/server_context.h>

#include <atomic>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/log_limiter.h"
#include "service/base/mutex.h"
#include "service/base/stopwatch.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/access/allowed_roles.h"
#include "service/transport/access/identity_roles.h"
#include "service/transport/access/role.h"
#include "service/transport/tls/certificate_names.h"

namespace ttl {

// Identifies the callers on one address and their roles. Thread-safe.
class ServerAccess {
 public:
  struct Options {
    // As configured, for messages.
    std::string address;
    // Roles of every caller on the address.
    Roles roles;
    // Whether clients present verified certificates.
    bool has_client_certificates = false;
    MethodRolesTable roles_of_method;
  };

  // An identified caller.
  struct Caller {
    std::string name;  // quoted, for messages and logs
    Roles roles;
  };

  // Both must outlive this.
  ServerAccess(Options options, const IdentityRoles& identities, AccessCounters& counters)
      : options_(std::move(options)), identities_(identities), counters_(counters) {}

  const Options& options() const { return options_; }

  // Before the server stops: from now on only methods that need no role are admitted.
  void Close() { is_closed_.store(true, std::memory_order_relaxed); }
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  AccessCounters& counters() const { return counters_; }

  // The caller of a call, or of a connection whose client presented a verified certificate with
  // these names. Allocates.
  Caller CallerOf(const grpc::ServerContextBase& context) const;
  Caller CallerOf(const CertificateNames& names) const;

  // Who makes a call, for records that outlive it: the name of CallerOf() without quotes, and of a
  // caller without a certificate that connects by TCP also its address. Escaped, so it is UTF-8.
  std::string AuthorOf(const grpc::ServerContextBase& context) const;
  static std::string AuthorText(absl::string_view caller_name, absl::string_view peer);

  // Logs `line` about a refusal, at most once in ten seconds for each `kind`, with the number of
  // lines suppressed since: a refused caller can retry at will.
  void LogRefusal(const std::string& kind, const std::string& line) const;

 private:
  const Options options_;
  std::atomic<bool> is_closed_ = false;
  const IdentityRoles& identities_;
  AccessCounters& counters_;
  const Stopwatch since_start_;
  mutable Mutex mutex_;
  mutable LogLimiter log_limiter_ ABSL_GUARDED_BY(mutex_){absl::Seconds(10)};
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_SERVER_ACCESS_H_
