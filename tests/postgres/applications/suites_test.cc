// The test suites of applications, from their packages and unchanged, beside ttl-postgres. Suites
// drop and create their tables again and again, so these keep their own names: see ways.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/applications/application_fixture.h"

namespace ttl {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kSessions[] = R"yaml(
tables:
  - container: sessions
    table: session
    id: sid
    expires_column: expire
    expires_zone: UTC
    row_level_security: true
  - container: others
    table: others
    id: id
    expires_column: ends
)yaml";

constexpr char kOthers[] = "CREATE TABLE others (id int PRIMARY KEY, ends timestamptz)";

class ConnectPgSimpleSuite : public ApplicationFixture {
 protected:
  ConnectPgSimpleSuite() : ApplicationFixture(kSessions) {}

  static void SetUpTestSuite() {
    ASSERT_EQ(
        system(APPLICATIONS_DIR "/install_node.sh " APPLICATIONS_DIR "/node_suite " NODE_SUITE_DIR),
        0);
  }

  const std::string package_ = NODE_SUITE_DIR "/node_modules/connect-pg-simple/";
};

TEST_F(ConnectPgSimpleSuite, PassesAndItsTableIsTakenUpAgain) {
  ASSERT_NO_FATAL_FAILURE(StartDatabase());
  database_.Sql(Contents(absl::StrCat(package_, "table.sql")));
  database_.Sql(kOthers);
  ASSERT_NO_FATAL_FAILURE(StartTtl({NewContainer("sessions"), NewContainer("others")}));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("sessions", -1));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("others", -1));
  Run({"/usr/bin/env", "node", NODE_SUITE_DIR "/node_modules/mocha/bin/mocha", "--exit",
       "--timeout", "120000", absl::StrCat(package_, "test/**/*.spec.js")});
  EXPECT_THAT(Output(), HasSubstr("34 passing"));

  database_.Sql("INSERT INTO others VALUES (1, now() - interval '1 hour')");
  AwaitDeletes("others");
  // The suite has left a table that `install` does not know yet.
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  database_.Sql("INSERT INTO session VALUES ('late', '{}', now() - interval '1 hour')");
  AwaitDeletes("session WHERE sid = 'late'");
}

constexpr char kDjango[] = R"yaml(
tables:
  - container: sessions
    table: django_session
    id: session_key
    expires_column: expire_date
    row_level_security: true
  - container: cache
    table: test cache table
    id: cache_key
    expires_column: expires
)yaml";

class DjangoSuite : public ApplicationFixture {
 protected:
  DjangoSuite() : ApplicationFixture(kDjango) {
    environment_["PYTHONPATH"] = APPLICATIONS_DIR "/django";
    environment_["PYTHONDONTWRITEBYTECODE"] = "1";
    environment_["CACHE_TABLE"] = "test cache table";
  }

  static void SetUpTestSuite() {
    ASSERT_EQ(system(APPLICATIONS_DIR "/fetch_django_tests.sh " DJANGO_TESTS_DIR), 0);
  }

  static Arguments Manage(const char* command) {
    return {"/usr/bin/python3", "-m", "django", command, "--settings=settings"};
  }
};

// Row security hides what has ended from all but the owner, and so from the role that runs the
// suite.
TEST_F(DjangoSuite, FindsOnlyThatAnExpiredSessionIsHiddenAtOnce) {
  ASSERT_NO_FATAL_FAILURE(StartDatabase());
  ASSERT_NO_FATAL_FAILURE(Run(Manage("migrate")));
  database_.Sql(
      "CREATE ROLE site LOGIN CREATEDB; GRANT ALL ON SCHEMA public TO site;"
      "GRANT ALL ON ALL TABLES IN SCHEMA public TO site;"
      "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO site");
  environment_["PGUSER"] = "site";
  ASSERT_NO_FATAL_FAILURE(Run(Manage("createcachetable")));
  ASSERT_NO_FATAL_FAILURE(StartTtl({NewContainer("sessions"), NewContainer("cache")}));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("sessions", -1));
  ASSERT_NO_FATAL_FAILURE(SwitchOn("cache", -1));
  EXPECT_FALSE(
      Try({"/usr/bin/python3", DJANGO_TESTS_DIR "/tests/runtests.py", "--settings=suite_settings",
           "--keepdb", "--parallel", "1", "sessions_tests", "cache.tests.DBCacheTests"}));
  // Its test of clearsessions counts the session that it has ended before it clears it.
  EXPECT_THAT(Output(), ContainsRegex("FAILED .failures=2, skipped=[0-9]+, expected failures=1."));
  EXPECT_THAT(Output(), Not(HasSubstr("ERROR:")));
  EXPECT_EQ(CountIn(Output(), "FAIL: test_clearsessions_command"), 2) << Output();

  environment_["PGUSER"] = "postgres";
  database_.Sql("INSERT INTO django_session VALUES ('late', '', now() - interval '1 hour')");
  AwaitDeletes("django_session WHERE session_key = 'late'");
}

}  // namespace
}  // namespace ttl
