// A table as Dapr's PostgreSQL state store makes it and writes to it, while ttl-postgres is killed
// at random moments.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/applications/page.h"
#include "tests/postgres/killed_adapter_fixture.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr int kKills = 6;

// And, for the test alone, a note of each entry that is deleted, as it was then.
constexpr char kTables[] = R"sql(
  CREATE TABLE state (
    key text NOT NULL PRIMARY KEY, value jsonb NOT NULL, isbinary boolean NOT NULL,
    insertdate timestamptz NOT NULL DEFAULT now(), updatedate timestamptz NULL);
  ALTER TABLE state ADD expiredate timestamptz;
  CREATE TABLE deleted (key text, expiredate timestamptz, at timestamptz);
  CREATE FUNCTION note_delete() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO deleted VALUES (old.key, old.expiredate, clock_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_delete AFTER DELETE ON state FOR EACH ROW EXECUTE FUNCTION note_delete();
  INSERT INTO state (key, value, isbinary, expiredate)
    SELECT 'app||old-' || i, '1', false, now() - interval '1 hour' FROM generate_series(1, 200) i;
  INSERT INTO state (key, value, isbinary, expiredate)
    SELECT 'app||kept-' || i, '1', false, now() + interval '7 days' FROM generate_series(1, 100) i;
  INSERT INTO state (key, value, isbinary)
    SELECT 'app||forever-' || i, '1', false FROM generate_series(1, 100) i;
)sql";

// Sets with ttlInSeconds: of new keys, of the same ones in time, and of keys that may have ended
// without being deleted yet.
constexpr const char* kSteps[] = {
    "INSERT INTO state (key, value, isbinary, expiredate) SELECT 'app||short-' || "
    "md5(random()::text), "
    "'2', false, CURRENT_TIMESTAMP + interval '2 seconds' FROM generate_series(1, 10) ON CONFLICT "
    "(key) DO UPDATE SET value = EXCLUDED.value, isbinary = EXCLUDED.isbinary, updatedate = "
    "CURRENT_TIMESTAMP, expiredate = EXCLUDED.expiredate",
    "INSERT INTO state (key, value, isbinary, expiredate) SELECT 'app||renewed-' || i, '3', false, "
    "CURRENT_TIMESTAMP + interval '10 seconds' FROM generate_series(1, 50) i ON CONFLICT (key) DO "
    "UPDATE SET value = EXCLUDED.value, isbinary = EXCLUDED.isbinary, updatedate = "
    "CURRENT_TIMESTAMP, expiredate = EXCLUDED.expiredate",
    "INSERT INTO state (key, value, isbinary, expiredate) VALUES ('app||again-' || "
    "trunc(random() * 100), '4', false, CURRENT_TIMESTAMP + interval '1 second') ON CONFLICT (key) "
    "DO UPDATE SET value = EXCLUDED.value, isbinary = EXCLUDED.isbinary, updatedate = "
    "CURRENT_TIMESTAMP, expiredate = EXCLUDED.expiredate"};

class DaprStateTest : public KilledAdapterFixture {
 protected:
  DaprStateTest() : KilledAdapterFixture(PrintedConfiguration("Dapr")) {}
};

TEST_F(DaprStateTest, EntriesVanishAtTheirSecondAndAreDeletedUnlessTheyWereSetAgain) {
  v1::Container container;
  container.set_id("state");
  ASSERT_NO_FATAL_FAILURE(StartAll(kTables, container));
  // Nothing is hidden while TTL is off.
  EXPECT_EQ(CountOf("state"), "400");
  container.set_default_ttl(-1);
  ASSERT_TRUE(Client().containers().Update(container, {"default_ttl"}).ok());
  EXPECT_TRUE(WaitUntil([&] { return CountOf("state") == "200"; }, absl::Minutes(1)));
  WorkBesideKills(kSteps, absl::Milliseconds(20), kKills);
  // What Dapr's own clean-up would delete: in the end nothing.
  const std::string expired = "state_stored WHERE expiredate < CURRENT_TIMESTAMP";
  EXPECT_TRUE(WaitUntil([&] { return CountOf(expired) == "0" && CountOf("state_stored") == "200"; },
                        absl::Minutes(5), absl::Milliseconds(200)))
      << CountOf("state_stored") << " are left; " << postgres_.Log();
  EXPECT_EQ(CountOf("deleted WHERE expiredate > at"), "0");
  EXPECT_EQ(CountOf("deleted WHERE key LIKE '%||old-%'"), "200");
  EXPECT_NE(CountOf("deleted WHERE key LIKE '%||short-%'"), "0");
  EXPECT_EQ(CountOf("state WHERE key LIKE '%||kept-%' OR key LIKE '%||forever-%'"), "200");
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
