#ifndef TTL_TESTS_TESTING_POSTGRES_SERVER_H_
#define TTL_TESTS_TESTING_POSTGRES_SERVER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {

// How to run a PostgreSQL.
struct PostgresServerOptions {
  // Without it a killed server keeps what it wrote, and only a lost machine would not: the
  // operating system still has it.
  bool fsync = false;
  // On top of the fixture's own lines of postgresql.conf, as it takes them:
  // {"wal_sender_timeout", "2s"}.
  std::map<std::string, std::string> settings;
};

// A real PostgreSQL with a fresh cluster in a directory of its own, reached by its Unix socket
// only. Logical replication and commit times are on, and the settings that decide how
// values look as text are unusual, so that whoever relies on them fails. Autovacuum is off: the
// server does nothing that it is not asked for. Everybody gets in; "postgres" is the superuser.
// Killed and removed on destruction.
//
// Run by root, the server is the user postgres, since it refuses root; else it is whoever runs
// the test. Aborts if there can be no cluster.
//
// Not thread-safe, but Conninfo() and Connect() may be used by all threads. See Subprocess on
// the thread that starts it.
class PostgresServer {
 public:
  explicit PostgresServer(const PostgresServerOptions& options = {});
  ~PostgresServer();

  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Starts the server on what is there, and waits until it takes connections. An error carries
  // the end of its log.
  absl::Status Start(absl::Duration deadline = absl::Seconds(60));

  // Starts a pgbouncer in front of the server, with these lines of its settings, and waits until it
  // takes connections: see PoolerConninfo(). It is killed with the server's fixture.
  absl::Status StartPooler(const std::string& settings,
                           absl::Duration deadline = absl::Seconds(60));

  // Ends its sessions and shuts it down. It waits for walsenders to send all they have;
  // see Kill() where nobody reads them.
  absl::Status Stop(absl::Duration deadline = absl::Seconds(60));

  // SIGKILL to all its processes, then waits for their end. No effect if it is not running.
  void Kill();

  absl::Status Restart();

  // SIGSTOP and SIGCONT to all its processes: a server that hangs.
  void Suspend();
  void Resume();

  bool IsRunning();

  // Connection string of a database.
  std::string Conninfo(absl::string_view dbname = "postgres",
                       absl::string_view user = "postgres") const;

  // The same, through the pooler.
  std::string PoolerConninfo() const;

  // A new connection; null, and the test has failed, if there can be none.
  std::unique_ptr<postgres::Connection> Connect(absl::string_view dbname = "postgres") const;

  // The fixture's own connection to a database, opened when it is needed, also again.
  postgres::Connection& sql(const std::string& dbname = "postgres");

  // Runs statements separated by semicolons there, and gives what the last of them returned.
  // The test has failed, and there are no rows, if one cannot be run.
  postgres::QueryResult Sql(const std::string& statements, const std::string& dbname = "postgres");

  // The one value that a query there returns; "NULL" for NULL.
  std::string Value(const std::string& query, const std::string& dbname = "postgres");

  // From now on commits wait for a standby that does not come, but for those of sessions with
  // synchronous_commit = local; after the second, no more. The test has failed if they do not.
  void HoldCommits();
  void LetCommitsGo();

  // Directory of the socket, the data and the log.
  const std::string& path() const { return dir_.path(); }

  // All that the server has logged so far.
  std::string Log() const;

 private:
  absl::Status WaitReady(absl::Duration deadline);
  bool IsHeld(postgres::Connection& session);
  // The postmaster, stopped so that it starts no more, and its children.
  std::vector<pid_t> StopProcesses();

  const TempDir dir_;
  std::unique_ptr<Subprocess> postmaster_;
  std::unique_ptr<Subprocess> pooler_;
  std::vector<pid_t> suspended_;
  std::map<std::string, std::unique_ptr<postgres::Connection>> connections_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_POSTGRES_SERVER_H_
