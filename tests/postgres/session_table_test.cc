// The table of connect-pg-simple as that makes it, with an application that knows nothing of a time
// to live, while ttl-postgres is killed at random moments.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/ttl_client.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using postgres::Connection;

constexpr int kKills = 6;
constexpr double kLongestLifeSeconds = 1.2;

// And, for the test alone, a note of each session that is deleted, as it was then.
constexpr char kTables[] = R"sql(
  CREATE TABLE "session" (
    "sid" varchar NOT NULL COLLATE "default", "sess" json NOT NULL, "expire" timestamp(6) NOT NULL)
    WITH (OIDS=FALSE);
  ALTER TABLE "session" ADD CONSTRAINT "session_pkey" PRIMARY KEY ("sid") NOT DEFERRABLE
    INITIALLY IMMEDIATE;
  CREATE INDEX "IDX_session_expire" ON "session" ("expire");
  CREATE TABLE deleted (sid varchar, expire timestamp(6), at timestamptz);
  CREATE FUNCTION note_delete() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO deleted VALUES (old.sid, old.expire, clock_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_delete AFTER DELETE ON session FOR EACH ROW EXECUTE FUNCTION note_delete();
  INSERT INTO session SELECT 'old-' || i, '{}', now() AT TIME ZONE 'UTC' - interval '1 hour'
  FROM generate_series(1, 200) i;
  INSERT INTO session SELECT 'kept-' || i, '{}', now() AT TIME ZONE 'UTC' + interval '7 days'
  FROM generate_series(1, 200) i;
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - container: sessions
    table: session
    id: sid
    expires_column: expire
    expires_zone: UTC
    live_view: live_session
)yaml";

// As connect-pg-simple writes: set() and touch(). Sessions that are touched live on.
constexpr const char* kSteps[] = {
    "INSERT INTO session (sess, expire, sid) SELECT '{\"n\": 1}', to_timestamp(extract(epoch FROM "
    "now()) + 2) AT TIME ZONE 'UTC', 'short-' || md5(random()::text) FROM generate_series(1, 10) "
    "ON CONFLICT (sid) DO UPDATE SET sess = excluded.sess, expire = excluded.expire",
    "INSERT INTO session (sess, expire, sid) SELECT '{\"n\": 2}', to_timestamp(extract(epoch FROM "
    "now()) + 2) AT TIME ZONE 'UTC', 'touched-' || i FROM generate_series(1, 50) i "
    "ON CONFLICT (sid) DO UPDATE SET sess = excluded.sess, expire = excluded.expire",
    "UPDATE session SET expire = to_timestamp(extract(epoch FROM now()) + 2) AT TIME ZONE 'UTC' "
    "WHERE sid LIKE 'touched-%'"};

class SessionTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(kTables);
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    ASSERT_TRUE(postgres_.RunCommand({"check"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    SetDefaultTtl(std::nullopt);
    ASSERT_TRUE(postgres_.Start(absl::Minutes(2)).ok()) << postgres_.Log();
  }

  // Creates the container, or changes it.
  void SetDefaultTtl(std::optional<int64_t> default_ttl) {
    TtlClientOptions options;
    options.address = sidecar_.address();
    v1::Container container;
    container.set_id("sessions");
    if (default_ttl.has_value()) container.set_default_ttl(*default_ttl);
    TtlClient client(options);
    const bool is_there = client.GetContainer("sessions").ok();
    ASSERT_TRUE(is_there ? client.UpdateContainer(container, {"default_ttl"}).ok()
                         : client.CreateContainer(container).ok());
  }

  void Work() {
    const auto connection = Connection::Open(database_.Conninfo(), "application");
    ASSERT_TRUE(connection.ok());
    for (int i = 0; !stop_; ++i) {
      const auto done = (*connection)->Execute(kSteps[i % std::size(kSteps)]);
      EXPECT_TRUE(done.ok()) << done.status();
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  std::string CountOf(absl::string_view rows) {
    return database_.Value(absl::StrCat("SELECT count(*) FROM ", rows));
  }

  TempDir dir_;
  PostgresServer database_;
  const TtlPostgresProcessOptions postgres_options_ = {
      dir_.path(), "postgres", database_.Conninfo(),
      absl::StrCat("unix:", dir_.File("sidecar.sock")), kConfig};
  SidecarProcess sidecar_{
      {dir_.path(), "sidecar", TtlPostgresProcess::AddressOf(postgres_options_), {}, {}}};
  TtlPostgresProcess postgres_{postgres_options_};
  std::atomic<bool> stop_ = false;
};

TEST_F(SessionTableTest, SessionsVanishAtTheirSecondAndAreDeletedUnlessTheyWereTouched) {
  // Nothing is hidden while TTL is off.
  EXPECT_EQ(CountOf("live_session"), "400");
  SetDefaultTtl(-1);
  EXPECT_TRUE(WaitUntil([&] { return CountOf("live_session") == "200"; }, absl::Minutes(1)));
  std::thread application([this] { Work(); });
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> life(0, kLongestLifeSeconds);
  for (int i = 0; i < kKills && !HasFatalFailure(); ++i) {
    absl::SleepFor(absl::Seconds(life(random)));
    postgres_.Kill();
    EXPECT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
  }
  EXPECT_TRUE(postgres_.WaitReady(absl::Minutes(5)).ok()) << postgres_.Log();
  stop_ = true;
  application.join();
  // What connect-pg-simple's own prune() would delete: in the end nothing.
  const std::string prunable = "session WHERE expire < now() AT TIME ZONE 'UTC'";
  EXPECT_TRUE(WaitUntil([&] { return CountOf(prunable) == "0" && CountOf("session") == "200"; },
                        absl::Minutes(5), absl::Milliseconds(200)))
      << CountOf("session") << " are left; " << postgres_.Log();
  EXPECT_EQ(CountOf("deleted WHERE expire AT TIME ZONE 'UTC' > at"), "0");
  EXPECT_EQ(CountOf("deleted WHERE sid LIKE 'old-%'"), "200");
  EXPECT_NE(CountOf("deleted WHERE sid LIKE 'short-%'"), "0");
  EXPECT_EQ(CountOf("live_session WHERE sid LIKE 'kept-%'"), "200");
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
