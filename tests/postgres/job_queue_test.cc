// A job queue whose completed jobs alone expire, while ttl-postgres is killed at random moments.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"

namespace ttl {
namespace {

constexpr int64_t kDefaultTtl = 2;
constexpr int kKills = 8;

// As of pg-boss; and, for the test alone, a note of each job that is deleted, as it was then.
constexpr char kTables[] = R"sql(
  CREATE TYPE job_state AS ENUM ('created', 'retry', 'active', 'completed', 'failed');
  CREATE TABLE job (id bigserial PRIMARY KEY, name text NOT NULL, data jsonb,
                    state job_state NOT NULL DEFAULT 'created',
                    startafter timestamptz NOT NULL DEFAULT now(), completedon timestamptz);
  CREATE TABLE deleted (id bigint, state job_state, completedon timestamptz, at timestamptz);
  CREATE FUNCTION note_delete() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO deleted VALUES (old.id, old.state, old.completedon, clock_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_delete AFTER DELETE ON job FOR EACH ROW EXECUTE FUNCTION note_delete();
  INSERT INTO job (name, startafter) SELECT 'future', now() + interval '1 day'
  FROM generate_series(1, 200);
  -- A job that waits although it has been through once.
  INSERT INTO job (name, state, completedon) SELECT 'again', 'retry', now() - interval '1 hour'
  FROM generate_series(1, 200);
  INSERT INTO job (name, state, completedon) SELECT 'old', 'completed', now() - interval '1 hour'
  FROM generate_series(1, 200);
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - container: jobs
    table: job
    id: id
    where: state = 'completed'
    ts_column: completedon
    null_means: never
    live_view: live_job
)yaml";

// What a worker does in a turn; the last takes completed jobs back, some of them due.
constexpr const char* kSteps[] = {
    "INSERT INTO job (name, data) SELECT 'work', jsonb_build_object('x', repeat('y', 3000)) "
    "FROM generate_series(1, 20)",
    "UPDATE job SET state = 'active' WHERE id IN (SELECT id FROM job WHERE state IN ('created', "
    "'retry') AND name = 'work' LIMIT 20 FOR UPDATE SKIP LOCKED)",
    "UPDATE job SET state = 'completed', completedon = now() WHERE id IN (SELECT id FROM job WHERE "
    "state = 'active' LIMIT 20 FOR UPDATE SKIP LOCKED)",
    "UPDATE job SET state = 'retry', name = 'taken back' WHERE id IN (SELECT id FROM job WHERE "
    "state "
    "= 'completed' AND name = 'work' ORDER BY completedon LIMIT 3 FOR UPDATE SKIP LOCKED)"};

class JobQueueTest : public KilledAdapterFixture {
 protected:
  JobQueueTest() : KilledAdapterFixture(kConfig) {}
};

TEST_F(JobQueueTest, CompletedJobsGoAndNoneThatWaitsIsDeleted) {
  v1::Container container;
  container.set_id("jobs");
  container.set_default_ttl(kDefaultTtl);
  ASSERT_NO_FATAL_FAILURE(StartAll(kTables, container));
  WorkBesideKills(kSteps, absl::ZeroDuration(), kKills);
  EXPECT_TRUE(WaitUntil([&] { return CountOf("job WHERE state = 'completed'") == "0"; },
                        absl::Minutes(5), absl::Milliseconds(200)))
      << CountOf("job WHERE state = 'completed'") << " are left; " << postgres_.Log();

  EXPECT_EQ(CountOf("deleted WHERE state <> 'completed'"), "0");
  EXPECT_EQ(CountOf(absl::StrCat("deleted WHERE floor(extract(epoch FROM completedon)) + ",
                                 kDefaultTtl, " > extract(epoch FROM at)")),
            "0");
  EXPECT_NE(CountOf("deleted"), "0");
  for (const char* name : {"future", "again"}) {
    EXPECT_EQ(CountOf(absl::StrCat("job WHERE name = '", name, "'")), "200");
  }
  EXPECT_NE(CountOf("job WHERE name = 'taken back'"), "0");
  EXPECT_EQ(CountOf("live_job"), CountOf("job"));
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
