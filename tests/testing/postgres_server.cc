#include "tests/testing/postgres_server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr size_t kLogTailBytes = 4000;
constexpr absl::Duration kToolDeadline = absl::Seconds(60);
// What the kernel or a setting does at once, but for a machine that has no time for it.
constexpr absl::Duration kStallDeadline = absl::Seconds(60);
constexpr char kServerUser[] = "postgres";  // where root runs the tests

constexpr char kSettings[] = R"(
listen_addresses = ''
port = 5432
max_connections = 60
shared_buffers = 64MB
wal_level = logical
max_replication_slots = 10
max_wal_senders = 10
max_slot_wal_keep_size = 8GB
track_commit_timestamp = on
authentication_timeout = 60s
log_min_messages = warning
# Its transactions, locks and statistics would come into a test at any moment.
autovacuum = off
# As nobody has them, but everybody might.
timezone = 'Asia/Kathmandu'
datestyle = 'SQL, DMY'
intervalstyle = 'sql_standard'
bytea_output = 'escape'
extra_float_digits = 0
)";

[[noreturn]] void Die(const std::string& problem) {
  fprintf(stderr, "PostgresServer: %s\n", problem.c_str());
  abort();
}

void GiveToServer(const std::string& dir) {
  if (geteuid() != 0) return;
  const passwd* user = getpwnam(kServerUser);
  if (user == nullptr) Die(absl::StrCat("there is no user ", kServerUser));
  if (chown(dir.c_str(), user->pw_uid, user->pw_gid) != 0) Die(absl::StrCat("chown ", dir));
}

// The command, run by a user that PostgreSQL accepts.
SubprocessOptions AsServer(std::vector<std::string> command, const std::string& log) {
  SubprocessOptions options;
  if (geteuid() == 0) {
    // Another user would lose the signal that Subprocess asks the kernel for.
    options.argv = {"/usr/bin/setpriv", "--reuid",        kServerUser,   "--regid",
                    kServerUser,        "--clear-groups", "--pdeathsig", "KILL"};
  }
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  // Settings of whoever runs the test are none of the server's.
  options.env = {{"LC_ALL", "C"}, {"PGDATA", ""}, {"TZ", "UTC"}};
  options.output_path = log;
  return options;
}

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void RunTool(const std::vector<std::string>& command, const std::string& log) {
  const auto process = Subprocess::Start(AsServer(command, log));
  if (!process.ok()) Die(process.status().ToString());
  const auto ended = (*process)->Wait(kToolDeadline);
  if (!ended.ok() || !ended->Succeeded()) {
    Die(absl::StrCat(command[0], " failed:\n", Contents(log)));
  }
}

// An empty cluster, made once for all servers of this process: copying is faster.
std::string TemplateData() {
  static const TempDir dir;
  static const std::string data = [] {
    GiveToServer(dir.path());
    RunTool({POSTGRES_BIN_DIR "/initdb", "--pgdata", dir.File("data"), "--username", "postgres",
             "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
             "--no-instructions"},
            dir.File("initdb.log"));
    return dir.File("data");
  }();
  return data;
}

void Configure(const PostgresServerOptions& options, const TempDir& dir) {
  std::ofstream file(dir.File("data/postgresql.conf"), std::ios::app);
  file << kSettings << "unix_socket_directories = '" << dir.path() << "'\n"
       << "fsync = " << (options.fsync ? "on" : "off") << "\n";
  for (const auto& [name, value] : options.settings) file << name << " = '" << value << "'\n";
  if (!file.flush()) Die("cannot write postgresql.conf");
}

// The third field after the name of a process, which may have blanks and brackets itself.
struct ProcessState {
  char state = 'X';
  pid_t parent = 0;
};

ProcessState StateOf(pid_t pid) {
  const std::string stat = Contents(absl::StrCat("/proc/", pid, "/stat"));
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return {};
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  ProcessState result;
  result.state = fields[0][0];
  return fields.size() > 1 && absl::SimpleAtoi(fields[1], &result.parent) ? result : ProcessState();
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    if (StateOf(pid).parent == parent) children.push_back(pid);
  }
  return children;
}

// A dead process that nobody has waited for is gone for us.
bool IsGone(pid_t pid) {
  const char state = StateOf(pid).state;
  return state == 'X' || state == 'Z';
}

}  // namespace

PostgresServer::PostgresServer(const PostgresServerOptions& options) {
  GiveToServer(dir_.path());
  RunTool({"/bin/cp", "--archive", TemplateData(), dir_.File("data")}, dir_.File("copy.log"));
  Configure(options, dir_);
}

PostgresServer::~PostgresServer() { Kill(); }

absl::Status PostgresServer::Start(absl::Duration deadline) {
  if (IsRunning()) return absl::FailedPreconditionError("the server is running already");
  auto started = Subprocess::Start(
      AsServer({POSTGRES_BIN_DIR "/postgres", "-D", dir_.File("data")}, dir_.File("postgres.log")));
  if (!started.ok()) return started.status();
  postmaster_ = *std::move(started);
  return WaitReady(deadline);
}

absl::Status PostgresServer::WaitReady(absl::Duration deadline) {
  absl::Status status = absl::UnknownError("not asked yet");
  WaitUntil(
      [&] {
        if (!IsRunning()) return true;
        status = postgres::Connection::Open(Conninfo(), "test").status();
        return status.ok();
      },
      deadline, absl::Milliseconds(20));
  if (IsRunning() && status.ok()) return status;
  const std::string log = Log();
  return absl::AbortedError(
      absl::StrCat("PostgreSQL does not serve: ", status.ToString(), "\n",
                   log.substr(log.size() <= kLogTailBytes ? 0 : log.size() - kLogTailBytes)));
}

absl::Status PostgresServer::StartPooler(const std::string& settings, absl::Duration deadline) {
  std::ofstream(dir_.File("pooler.users")) << "\"postgres\" \"\"\n";
  std::ofstream(dir_.File("pooler.ini"))
      << "[databases]\n* = host=" << dir_.path()
      << " port=5432\n[pgbouncer]\nunix_socket_dir = " << dir_.path()
      << "\nlisten_port = 6432\nauth_type = trust\nauth_file = " << dir_.File("pooler.users")
      << "\n"
      << settings;
  auto started =
      Subprocess::Start(AsServer({PGBOUNCER, dir_.File("pooler.ini")}, dir_.File("pooler.log")));
  if (!started.ok()) return started.status();
  pooler_ = *std::move(started);
  const auto answers = [&] { return PQping(PoolerConninfo().c_str()) == PQPING_OK; };
  if (WaitUntil(answers, deadline)) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("pgbouncer does not serve:\n", Contents(dir_.File("pooler.log"))));
}

absl::Status PostgresServer::Stop(absl::Duration deadline) {
  connections_.clear();
  if (!IsRunning()) return absl::FailedPreconditionError("the server is not running");
  if (absl::Status signalled = postmaster_->Signal(SIGINT); !signalled.ok()) return signalled;
  const absl::StatusOr<ExitStatus> ended = postmaster_->Wait(deadline);
  if (!ended.ok()) return ended.status();
  if (ended->Succeeded()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("PostgreSQL did not stop well:\n", Log()));
}

std::vector<pid_t> PostgresServer::StopProcesses() {
  // Fails only if it has just ended; its children are to be found all the same.
  postmaster_->Suspend().IgnoreError();
  std::vector<pid_t> processes = ChildrenOf(postmaster_->pid());
  processes.push_back(postmaster_->pid());
  return processes;
}

void PostgresServer::Kill() {
  if (!IsRunning()) return;
  const std::vector<pid_t> processes = StopProcesses();
  for (const pid_t pid : processes) kill(pid, SIGKILL);
  postmaster_->Kill();
  for (const pid_t pid : processes) {
    if (WaitUntil([pid] { return IsGone(pid); }, kStallDeadline)) continue;
    Die(absl::StrCat(pid, " survives SIGKILL"));
  }
  suspended_.clear();
  connections_.clear();
}

absl::Status PostgresServer::Restart() {
  if (absl::Status stopped = Stop(); !stopped.ok()) return stopped;
  return Start();
}

void PostgresServer::Suspend() {
  if (!IsRunning()) return;
  suspended_ = StopProcesses();
  for (const pid_t pid : suspended_) kill(pid, SIGSTOP);
  for (const pid_t pid : suspended_) {
    const bool stopped =
        WaitUntil([pid] { return StateOf(pid).state == 'T' || IsGone(pid); }, kStallDeadline);
    if (!stopped) Die(absl::StrCat(pid, " runs on after SIGSTOP"));
  }
}

void PostgresServer::Resume() {
  for (const pid_t pid : suspended_) kill(pid, SIGCONT);
  suspended_.clear();
}

bool PostgresServer::IsRunning() { return postmaster_ != nullptr && postmaster_->IsRunning(); }

std::string PostgresServer::Conninfo(absl::string_view dbname, absl::string_view user) const {
  return absl::StrCat("host=", dir_.path(), " port=5432 dbname=", dbname, " user=", user);
}

std::string PostgresServer::PoolerConninfo() const {
  return absl::StrCat("host=", dir_.path(), " port=6432 dbname=postgres user=postgres");
}

std::unique_ptr<postgres::Connection> PostgresServer::Connect(absl::string_view dbname) const {
  auto connection = postgres::Connection::Open(Conninfo(dbname), "test");
  if (connection.ok()) return *std::move(connection);
  ADD_FAILURE() << connection.status();
  return nullptr;
}

postgres::Connection& PostgresServer::sql(const std::string& dbname) {
  std::unique_ptr<postgres::Connection>& connection = connections_[dbname];
  if (connection == nullptr || !connection->is_open()) connection = Connect(dbname);
  if (connection == nullptr) Die(absl::StrCat("no connection to ", dbname, ":\n", Log()));
  return *connection;
}

postgres::QueryResult PostgresServer::Sql(const std::string& statements,
                                          const std::string& dbname) {
  absl::StatusOr<postgres::QueryResult> result = sql(dbname).Execute(statements);
  if (result.ok()) return *std::move(result);
  ADD_FAILURE() << result.status() << "\n" << statements;
  return postgres::QueryResult(nullptr);
}

std::string PostgresServer::Value(const std::string& query, const std::string& dbname) {
  const postgres::QueryResult result = Sql(query, dbname);
  EXPECT_EQ(result.rows(), 1) << query;
  return std::string(result.Value(0, 0).value_or("NULL"));
}

// Sessions show the setting some time before the checkpointer makes them wait.
void PostgresServer::HoldCommits() {
  Sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  Sql("SELECT pg_reload_conf()");
  const auto session = Connect();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(WaitUntil([&] { return IsHeld(*session); }, kStallDeadline));
}

void PostgresServer::LetCommitsGo() {
  Sql("ALTER SYSTEM RESET synchronous_standby_names");
  Sql("SELECT pg_reload_conf()");
}

// Whether its next commit waits for a standby. It is through afterwards in any case.
bool PostgresServer::IsHeld(postgres::Connection& session) {
  PGconn* const raw = session.raw();
  if (PQsendQuery(raw, "SELECT pg_logical_emit_message(true, '', '')") != 1) return false;
  const std::string pid = absl::StrCat(PQbackendPID(raw));
  const std::string held = absl::StrCat(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = ", pid);
  bool is_held = false;
  WaitUntil(
      [&] {
        is_held = Value(held) == "1";
        return is_held || PQconsumeInput(raw) != 1 || PQisBusy(raw) == 0;
      },
      kStallDeadline);
  if (is_held) Sql(absl::StrCat("SELECT pg_cancel_backend(", pid, ")"));
  while (PGresult* const result = PQgetResult(raw)) PQclear(result);
  return is_held;
}

std::string PostgresServer::Log() const { return Contents(dir_.File("postgres.log")); }

}  // namespace ttl
