#include "client/postgres/policy/policy_mirror.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cpp/container_watcher.h"
#include "client/postgres/sql/connect/quoting.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
constexpr absl::Duration kLongestPause = absl::Seconds(2);
// After this long without a message the sidecar counts as unreachable, even if the connection is
// up.
const absl::Duration kLongestSilence = 10 * PolicyMirror::kHeartbeat;
// After this long without an answer the database counts as unreachable.
constexpr absl::Duration kLongestAnswer = absl::Seconds(5);
// Limits that the server enforces, far above the duration of these small statements.
constexpr char kLimits[] = "SET lock_timeout = '2s'; SET statement_timeout = '5s'; ";

std::vector<std::string> ContainersOf(const Config& config) {
  std::vector<std::string> containers;
  for (const TableConfig& table : config.tables) containers.push_back(table.container);
  return containers;
}

// A sidecar that lost its data does not have the container; this must not change which rows are
// visible.
bool IsLost(const WatchedPolicy& policy) { return !policy.exists && !policy.was_deleted; }

std::string Values(const WatchedPolicySet& policies) {
  return absl::StrJoin(policies.containers, ", ", [](std::string* out, const auto& entry) {
    const std::optional<int64_t>& ttl = entry.second.default_ttl;
    absl::StrAppend(out, "(", QuoteText(entry.first), ", ",
                    ttl.has_value() ? absl::StrCat(*ttl) : "NULL", "::bigint, ",
                    entry.second.has_holds ? "true" : "false", ", ",
                    IsLost(entry.second) ? "true" : "false", ")");
  });
}

// Skips rows that already match, so that an unchanged policy causes no write. Rows of other
// containers stay until `install` has removed the views that read them: without a policy such a
// view shows expired rows.
std::string MirrorStatement(absl::string_view schema, const WatchedPolicySet& policies) {
  const std::string table = QuoteQualified(schema, "policy");
  const uint64_t revision =
      std::min<uint64_t>(policies.revision, std::numeric_limits<int64_t>::max());
  return absl::StrCat(
      "WITH said(container, default_ttl, has_holds, is_lost) AS (VALUES ", Values(policies),
      ") INSERT INTO ", table,
      " AS p (container, default_ttl, has_holds, revision, mirrored_at) SELECT s.container, "
      "s.default_ttl, s.has_holds, ",
      revision, ", clock_timestamp() FROM said AS s WHERE NOT EXISTS (SELECT FROM ", table,
      " AS m WHERE m.container = s.container AND (s.is_lost OR m.default_ttl IS NOT DISTINCT "
      "FROM s.default_ttl AND m.has_holds = s.has_holds)) ON CONFLICT (container) DO UPDATE SET "
      "default_ttl = excluded.default_ttl, has_holds = excluded.has_holds, revision = "
      "excluded.revision, mirrored_at = excluded.mirrored_at RETURNING container, default_ttl, "
      "has_holds");
}

void LogChanges(const QueryResult& changes) {
  for (int row = 0; row < changes.rows(); ++row) {
    const auto ttl = changes.Value(row, 1);
    spdlog::info(
        "container \"{}\": SQL now uses default_ttl {}{}", std::string(changes.Text(row, 0)),
        ttl.has_value() ? std::string(*ttl) : "absent (TTL is off)",
        changes.Bool(row, 2) ? ", and replaces no expired row while holds or gates stand" : "");
  }
}

std::string MissingContainers(const WatchedPolicySet& policies) {
  std::vector<std::string> deleted;
  std::vector<std::string> lost;
  for (const auto& [id, policy] : policies.containers) {
    if (policy.exists) continue;
    (policy.was_deleted ? deleted : lost).push_back(absl::StrCat("\"", id, "\""));
  }
  std::vector<std::string> problems;
  if (!deleted.empty()) {
    problems.push_back(absl::StrCat("the sidecar has no container ", absl::StrJoin(deleted, ", "),
                                    " any more: it was deleted, so nothing expires there"));
  }
  if (!lost.empty()) {
    problems.push_back(absl::StrCat("the sidecar has no container ", absl::StrJoin(lost, ", "),
                                    ": nothing is deleted there, and SQL goes on by the policy "
                                    "that was mirrored last, if there is one"));
  }
  if (problems.empty()) return "";
  return absl::StrCat(
      absl::StrJoin(problems, "; "),
      "; make it with ttlctl containers create, with the default ttl it is to have");
}

// `problem` of the containers with this setting; empty if there is none.
std::string ProblemOfContainersWith(bool WatchedPolicy::*setting, absl::string_view problem,
                                    const WatchedPolicySet& policies) {
  std::vector<std::string> ids;
  for (const auto& [id, policy] : policies.containers) {
    if (policy.*setting) ids.push_back(absl::StrCat("\"", id, "\""));
  }
  if (ids.empty()) return "";
  return absl::StrCat("container ", absl::StrJoin(ids, ", "), problem);
}

std::string ProblemsOf(const WatchedPolicySet& policies) {
  std::vector<std::string> problems = {
      MissingContainers(policies),
      ProblemOfContainersWith(&WatchedPolicy::shows_held,
                              " has show_held, but SQL hides expired rows under a hold, since it "
                              "does not know which they are: switch show_held off",
                              policies),
      ProblemOfContainersWith(&WatchedPolicy::may_be_touched,
                              " has or had allow_touch, but SQL hides rows as if they were not "
                              "touched: use a container without it",
                              policies)};
  std::erase(problems, "");
  return absl::StrJoin(problems, "; ");
}

}  // namespace

PolicyMirror::PolicyMirror(const Config& config, std::shared_ptr<grpc::Channel> sidecar,
                           WallClock clock)
    : database_(config.database),
      schema_(config.schema),
      containers_(ContainersOf(config)),
      sidecar_(std::move(sidecar)),
      clock_(std::move(clock)),
      policies_(containers_),
      thread_([this] { Run(); }) {}

PolicyMirror::~PolicyMirror() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    // Only this ends the wait for a server that hangs.
    if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
  }
  changed_.NotifyAll();
  thread_.join();
}

PolicyMirror::State PolicyMirror::state() const {
  const MutexLock lock(mutex_);
  State state;
  state.last_mirrored = last_mirrored_;
  if (!database_status_.ok()) {
    state.problem = absl::StrCat("the policies are not mirrored into the database: ",
                                 database_status_.message());
  } else if (clock_() - waiting_since_ > kLongestAnswer) {
    state.problem = "the policies are not mirrored into the database: it does not answer";
  } else if (std::string problem = StreamProblem(); !problem.empty()) {
    state.problem = std::move(problem);
  } else {
    state.problem = ProblemsOf(*policies_.current());
  }
  return state;
}

std::string PolicyMirror::StreamProblem() const {
  const bool is_heard = clock_() - last_message_ <= kLongestSilence;
  const bool is_mirrored = last_mirrored_ != absl::InfinitePast();
  if (is_heard && stream_status_.ok() && is_mirrored) return "";
  const std::string why =
      stream_status_.ok() ? "" : absl::StrCat(": ", stream_status_.error_message());
  if (!is_mirrored) {
    return absl::StrCat("the sidecar has not sent its policies yet", why);
  }
  return absl::StrCat("the sidecar does not say its policies", why, "; those mirrored at ",
                      TimeText(last_mirrored_), " go on");
}

void PolicyMirror::Run() {
  absl::Duration pause = kFirstPause;
  while (true) {
    const absl::Time begin = clock_();
    const absl::Status status = RunSession();
    if (clock_() - begin > kLongestPause) pause = kFirstPause;
    if (!Pause(status, std::exchange(pause, std::min(2 * pause, kLongestPause)))) return;
  }
}

absl::Status PolicyMirror::RunSession() {
  {
    const MutexLock lock(mutex_);
    waiting_since_ = clock_();
  }
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                       Connection::Open(database_, "ttl-postgres policies"));
  if (!AllowBreak(*connection)) return absl::OkStatus();
  absl::Status status = Lock(*connection);
  if (status.ok()) status = Mirror(*connection);
  EndBreak();
  return status;
}

absl::Status PolicyMirror::Lock(Connection& connection) const {
  const std::string settings = absl::StrCat(kLimits, Connection::kSystemNamesOnly);
  TTL_RETURN_IF_ERROR(connection.Execute(settings).status());
  TTL_ASSIGN_OR_RETURN(
      QueryResult locked,
      connection.Query(
          "SELECT pg_try_advisory_lock(hashtext('ttl-postgres policies'), hashtext($1))",
          {schema_}));
  if (locked.Bool(0, 0)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("another ttl-postgres mirrors them into schema ", schema_,
                   "; this one takes over when that one has ended"));
}

absl::Status PolicyMirror::Mirror(Connection& connection) {
  ForgetPolicies();
  ContainerWatcher watcher(
      sidecar_, kHeartbeat,
      {v1::JUDGING_RULE_EXPIRE_AT, v1::JUDGING_RULE_SHOW_HELD, v1::JUDGING_RULE_TOUCH},
      {[this](const auto& message) { TakeMessage(message); },
       [this](const grpc::Status& status) { TakeEnd(status); }});
  while (const std::optional<WatchedPolicySet> policies = AwaitPolicies()) {
    const absl::Status status = Write(connection, *policies);
    NoteWritten(status);
    TTL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

void PolicyMirror::ForgetPolicies() {
  const MutexLock lock(mutex_);
  policies_.Disconnect();
  is_news_ = false;
  waiting_since_ = absl::InfiniteFuture();
  database_status_ = absl::OkStatus();
}

std::optional<WatchedPolicySet> PolicyMirror::AwaitPolicies() {
  const MutexLock lock(mutex_);
  while (!stop_ && !is_news_) changed_.Wait(mutex_);
  if (stop_) return std::nullopt;
  // Only the newest set is written; one that arrives meanwhile is written next.
  is_news_ = false;
  waiting_since_ = clock_();
  return *policies_.current();
}

void PolicyMirror::NoteWritten(const absl::Status& status) {
  const MutexLock lock(mutex_);
  waiting_since_ = absl::InfiniteFuture();
  if (status.ok()) last_mirrored_ = clock_();
}

absl::Status PolicyMirror::Write(Connection& connection, const WatchedPolicySet& policies) const {
  absl::StatusOr<QueryResult> changes = connection.Query(MirrorStatement(schema_, policies));
  if (absl::IsNotFound(changes.status())) {
    return absl::NotFoundError(
        absl::StrCat(changes.status().message(), ". Run: ttl-postgres install"));
  }
  TTL_RETURN_IF_ERROR(changes.status());
  LogChanges(*changes);
  return absl::OkStatus();
}

void PolicyMirror::TakeMessage(const v1::WatchContainersResponse& message) {
  {
    const MutexLock lock(mutex_);
    last_message_ = clock_();
    stream_status_ = grpc::Status::OK;
    if (!policies_.Apply(message)) return;
    is_news_ = true;
  }
  changed_.NotifyAll();
}

void PolicyMirror::TakeEnd(const grpc::Status& status) {
  const MutexLock lock(mutex_);
  stream_status_ =
      status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the stream has ended") : status;
  policies_.Disconnect();
}

bool PolicyMirror::AllowBreak(Connection& connection) {
  const MutexLock lock(mutex_);
  if (stop_) return false;
  // libpq may close its own descriptor, whose number another file may then get.
  socket_ = dup(PQsocket(connection.raw()));
  return true;
}

void PolicyMirror::EndBreak() {
  const MutexLock lock(mutex_);
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

bool PolicyMirror::Pause(const absl::Status& status, absl::Duration pause) {
  auto left = absl::ToChronoNanoseconds(pause);
  const auto deadline = std::chrono::steady_clock::now() + left;
  const MutexLock lock(mutex_);
  if (stop_) return false;
  if (status != database_status_) {
    spdlog::warn("the policies are not mirrored: {}", std::string(status.message()));
  }
  database_status_ = status;
  waiting_since_ = absl::InfiniteFuture();
  while (!stop_ && left > left.zero()) {
    changed_.WaitFor(mutex_, left);
    left = deadline - std::chrono::steady_clock::now();
  }
  return !stop_;
}

}  // namespace ttl::postgres
