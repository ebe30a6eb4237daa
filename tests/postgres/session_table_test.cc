// The table of connect-pg-simple as that makes it, with an application that knows nothing of a time
// to live, while ttl-postgres is killed at random moments.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"

namespace ttl {
namespace {

constexpr int kKills = 6;

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

class SessionTableTest : public KilledAdapterFixture {
 protected:
  SessionTableTest() : KilledAdapterFixture(kConfig) {}
};

TEST_F(SessionTableTest, SessionsVanishAtTheirSecondAndAreDeletedUnlessTheyWereTouched) {
  v1::Container container;
  container.set_id("sessions");
  ASSERT_NO_FATAL_FAILURE(StartAll(kTables, container));
  // Nothing is hidden while TTL is off.
  EXPECT_EQ(CountOf("live_session"), "400");
  container.set_default_ttl(-1);
  ASSERT_TRUE(Client().UpdateContainer(container, {"default_ttl"}).ok());
  EXPECT_TRUE(WaitUntil([&] { return CountOf("live_session") == "200"; }, absl::Minutes(1)));
  WorkBesideKills(kSteps, absl::Milliseconds(20), kKills);
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
