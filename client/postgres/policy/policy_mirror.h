#ifndef TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_
#define TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/policy/watched_policies.h"
#include "client/postgres/sql/connect/connection.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"
#include "service/base/mutex.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Mirrors the sidecar's policies, and which containers have holds, into the table `policy` of the
// database from construction to destruction, in its own threads. SQL sees a change of a policy
// after one message and one small transaction. While the sidecar is unreachable, the policies
// mirrored last stay in effect and rows continue to expire. The same holds for a container that the
// sidecar does not have and never reported as deleted: the sidecar may have lost its data, which
// must not make hidden rows visible again. Policies of containers outside the configuration are
// left unchanged: InstallSql() removes them after the views that read them.
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
    // Why the table may differ from the sidecar, which containers the sidecar does not have, or
    // which need what SQL cannot do; empty: no problem.
    std::string problem;
  };

  // Interval of the heartbeats. On each one the table is compared again, which reverts changes made
  // by others.
  static constexpr absl::Duration kHeartbeat = absl::Seconds(1);

  // Mirrors the containers of `config` into its database and schema. Returns at once.
  PolicyMirror(const Config& config, std::shared_ptr<grpc::Channel> sidecar, WallClock clock);
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
  // Policies received before this mirror had the lock may be older than those in the table.
  void ForgetPolicies();
  // Waits for policies to write; absent: stopped.
  std::optional<WatchedPolicySet> AwaitPolicies();
  void NoteWritten(const absl::Status& status);
  absl::Status Write(Connection& connection, const WatchedPolicySet& policies) const;

  void TakeMessage(const v1::WatchContainersResponse& message);
  void TakeEnd(const grpc::Status& status);
  // Between AllowBreak() and EndBreak() the destructor can interrupt `connection`. Returns false if
  // the mirror must stop.
  bool AllowBreak(Connection& connection);
  void EndBreak();
  // Records that a session failed with `status`, then waits. Returns false if the mirror must stop.
  bool Pause(const absl::Status& status, absl::Duration pause);
  std::string StreamProblem() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string database_;
  const std::string schema_;
  const std::vector<std::string> containers_;
  const std::shared_ptr<grpc::Channel> sidecar_;
  const WallClock clock_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  WatchedPolicies policies_ ABSL_GUARDED_BY(mutex_);
  bool is_news_ ABSL_GUARDED_BY(mutex_) = false;  // policies_ must be written
  absl::Time last_message_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  // Why the stream ended, if no message came since.
  grpc::Status stream_status_ ABSL_GUARDED_BY(mutex_);
  absl::Status database_status_ ABSL_GUARDED_BY(mutex_);  // why the last session ended
  // Start of the wait for the database.
  absl::Time waiting_since_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time last_mirrored_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int socket_ ABSL_GUARDED_BY(mutex_) = -1;  // duplicate descriptor of the connection
  std::thread thread_;                       // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_
