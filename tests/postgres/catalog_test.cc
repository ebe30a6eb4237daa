#include "client/postgres/sql/check/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// orders(tenant, number, ts, ttl, bytes), as all cases start.
constexpr char kOrders[] =
    "CREATE TABLE orders (tenant varchar(20), number bigint, ts timestamptz NOT NULL, ttl integer, "
    "bytes integer, note text, PRIMARY KEY (tenant, number))";

TableConfig Orders() {
  TableConfig table;
  table.container = "shop/orders";
  table.table = "orders";
  table.partition_key = {"tenant"};
  table.id = {"number"};
  table.ts_column = "ts";
  table.ttl_column = "ttl";
  table.size_column = "bytes";
  return table;
}

std::vector<std::string> NamesOf(const std::vector<ColumnDefinition>& columns) {
  std::vector<std::string> names;
  for (const ColumnDefinition& column : columns) names.push_back(column.name);
  return names;
}

TEST(CatalogTest, SoundTableIsDescribed) {
  DatabaseForTest database;
  database.Sql(kOrders);
  const CatalogReport report = database.Check(database.ConfigFor({Orders()}));
  EXPECT_THAT(report.problems, IsEmpty());
  ASSERT_EQ(report.tables.size(), 1u);
  const TableDefinition& table = report.tables[0];
  EXPECT_EQ(absl::StrCat(table.oid), database.Value("SELECT 'orders'::regclass::oid"));
  EXPECT_FALSE(table.is_partitioned);
  ASSERT_EQ(table.partition_key.size(), 1u);
  EXPECT_EQ(table.partition_key[0].type, "character varying(20)");
  ASSERT_EQ(table.id.size(), 1u);
  EXPECT_EQ(table.id[0].type, "bigint");
  EXPECT_EQ(table.ts_source, TsSource::kTimestamp);
  EXPECT_FALSE(table.ts->nullable);
  EXPECT_EQ(table.ttl->type, "integer");
  EXPECT_TRUE(table.ttl->nullable);
  EXPECT_EQ(table.size->name, "bytes");
  EXPECT_THAT(NamesOf(table.page_order), ElementsAre("tenant", "number"));
  EXPECT_FALSE(table.publishes_all_columns);
  EXPECT_THAT(table.published_columns, ElementsAre("tenant", "number", "ts", "ttl", "bytes"));
}

TEST(CatalogTest, TypesAreWhatACastTakes) {
  DatabaseForTest database;
  database.Sql(
      "CREATE SCHEMA \"My Types\"; CREATE TYPE \"My Types\".\"Kind\" AS ENUM ('a', 'b');"
      "CREATE DOMAIN amount AS numeric(6, 2); CREATE DOMAIN code AS amount;"
      "CREATE TABLE orders (k \"My Types\".\"Kind\", c code, n char(3), seconds bigint NOT NULL, "
      "PRIMARY KEY (k, c, n))");
  TableConfig table;
  table.container = table.table = "orders";
  table.id = {"k", "c", "n"};
  table.ts_column = "seconds";
  const std::vector<TableDefinition> tables = database.Define(database.ConfigFor({table}));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].id[0].type, "\"My Types\".\"Kind\"");
  // Rows that are older than a condition of the domain must do too.
  EXPECT_EQ(tables[0].id[1].type, "numeric(6,2)");
  EXPECT_EQ(tables[0].id[2].type, "character(3)");
  EXPECT_EQ(tables[0].ts_source, TsSource::kEpochNumber);
  for (const ColumnDefinition& column : tables[0].id) {
    database.Sql(absl::StrCat("SELECT NULL::", column.type));
  }
}

TEST(CatalogTest, PagesFollowTheUniqueIndex) {
  DatabaseForTest database;
  database.Sql(
      "CREATE TABLE turned (a int, b int, ts timestamptz NOT NULL, PRIMARY KEY (b, a));"
      "CREATE TABLE narrow (a int NOT NULL, b int, ts timestamptz NOT NULL, PRIMARY KEY (b));"
      "ALTER TABLE narrow REPLICA IDENTITY FULL");
  const auto config = [](const std::string& name) {
    TableConfig table;
    table.container = table.table = name;
    table.partition_key = {"a"};
    table.id = {"b"};
    table.ts_column = "ts";
    return table;
  };
  const auto tables = database.Define(database.ConfigFor({config("turned"), config("narrow")}));
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_THAT(NamesOf(tables[0].page_order), ElementsAre("b", "a"));
  EXPECT_THAT(NamesOf(tables[1].page_order), ElementsAre("b", "a"));
  EXPECT_TRUE(tables[1].publishes_all_columns);
}

// PostgreSQL refuses every UPDATE and DELETE if the identity is not published whole.
TEST(CatalogTest, WholeReplicaIdentityIsPublished) {
  DatabaseForTest database;
  database.Sql(
      "CREATE TABLE orders (a int, b int, c int, ts timestamptz NOT NULL, x int, PRIMARY KEY (c, "
      "a, "
      "b), UNIQUE (a, b)) PARTITION BY LIST (a)");
  database.Sql(
      "DROP TABLE orders; CREATE TABLE orders (x int, c int, a int NOT NULL, b int NOT NULL, ts "
      "timestamptz NOT NULL, PRIMARY KEY (c, a, b), UNIQUE (a, b))");
  TableConfig table;
  table.container = table.table = "orders";
  table.id = {"a", "b"};
  table.ts_column = "ts";
  const Config config = database.ConfigFor({table});
  EXPECT_THAT(database.Install(config)[0].published_columns, ElementsAre("c", "a", "b", "ts"));
  database.Sql("INSERT INTO orders VALUES (1, 1, 1, 1, now()); UPDATE orders SET c = 2");
  EXPECT_EQ(database.Value("SELECT c FROM orders"), "2");
}

struct Case {
  const char* name;
  std::string sql;                           // after kOrders
  std::function<void(TableConfig&)> change;  // of Orders()
  std::vector<std::string> says;             // all in one line
};

void DoNothing(TableConfig&) {}

std::vector<Case> ProblemCases() {
  const auto set_ts = [](TableConfig& table) { table.ts_column = "other"; };
  const auto set_ttl = [](TableConfig& table) { table.ttl_column = "other"; };
  const auto set_size = [](TableConfig& table) { table.size_column = "other"; };
  const auto set_id = [](TableConfig& table) { table.id = {"other"}; };
  const auto set_rls = [](TableConfig& table) { table.row_level_security = true; };
  const auto set_view = [](TableConfig& table) { table.live_view = "orders_live"; };
  const auto by_other = [](const std::string& type) {
    return absl::StrCat("ALTER TABLE orders ADD other ", type,
                        ", DROP CONSTRAINT orders_pkey, REPLICA IDENTITY FULL; ALTER TABLE orders "
                        "ADD PRIMARY KEY (tenant, other)");
  };
  return {
      {"no table", "DROP TABLE orders", DoNothing, {"public.orders does not exist"}},
      {"a view",
       "ALTER TABLE orders RENAME TO t; CREATE VIEW orders AS TABLE t",
       DoNothing,
       {"public.orders is not a table"}},
      {"a materialized view",
       "ALTER TABLE orders RENAME TO t; CREATE MATERIALIZED VIEW orders AS "
       "TABLE t",
       DoNothing,
       {"public.orders is not a table"}},
      {"unlogged",
       "ALTER TABLE orders SET UNLOGGED",
       DoNothing,
       {"is unlogged", "ALTER TABLE \"public\".\"orders\" SET LOGGED"}},
      {"a system table",
       "",
       [](TableConfig& table) {
         table.schema = "pg_catalog";
         table.table = "pg_class";
       },
       {"pg_catalog.pg_class belongs to the server"}},
      {"children", "CREATE TABLE child () INHERITS (orders)", DoNothing, {"inherit", "NO INHERIT"}},
      {"no such column", "", set_id, {"has no column other", "its id", "it has tenant, number"}},
      {"a nullable key",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, ALTER number DROP NOT "
       "NULL, REPLICA IDENTITY FULL; CREATE UNIQUE INDEX ON orders (tenant, number)",
       DoNothing,
       {"column number of its id may be NULL", "ALTER COLUMN \"number\" SET NOT NULL"}},
      {"a generated key",
       by_other("int GENERATED ALWAYS AS (bytes + 1) STORED"),
       set_id,
       {"column other", "is generated"}},
      {"a float key", by_other("float8"), set_id, {"of type double precision", "a key takes"}},
      {"an interval key", by_other("interval"), set_id, {"of type interval"}},
      {"a numeric key without scale", by_other("numeric"), set_id, {"of type numeric"}},
      {"a bpchar key without length", by_other("bpchar"), set_id, {"of type bpchar"}},
      {"a jsonb key", by_other("jsonb"), set_id, {"of type jsonb"}},
      {"a domain over float",
       absl::StrCat("CREATE DOMAIN d AS float4; ", by_other("d")),
       set_id,
       {"of type public.d"}},
      {"an array key", by_other("int[]"), set_id, {"of type integer[]"}},
      {"a nondeterministic collation",
       "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
       "ALTER TABLE orders ALTER tenant TYPE varchar(20) COLLATE loose",
       DoNothing,
       {"column tenant", "nondeterministic collation", "COLLATE \"default\""}},
      {"no unique index",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA IDENTITY FULL",
       DoNothing,
       {"no unique index on columns of (tenant, number)",
        "CREATE UNIQUE INDEX CONCURRENTLY ON \"public\".\"orders\" (\"tenant\", "
        "\"number\")"}},
      {"a partial index",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA IDENTITY FULL; "
       "CREATE UNIQUE INDEX ON orders (tenant, number) WHERE number > 0",
       DoNothing,
       {"no unique index"}},
      {"an index on an expression",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA "
       "IDENTITY FULL; CREATE UNIQUE INDEX ON orders (tenant, (number + 1))",
       DoNothing,
       {"no unique index"}},
      {"an index with more columns",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA "
       "IDENTITY FULL; CREATE UNIQUE INDEX ON orders (tenant, number, ts)",
       DoNothing,
       {"no unique index"}},
      {"a deferrable key",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA IDENTITY FULL, "
       "ADD UNIQUE (tenant, number) DEFERRABLE",
       DoNothing,
       {"no unique index"}},
      {"a timestamp without time zone",
       "ALTER TABLE orders ADD other timestamp",
       set_ts,
       {"column other, its ts_column, is a timestamp without time zone",
        "name its zone, as in ts_zone: UTC or ts_zone: Europe/Berlin"}},
      {"a zone that nobody knows",
       "ALTER TABLE orders ADD other timestamp",
       [](TableConfig& table) {
         table.ts_column = "other";
         table.ts_zone = "Europe/Berlim";
       },
       {"ts_zone: \"Europe/Berlim\" is not a time zone", "such as Europe/Berlin"}},
      {"a zone that the server takes for an abbreviation",
       "ALTER TABLE orders ADD other timestamp",
       [](TableConfig& table) {
         table.ts_column = "other";
         table.ts_zone = "MET";
       },
       {"ts_zone: \"MET\" means another offset to the server", "such as Europe/Berlin"}},
      {"a zone of instants",
       "",
       [](TableConfig& table) { table.ts_zone = "UTC"; },
       {"ts_zone is given, but column ts", "needs no ts_zone; remove it"}},
      {"a ts of text", "ALTER TABLE orders ADD other text", set_ts, {"of type text"}},
      {"a ts of 16 bits", "ALTER TABLE orders ADD other smallint", set_ts, {"of type smallint"}},
      {"a generated ts",
       "ALTER TABLE orders ADD other bigint GENERATED ALWAYS AS (bytes) STORED",
       set_ts,
       {"column other, its ts_column, is generated", "DROP EXPRESSION"}},
      {"milliseconds in 32 bits",
       "ALTER TABLE orders ADD other int NOT NULL DEFAULT 1",
       [](TableConfig& table) {
         table.ts_column = "other";
         table.ts_unit = EpochUnit::kMilliseconds;
       },
       {"milliseconds", "TYPE bigint"}},
      {"a ttl of numeric",
       "ALTER TABLE orders ADD other numeric",
       set_ttl,
       {"column other, its ttl_column, is of type numeric"}},
      {"a generated ttl",
       "ALTER TABLE orders ADD other int GENERATED ALWAYS AS (60) STORED",
       set_ttl,
       {"ttl_column, is generated"}},
      {"a size of text",
       "ALTER TABLE orders ADD other text",
       set_size,
       {"its size_column, is of "
        "type text"}},
      {"no replica identity",
       "ALTER TABLE orders REPLICA IDENTITY NOTHING",
       DoNothing,
       {"replica identity of public.orders", "REPLICA IDENTITY USING INDEX orders_pkey"}},
      {"a narrow replica identity",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD UNIQUE "
       "(tenant, number), ADD PRIMARY KEY (number)",
       DoNothing,
       {"does not have all columns of (tenant, number)",
        "REPLICA IDENTITY USING INDEX orders_tenant_number_key"}},
      {"a generated column in the replica identity",
       "ALTER TABLE orders ADD other int GENERATED ALWAYS AS (1) STORED, DROP CONSTRAINT "
       "orders_pkey, ADD UNIQUE (tenant, number); "
       "ALTER TABLE orders ADD PRIMARY KEY (tenant, number, other)",
       DoNothing,
       {"replica identity of public.orders has column other, which is generated",
        "REPLICA IDENTITY FULL"}},
      {"a rule for deletes",
       "CREATE RULE \"Keep\" AS ON DELETE TO orders WHERE OLD.number = 1 DO INSTEAD NOTHING",
       DoNothing,
       {"rules rewrite each DELETE", "DROP RULE \"Keep\" ON \"public\".\"orders\""}},
      {"policies that are asleep",
       "CREATE POLICY p ON orders USING (tenant = current_user)",
       set_rls,
       {"has policies, but its row-level security is off"}},
      {"commit times that nobody has accepted",
       "",
       [](TableConfig& table) { table.ts_column.reset(); },
       {"table public.orders has no ts_column, and commit times are not kept with the rows",
        "ALTER TABLE \"public\".\"orders\" ADD COLUMN ttl_written_at", "accept_commit_time: true"}},
      {"an end that is a text",
       "ALTER TABLE orders ADD ends text",
       [](TableConfig& table) { table.expires_column = "ends"; },
       {"column ends, its expires_column, is of type text", "it must be timestamp"}},
      {"an end of double precision",
       "ALTER TABLE orders ADD ends float8",
       [](TableConfig& table) { table.expires_column = "ends"; },
       {"column ends, its expires_column, is of type double precision"}},
      {"an end that is not there",
       "",
       [](TableConfig& table) { table.expires_column = "ends"; },
       {"no column ends, which is to be its expires_column"}},
      {"an end that is generated",
       "ALTER TABLE orders ADD ends int GENERATED ALWAYS AS (bytes) STORED",
       [](TableConfig& table) { table.expires_column = "ends"; },
       {"column ends, its expires_column, is generated"}},
      {"an end in no zone",
       "ALTER TABLE orders ADD ends timestamp",
       [](TableConfig& table) { table.expires_column = "ends"; },
       {"is of type timestamp without time zone, which has no time zone", "expires_zone: UTC"}},
      {"an end in a zone that nobody knows",
       "ALTER TABLE orders ADD ends timestamp",
       [](TableConfig& table) {
         table.expires_column = "ends";
         table.expires_zone = "Mars/Olympus";
       },
       {"expires_zone: \"Mars/Olympus\" is not a time zone"}},
      {"an instant in a zone",
       "ALTER TABLE orders ADD ends timestamptz",
       [](TableConfig& table) {
         table.expires_column = "ends";
         table.expires_zone = "UTC";
       },
       {"which needs no expires_zone; remove it"}},
      {"a date without its edge",
       "ALTER TABLE orders ADD ends date",
       [](TableConfig& table) {
         table.expires_column = "ends";
         table.expires_zone = "UTC";
       },
       {"column ends, its expires_column, is a date", "ends: start or ends: end"}},
      {"an edge of a column that is not a date",
       "ALTER TABLE orders ADD ends bigint",
       [](TableConfig& table) {
         table.expires_column = "ends";
         table.ends = DayEdge::kEnd;
       },
       {"ends is given, but column ends", "remove ends"}},
      {"milliseconds of 32 bits",
       "ALTER TABLE orders ADD ends integer",
       [](TableConfig& table) {
         table.expires_column = "ends";
         table.expires_unit = EpochUnit::kMilliseconds;
       },
       {"column ends, its expires_column, is to count milliseconds", "TYPE bigint"}},
      {"row-level security by commit time",
       "",
       [](TableConfig& table) {
         table.ts_column.reset();
         table.row_level_security = true;
       },
       {"row_level_security needs a ts_column"}},
      {"a view's name that is taken",
       "CREATE VIEW orders_live AS SELECT 1",
       set_view,
       {"live_view public.orders_live is there already and not ours"}},
      {"a view's name that a table has",
       "CREATE TABLE orders_live ()",
       set_view,
       {"live_view public.orders_live is there already and not ours"}},
  };
}

testing::Matcher<std::string> Says(const std::vector<std::string>& parts) {
  testing::Matcher<std::string> all = testing::A<std::string>();
  for (const std::string& part : parts) all = AllOf(all, HasSubstr(part));
  return all;
}

TEST(CatalogTest, EveryProblemOfATableIsNamed) {
  for (const Case& problem : ProblemCases()) {
    SCOPED_TRACE(problem.name);
    DatabaseForTest database;
    database.Sql(kOrders);
    if (!problem.sql.empty()) database.Sql(problem.sql);
    TableConfig table = Orders();
    problem.change(table);
    const CatalogReport report = database.Check(database.ConfigFor({table}));
    EXPECT_THAT(report.problems, Contains(Says(problem.says)));
    EXPECT_THAT(report.tables, IsEmpty());
  }
}

std::vector<Case> WarningCases() {
  return {
      {"a ts that may be NULL",
       "ALTER TABLE orders ALTER ts DROP NOT NULL",
       DoNothing,
       {"column ts, its ts_column, may be NULL", "SET NOT NULL"}},
      {"a long partition key",
       "ALTER TABLE orders ALTER tenant TYPE varchar(513)",
       DoNothing,
       {"partition key (tenant) may be longer than 2048 bytes"}},
      {"a long id",
       "ALTER TABLE orders ADD other text NOT NULL, DROP CONSTRAINT orders_pkey, ADD "
       "PRIMARY KEY (tenant, other)",
       [](TableConfig& table) { table.id = {"other"}; },
       {"id (other) may be longer than 1023 bytes"}},
      {"a foreign key",
       "CREATE TABLE lines (tenant varchar(20), number bigint, FOREIGN KEY "
       "(tenant, number) REFERENCES orders)",
       DoNothing,
       {"foreign keys", "lines_tenant_number_fkey of lines"}},
      {"an index in two directions",
       "ALTER TABLE orders DROP CONSTRAINT orders_pkey, REPLICA "
       "IDENTITY FULL; CREATE UNIQUE INDEX mixed ON orders (tenant, number DESC)",
       DoNothing,
       {"index mixed", "sorts the whole table"}},
      {"row-level security and upserts",
       "",
       [](TableConfig& table) { table.row_level_security = true; },
       {"ON CONFLICT DO UPDATE", "replace_expired"}},
      {"a view and upserts",
       "",
       [](TableConfig& table) { table.live_view = "orders_live"; },
       {"ON CONFLICT DO UPDATE through its live_view public.orders_live", "replace_expired"}},
      {"row-level security and the owner",
       "",
       [](TableConfig& table) { table.row_level_security = true; },
       {"does not bind its owner postgres", "FORCE ROW LEVEL SECURITY"}},
      {"commit times",
       "",
       [](TableConfig& table) {
         table.ts_column.reset();
         table.accept_commit_time = true;
       },
       {"uses commit times", "autovacuum_freeze_max_age = 200000000"}},
      {"a superuser", "", DoNothing, {"role postgres is a superuser"}},
  };
}

TEST(CatalogTest, NullThatIsExpectedIsNoWarning) {
  DatabaseForTest database;
  database.Sql(kOrders);
  database.Sql("ALTER TABLE orders ALTER ts DROP NOT NULL");
  TableConfig table = Orders();
  table.null_means = NullMeans::kNever;
  const CatalogReport report = database.Check(database.ConfigFor({table}));
  EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("may be NULL"))));
}

// Neither commit times nor a column of _ts, and whoever reads the notes knows what is to be done.
TEST(CatalogTest, TableThatSaysWhenItsRowsEndNeedsNothingElse) {
  DatabaseForTest database;
  database.Sql(kOrders);
  database.Sql("ALTER TABLE orders ADD ends timestamp");
  TableConfig table = Orders();
  table.ts_column.reset();
  table.ttl_column.reset();
  table.expires_column = "ends";
  table.expires_zone = "Europe/Berlin";
  table.row_level_security = true;
  const CatalogReport report = database.Check(database.ConfigFor({table}));
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("commit times"))));
  ASSERT_THAT(report.tables, testing::SizeIs(1));
  EXPECT_EQ(report.tables[0].ts_source, TsSource::kNone);
  EXPECT_EQ(report.tables[0].end_source, EndSource::kReading);
  EXPECT_THAT(report.tables[0].published_columns, Contains("ends"));
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("ttlctl containers create shop/orders --default-ttl -1"),
                          HasSubstr("CREATE INDEX CONCURRENTLY ON \"public\".\"orders\" "
                                    "((\"ends\" AT TIME ZONE 'Europe/Berlin'))")));
}

TEST(CatalogTest, WhatDeservesAThoughtIsAWarning) {
  for (const Case& warning : WarningCases()) {
    SCOPED_TRACE(warning.name);
    DatabaseForTest database;
    database.Sql(kOrders);
    if (!warning.sql.empty()) database.Sql(warning.sql);
    TableConfig table = Orders();
    warning.change(table);
    const CatalogReport report = database.Check(database.ConfigFor({table}));
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_THAT(report.warnings, Contains(Says(warning.says)));
  }
}

TEST(CatalogTest, SoundTableOfAModestRoleHasNoWarnings) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Sql(
      "CREATE ROLE modest LOGIN REPLICATION; GRANT CREATE ON DATABASE postgres TO modest; "
      "GRANT CREATE ON SCHEMA public TO modest");
  absl::StatusOr<std::unique_ptr<Connection>> connection =
      Connection::Open(server.Conninfo("postgres", "modest"), "test");
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE((*connection)->Execute(kOrders).ok());
  Config config;
  config.tables = {Orders()};
  absl::StatusOr<CatalogReport> report = CheckCatalog(**connection, config);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->warnings, IsEmpty());
}

TEST(CatalogTest, LacksOfTheRoleAreNamed) {
  DatabaseForTest database;
  database.Sql(kOrders);
  const std::string role = database.CreateRole();
  database.Sql(
      "CREATE SCHEMA hidden; ALTER TABLE orders SET SCHEMA hidden; ALTER TABLE "
      "hidden.orders ENABLE ROW LEVEL SECURITY");
  TableConfig table = Orders();
  table.schema = "hidden";
  const auto connection = database.Connect(role);
  absl::StatusOr<CatalogReport> report = CheckCatalog(*connection, database.ConfigFor({table}));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(
      report->problems,
      testing::IsSupersetOf({Says({absl::StrCat("ALTER ROLE \"", role, "\" REPLICATION")}),
                             Says({"GRANT CREATE ON DATABASE"}),
                             Says({"GRANT SELECT, UPDATE, DELETE ON \"hidden\".\"orders\""}),
                             Says({"GRANT USAGE ON SCHEMA \"hidden\""}),
                             Says({"row-level security hides rows", "BYPASSRLS"})}));
  EXPECT_THAT(report->warnings, Contains(Says({"is owned by postgres"})));
}

TEST(CatalogTest, RightToEmitMessagesIsThatOfTheRoleAndWhereItReplacesOfTheOwner) {
  DatabaseForTest database;
  database.Sql(kOrders);
  const std::string owner = database.CreateRole();
  database.Sql(absl::StrCat(
      "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC; ALTER "
      "TABLE orders OWNER TO ",
      owner));
  const std::string role = database.CreateRole(absl::StrCat("REPLICATION IN ROLE ", owner));
  database.Sql(absl::StrCat("GRANT CREATE ON DATABASE ", database.name(), " TO ", owner));
  TableConfig table = Orders();
  table.replace_expired = true;
  const auto connection = database.Connect(role);
  const auto problems = [&] {
    return CheckCatalog(*connection, database.ConfigFor({table})).value().problems;
  };
  const std::string grant =
      "GRANT EXECUTE ON FUNCTION pg_catalog.pg_logical_emit_message(boolean, text, text) TO ";
  EXPECT_THAT(problems(), ElementsAre(Says({absl::StrCat("role ", role, " may not emit"),
                                            absl::StrCat(grant, "\"", role, "\"")}),
                                      Says({absl::StrCat("its owner ", owner, " may not emit"),
                                            absl::StrCat(grant, "\"", owner, "\"")})));
  database.Sql(absl::StrCat(grant, owner));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST(CatalogTest, RowSecurityIsNoProblemForWhoPassesIt) {
  DatabaseForTest database;
  database.Sql(kOrders);
  const std::string owner = database.CreateRole("REPLICATION");
  database.Sql(absl::StrCat("GRANT CREATE ON DATABASE ", database.name(), " TO ", owner,
                            "; ALTER TABLE orders OWNER TO ", owner));
  TableConfig table = Orders();
  table.row_level_security = true;
  const auto connection = database.Connect(owner);
  const auto problems = [&] {
    return CheckCatalog(*connection, database.ConfigFor({table})).value().problems;
  };
  EXPECT_THAT(problems(), IsEmpty());
  database.Sql("ALTER TABLE orders FORCE ROW LEVEL SECURITY");
  EXPECT_THAT(problems(), ElementsAre(Says({"BYPASSRLS"})));
  database.Sql(absl::StrCat("ALTER ROLE ", owner, " BYPASSRLS"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST(CatalogTest, NamesThatAreTakenAreProblems) {
  DatabaseForTest database;
  database.Sql(kOrders);
  Config config = database.ConfigFor({Orders()});
  database.Sql(absl::StrCat("CREATE SCHEMA ttl; CREATE PUBLICATION ", config.publication));
  database.Sql(absl::StrCat("SELECT pg_create_logical_replication_slot('", config.slot,
                            "', 'test_decoding')"));
  EXPECT_THAT(database.Check(config).problems,
              testing::UnorderedElementsAre(Says({"schema ttl is there already and not ours"}),
                                            Says({"publication ", "is there already and not ours"}),
                                            Says({"replication slot ", "another plugin"})));
  database.Sql(absl::StrCat("SELECT pg_drop_replication_slot('", config.slot, "')"));
}

TEST(CatalogTest, SlotOfAnotherDatabaseIsAProblem) {
  DatabaseForTest other;
  DatabaseForTest database;
  database.Sql(kOrders);
  const Config config = database.ConfigFor({Orders()});
  other.Sql(
      absl::StrCat("SELECT pg_create_logical_replication_slot('", config.slot, "', 'pgoutput')"));
  EXPECT_THAT(database.Check(config).problems, ElementsAre(Says({"another database"})));
  other.Sql(absl::StrCat("SELECT pg_drop_replication_slot('", config.slot, "')"));
  EXPECT_THAT(database.Check(config).problems, IsEmpty());
}

TEST(CatalogTest, OneTableForTwoContainersIsAProblem) {
  DatabaseForTest database;
  database.Sql(kOrders);
  TableConfig other = Orders();
  other.container = "other";
  EXPECT_THAT(
      database.Check(database.ConfigFor({Orders(), other})).problems,
      ElementsAre(Says({"public.orders is given for two containers, shop/orders and other"})));
}

constexpr char kPartitioned[] =
    "CREATE TABLE orders (tenant varchar(20), number bigint, ts timestamptz NOT NULL, ttl integer, "
    "bytes integer, PRIMARY KEY (tenant, number)) PARTITION BY LIST (tenant);"
    "CREATE TABLE orders_eu PARTITION OF orders FOR VALUES IN ('eu');"
    "CREATE TABLE orders_us PARTITION OF orders FOR VALUES IN ('us') PARTITION BY RANGE (number);"
    "CREATE TABLE orders_us_1 PARTITION OF orders_us FOR VALUES FROM (1) TO (100)";

TEST(CatalogTest, PartitionsAreLookedAtOneByOne) {
  DatabaseForTest database;
  database.Sql(kPartitioned);
  const Config config = database.ConfigFor({Orders()});
  EXPECT_TRUE(database.Define(config)[0].is_partitioned);
  database.Sql("ALTER TABLE orders_us_1 REPLICA IDENTITY NOTHING");
  EXPECT_THAT(database.Check(config).problems,
              ElementsAre(Says({"replica identity of public.orders_us_1 ",
                                "ALTER TABLE public.orders_us_1 REPLICA IDENTITY FULL"})));
  database.Sql("ALTER TABLE orders_us_1 REPLICA IDENTITY FULL");
  EXPECT_TRUE(database.Define(config)[0].publishes_all_columns);
  database.Sql("ALTER TABLE orders_eu SET UNLOGGED");
  EXPECT_THAT(database.Check(config).problems,
              ElementsAre(Says({"partitions without a stream", "public.orders_eu"})));
}

TEST(CatalogTest, PartitionsToComeWithoutAnIdentityAreAWarning) {
  DatabaseForTest database;
  database.Sql(
      "CREATE TABLE orders (tenant varchar(20) NOT NULL, number bigint NOT NULL, ts timestamptz "
      "NOT "
      "NULL, ttl integer, bytes integer, UNIQUE (tenant, number)) PARTITION BY LIST (tenant)");
  const CatalogReport report = database.Check(database.ConfigFor({Orders()}));
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.warnings, Contains(Says({"a new partition has no replica identity"})));
}

TEST(CatalogTest, PartitionOfAnotherContainerIsAProblem) {
  DatabaseForTest database;
  database.Sql(kPartitioned);
  TableConfig part = Orders();
  part.container = "part";
  part.table = "orders_us_1";
  EXPECT_THAT(database.Check(database.ConfigFor({Orders()})).problems, IsEmpty());
  EXPECT_THAT(database.Check(database.ConfigFor({part})).problems, IsEmpty());
  EXPECT_THAT(database.Check(database.ConfigFor({part, Orders()})).problems,
              ElementsAre(Says({"orders_us_1 is a partition of orders"})));
}

TEST(CatalogTest, WhoReplacesExpiredRowsIsNotWarnedOfUpserts) {
  DatabaseForTest database;
  database.Sql(kOrders);
  TableConfig table = Orders();
  table.live_view = "orders_live";
  table.row_level_security = true;
  table.replace_expired = true;
  const CatalogReport report = database.Check(database.ConfigFor({table}));
  EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("ON CONFLICT"))));
}

TEST(CatalogTest, UniqueKeysThatReplaceExpiredDoesNotClearAreNamed) {
  DatabaseForTest database;
  database.Sql(kOrders);
  database.Sql(
      "CREATE UNIQUE INDEX by_note ON orders (note); CREATE UNIQUE INDEX by_number ON orders "
      "(number) WHERE bytes > 0; CREATE UNIQUE INDEX by_text ON orders (tenant, lower(note)); "
      "ALTER TABLE orders ADD CONSTRAINT late UNIQUE (tenant, ts) DEFERRABLE, ADD CONSTRAINT \"Not "
      "Twice\" EXCLUDE (bytes WITH =); "
      "CREATE UNIQUE INDEX of_key ON orders (note, number, tenant); CREATE UNIQUE INDEX "
      "part_of_key "
      "ON orders (number, tenant) WHERE ttl > 5; CREATE UNIQUE INDEX more ON orders (number) "
      "INCLUDE (tenant); CREATE INDEX no_matter ON orders (ts)");
  TableConfig table = Orders();
  const auto warnings = [&] { return database.Check(database.ConfigFor({table})).warnings; };
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("replace_expired makes way"))));
  table.replace_expired = true;
  EXPECT_THAT(warnings(),
              Contains(Says({"table public.orders: replace_expired makes way for a row of the same "
                             "key only",
                             "stay taken in \"Not Twice\", by_note, by_number, by_text, late and 1 "
                             "more, and an INSERT"})));
  database.Sql(
      "DROP INDEX more, by_text, by_number, by_note; ALTER TABLE orders DROP CONSTRAINT "
      "late, DROP CONSTRAINT \"Not Twice\"");
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("replace_expired makes way"))));
}

// The application's own writes fail, and nothing else tells it why.
TEST(CatalogTest, TableThatRefusesUpdatesBecauseItIsPublishedIsNamed) {
  DatabaseForTest database;
  database.Sql(
      "CREATE TABLE orders (id int PRIMARY KEY, ts timestamptz, code int NOT NULL, note text);"
      "CREATE UNIQUE INDEX orders_code ON orders (code, id); INSERT INTO orders VALUES (1, now(), "
      "1)");
  TableConfig table;
  table.container = "orders";
  table.table = "orders";
  table.id = {"id"};
  table.ts_column = "ts";
  const Config config = database.ConfigFor({table});
  database.Install(config);
  const auto refuses = HasSubstr(
      "PostgreSQL refuses UPDATE and DELETE of public.orders, the "
      "application's too");
  const auto said = [&] {
    const CatalogReport report = database.Check(config);
    std::vector<std::string> all = report.problems;
    all.insert(all.end(), report.warnings.begin(), report.warnings.end());
    return all;
  };
  const char* const update = "UPDATE orders SET note = 'new'";
  EXPECT_THAT(said(), Not(Contains(refuses)));
  database.Sql(update);
  const struct {
    const char* change;
    const char* back;
  } cases[] = {
      {"ALTER TABLE orders DROP CONSTRAINT orders_pkey",
       "ALTER TABLE orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id)"},
      {"ALTER TABLE orders REPLICA IDENTITY NOTHING",
       "ALTER TABLE orders REPLICA IDENTITY DEFAULT"},
      {"ALTER TABLE orders REPLICA IDENTITY FULL", "ALTER TABLE orders REPLICA IDENTITY DEFAULT"},
      {"ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_code",
       "ALTER TABLE orders REPLICA IDENTITY DEFAULT"},
  };
  for (const auto& [change, back] : cases) {
    SCOPED_TRACE(change);
    database.Sql(change);
    EXPECT_FALSE(database.connection().Execute(update).ok());
    EXPECT_THAT(said(), Contains(refuses));
    database.Sql(back);
    database.Sql(update);
    EXPECT_THAT(said(), Not(Contains(refuses)));
  }
}

TEST(CatalogTest, NewColumnsOfTheTableAreMissedInTheView) {
  DatabaseForTest database;
  database.Sql(kOrders);
  TableConfig table = Orders();
  table.live_view = "orders_live";
  table.replace_expired = true;
  const Config config = database.ConfigFor({table});
  database.Install(config);
  EXPECT_THAT(database.Check(config).warnings, Not(Contains(HasSubstr("orders_live"))));
  database.Sql("ALTER TABLE orders ADD color text, ADD shape text");
  EXPECT_THAT(database.Check(config).warnings,
              Contains(Says({"orders_live does not have the columns color, shape"})));
}

TEST(CatalogTest, SettingsOfTheServerAreProblems) {
  PostgresServer server({.settings = {{"wal_level", "replica"},
                                      {"track_commit_timestamp", "off"},
                                      {"max_replication_slots", "0"},
                                      {"max_wal_senders", "0"}}});
  ASSERT_TRUE(server.Start().ok());
  server.Sql(kOrders);
  Config config;
  config.tables = {Orders()};
  config.tables[0].ts_column.reset();
  config.tables[0].accept_commit_time = true;
  absl::StatusOr<CatalogReport> report = CheckCatalog(server.sql(), config);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->problems,
              testing::UnorderedElementsAre(
                  Says({"wal_level is replica", "ALTER SYSTEM SET wal_level = logical"}),
                  Says({"all 0 replication slots are taken", "max_replication_slots = 1"}),
                  Says({"all 0 walsenders are taken", "max_wal_senders = 1"}),
                  Says({"has no ts_column", "track_commit_timestamp = on"})));
}

TEST(CatalogTest, WalWithoutALimitIsAWarning) {
  PostgresServer server({.settings = {{"max_slot_wal_keep_size", "-1"}}});
  ASSERT_TRUE(server.Start().ok());
  server.Sql(kOrders);
  Config config;
  config.tables = {Orders()};
  const absl::StatusOr<CatalogReport> report = CheckCatalog(server.sql(), config);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->warnings, Contains(Says({"max_slot_wal_keep_size is -1"})));
  EXPECT_EQ(report->wal_limit,
            "ALTER SYSTEM SET max_slot_wal_keep_size = '16GB'; SELECT pg_reload_conf()");
}

TEST(CatalogTest, StandbyIsAProblem) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Sql(kOrders);
  ASSERT_TRUE(server.Stop().ok());
  std::ofstream(absl::StrCat(server.path(), "/data/standby.signal")).close();
  ASSERT_TRUE(server.Start().ok()) << server.Log();
  Config config;
  config.tables = {Orders()};
  absl::StatusOr<CatalogReport> report = CheckCatalog(server.sql(), config);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->problems, ElementsAre(Says({"is a standby"})));
}

TEST(CatalogTest, ServerThatIsGoneIsAnError) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  const auto connection = server.Connect();
  server.Kill();
  Config config;
  config.tables = {Orders()};
  EXPECT_EQ(CheckCatalog(*connection, config).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ttl::postgres
