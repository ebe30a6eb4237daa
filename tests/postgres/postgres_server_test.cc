#include "tests/testing/postgres_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ttl {
namespace {

TEST(PostgresServerTest, ServesWithLogicalReplicationAndCommitTimes) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  EXPECT_EQ(server.Value("SHOW wal_level"), "logical");
  EXPECT_EQ(server.Value("SHOW track_commit_timestamp"), "on");
  EXPECT_EQ(server.Value("SHOW fsync"), "off");
  EXPECT_EQ(server.Value("SELECT NULL"), "NULL");
}

TEST(PostgresServerTest, TakesSettings) {
  PostgresServer server({.fsync = true, .settings = {{"wal_sender_timeout", "2s"}}});
  ASSERT_TRUE(server.Start().ok());
  EXPECT_EQ(server.Value("SHOW fsync"), "on");
  EXPECT_EQ(server.Value("SHOW wal_sender_timeout"), "2s");
}

TEST(PostgresServerTest, ServerThatCannotStartSaysWhy) {
  PostgresServer server({.settings = {{"wal_sender_timeout", "a while"}}});
  EXPECT_THAT(server.Start().message(), testing::HasSubstr("wal_sender_timeout"));
  EXPECT_FALSE(server.IsRunning());
}

TEST(PostgresServerTest, KeepsItsDataOverStopAndKill) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Sql("CREATE TABLE t (id int); INSERT INTO t VALUES (1)");
  const absl::Status restarted = server.Restart();
  ASSERT_TRUE(restarted.ok()) << restarted;
  EXPECT_EQ(server.Value("SELECT count(*) FROM t"), "1");

  server.Sql("INSERT INTO t VALUES (2)");
  server.Kill();
  EXPECT_FALSE(server.IsRunning());
  const absl::Status started = server.Start();
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(server.Value("SELECT count(*) FROM t"), "2");
}

TEST(PostgresServerTest, ServersAreIndependent) {
  PostgresServer one;
  PostgresServer other;
  ASSERT_TRUE(one.Start().ok());
  ASSERT_TRUE(other.Start().ok());
  one.Sql("CREATE DATABASE shop");
  EXPECT_EQ(one.Value("SELECT current_database()", "shop"), "shop");
  EXPECT_EQ(other.Value("SELECT count(*) FROM pg_database WHERE datname = 'shop'"), "0");
}

TEST(PostgresServerTest, HangsWhileSuspended) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Suspend();
  const auto refused = postgres::Connection::Open(server.Conninfo() + " connect_timeout=1", "test");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable) << refused.status();
  server.Resume();
  EXPECT_EQ(server.Value("SELECT 1"), "1");
}

}  // namespace
}  // namespace ttl
