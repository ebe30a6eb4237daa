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

namespace ttl {

// Who calls on one address, and what they may do there. Thread-safe.
class ServerAccess {
 public:
  struct Options {
    // As it was configured; for messages.
    std::string address;
    // Of everyone who can connect.
    Roles roles;
    // Whether callers show certificates that were verified.
    bool has_client_certificates = false;
    MethodRolesTable roles_of_method;
  };

  // A caller, as far as is known.
  struct Caller {
    std::string name;  // in quotes, fit for messages and logs
    Roles roles;
  };

  // Both must outlive this.
  ServerAccess(Options options, const IdentityRoles& identities, AccessCounters& counters)
      : options_(std::move(options)), identities_(identities), counters_(counters) {}

  const Options& options() const { return options_; }

  // From now on no call is admitted but those that are for everyone: the server is about
  // to stop.
  void Close() { is_closed_.store(true, std::memory_order_relaxed); }
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  AccessCounters& counters() const { return counters_; }

  // Who makes the call. Costs an allocation or more.
  Caller CallerOf(const grpc::ServerContextBase& context) const;

  // Logs `line` about a refusal. Of each `kind` one in ten seconds, which says how many
  // were left out: who is refused can call as often as he likes.
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
