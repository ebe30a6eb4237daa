// Tables with group_by: what the capture reports of groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/testing/expect_soon.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What is to be tracked of the three tables: the latest time of each thread.
constexpr char kThreads[] =
    "SELECT '', thread_id, max(floor(extract(epoch FROM at)))::bigint, NULL FROM (SELECT "
    "thread_id, ttl_written_at AS at FROM checkpoints UNION ALL SELECT thread_id, ttl_written_at "
    "FROM checkpoint_blobs UNION ALL SELECT thread_id, ttl_written_at FROM checkpoint_writes) AS "
    "rows GROUP BY thread_id";

class CaptureGroupsTest : public CaptureFixture {
 protected:
  void Checkpoint(const std::string& thread, const std::string& id, int64_t at) {
    Sql(
        absl::StrCat("INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, "
                     "ttl_written_at) VALUES ('",
                     thread, "', '", id, "', '{}', to_timestamp(", at, "))"));
  }
  void Blob(const std::string& thread, const std::string& version, int64_t at) {
    Sql(
        absl::StrCat("INSERT INTO checkpoint_blobs (thread_id, channel, version, type, "
                     "ttl_written_at) VALUES ('",
                     thread, "', 'c', '", version, "', 't', to_timestamp(", at, "))"));
  }
};

TEST_F(CaptureGroupsTest, GroupsAreReportedWithTheirLatestTimes) {
  Sql(kCreateCheckpoints);
  Checkpoint("a", "1", 5);
  Checkpoint("a", "2", 3);
  Blob("a", "1", 4);
  Blob("b", "1", 9);
  capture_.Begin({Threads()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|", "|b|9|"));

  Checkpoint("a", "3", 4);  // earlier than the latest
  Checkpoint("c", "1", 1);
  Blob("b", "2", 20);
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|", "|b|20|", "|c|1|"));

  // A row is deleted, changed, moved to another group; and groups vanish.
  Sql("DELETE FROM checkpoints WHERE checkpoint_id = '1' AND thread_id = 'a'");
  Sql("UPDATE checkpoint_blobs SET thread_id = 'd' WHERE version = '2'");
  Sql("DELETE FROM checkpoints WHERE thread_id = 'c'");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|4|", "|b|9|", "|d|20|"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 0);
}

TEST_F(CaptureGroupsTest, RowThatNeverExpiresTakesItsGroupOutAndGivesItBack) {
  Sql(kCreateCheckpoints);
  Sql("ALTER TABLE checkpoint_blobs ALTER ttl_written_at DROP NOT NULL");
  Checkpoint("a", "1", 5);
  capture_.Begin({Threads()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO checkpoint_blobs (thread_id, channel, version, type, ttl_written_at) VALUES "
      "('a', 'c', '1', 't', NULL)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), IsEmpty());
  Sql("DELETE FROM checkpoint_blobs");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|"));
}

TEST_F(CaptureGroupsTest, EndsOfOrdersAreThoseOfTheLatestOrNone) {
  Sql(kCreateOrders);
  Sql("INSERT INTO orders VALUES (1, 1, to_timestamp(100.5)), (1, 2, to_timestamp(50)), (2, 1, "
      "to_timestamp(7)), (2, 2, NULL); INSERT INTO lines VALUES (1, 1, 1)");
  capture_.Begin({Orders()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("orders"), ElementsAre("|1|1|", "|2|1|-1"));
  EXPECT_EQ(capture_.Items("orders").at(0).expire_at(), 101);
  Sql("UPDATE orders SET expires_at = to_timestamp(60) WHERE id = 1 AND part = 1");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_EQ(capture_.Items("orders").at(0).expire_at(), 60);
  // Lines say nothing of the end, and none of a group that is not there.
  Sql("INSERT INTO lines VALUES (1, 2, 1); DELETE FROM orders WHERE id = 2");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("orders"), ElementsAre("|1|1|"));
}

TEST_F(CaptureGroupsTest, TruncateOfOneTableIsFollowed) {
  Sql(kCreateCheckpoints);
  Checkpoint("a", "1", 5);
  Blob("a", "1", 9);
  Blob("b", "1", 9);
  capture_.Begin({Threads()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("TRUNCATE checkpoint_blobs");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|"));
}

// A later start of a capture continues; another configuration of the group reads it again.
TEST_F(CaptureGroupsTest, GroupIsReadAgainWhenAMemberIsAdded) {
  Sql(kCreateCheckpoints);
  Checkpoint("a", "1", 5);
  Blob("a", "1", 9);
  TableConfig alone = Threads();
  alone.members.clear();
  capture_.Begin({alone});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|"));
  capture_.Stop();
  capture_.Install({Threads()});
  capture_.Start();
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|9|"));
}

// Its rows count as deleted from then on, and those that are written later are another group.
TEST_F(CaptureGroupsTest, CondemnedRowsAreNotReported) {
  Sql(kCreateCheckpoints);
  Checkpoint("a", "1", 5);
  Checkpoint("a", "2", 8);
  Checkpoint("b", "1", 7);
  Checkpoint("b", "3", 7);
  Checkpoint("c", "1", 6);
  capture_.Install({Threads()});
  capture_.Begin({Threads()});  // with what is installed
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|8|", "|b|7|", "|c|6|"));
  Sql("INSERT INTO ttl.condemned SELECT 'checkpoints'::regclass, hash_record(ROW(thread)), "
      "ARRAY[thread], pg_snapshot_xmax(pg_current_snapshot())::text::bigint, system_identifier "
      "FROM pg_control_system(), unnest(ARRAY['a', 'b']) AS thread");
  Blob("a", "1", 3);
  Sql("DELETE FROM checkpoints WHERE checkpoint_id = '1' AND thread_id <> 'c'");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|3|", "|c|6|"));
  // The tables are read again in pages of groups, of which one group has no row.
  Sql("TRUNCATE checkpoint_writes");
  Checkpoint("b", "2", 2);
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|3|", "|b|2|", "|c|6|"));
}

// A rewrite makes its transaction the writer of all rows, which makes condemned rows those of a new
// group, and is not in the stream.
TEST_F(CaptureGroupsTest, RowsThatWereCondemnedAreReportedAfterARewrite) {
  Sql(kCreateCheckpoints);
  Checkpoint("a", "1", 5);
  Blob("b", "1", 7);
  capture_.Install({Threads()});
  capture_.Begin({Threads()});  // with what is installed
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO ttl.condemned SELECT 'checkpoints'::regclass, hash_record(ROW('b'::text)), "
      "ARRAY['b'], pg_snapshot_xmax(pg_current_snapshot())::text::bigint, system_identifier "
      "FROM pg_control_system()");
  Checkpoint("b", "2", 2);
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("threads"), ElementsAre("|a|5|", "|b|2|"));
  Sql("ALTER TABLE checkpoint_blobs ADD COLUMN added uuid DEFAULT gen_random_uuid()");
  EXPECT_SOON(Tracked("threads"), ElementsAre("|a|5|", "|b|7|"));
}

// A keepalive that comes while groups wait to be read says how far the WAL is, and the server does
// not say it again: with nothing else to stream it is silent for some 15 s.
TEST_F(CaptureGroupsTest, PositionThatIsSentWhileGroupsWaitIsAcknowledged) {
  Sql(kCreateCheckpoints);
  capture_.Begin({Threads()});
  for (int i = 0; i < 5; ++i) {
    Checkpoint("a", absl::StrCat(i), 5 + i);
    ASSERT_TRUE(capture_.CatchUp(absl::Seconds(10))) << "checkpoint " << i;
  }
}

// Whatever is written to the tables, and wherever the capture ends.
TEST_F(CaptureGroupsTest, ManyChangesEndAsTheyAre) {
  Sql(kCreateCheckpoints);
  capture_.Begin({Threads()});
  ASSERT_TRUE(capture_.CatchUp());
  std::mt19937 random(1);
  const auto thread = [&] { return absl::StrCat("'t", random() % 8, "'"); };
  for (int i = 0; i < 500; ++i) {
    const std::string at = absl::StrCat("to_timestamp(", 1 + random() % 100'000, ")");
    const std::string number = absl::StrCat("'", random() % 5, "'");
    switch (random() % 7) {
      case 0:
        Sql(
            absl::StrCat("INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, "
                         "ttl_written_at) VALUES (",
                         thread(), ", ", number, ", '{}', ", at,
                         ") ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET "
                         "ttl_written_at = excluded.ttl_written_at"));
        break;
      case 1:
        Sql(
            absl::StrCat("INSERT INTO checkpoint_blobs (thread_id, channel, version, type, "
                         "ttl_written_at) VALUES (",
                         thread(), ", 'c', ", number, ", 't', ", at, ") ON CONFLICT DO NOTHING"));
        break;
      case 2:
        Sql(absl::StrCat("UPDATE checkpoint_blobs SET ttl_written_at = ", at,
                         " WHERE thread_id = ", thread()));
        break;
      case 3:
        Sql(absl::StrCat("DELETE FROM checkpoints WHERE thread_id = ", thread(),
                         " AND checkpoint_id < ", number));
        break;
      case 4:
        Sql(absl::StrCat("BEGIN; DELETE FROM checkpoint_blobs WHERE thread_id = ", thread(),
                         "; UPDATE checkpoints SET ttl_written_at = ", at, " WHERE thread_id = ",
                         thread(), "; ", random() % 3 == 0 ? "ROLLBACK" : "COMMIT"));
        break;
      case 5:
        if (random() % 10 == 0) {
          capture_.Stop();
          capture_.Start();
        }
        break;
      default:
        Sql(absl::StrCat("DELETE FROM checkpoint_writes WHERE thread_id = ", thread(),
                         "; INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, "
                         "channel, blob, ttl_written_at) VALUES (",
                         thread(), ", ", number, ", 'x', ", i, ", 'c', '', ", at, ")"));
    }
    if (i % 100 == 99) ExpectSame(kThreads, "threads");
  }
  ExpectSame(kThreads, "threads");
}

}  // namespace
}  // namespace ttl::postgres
