#include "client/postgres/capture/tables/rewritten_rows.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/visibility.h"
#include "tests/postgres/database_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

constexpr char kRewrite[] = "ALTER TABLE rows ADD other uuid DEFAULT gen_random_uuid()";

// The sidecar is what Known() says. Nothing but this holds times: there are no event triggers.
class RewrittenRowsTest : public testing::Test {
 protected:
  void Prepare(const std::string& sql) {
    database_.Sql(sql);
    TableConfig config;
    config.container = "rows";
    config.table = "rows";
    config.id = {"id"};
    config.accept_commit_time = true;
    table_ = database_.Install(database_.ConfigFor({config})).at(0);
    table_.own_schema = "ttl";
    database_.Sql(
        "DO $$ BEGIN DROP EVENT TRIGGER ttl_note_rows; "
        "DROP EVENT TRIGGER ttl_hold_times; END $$");
    connection_ = database_.Connect();
    ASSERT_TRUE(connection_->Execute(Connection::kSystemNamesOnly).ok());
    query_ = std::make_unique<PatientQuery>(*connection_, absl::Seconds(1),
                                            [] { return absl::OkStatus(); });
    rows_.emplace(table_);
    Look();
    EXPECT_FALSE(rows_->is_due());
  }

  void Look() {
    const absl::Status status = rows_->Look(*query_, [](uint32_t) { return false; });
    EXPECT_TRUE(status.ok()) << status;
  }

  void LookUntilReady() {
    for (int look = 0; look < 3; ++look) Look();
    ASSERT_TRUE(rows_->is_ready());
  }

  // Items of these times, by id.
  int64_t Hold(const std::map<std::string, int64_t>& known) {
    v1::ListItemsResponse page;
    for (const auto& [id, ts] : known) {
      page.add_items()->mutable_item()->set_id(id);
      page.mutable_items()->rbegin()->mutable_item()->set_ts(ts);
    }
    const auto held = rows_->Hold(*query_, page);
    EXPECT_TRUE(held.ok()) << held.status();
    return held.value_or(-1);
  }

  void Finish() { EXPECT_TRUE(rows_->Finish(*query_).ok()); }

  // As the view has it.
  int64_t Time(int id) {
    const std::string time =
        database_.Value(absl::StrCat("SELECT floor(extract(epoch FROM ", CommitTimeOfRow("ttl"),
                                     "))::bigint FROM rows AS t WHERE id = ", id));
    return std::stoll(time);
  }

  uint32_t Oid(const std::string& table) {
    return static_cast<uint32_t>(
        std::stoul(database_.Value(absl::StrCat("SELECT '", table, "'::regclass::oid"))));
  }

  bool IsInDoubt() {
    return database_.Value(absl::StrCat("SELECT bool_or(", ::ttl::postgres::IsInDoubt("ttl"),
                                        ") FROM rows AS t")) == "t";
  }

  DatabaseForTest database_;
  TableDefinition table_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<PatientQuery> query_;
  std::optional<RewrittenRows> rows_;
};

constexpr char kRows[] =
    "CREATE TABLE rows (id int PRIMARY KEY, note text);"
    "INSERT INTO rows VALUES (1, 'a'), (2, 'b'), (3, 'c')";

TEST_F(RewrittenRowsTest, KnownTimesAreHeldInEveryFileAndUntilThenTheRowsAreInDoubt) {
  Prepare(kRows);
  EXPECT_FALSE(IsInDoubt());
  const int64_t now = Time(1);
  int64_t age = 1000;
  for (const char* change : {kRewrite, "VACUUM FULL rows", "CLUSTER rows USING rows_pkey",
                             "ALTER TABLE rows ADD more uuid DEFAULT gen_random_uuid()"}) {
    SCOPED_TRACE(change);
    database_.Sql(change);
    EXPECT_TRUE(IsInDoubt());
    LookUntilReady();
    EXPECT_EQ(Hold({{"1", now - age}, {"2", now - age - 1}, {"77", 5}, {"no number", 5}}), 2);
    Finish();
    EXPECT_FALSE(rows_->is_due());
    EXPECT_FALSE(IsInDoubt());
    EXPECT_EQ(Time(1), now - age);
    EXPECT_EQ(Time(2), now - age - 1);
    EXPECT_GE(Time(3), now);
    Look();
    EXPECT_FALSE(rows_->is_due());
  }
}

// As where pg_repack swaps a file in that it has filled by several transactions. The first of them
// is held first, by a page of its own.
TEST_F(RewrittenRowsTest, RowsOfSeveralTransactionsInOneFileAreHeld) {
  Prepare(kRows);
  database_.Sql("UPDATE rows SET note = 'd' WHERE id = 2");
  database_.Sql("UPDATE rows SET note = 'e' WHERE id = 3");
  database_.Sql("UPDATE ttl.known_files SET filenode = 1");
  LookUntilReady();
  const int64_t now = Time(1);
  EXPECT_EQ(Hold({{"1", now - 100}}), 1);
  EXPECT_EQ(Hold({{"2", now - 200}, {"3", now - 300}}), 2);
  Finish();
  EXPECT_EQ(Time(1), now - 100);
  EXPECT_EQ(Time(2), now - 200);
  EXPECT_EQ(Time(3), now - 300);
}

// Of a row that was there before, which another transaction wrote.
TEST_F(RewrittenRowsTest, HeldTimeCountsForTheTransactionThatWroteTheRow) {
  Prepare(kRows);
  database_.Sql("UPDATE ttl.known_files SET filenode = 1");
  LookUntilReady();
  const int64_t now = Time(1);
  database_.Sql(
      "INSERT INTO ttl.held_times SELECT pg_relation_filenode('rows'), ctid, '3', 'epoch' FROM "
      "rows");
  EXPECT_EQ(Time(1), now);
  EXPECT_EQ(Hold({{"1", now - 100}}), 1);
  EXPECT_EQ(Time(1), now - 100);
  EXPECT_EQ(Time(2), now);
}

// They are changes that the sidecar knows, or will know.
TEST_F(RewrittenRowsTest, RowThatWasWrittenHasItsTime) {
  Prepare(kRows);
  database_.Sql(
      absl::StrCat("BEGIN; ", kRewrite, "; UPDATE rows SET note = 'd' WHERE id = 1; COMMIT"));
  LookUntilReady();
  database_.Sql("UPDATE rows SET note = 'e' WHERE id = 2");
  const int64_t written = Time(1);
  EXPECT_EQ(Hold({{"1", written}, {"2", written - 100}, {"3", written - 100}}), 1);
  Finish();
  EXPECT_EQ(Time(1), written);
  EXPECT_GE(Time(2), written);
  EXPECT_EQ(Time(3), written - 100);
}

// Nothing is held of the file any more when the removal begins.
TEST_F(RewrittenRowsTest, TimeThatIsHeldDuringARemovalCounts) {
  Prepare(kRows);
  const int64_t now = Time(1);
  database_.Sql(kRewrite);
  LookUntilReady();
  EXPECT_EQ(Hold({{"1", now - 100}}), 1);
  database_.Sql("UPDATE rows SET note = 'd' WHERE id = 1");
  ASSERT_TRUE(connection_->Execute("BEGIN").ok());
  EXPECT_EQ(Hold({{"2", now - 100}}), 1);
  std::future<absl::Status> removed = std::async(
      std::launch::async, [this] { return RemoveHeldTimes(*database_.Connect(), "ttl"); });
  EXPECT_TRUE(WaitUntil(
      [&] {
        return removed.wait_for(std::chrono::seconds(0)) == std::future_status::ready ||
               database_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = "
                   "'Lock' AND query LIKE '%remove_held_times%'") == "1";
      },
      absl::Seconds(60)));
  ASSERT_TRUE(connection_->Execute("COMMIT").ok());
  EXPECT_EQ(removed.get(), absl::OkStatus());
  EXPECT_EQ(Time(2), now - 100);
}

// It may write a row with an earlier transaction id than the rewrite's, or one of a subtransaction.
TEST_F(RewrittenRowsTest, TransactionThatBeganBeforeIsWaitedFor) {
  Prepare(absl::StrCat(kRows, "; CREATE TABLE other (id int)"));
  const auto before = database_.Connect();
  ASSERT_TRUE(before->Execute("BEGIN").ok());
  ASSERT_TRUE(before->Execute("INSERT INTO other VALUES (1)").ok());
  database_.Sql(kRewrite);
  for (int look = 0; look < 5; ++look) Look();
  EXPECT_TRUE(rows_->is_waiting());
  EXPECT_EQ(rows_->state(),
            "was rewritten; holding the times of its rows waits for older transactions to end");
  EXPECT_FALSE(rows_->is_ready());
  ASSERT_TRUE(before->Execute("COMMIT").ok());
  Look();
  EXPECT_FALSE(rows_->is_ready());
  Look();
  EXPECT_TRUE(rows_->is_ready());
}

TEST_F(RewrittenRowsTest, AnotherRewriteBeginsAnew) {
  Prepare(kRows);
  const int64_t now = Time(1);
  database_.Sql(kRewrite);
  LookUntilReady();
  EXPECT_EQ(Hold({{"1", now - 100}}), 1);
  database_.Sql("ALTER TABLE rows ADD more uuid DEFAULT gen_random_uuid()");
  EXPECT_EQ(Hold({{"2", now - 100}}), 0);
  Look();
  EXPECT_FALSE(rows_->is_ready());
  Look();
  Look();
  ASSERT_TRUE(rows_->is_ready());
  EXPECT_EQ(Hold({{"1", now - 100}, {"2", now - 100}}), 2);
  Finish();
  EXPECT_EQ(Time(1), now - 100);
  EXPECT_EQ(Time(2), now - 100);
}

constexpr char kPartitions[] =
    "CREATE TABLE rows (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);"
    "CREATE TABLE rows_1 PARTITION OF rows FOR VALUES FROM (1) TO (10);"
    "CREATE TABLE rows_2 PARTITION OF rows FOR VALUES FROM (10) TO (20);"
    "INSERT INTO rows VALUES (1, 'a'), (10, 'b')";

TEST_F(RewrittenRowsTest, RewritesOfOnePartitionDoNotKeepAnotherOneFromBeingHeld) {
  Prepare(kPartitions);
  const int64_t now = Time(1);
  database_.Sql("ALTER TABLE rows_1 SET UNLOGGED; ALTER TABLE rows_2 SET UNLOGGED");
  for (int look = 0; look < 3; ++look) {
    Look();
    database_.Sql("VACUUM FULL rows_2");
  }
  ASSERT_TRUE(rows_->is_ready());
  const int64_t choices = rows_->choices();
  EXPECT_EQ(Hold({{"1", now - 100}}), 1);
  database_.Sql("VACUUM FULL rows_2");
  for (int look = 0; look < 3; ++look) Look();
  EXPECT_EQ(rows_->choices(), choices);
  Finish();
  EXPECT_EQ(Time(1), now - 100);
  EXPECT_FALSE(rows_->IsDue(Oid("rows_1")));
  EXPECT_TRUE(rows_->IsDue(Oid("rows_2")));
  EXPECT_FALSE(rows_->is_ready());
  Look();
  ASSERT_TRUE(rows_->is_ready());
  EXPECT_EQ(rows_->choices(), choices + 1);
  EXPECT_EQ(Hold({{"1", now - 200}, {"10", now - 300}}), 1);
  Finish();
  EXPECT_EQ(Time(1), now - 100);
  EXPECT_EQ(Time(10), now - 300);
  EXPECT_FALSE(rows_->is_due());
}

// What was written meanwhile is in no stream.
TEST_F(RewrittenRowsTest, OfAPartitionThatWasDetachedNothingIsHeld) {
  Prepare(kPartitions);
  const int64_t now = Time(1);
  database_.Sql("ALTER TABLE rows DETACH PARTITION rows_1");
  database_.Sql("UPDATE rows_1 SET note = 'new'");
  database_.Sql("VACUUM FULL rows_1");
  database_.Sql("ALTER TABLE rows ATTACH PARTITION rows_1 FOR VALUES FROM (1) TO (10)");
  database_.Sql("ALTER TABLE rows_2 SET UNLOGGED");
  LookUntilReady();
  EXPECT_EQ(Hold({{"1", now - 100}, {"10", now - 100}}), 1);
  Finish();
  EXPECT_GE(Time(1), now);
  EXPECT_EQ(Time(10), now - 100);
}

}  // namespace
}  // namespace ttl::postgres
