// ttl-postgres is killed around a rewrite of a table by commit time.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

constexpr char kConfig[] = R"yaml(
tables:
  - { container: carts, table: carts, id: id, ttl_column: ttl, accept_commit_time: true, live_view: carts_live }
)yaml";

class RewrittenTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(table_);
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    v1::Container container;
    container.set_id("carts");
    container.set_default_ttl(3600);
    TtlClientOptions options;
    options.address = sidecar_.address();
    client_.emplace(options);
    ASSERT_TRUE(client_->containers().Create(container).ok());
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.Start(kPatience).ok()) << postgres_.Log();
  }

  std::string Ids(const std::string& relation) {
    return database_.Value(
        absl::StrCat("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM ", relation));
  }

  // The _ts that the sidecar knows of each item.
  std::map<std::string, int64_t> Tracked() {
    v1::ListItemsRequest request;
    request.set_container("carts");
    request.set_show_expired(true);
    request.set_page_size(1000);
    std::map<std::string, int64_t> times;
    do {
      const auto items = client_->ListItems(request);
      if (!items.ok()) return times;
      for (const v1::ItemView& view : items->items()) times[view.item().id()] = view.item().ts();
      request.set_page_token(items->next_page_token());
    } while (!request.page_token().empty());
    return times;
  }

  // The _ts of each row that it has in SQL.
  std::map<std::string, int64_t> TimesInSql() {
    const auto rows = database_.Sql(
        "SELECT id, floor(extract(epoch FROM CASE WHEN xmin = ANY (ARRAY(SELECT unnest(xids) FROM "
        "ttl.rewrites)) THEN ttl.commit_time(tableoid, ctid, xmin) ELSE "
        "pg_xact_commit_timestamp(xmin) END))::bigint FROM carts");
    std::map<std::string, int64_t> times;
    for (int row = 0; row < rows.rows(); ++row) {
      times[std::string(rows.Text(row, 0))] = rows.Number(row, 1);
    }
    return times;
  }

  // As where the role that installs may not create event triggers.
  void DropEventTriggers() {
    database_.Sql("DROP EVENT TRIGGER ttl_note_rows; DROP EVENT TRIGGER ttl_hold_times");
  }

  void ExpectLog(const std::string& text) {
    EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(postgres_.Log(), text); }, kPatience))
        << postgres_.Log();
  }

  // Until a second later than any row was written, so that a later _ts is another one.
  void AwaitNextSecond() {
    EXPECT_TRUE(WaitUntil(
        [&] {
          return database_.Value(
                     "SELECT date_trunc('second', clock_timestamp()) > "
                     "max(pg_xact_commit_timestamp(xmin)) FROM carts") == "t";
        },
        kPatience));
  }

  void ExpectTracked(size_t count) {
    EXPECT_TRUE(WaitUntil([&] { return Tracked().size() == count; }, kPatience)) << postgres_.Log();
  }

  // Until the file is known that the times of the rows belong to.
  void ExpectKnownFile() {
    EXPECT_TRUE(WaitUntil(
        [&] { return database_.Value("SELECT count(*) FROM ttl.known_files") == "1"; }, kPatience))
        << postgres_.Log();
  }

  std::string table_ = "CREATE TABLE carts (id bigint PRIMARY KEY, ttl integer)";
  const TempDir dir_;
  PostgresServer database_;
  TtlPostgresProcessOptions options_{dir_.path(), "postgres", database_.Conninfo(),
                                     absl::StrCat("unix:", dir_.File("sidecar.sock")), kConfig};
  SidecarProcess sidecar_{
      {dir_.path(), "sidecar", TtlPostgresProcess::AddressOf(options_), {}, {}}};
  TtlPostgresProcess postgres_{options_};
  std::optional<TtlClient> client_;
};

TEST_F(RewrittenTableTest, TimesAreHeldAndTheDeletesGoOn) {
  database_.Sql("INSERT INTO carts VALUES (1, 6), (2, NULL), (3, NULL)");
  // Row 1 expires while nothing can delete it.
  const auto migrating = database_.Connect();
  ASSERT_TRUE(migrating->Execute("BEGIN; LOCK TABLE carts").ok());
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 3; }, kPatience)) << postgres_.Log();
  std::map<std::string, int64_t> before = Tracked();
  const auto is_expired = [&] {
    return migrating
        ->Query(
            "SELECT clock_timestamp() > pg_xact_commit_timestamp(xmin) + interval '7 s' FROM "
            "carts WHERE id = 1")
        ->Bool(0, 0);
  };
  ASSERT_TRUE(WaitUntil(is_expired, kPatience));
  ASSERT_TRUE(
      migrating->Execute("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()").ok());
  postgres_.Kill();
  ASSERT_TRUE(migrating->Execute("COMMIT").ok());
  EXPECT_EQ(Ids("carts_live"), "2 3");
  EXPECT_EQ(Ids("carts"), "1 2 3");
  database_.Sql("UPDATE carts SET other = NULL WHERE id = 3");
  for (int kill = 0; kill < 2; ++kill) {
    ASSERT_TRUE(postgres_.Start(kPatience).ok()) << postgres_.Log();
    if (kill == 0) postgres_.Kill();
  }
  EXPECT_TRUE(WaitUntil([&] { return Ids("carts") == "2 3"; }, kPatience)) << postgres_.Log();
  EXPECT_TRUE(WaitUntil([&] { return Tracked().size() == 2; }, kPatience)) << postgres_.Log();
  EXPECT_EQ(Tracked()["2"], before["2"]);
  EXPECT_GT(Tracked()["3"], before["3"]);
  // Of the other rows nothing is held any more.
  EXPECT_TRUE(WaitUntil(
      [&] { return database_.Value("SELECT count(*) FROM ttl.held_times") == "1"; }, kPatience));
}

// It keeps what the sidecar knows; the row that had expired is deleted.
TEST_F(RewrittenTableTest, WithoutEventTriggersKnownTimesAreHeld) {
  DropEventTriggers();
  ExpectKnownFile();
  database_.Sql("INSERT INTO carts VALUES (1, 6), (2, NULL), (3, NULL), (4, NULL)");
  const auto migrating = database_.Connect();
  ASSERT_TRUE(migrating->Execute("BEGIN; LOCK TABLE carts").ok());
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 4; }, kPatience)) << postgres_.Log();
  const std::map<std::string, int64_t> before = Tracked();
  ASSERT_TRUE(WaitUntil(
      [&] {
        return migrating
            ->Query(
                "SELECT clock_timestamp() > pg_xact_commit_timestamp(xmin) + interval '7 s' FROM "
                "carts WHERE id = 1")
            ->Bool(0, 0);
      },
      kPatience));
  ASSERT_TRUE(migrating
                  ->Execute("SAVEPOINT s; ALTER TABLE carts ADD other uuid DEFAULT "
                            "gen_random_uuid(); UPDATE carts SET other = NULL WHERE id = 3; "
                            "RELEASE s; COMMIT")
                  .ok());
  database_.Sql("UPDATE carts SET other = NULL WHERE id = 4");
  // The first is one of them: the sidecar's attempts to delete it meanwhile change nothing.
  ExpectLog("table public.carts was rewritten: the times of 2 rows are held");
  EXPECT_EQ(TimesInSql()["2"], before.at("2"));
  EXPECT_TRUE(WaitUntil([&] { return Ids("carts") == "2 3 4"; }, kPatience)) << postgres_.Log();
  EXPECT_TRUE(WaitUntil([&] { return Tracked() == TimesInSql(); }, kPatience)) << postgres_.Log();
  EXPECT_EQ(Tracked()["2"], before.at("2"));
  EXPECT_GT(Tracked()["3"], before.at("3"));
  EXPECT_GT(Tracked()["4"], before.at("4"));

  database_.Sql("VACUUM FULL carts");
  ExpectLog("table public.carts was rewritten: the times of 1 rows are held");
  EXPECT_EQ(TimesInSql()["2"], before.at("2"));
  EXPECT_EQ(Ids("carts_live"), "2 3 4");
}

TEST_F(RewrittenTableTest, RewriteWhileNobodyFollowsIsNoticedAtTheNextStart) {
  DropEventTriggers();
  database_.Sql("INSERT INTO carts SELECT i FROM generate_series(1, 3000) AS i");
  ExpectTracked(3000);
  ExpectKnownFile();
  const std::map<std::string, int64_t> before = TimesInSql();
  AwaitNextSecond();
  postgres_.Kill();
  database_.Sql("UPDATE carts SET ttl = 9999 WHERE id = 3");
  database_.Sql("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()");
  database_.Sql("UPDATE carts SET other = NULL WHERE id = 4");
  EXPECT_GT(TimesInSql()["2"], before.at("2"));
  ASSERT_TRUE(postgres_.Start(kPatience).ok()) << postgres_.Log();
  ExpectLog("table public.carts was rewritten: the times of ");
  std::map<std::string, int64_t> after = TimesInSql();
  EXPECT_GT(after["3"], before.at("3"));
  EXPECT_GT(after["4"], before.at("4"));
  after["3"] = before.at("3");
  after["4"] = before.at("4");
  EXPECT_TRUE(after == before);
}

class RewrittenPartitionTest : public RewrittenTableTest {
 protected:
  RewrittenPartitionTest() {
    table_ =
        "CREATE TABLE carts (id bigint PRIMARY KEY, ttl integer) PARTITION BY RANGE (id);"
        "CREATE TABLE carts_1 PARTITION OF carts FOR VALUES FROM (0) TO (10)";
  }
};

// It is read again, since its file is another one; but not before the times are held.
TEST_F(RewrittenPartitionTest, TheSidecarKeepsTheTimesThatItKnows) {
  DropEventTriggers();
  database_.Sql("INSERT INTO carts VALUES (1, NULL), (2, NULL)");
  ExpectTracked(2);
  ExpectKnownFile();
  const std::map<std::string, int64_t> before = Tracked();
  AwaitNextSecond();
  database_.Sql("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()");
  ExpectLog("was rewritten: the times of 2 rows are held");
  ExpectLog("reading partition public.carts_1, which is new");
  EXPECT_TRUE(WaitUntil([&] { return database_.Value("SELECT scanned FROM ttl.progress") == "2"; },
                        kPatience))
      << postgres_.Log();
  EXPECT_EQ(Tracked(), before);
  EXPECT_EQ(TimesInSql(), before);
}

// An open transaction keeps the times from being held, which the log and the readiness say.
TEST_F(RewrittenPartitionTest, WhatHoldingWaitsForIsSaid) {
  DropEventTriggers();
  database_.Sql("INSERT INTO carts VALUES (1, NULL), (2, NULL)");
  ExpectTracked(2);
  ExpectKnownFile();
  const std::map<std::string, int64_t> before = Tracked();
  AwaitNextSecond();
  const auto open = database_.Connect();
  ASSERT_TRUE(open->Execute("BEGIN; SELECT pg_current_xact_id()").ok());
  database_.Sql("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()");
  const std::string waits =
      "table public.carts was rewritten; holding the times of its rows waits for older "
      "transactions to end";
  ExpectLog(waits);
  ExpectLog(absl::StrCat("streaming; ", waits));
  ASSERT_TRUE(open->Execute("COMMIT").ok());
  ExpectLog("was rewritten: the times of 2 rows are held");
  EXPECT_EQ(TimesInSql(), before);
  EXPECT_EQ(Tracked(), before);
}

TEST_F(RewrittenPartitionTest, AnotherPartitionIsReadWhileOneIsRewrittenAgainAndAgain) {
  DropEventTriggers();
  database_.Sql("INSERT INTO carts VALUES (1, NULL), (2, NULL)");
  ExpectTracked(2);
  ExpectKnownFile();
  const std::map<std::string, int64_t> before = Tracked();
  AwaitNextSecond();
  database_.Sql("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()");
  ExpectLog("table public.carts was rewritten; ");
  database_.Sql(
      "CREATE TABLE carts_2 (LIKE carts INCLUDING ALL); INSERT INTO carts_2 VALUES (10), (11);"
      "ALTER TABLE carts ATTACH PARTITION carts_2 FOR VALUES FROM (10) TO (20)");
  EXPECT_TRUE(WaitUntil(
      [&] {
        database_.Sql("VACUUM FULL carts_1");
        return Tracked().size() == 4;
      },
      absl::Minutes(1)))
      << postgres_.Log();
  EXPECT_FALSE(absl::StrContains(postgres_.Log(), "rows are held"));
  ExpectLog("was rewritten: the times of 2 rows are held");
  EXPECT_EQ(TimesInSql()["1"], before.at("1"));
  EXPECT_EQ(Tracked()["1"], before.at("1"));
}

}  // namespace
}  // namespace ttl
