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

// Keeps the table of policies in the database as the sidecar says, from construction to
// destruction, in threads of its own: a change of a policy is seen by SQL as soon as a message
// and a small transaction take. While the sidecar is away the policies that were mirrored last
// go on, and rows go on vanishing at their second. So they do for a container that a sidecar does
// not have which never said that it was deleted: its data may be gone, and rows that were hidden
// must not come back by that. Policies of containers that are not in the configuration are left as
// they are: InstallSql() removes them, after the views that ask for them.
//
// Of several mirrors into one schema one at a time writes: it holds an advisory lock, and
// starts to watch only once it has it. So what it writes is never older than what the one
// before it wrote, whatever was still on its way.
//
// Thread-safe.
class PolicyMirror {
 public:
  struct State {
    // When the table was last seen to be what the sidecar had just said; infinite past: not
    // yet.
    absl::Time last_mirrored = absl::InfinitePast();
    // Why the table may not be what the sidecar says, or which containers it does not know;
    // empty: all is well.
    std::string problem;
  };

  // A heartbeat of the sidecar makes the table be looked at: what somebody else has changed
  // there is put right.
  static constexpr absl::Duration kHeartbeat = absl::Seconds(1);

  // The containers, database and schema of `config`. Returns at once.
  PolicyMirror(const Config& config, std::shared_ptr<grpc::Channel> sidecar);
  // Breaks off the statement under way, which then has happened wholly or not at all. Waits
  // for an attempt to connect.
  ~PolicyMirror();
  PolicyMirror(const PolicyMirror&) = delete;
  PolicyMirror& operator=(const PolicyMirror&) = delete;

  State state() const;

 private:
  void Run();
  // Mirrors until the database fails, which it returns, or until it is to stop: OK.
  absl::Status RunSession();
  absl::Status Lock(Connection& connection) const;
  absl::Status Mirror(Connection& connection);
  absl::Status Write(Connection& connection, const WatchedPolicySet& policies) const;

  void TakeMessage(const v1::WatchContainersResponse& message);
  void TakeEnd(const grpc::Status& status);
  // Between the two the destructor can break off what `connection` waits for. False: it is to
  // stop.
  bool AllowBreak(Connection& connection);
  void EndBreak();
  // Ends a session that failed with `status`. False: it is to stop.
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
  bool is_news_ = false;  // policies_ are to be written
  absl::Time last_message_ = absl::InfinitePast();
  grpc::Status stream_status_;                         // why it ended, if none came since
  absl::Status database_status_;                       // why the last session ended
  absl::Time waiting_since_ = absl::InfiniteFuture();  // for the database
  absl::Time last_mirrored_ = absl::InfinitePast();
  int socket_ = -1;     // a second descriptor of the connection's
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_POLICY_POLICY_MIRROR_H_
