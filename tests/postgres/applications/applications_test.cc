// Applications that others wrote, from their packages and unchanged: expired rows vanish for them
// at their second and are deleted, while sidecar, ttl-postgres and server are killed in turn; their
// own clean-up then finds nothing to do and stops nothing.

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"
#include "tests/testing/process.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(5);
// What an application prints now and then while it works.
constexpr char kProgress[] = "progress\n";

int CountIn(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

std::string Contents(const std::string& path) {
  std::stringstream contents;
  contents << std::ifstream(path).rdbuf();
  return contents.str();
}

v1::Container NewContainer(const char* id) {
  v1::Container container;
  container.set_id(id);
  return container;
}

// One application and its tables. Its programs are named by their arguments.
class ApplicationFixture : public KilledAdapterFixture {
 protected:
  using Arguments = std::vector<std::string>;

  explicit ApplicationFixture(const char* yaml) : KilledAdapterFixture(yaml) {}

  // The database, in which nothing depends on the time zone.
  void StartDatabase() {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql("ALTER DATABASE postgres SET timezone = 'UTC'");
  }

  // TTL goes on only now, as an operator does it who has looked first.
  void SwitchOn(const char* id, int default_ttl) {
    v1::Container container = NewContainer(id);
    container.set_default_ttl(default_ttl);
    ASSERT_TRUE(Client().UpdateContainer(container, {"default_ttl"}).ok());
    const std::string in_sql =
        absl::StrCat("SELECT count(*) FROM ttl.policy WHERE default_ttl = ", default_ttl,
                     " AND container = '", id, "'");
    ASSERT_TRUE(WaitUntil([&] { return database_.Value(in_sql) == "1"; }, kPatience));
  }

  // Runs a program of the application to its end, which must be a good one.
  void Run(const Arguments& arguments) {
    Launch(arguments);
    Finish();
  }

  // The application works while each process is killed in turn. It must have nothing to complain
  // about.
  void WorkBesideKillsInTurn(const Arguments& arguments) {
    Launch(arguments);
    const std::vector<std::pair<const char*, std::function<absl::Status()>>> kills = {
        {"the sidecar",
         [&] {
           sidecar_.Kill();
           return sidecar_.Start(kPatience);
         }},
        {"ttl-postgres",
         [&] {
           postgres_.Kill();
           return postgres_.Start(kPatience);
         }},
        {"the server", [&] {
           database_.Kill();
           return database_.Start(kPatience);
         }}};
    AwaitProgress();
    for (const auto& [what, kill_and_start] : kills) {
      const absl::Status started = kill_and_start();
      EXPECT_TRUE(started.ok()) << what << ": " << started;
      AwaitProgress();
    }
    EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
    AwaitProgress();
    ASSERT_TRUE(application_->Signal(SIGTERM).ok()) << Output();
    Finish();
  }

  // Waits until no row is left of those that expired (`expired` is what follows FROM).
  void AwaitDeletes(const std::string& expired) {
    EXPECT_TRUE(
        WaitUntil([&] { return CountOf(expired) == "0"; }, kPatience, absl::Milliseconds(100)))
        << CountOf(expired) << " rows are left; " << postgres_.Log();
  }

  std::map<std::string, std::string> environment_ = {
      {"PGHOST", database_.path()}, {"PGUSER", "postgres"}, {"PGDATABASE", "postgres"}};

 private:
  std::string Output() const { return Contents(output_); }

  void Launch(const Arguments& arguments) {
    auto started = Subprocess::Start({arguments, environment_, output_});
    ASSERT_TRUE(started.ok()) << started.status();
    application_ = *std::move(started);
  }

  void Finish() {
    const auto end = application_->Wait(kPatience);
    ASSERT_TRUE(end.ok()) << end.status() << Output();
    EXPECT_TRUE(end->Succeeded()) << Output();
  }

  // Until the application has worked for some more time.
  void AwaitProgress() {
    const int seen = CountIn(Output(), kProgress);
    EXPECT_TRUE(WaitUntil([&] { return CountIn(Output(), kProgress) > seen + 3; }, kPatience))
        << Output();
  }

  const std::string output_ = dir_.File("application.log");
  std::unique_ptr<Subprocess> application_;
};

class NodeFixture : public ApplicationFixture {
 protected:
  using ApplicationFixture::ApplicationFixture;

  static void SetUpTestSuite() {
    ASSERT_EQ(system(APPLICATIONS_DIR "/install_node.sh " NODE_APPLICATIONS_DIR), 0);
  }

  static Arguments Program(const char* file, const char* command) {
    return {"/usr/bin/env", "node", absl::StrCat(NODE_APPLICATIONS_DIR "/", file), command};
  }
};

constexpr char kSessions[] = R"yaml(
tables:
  - container: sessions
    table: session
    id: sid
    expires_column: expire
    expires_zone: UTC
    rename_table: session_stored
)yaml";

class ConnectPgSimpleTest : public NodeFixture {
 protected:
  ConnectPgSimpleTest() : NodeFixture(kSessions) {}
};

TEST_F(ConnectPgSimpleTest, SessionsEndAtTheirSecondAndPruneFindsNothing) {
  ASSERT_NO_FATAL_FAILURE(StartDatabase());
  database_.Sql(Contents(NODE_APPLICATIONS_DIR "/node_modules/connect-pg-simple/table.sql"));
  ASSERT_NO_FATAL_FAILURE(StartTtl({NewContainer("sessions")}));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("sessions", -1));
  ASSERT_NO_FATAL_FAILURE(WorkBesideKillsInTurn(Program("sessions.js", "work")));
  AwaitDeletes("session_stored WHERE expire <= now()");

  database_.Sql("INSERT INTO session VALUES ('kept', '{}', now() + interval '1 day')");
  Run(Program("sessions.js", "prune"));
  EXPECT_EQ(CountOf("session_stored WHERE sid = 'kept'"), "1");
  database_.Sql("INSERT INTO session VALUES ('late', '{}', now() - interval '1 hour')");
  AwaitDeletes("session_stored WHERE sid = 'late'");
}

constexpr char kArchive[] = R"yaml(
tables:
  - container: archive
    schema: pgboss
    table: archive
    id: id
    ts_column: archivedon
    rename_table: archive_stored
)yaml";

class PgBossTest : public NodeFixture {
 protected:
  PgBossTest() : NodeFixture(kArchive) { environment_["TTL_SECONDS"] = absl::StrCat(kTtl); }

  static constexpr int kTtl = 3;
};

TEST_F(PgBossTest, ArchivedJobsEndAtTheirSecondAndPurgeFindsNothing) {
  ASSERT_NO_FATAL_FAILURE(StartDatabase());
  ASSERT_NO_FATAL_FAILURE(Run(Program("jobs.js", "setup")));
  // Its archive has no key; `check` names these statements.
  database_.Sql(
      "CREATE UNIQUE INDEX archive_key ON pgboss.archive (id);"
      "ALTER TABLE pgboss.archive REPLICA IDENTITY USING INDEX archive_key");
  ASSERT_NO_FATAL_FAILURE(StartTtl({NewContainer("archive")}));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("archive", kTtl));
  ASSERT_NO_FATAL_FAILURE(WorkBesideKillsInTurn(Program("jobs.js", "work")));
  AwaitDeletes("pgboss.archive_stored");
  Run(Program("jobs.js", "purge"));
}

constexpr char kDjango[] = R"yaml(
tables:
  - container: sessions
    table: django_session
    id: session_key
    expires_column: expire_date
    rename_table: django_session_stored
  - container: cache
    table: cache
    id: cache_key
    expires_column: expires
    rename_table: cache_stored
    replace_expired: true
)yaml";

class DjangoTest : public ApplicationFixture {
 protected:
  DjangoTest() : ApplicationFixture(kDjango) {
    environment_["PYTHONPATH"] = APPLICATIONS_DIR "/django";
    environment_["PYTHONDONTWRITEBYTECODE"] = "1";
  }

  // Debian's Python, which has Debian's Django.
  static Arguments Manage(const char* command) {
    return {"/usr/bin/python3", "-m", "django", command, "--settings=settings"};
  }
};

TEST_F(DjangoTest, SessionsAndCacheEndAtTheirSecondAndClearSessionsFindsNothing) {
  ASSERT_NO_FATAL_FAILURE(StartDatabase());
  ASSERT_NO_FATAL_FAILURE(Run(Manage("migrate")));
  ASSERT_NO_FATAL_FAILURE(Run(Manage("createcachetable")));
  ASSERT_NO_FATAL_FAILURE(StartTtl({NewContainer("sessions"), NewContainer("cache")}));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("sessions", -1));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("cache", -1));
  ASSERT_NO_FATAL_FAILURE(
      WorkBesideKillsInTurn({"/usr/bin/python3", APPLICATIONS_DIR "/django/work.py"}));
  AwaitDeletes("django_session_stored WHERE expire_date <= date_trunc('second', now())");
  AwaitDeletes("cache_stored WHERE expires <= now()");

  const std::string live = CountOf("django_session_stored");
  EXPECT_NE(live, "0");
  Run(Manage("clearsessions"));
  EXPECT_EQ(CountOf("django_session_stored"), live);
  database_.Sql("INSERT INTO django_session VALUES ('late', '', now() - interval '1 hour')");
  AwaitDeletes("django_session_stored WHERE session_key = 'late'");
}

}  // namespace
}  // namespace ttl
