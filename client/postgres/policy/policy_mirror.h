#ifndef TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_
#define TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/policy/watched_policies.h"
#include "client/postgres/sql/connect/connection.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace ttl::postgres {

// Mirrors the sidecar's policies into the table `policy` of the database from construction to
// destruction, in its own threads. SQL sees a change of a policy after one message and one small
// transaction. While the sidecar is unreachable, the policies mirrored last stay in effect and rows
// continue to expire. The same holds for a container that the sidecar does not have and never
// reported as deleted: the sidecar may have lost its data, which must not make hidden rows visible
// again. Policies of containers outside the configuration are left unchanged: InstallSql() removes
// them after the views that read them.
//
// One mirror per schema writes at a time: it holds an advisory lock, and starts to watch only once
// it has the lock. So it never writes policies older than those its predecessor wrote, even if
// messages were still in flight.
//
// Thread-safe.
class PolicyMirror {
 public:
  struct State {
    // Time at which the table last matched what the sidecar had just sent; infinite past: not yet.
    absl::Time last_mirrored = absl::InfinitePast();
    // Why the table may differ from the sidecar, or which containers the sidecar does not have;
    // empty: no problem.
    std::string problem;
  };

  // Interval of the heartbeats. On each one the table is compared again, which reverts changes made
  // by others.
  static constexpr absl::Duration kHeartbeat = absl::Seconds(1);

  // Mirrors the containers of `config` into its database and schema. Returns at once.
  PolicyMirror(const Config& config, std::shared_ptr<grpc::Channel> sidecar);
  // Aborts the running statement, which then has either committed or had no effect. Waits for a
  // connection attempt to finish.
  ~PolicyMirror();
  PolicyMirror(const PolicyMirror&) = delete;
  PolicyMirror& operator=(const PolicyMirror&) = delete;

  State state() const;

 private:
  void Run();
  // Mirrors until the database fails, and returns that error, or until stopped, and returns OK.
  absl::Status RunSession();
  absl::Status Lock(Connection& connection) const;
  absl::Status Mirror(Connection& connection);
  absl::Status Write(Connection& connection, const WatchedPolicySet& policies) const;

  void TakeMessage(const v1::WatchContainersResponse& message);
  void TakeEnd(const grpc::Status& status);
  // Between AllowBreak() and EndBreak() the destructor can interrupt `connection`. Returns false if
  // the mirror must stop.
  bool AllowBreak(Connection& connection);
  void EndBreak();
  // Records that a session failed with `status`, then waits. Returns false if the mirror must stop.
  bool Pause(const absl::Status& status, absl::Duration pause);
  std::string StreamProblem() const;

  const std::string database_;
  const std::string schema_;
  const std::vector<std::string> containers_;
  const std::shared_ptr<grpc::Channel> sidecar_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  bool stop_ = false;
  WatchedPolicies policies_;
  bool is_news_ = false;  // policies_ must be written
  absl::Time last_message_ = absl::InfinitePast();
  grpc::Status stream_status_;    // why the stream ended, if no message came since
  absl::Status database_status_;  // why the last session ended
  absl::Time waiting_since_ = absl::InfiniteFuture();  // start of the wait for the database
  absl::Time last_mirrored_ = absl::InfinitePast();
  int socket_ = -1;     // duplicate descriptor of the connection
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_
