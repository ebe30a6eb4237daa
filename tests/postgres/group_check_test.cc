// Tables with group_by: what check refuses, what is installed, and what views and policies show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/postgres/database_for_test.h"
#include "tests/postgres/groups_for_test.h"

namespace ttl::postgres {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class GroupCheckTest : public testing::Test {
 protected:
  std::vector<std::string> ProblemsOf(const TableConfig& table) {
    const CatalogReport report = db_.Check(db_.ConfigFor({table}));
    EXPECT_EQ(report.tables.empty(), !report.problems.empty());
    return report.problems;
  }

  // Threads have their default_ttl; orders never inherit one.
  void SwitchOn(const std::string& container, int64_t default_ttl) {
    db_.Sql(absl::StrCat(
        "INSERT INTO ttl.policy VALUES ('", container, "', ", default_ttl,
        ", 1, now()) ON CONFLICT (container) DO UPDATE SET default_ttl = ", default_ttl));
  }

  void Checkpoint(const std::string& thread, const std::string& id, const std::string& age) {
    db_.Sql(
        absl::StrCat("INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, "
                     "ttl_written_at) VALUES ('",
                     thread, "', '", id, "', '{}', now() - interval '", age, "')"));
  }

  std::string ThreadsIn(const std::string& relation) {
    return db_.Value(
        absl::StrCat("SELECT coalesce(string_agg(DISTINCT thread_id, ' ' ORDER BY "
                     "thread_id), '') FROM ",
                     relation));
  }

  DatabaseForTest db_;
};

TEST_F(GroupCheckTest, GroupIsOneDefinitionWithMembersInTheOrderOfDeletes) {
  db_.Sql(absl::StrCat(kCreateCheckpoints, ";", kCreateOrders));
  const std::vector<TableDefinition> tables = db_.Define(db_.ConfigFor({Threads(), Orders()}));
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].members.size(), 2u);
  EXPECT_EQ(tables[0].group, tables[0].oid);
  EXPECT_EQ(tables[0].members[1].group, tables[0].oid);
  // The lines refer to the orders.
  EXPECT_THAT(tables[1].delete_order, ElementsAre(1, 0));
}

TEST_F(GroupCheckTest, TableWithoutAnIndexOfTheGroupAndItsTimeIsRefused) {
  db_.Sql(kCreateCheckpoints);
  db_.Sql("DROP INDEX checkpoint_writes_thread_id_ttl_written_at_idx");
  EXPECT_THAT(ProblemsOf(Threads()),
              ElementsAre(HasSubstr("CREATE INDEX CONCURRENTLY ON \"public\".\"checkpoint_writes\" "
                                    "(\"thread_id\", \"ttl_written_at\")")));
  // A partial index is none of all rows, and a member that follows needs none of a time.
  db_.Sql("CREATE INDEX ON checkpoint_writes (thread_id, ttl_written_at) WHERE idx > 0");
  EXPECT_THAT(ProblemsOf(Threads()), testing::SizeIs(1));
  TableConfig follows = Threads();
  follows.members[1].ts_column.reset();
  EXPECT_THAT(ProblemsOf(follows), IsEmpty());
}

TEST_F(GroupCheckTest, ColumnsOfOtherTypesThatMayBeNullOrAreNotThereAreRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql("CREATE TABLE notes (order_id int, at int); CREATE INDEX ON notes (order_id)");
  TableConfig group = Orders();
  group.members.push_back(MemberOf(group, "notes"));
  group.members.back().id = {"order_id"};
  EXPECT_THAT(ProblemsOf(group), Contains(HasSubstr("order_id of its id may be NULL")));
  db_.Sql("ALTER TABLE notes ALTER order_id SET NOT NULL, REPLICA IDENTITY FULL");
  EXPECT_THAT(ProblemsOf(group),
              ElementsAre("table public.notes: column order_id of its group_by is of type integer; "
                          "must be bigint, as column id of table public.orders"));
  group.members.back().id = {"nothing"};
  EXPECT_THAT(ProblemsOf(group), Contains(HasSubstr("has no column nothing")));
}

TEST_F(GroupCheckTest, ColumnThatCannotBeHashedIsRefused) {
  for (const char* type : {"bit(4)", "bit varying"}) {
    db_.Sql(absl::StrCat("CREATE TABLE bits (k ", type,
                         " NOT NULL, at timestamptz NOT NULL); CREATE INDEX ON bits (k, at); ALTER "
                         "TABLE bits REPLICA IDENTITY FULL"));
    TableConfig bits;
    bits.container = bits.table = "bits";
    bits.id = {"k"};
    bits.is_group = true;
    bits.ts_column = "at";
    EXPECT_THAT(
        ProblemsOf(bits),
        ElementsAre(absl::StrCat("table public.bits: column k of its group_by is of type ", type,
                                 ", which PostgreSQL cannot hash; each write would fail")));
    db_.Sql("DROP TABLE bits");
  }
}

TEST_F(GroupCheckTest, ReplicaIdentityWithoutTheColumnsIsRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE TABLE notes (note_id int PRIMARY KEY, order_id bigint NOT NULL); "
      "CREATE INDEX ON notes (order_id)");
  TableConfig group = Orders();
  group.members.push_back(MemberOf(group, "notes"));
  group.members.back().id = {"order_id"};
  EXPECT_THAT(ProblemsOf(group), Contains(HasSubstr("the replica identity of public.notes")));
}

TEST_F(GroupCheckTest, PartitionedTablesOtherOwnersCirclesAndForcedRowSecurityAreRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE TABLE notes (order_id bigint NOT NULL, n int NOT NULL, PRIMARY KEY (order_id, "
      "n)) PARTITION BY HASH (order_id)");
  TableConfig group = Orders();
  group.members.push_back(MemberOf(group, "notes"));
  group.members.back().id = {"order_id"};
  EXPECT_THAT(ProblemsOf(group), Contains(HasSubstr("public.notes is partitioned")));
  group.members.pop_back();

  const std::string role = db_.CreateRole();
  db_.Sql(absl::StrCat("ALTER TABLE lines OWNER TO ", role));
  EXPECT_THAT(ProblemsOf(group), ElementsAre(absl::StrCat(
                                     "table lines is owned by ", role,
                                     "; must be postgres, as table public.orders, the first table "
                                     "of its group")));
  db_.Sql(
      "ALTER TABLE lines OWNER TO postgres; ALTER TABLE orders ADD COLUMN last int, ADD "
      "FOREIGN KEY (id, part, last) REFERENCES lines");
  EXPECT_THAT(ProblemsOf(group), ElementsAre(HasSubstr("form a circle")));
  db_.Sql(
      "ALTER TABLE orders DROP COLUMN last; ALTER TABLE orders ENABLE ROW LEVEL SECURITY, "
      "FORCE ROW LEVEL SECURITY");
  EXPECT_THAT(ProblemsOf(group), ElementsAre(HasSubstr("NO FORCE ROW LEVEL SECURITY")));
}

// It may change the group after the lock was taken; others cannot.
TEST_F(GroupCheckTest, TriggerThatFiresAfterTheLockIsRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
      "CREATE TRIGGER zz_ttl_postgres_lock BEFORE INSERT ON lines FOR EACH ROW EXECUTE FUNCTION "
      "f();"
      "CREATE TRIGGER zza BEFORE DELETE ON lines FOR EACH ROW EXECUTE FUNCTION f();"
      "CREATE TRIGGER zzb AFTER INSERT ON lines FOR EACH ROW EXECUTE FUNCTION f();"
      "CREATE TRIGGER zzc BEFORE INSERT ON lines EXECUTE FUNCTION f();"
      "CREATE TRIGGER \"{\" BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f();"
      "CREATE TRIGGER zz_z BEFORE UPDATE OF part ON lines FOR EACH ROW EXECUTE FUNCTION f()");
  EXPECT_THAT(ProblemsOf(Orders()),
              ElementsAre(HasSubstr("table public.orders: trigger { fires after"),
                          HasSubstr("table public.lines: trigger zz_z fires after the one that "
                                    "locks the group of a written row, and may change the group")));
  db_.Sql("ALTER TABLE orders DISABLE TRIGGER ALL; ALTER TRIGGER zz_z ON lines RENAME TO a");
  EXPECT_THAT(ProblemsOf(Orders()), IsEmpty());
}

// It would delete or change rows of a group that is not locked.
TEST_F(GroupCheckTest, ForeignKeyThatCascadesToOtherGroupsIsRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql("ALTER TABLE orders ADD COLUMN n int UNIQUE; ALTER TABLE lines ADD COLUMN n int");
  for (const char* action : {"CASCADE", "SET NULL", "SET DEFAULT"}) {
    db_.Sql(
        absl::StrCat("ALTER TABLE lines ADD CONSTRAINT k FOREIGN KEY (n) REFERENCES orders (n) "
                     "ON DELETE ",
                     action));
    EXPECT_THAT(ProblemsOf(Orders()),
                ElementsAre(HasSubstr("table lines: foreign key k to orders would delete or change "
                                      "rows of other groups")))
        << action;
    db_.Sql("ALTER TABLE lines DROP CONSTRAINT k");
  }
  db_.Sql("ALTER TABLE lines ADD CONSTRAINT k FOREIGN KEY (n) REFERENCES orders (n)");
  EXPECT_THAT(ProblemsOf(Orders()), IsEmpty());
  db_.Sql(
      "ALTER TABLE orders ADD CONSTRAINT self FOREIGN KEY (n) REFERENCES orders (n) ON DELETE "
      "CASCADE");
  EXPECT_THAT(ProblemsOf(Orders()), ElementsAre(HasSubstr("foreign key self to orders")));
}

// The columns of the group may be there, but swapped: rows of one group refer to another.
TEST_F(GroupCheckTest, ForeignKeyThatCascadesWithinTheGroupIsAllowed) {
  db_.Sql(
      "CREATE TABLE a (g int, h int, n int, at timestamptz NOT NULL, parent int, PRIMARY KEY (g, "
      "h, n), FOREIGN KEY (h, g, parent) REFERENCES a (h, g, n) ON DELETE CASCADE);"
      "CREATE INDEX ON a (g, h, at)");
  TableConfig group;
  group.container = group.table = "a";
  group.id = {"g", "h"};
  group.is_group = true;
  group.ts_column = "at";
  EXPECT_THAT(ProblemsOf(group), IsEmpty());
  db_.Sql(
      "ALTER TABLE a ADD CONSTRAINT swapped FOREIGN KEY (h, g, parent) REFERENCES a (g, h, n) "
      "ON DELETE CASCADE");
  EXPECT_THAT(ProblemsOf(group), ElementsAre(HasSubstr("foreign key swapped to a")));
}

TEST_F(GroupCheckTest, ForeignKeysThatLeadBackThroughOtherTablesAreRefused) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "ALTER TABLE orders ADD COLUMN n int UNIQUE;"
      "CREATE TABLE outer1 (id int PRIMARY KEY, n int UNIQUE, FOREIGN KEY (id) REFERENCES orders "
      "(n) ON DELETE CASCADE, FOREIGN KEY (n) REFERENCES orders (n) ON DELETE SET NULL);"
      "ALTER TABLE lines ADD COLUMN by_id int REFERENCES outer1 (id), ADD COLUMN by_n int "
      "REFERENCES outer1 (n)");
  EXPECT_THAT(ProblemsOf(Orders()), IsEmpty());
  db_.Sql(
      "ALTER TABLE lines ADD CONSTRAINT k FOREIGN KEY (by_id) REFERENCES outer1 (id) ON DELETE "
      "CASCADE");
  EXPECT_THAT(ProblemsOf(Orders()), ElementsAre(HasSubstr("lines: foreign key k to outer1")));
  db_.Sql(
      "ALTER TABLE lines DROP CONSTRAINT k, ADD CONSTRAINT u FOREIGN KEY (by_n) REFERENCES "
      "outer1 (n) ON UPDATE CASCADE");
  EXPECT_THAT(ProblemsOf(Orders()), ElementsAre(HasSubstr("lines: foreign key u to outer1")));
}

// A foreign key among the tables of a group keeps no row of it.
TEST_F(GroupCheckTest, ForeignKeysOfTheGroupAreNoWarning) {
  db_.Sql(kCreateOrders);
  EXPECT_THAT(db_.Check(db_.ConfigFor({Orders()})).warnings,
              testing::Not(Contains(HasSubstr("foreign keys refuse"))));
  db_.Sql("CREATE TABLE bills (id bigint, part int, FOREIGN KEY (id, part) REFERENCES orders)");
  EXPECT_THAT(db_.Check(db_.ConfigFor({Orders()})).warnings,
              Contains(HasSubstr("foreign keys refuse it: bills")));
}

TEST_F(GroupCheckTest, InstallIsWholeAndRepeatableAndUninstallLeavesNothing) {
  db_.Sql(absl::StrCat(kCreateCheckpoints, ";", kCreateOrders));
  const std::string before = db_.Dump();
  TableConfig threads = Threads();
  threads.live_view = "checkpoints_live";
  threads.members[0].row_level_security = true;
  threads.members[1].view_schema = "live";
  threads.members[1].live_view = "checkpoint_writes";
  Config config = db_.ConfigFor({threads, Orders()});
  std::vector<TableDefinition> tables = db_.Install(config);
  EXPECT_TRUE(CheckInstalled(db_.connection(), config, tables).ok())
      << CheckInstalled(db_.connection(), config, tables);
  const std::string first = db_.Dump();
  db_.Install(config);
  EXPECT_EQ(db_.Dump(), first);

  // Other columns of the group: the view calls a function with other arguments.
  config.tables[0].id = {"thread_id", "checkpoint_ns"};
  for (TableConfig& member : config.tables[0].members) member.id = config.tables[0].id;
  for (const char* table : {"checkpoints", "checkpoint_blobs", "checkpoint_writes"}) {
    db_.Sql(absl::StrCat("CREATE INDEX ON ", table, " (thread_id, checkpoint_ns, ttl_written_at)"));
  }
  tables = db_.Define(config);
  EXPECT_FALSE(CheckInstalled(db_.connection(), config, tables).ok());
  db_.Install(config);
  EXPECT_TRUE(CheckInstalled(db_.connection(), config, tables).ok())
      << CheckInstalled(db_.connection(), config, tables);
  EXPECT_EQ(db_.Value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'group_is_live_%'"), "2");

  // The tables without group_by have nothing of it.
  db_.Sql("ALTER TABLE checkpoints DISABLE TRIGGER zz_ttl_postgres_lock_group");
  EXPECT_THAT(std::string(CheckInstalled(db_.connection(), config, tables).message()),
              HasSubstr("the trigger of table public.checkpoints that locks groups is disabled"));
  db_.Install(config);
  EXPECT_TRUE(CheckInstalled(db_.connection(), config, tables).ok());

  EXPECT_TRUE(db_.Uninstall(config).ok());
  for (const char* table : {"checkpoints", "checkpoint_blobs", "checkpoint_writes"}) {
    db_.Sql(absl::StrCat("DROP INDEX ", table, "_thread_id_checkpoint_ns_ttl_written_at_idx"));
  }
  EXPECT_EQ(db_.Dump(), before);
}

TEST_F(GroupCheckTest, FunctionsOfAFormerOwnerAreNamedAndInstallingAgainGivesItToTheNewOne) {
  db_.Sql(kCreateOrders);
  const Config config = db_.ConfigFor({Orders()});
  const std::vector<TableDefinition> tables = db_.Install(config);
  const std::string owner = db_.CreateRole();
  db_.Sql(
      absl::StrCat("ALTER TABLE orders OWNER TO ", owner, "; ALTER TABLE lines OWNER TO ", owner));
  const std::string fault(CheckInstalled(db_.connection(), config, tables).message());
  for (const char* function : {"group_is_live_", "is_condemned_"}) {
    EXPECT_THAT(fault, HasSubstr(absl::StrCat("function \"ttl\".\"", function, tables[0].oid,
                                              "\" of table public.orders")));
  }
  db_.Install(config);
  EXPECT_TRUE(CheckInstalled(db_.connection(), config, tables).ok());
}

TEST_F(GroupCheckTest, ViewsShowAllRowsOfAGroupUntilItsLatestEnd) {
  db_.Sql(kCreateCheckpoints);
  TableConfig threads = Threads();
  threads.live_view = "checkpoints_live";
  threads.members[0].live_view = "checkpoint_blobs_live";
  db_.Install(db_.ConfigFor({threads}));
  Checkpoint("old", "1", "2 hours");
  Checkpoint("mixed", "1", "2 hours");
  Checkpoint("mixed", "2", "1 minute");
  Checkpoint("by blob", "1", "2 hours");
  db_.Sql(
      "INSERT INTO checkpoint_blobs (thread_id, channel, version, type, ttl_written_at) VALUES "
      "('by blob', 'c', '1', 't', now()), ('old', 'c', '1', 't', now() - interval '3 hours')");
  // Off until there is a default_ttl.
  EXPECT_EQ(ThreadsIn("checkpoints_live"), "by blob mixed old");
  SwitchOn("threads", 3600);
  EXPECT_EQ(ThreadsIn("checkpoints_live"), "by blob mixed");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM checkpoints_live"), "3");
  EXPECT_EQ(ThreadsIn("checkpoint_blobs_live"), "by blob");
  // A reader needs rights to the one table alone.
  const std::string role = db_.CreateRole();
  db_.Sql(absl::StrCat("GRANT SELECT ON checkpoints TO ", role));
  const auto reader = db_.Connect(role);
  const auto seen = reader->Query("SELECT count(*) FROM checkpoints_live");
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->Number(0, 0), 3);
  // A write revives the whole thread.
  Checkpoint("old", "2", "0 seconds");
  EXPECT_EQ(ThreadsIn("checkpoints_live"), "by blob mixed old");
  EXPECT_EQ(ThreadsIn("checkpoint_blobs_live"), "by blob old");
}

TEST_F(GroupCheckTest, RowsThatFollowAreShownByTheRowsWithTimes) {
  db_.Sql(kCreateOrders);
  TableConfig orders = Orders();
  orders.members[0].live_view = "lines_live";
  db_.Install(db_.ConfigFor({orders}));
  SwitchOn("orders", -1);
  db_.Sql(
      "INSERT INTO orders VALUES (1, 1, now() - interval '1 hour'), (2, 1, now() - interval "
      "'1 hour'), (2, 2, now() + interval '1 hour'), (3, 1, NULL), (4, 1, '-infinity'), "
      "(5, 1, 'infinity'), (5, 2, '2001-01-01');"
      "ALTER TABLE lines DISABLE TRIGGER ALL;"
      "INSERT INTO lines SELECT i, 1, 1 FROM generate_series(1, 6) i");
  // A line of no order is not hidden: nothing says that it has ended.
  EXPECT_EQ(db_.Value("SELECT string_agg(order_id::text, ' ' ORDER BY order_id) FROM lines_live"),
            "2 3 4 5 6");
}

TEST_F(GroupCheckTest, PoliciesHideRowsOfExpiredGroupsFromTheirReaders) {
  db_.Sql(kCreateOrders);
  TableConfig orders = Orders();
  orders.row_level_security = true;
  orders.members[0].row_level_security = true;
  db_.Install(db_.ConfigFor({orders}));
  SwitchOn("orders", -1);
  db_.Sql(
      "INSERT INTO orders VALUES (1, 1, now() - interval '1 hour'), (2, 1, now() - interval "
      "'1 hour'), (2, 2, now() + interval '1 hour'); INSERT INTO lines VALUES (1, 1, 1), (2, 1, "
      "1)");
  const std::string role = db_.CreateRole();
  db_.Sql(absl::StrCat("GRANT SELECT, INSERT ON orders, lines TO ", role));
  const auto reader = db_.Connect(role);
  const std::string count = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM lines)";
  auto seen = reader->Query(count);
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->Number(0, 0), 2);
  EXPECT_EQ(seen->Number(0, 1), 1);
  ASSERT_TRUE(reader->Query("INSERT INTO orders VALUES (1, 2, now() + interval '1 hour')").ok());
  seen = reader->Query(count);
  EXPECT_EQ(seen->Number(0, 0), 4);
  EXPECT_EQ(seen->Number(0, 1), 2);
}

// A group of many dead rows costs each of them one look into an index.
TEST_F(GroupCheckTest, FunctionReadsTheIndexOfTheGroupAndItsTimes) {
  db_.Sql(kCreateCheckpoints);
  db_.Install(db_.ConfigFor({Threads()}));
  SwitchOn("threads", 3600);
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) SELECT "
      "'t', i, '{}', now() - interval '2 hours' FROM generate_series(1, 20000) i; "
      "ANALYZE checkpoints");
  const std::string function =
      db_.Value("SELECT proname FROM pg_proc WHERE proname LIKE 'group_is_live_%'");
  db_.Sql("SELECT pg_stat_reset(); SET stats_fetch_consistency = none");
  EXPECT_EQ(db_.Value(absl::StrCat("SELECT ttl.", function, "('t')")), "f");
  db_.Sql("SELECT pg_stat_force_next_flush()");
  // The first and the last row, and no other.
  EXPECT_EQ(db_.Value("SELECT sum(seq_tup_read) + sum(idx_tup_fetch) < 10 FROM "
                      "pg_stat_user_tables WHERE relname = 'checkpoints'"),
            "t");
}

TEST_F(GroupCheckTest, TablesWithoutGroupByHaveNoTriggerAndNoFunction) {
  db_.Sql("CREATE TABLE plain (id int PRIMARY KEY, at timestamptz NOT NULL)");
  TableConfig plain;
  plain.container = plain.table = "plain";
  plain.id = {"id"};
  plain.ts_column = "at";
  plain.live_view = "plain_live";
  db_.Install(db_.ConfigFor({plain}));
  EXPECT_EQ(db_.Value("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal"), "0");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM pg_proc WHERE proname ~ 'group_|condemned' AND "
                      "pronamespace = 'ttl'::regnamespace"),
            "0");
  EXPECT_FALSE(absl::StrContains(db_.Value("SELECT pg_get_viewdef('plain_live')"), "group"));
  EXPECT_FALSE(absl::StrContains(db_.Value("SELECT pg_get_viewdef('plain_live')"), "condemned"));
}

}  // namespace
}  // namespace ttl::postgres
