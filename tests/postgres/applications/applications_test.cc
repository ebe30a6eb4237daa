// Applications that others wrote, from their packages and unchanged: expired rows vanish for them
// at their second and are deleted, while sidecar, ttl-postgres and server are killed in turn; their
// own clean-up then finds nothing to do and stops nothing.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/applications/application_fixture.h"
#include "tests/postgres/applications/page.h"

namespace ttl {
namespace {

class NodeFixture : public ApplicationFixture {
 protected:
  using ApplicationFixture::ApplicationFixture;

  static void SetUpTestSuite() {
    ASSERT_EQ(system(APPLICATIONS_DIR "/install_node.sh " APPLICATIONS_DIR
                                      "/node " NODE_APPLICATIONS_DIR),
              0);
  }

  static Arguments Program(const char* file, const char* command) {
    return {"/usr/bin/env", "node", absl::StrCat(NODE_APPLICATIONS_DIR "/", file), command};
  }
};

class ConnectPgSimpleTest : public NodeFixture {
 protected:
  ConnectPgSimpleTest() : NodeFixture(PrintedConfiguration("connect-pg-simple")) {}
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

class PgBossTest : public NodeFixture {
 protected:
  PgBossTest() : NodeFixture(PrintedConfiguration("pg-boss")) {
    environment_["TTL_SECONDS"] = absl::StrCat(kTtl);
  }

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

class DjangoTest : public ApplicationFixture {
 protected:
  DjangoTest() : ApplicationFixture(PrintedConfiguration("Django")) {
    environment_["PYTHONPATH"] = APPLICATIONS_DIR "/django";
    environment_["PYTHONDONTWRITEBYTECODE"] = "1";
    environment_["CACHE_TABLE"] = "cache";
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
