// Threads of an agent in tables of LangGraph's shape, written by its statements: an expired thread
// goes as a whole while ttl-postgres and PostgreSQL are killed at random moments.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/time.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/postgres/killed_adapter_fixture.h"

namespace ttl {
namespace {

// More than the kills leave time for, so that each is in the middle of the deletes.
constexpr int kThreads = 1000;
constexpr int kKills = 9;

// The code block of groups.md that begins with `first`, which is what an operator copies.
std::string BlockOfPage(const std::string& first) {
  std::ifstream page(GROUPS_PAGE);
  std::string block;
  for (std::string line; std::getline(page, line);) {
    const bool is_code = absl::StartsWith(line, "    ");
    if (block.empty() ? is_code && line.substr(4) == first : is_code) {
      absl::StrAppend(&block, line.substr(4), "\n");
    } else if (!block.empty()) {
      break;
    }
  }
  EXPECT_FALSE(block.empty()) << "groups.md has no " << first;
  return block;
}

// What the saver runs for one step, here of several threads at once: $0 is a list of FROM that has
// the threads as t, $1 the version. It knows no time and no view. What the tests count by
// themselves are the tables.
constexpr char kStep[] = R"sql(
  BEGIN;
  SET LOCAL search_path = live, public;
  INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT t, '', c, '$1', 'msgpack', '\x80' FROM unnest(ARRAY['messages', 'branch']) AS c, $0
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING;
  INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
      checkpoint, metadata) SELECT t, '', '$1', NULL, '{"v": 4}', '{"step": 1}' FROM $0
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET
      checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata;
  INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
      channel, type, blob) SELECT t, '', '$1', 'task', '', i, 'messages', 'msgpack', '\x80'
      FROM generate_series(1, 3) AS i, $0
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO NOTHING;
  $2;
  COMMIT
)sql";

std::string TablesOfPage() {
  return absl::StrCat(postgres::kCheckpointTables, ";",
                      BlockOfPage("ALTER TABLE checkpoints ADD COLUMN ttl_written_at timestamptz "
                                  "NOT NULL DEFAULT now();"));
}

class ThreadGroupsTest : public KilledAdapterFixture {
 protected:
  // `settings` precede the tables in the configuration.
  explicit ThreadGroupsTest(const std::string& settings = "")
      : KilledAdapterFixture(absl::StrCat(settings, BlockOfPage("tables:"))) {}

  // Threads of which some of the six rows of a step are gone.
  std::string Broken() {
    return CountOf(
        "(SELECT thread_id FROM (SELECT thread_id FROM checkpoints UNION ALL SELECT thread_id FROM "
        "checkpoint_blobs UNION ALL SELECT thread_id FROM checkpoint_writes) AS rows GROUP BY "
        "thread_id HAVING count(*) <> 6) AS broken");
  }

  // `more` is a statement of the same transaction.
  void Step(const std::string& version, const std::string& threads,
            const std::string& more = "SELECT") {
    database_.Sql(absl::Substitute(kStep, threads, version, more));
  }
};

TEST_F(ThreadGroupsTest, ThreadGoesAsAWholeWhateverIsKilled) {
  v1::Container container;
  container.set_id("threads");
  container.set_default_ttl(3);
  // So that deletes last while all is killed.
  container.mutable_delete_policy()->set_max_deletes_per_second(300);
  ASSERT_NO_FATAL_FAILURE(StartAll(TablesOfPage().c_str(), container));
  // One row of this thread is not as old as the others: it keeps them.
  Step("1", "(SELECT 'kept' AS t) AS threads");
  database_.Sql(
      "UPDATE checkpoint_writes SET ttl_written_at = now() + interval '1 hour' WHERE thread_id = "
      "'kept' AND idx = 2");
  Step("1", absl::StrCat("(SELECT 'thread ' || i AS t FROM generate_series(1, ", kThreads,
                         ") AS i) AS threads"));
  for (int i = 0; i < kKills; ++i) {
    // A moment in the middle of the deletes, and not of a start.
    const std::string before = CountOf("checkpoints");
    EXPECT_TRUE(WaitUntil([&] { return CountOf("checkpoints") != before || before == "1"; },
                          absl::Minutes(2)))
        << postgres_.Log();
    if (i % 3 == 2) {
      database_.Kill();
      ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    } else {
      postgres_.Kill();
      EXPECT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
    }
    EXPECT_EQ(Broken(), "0") << "after kill " << i;
  }
  EXPECT_TRUE(WaitUntil([&] { return CountOf("checkpoints") == "1"; }, absl::Minutes(5),
                        absl::Milliseconds(200)))
      << CountOf("checkpoints") << " are left; " << postgres_.Log();
  EXPECT_EQ(Broken(), "0");
  for (const char* rows : {"live.checkpoints", "live.checkpoint_blobs", "live.checkpoint_writes"}) {
    EXPECT_EQ(CountOf(absl::StrCat(rows, " WHERE thread_id <> 'kept'")), "0");
  }
  EXPECT_EQ(CountOf("live.checkpoint_writes"), "3");
  // A thread that was away begins anew, and goes again.
  Step("2", "(SELECT 'thread 1' AS t) AS threads");
  EXPECT_EQ(CountOf("live.checkpoint_blobs WHERE thread_id = 'thread 1'"), "2");
  EXPECT_TRUE(WaitUntil([&] { return CountOf("checkpoint_writes") == "3"; }, absl::Minutes(2)));
  EXPECT_TRUE(postgres_.Stop().ok());
}

// Of kLarge rows, whose delete takes longer than statement_timeout.
constexpr int kLarge = 3000;
constexpr int kKillsOfLarge = 5;

class LargeThreadTest : public ThreadGroupsTest {
 protected:
  LargeThreadTest() : ThreadGroupsTest("statement_timeout: 300ms\n") {}

  void Kill(bool is_server) {
    if (is_server) {
      database_.Kill();
      ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    } else {
      postgres_.Kill();
      ASSERT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
    }
  }

  std::string Left() { return CountOf("public.checkpoint_writes WHERE task_id = 'large'"); }
  std::string Shown() { return CountOf("live.checkpoint_writes"); }
};

TEST_F(LargeThreadTest, LargeThreadGoesInPiecesAndANewOneStaysWhateverIsKilled) {
  v1::Container container;
  container.set_id("threads");
  container.set_default_ttl(3);
  ASSERT_NO_FATAL_FAILURE(StartAll(TablesOfPage().c_str(), container));
  database_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.002); "
      "RETURN OLD; END$$; CREATE TRIGGER slow BEFORE DELETE ON checkpoint_writes FOR EACH ROW "
      "EXECUTE FUNCTION slow()");
  database_.Sql(absl::StrCat(
      "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob) "
      "SELECT 'thread', '1', 'large', i, 'c', '' FROM generate_series(1, ",
      kLarge, ") AS i"));
  ASSERT_TRUE(WaitUntil([&] { return CountOf("ttl.condemned") == "1"; }, absl::Minutes(2)))
      << postgres_.Log();
  std::string shown = "0";
  for (int i = 0; i < kKillsOfLarge; ++i) {
    const std::string before = Left();
    ASSERT_NE(before, "0") << "nothing is left to be deleted at kill " << i << "; "
                           << postgres_.Log();
    EXPECT_TRUE(WaitUntil([&] { return Left() != before; }, absl::Minutes(2))) << postgres_.Log();
    ASSERT_NO_FATAL_FAILURE(Kill(i % 3 == 2));
    if (i == 1) {
      Step("2", "(SELECT 'thread' AS t) AS threads",
           "UPDATE public.checkpoint_writes SET ttl_written_at = now() + interval '1 hour' WHERE "
           "task_id = 'task'");
      shown = "3";
    }
    if (i == 3) {
      // The policy that would bring the rows back, were they not condemned.
      container.set_default_ttl(86400);
      ASSERT_TRUE(Client().containers().Update(container, {"default_ttl"}).ok());
    }
    EXPECT_EQ(Shown(), shown) << "after kill " << i;
  }
  EXPECT_TRUE(WaitUntil([&] { return CountOf("ttl.condemned") == "0"; }, absl::Minutes(5)))
      << Left() << " are left; " << postgres_.Log();
  EXPECT_EQ(Left(), "0");
  EXPECT_EQ(Shown(), "3");
  EXPECT_EQ(CountOf("live.checkpoint_blobs"), "2");
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
