#include "client/postgres/row/observe_snapshot.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

absl::Status Observe(Connection& connection, VisiblePosition& position) {
  return ObserveSnapshot([&](const char* query) { return connection.Query(query); }, position);
}

class ObserveSnapshotTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = server_.Start();
    ASSERT_TRUE(started.ok()) << started;
    server_.Sql("CREATE TABLE t (id int)");
  }

  // How far Get() comes with so many looks at the database.
  uint64_t Look(int times) {
    for (int i = 0; i < times; ++i) {
      const absl::Status observed = Observe(server_.sql(), position_);
      EXPECT_TRUE(observed.ok()) << observed;
    }
    return position_.Get();
  }

  PostgresServer server_;
  VisiblePosition position_;
};

TEST_F(ObserveSnapshotTest, TwoLooksAreEnoughOnADatabaseAtRest) {
  position_.Acknowledge(100);
  EXPECT_EQ(Look(1), 0);
  EXPECT_EQ(Look(1), 100);
}

TEST_F(ObserveSnapshotTest, WaitsForTransactionsThatRun) {
  const auto writer = server_.Connect();
  ASSERT_TRUE(writer->Execute("BEGIN").ok());
  ASSERT_TRUE(writer->Execute("INSERT INTO t VALUES (1)").ok());
  position_.Acknowledge(100);
  EXPECT_EQ(Look(3), 0);
  ASSERT_TRUE(writer->Execute("COMMIT").ok());
  EXPECT_EQ(Look(1), 100);
}

TEST_F(ObserveSnapshotTest, DoesNotWaitForThoseThatBeginLater) {
  position_.Acknowledge(100);
  EXPECT_EQ(Look(1), 0);
  const auto writer = server_.Connect();
  ASSERT_TRUE(writer->Execute("BEGIN").ok());
  ASSERT_TRUE(writer->Execute("INSERT INTO t VALUES (1)").ok());
  EXPECT_EQ(Look(1), 100);
}

// It has no place below the xmax of a snapshot, since nothing after it has ended.
TEST_F(ObserveSnapshotTest, CommitThatIsStreamedBeforeItIsSeenHoldsThePosition) {
  server_.Sql("SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
  // Only the writer waits for the standby that is not there.
  server_.Sql("SET synchronous_commit = local");
  server_.HoldCommits();
  const auto writer = server_.Connect();
  std::thread commit([&writer] { (void)writer->Query("INSERT INTO t VALUES (1)"); });
  const std::string changes =
      "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL) WHERE data LIKE '%id%'";
  EXPECT_TRUE(WaitUntil([&] { return server_.Value(changes) == "1"; }, absl::Seconds(60)));
  EXPECT_EQ(server_.Value("SELECT count(*) FROM t"), "0");

  position_.Acknowledge(100);
  EXPECT_EQ(Look(5), 0);
  server_.LetCommitsGo();
  commit.join();
  EXPECT_EQ(server_.Value("SELECT count(*) FROM t"), "1");
  EXPECT_EQ(Look(1), 100);
}

TEST_F(ObserveSnapshotTest, FailsWithoutAConnectionAndChangesNothing) {
  const auto connection = server_.Connect();
  position_.Acknowledge(100);
  server_.Kill();
  EXPECT_EQ(Observe(*connection, position_).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(position_.Get(), 0);
}

}  // namespace
}  // namespace ttl::postgres
