#include "client/postgres/sql/install/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/postgres/database_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kDependentObjectsStillExist[] = "2BP01";

// Two tables with names that need quotes everywhere, and one that is partitioned.
constexpr char kTables[] = R"(
  CREATE TABLE orders (id int PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now(), ttl int,
                       note text);
  CREATE SCHEMA "My ""Shop";
  CREATE TABLE "My ""Shop"."Carts $ttl$" ("Cart 'Id" text PRIMARY KEY, "At" bigint NOT NULL);
  CREATE TABLE events (kind text, id int, ts timestamptz NOT NULL, PRIMARY KEY (kind, id))
    PARTITION BY LIST (kind);
  CREATE TABLE events_a PARTITION OF events FOR VALUES IN ('a'))";

TableConfig Orders() {
  TableConfig table;
  table.container = "orders";
  table.table = "orders";
  table.id = {"id"};
  table.ts_column = "ts";
  table.ttl_column = "ttl";
  return table;
}

TableConfig Carts() {
  TableConfig table;
  table.container = "it's \"carts\" \\ $ttl$";
  table.schema = "My \"Shop";
  table.table = "Carts $ttl$";
  table.id = {"Cart 'Id"};
  table.ts_column = "At";
  table.ts_unit = EpochUnit::kMilliseconds;
  return table;
}

TableConfig Events() {
  TableConfig table;
  table.container = "events";
  table.table = "events";
  table.partition_key = {"kind"};
  table.id = {"id"};
  table.ts_column = "ts";
  return table;
}

// All that can be asked for.
TableConfig Full(TableConfig table) {
  table.live_view = absl::StrCat(table.table, "_live");
  table.row_level_security = true;
  table.replace_expired = true;
  return table;
}

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() { database_.Sql(kTables); }

  Config Configure(const std::vector<TableConfig>& tables) { return database_.ConfigFor(tables); }

  void CreateSlot(const std::string& name) {
    database_.Sql(
        absl::StrCat("SELECT pg_create_logical_replication_slot('", name, "', 'pgoutput')"));
  }

  absl::Status CheckInstallation(const Config& config) {
    return CheckInstalled(database_.connection(), config, database_.Define(config));
  }

  DatabaseForTest database_;
};

TEST_F(InstallationTest, UninstallLeavesNoTrace) {
  const Config config = Configure({Full(Orders()), Full(Carts()), Full(Events())});
  const std::string before = database_.Dump();
  database_.Install(config);
  CreateSlot(config.slot);
  EXPECT_NE(database_.Dump(), before);
  const absl::Status uninstalled = database_.Uninstall(config);
  EXPECT_TRUE(uninstalled.ok()) << uninstalled;
  EXPECT_EQ(database_.Dump(), before);
}

TEST_F(InstallationTest, UninstallWithoutInstallDoesNothing) {
  const std::string before = database_.Dump();
  const absl::Status uninstalled = database_.Uninstall(Configure({Full(Orders())}));
  EXPECT_TRUE(uninstalled.ok()) << uninstalled;
  EXPECT_EQ(database_.Dump(), before);
}

// The statements of a script, as psql would send them.
std::vector<std::string> Statements(const std::string& script) {
  std::vector<std::string> statements = {""};
  std::string tag;  // of the dollar quotes that are open
  for (const absl::string_view line : absl::StrSplit(script, '\n')) {
    absl::StrAppend(&statements.back(), line, "\n");
    const size_t quote = line.rfind(" $ttl");
    if (tag.empty() && quote != absl::string_view::npos && absl::EndsWith(line, "$")) {
      tag = std::string(line.substr(quote + 1));
    } else if (!tag.empty() && line == absl::StrCat("END ", tag, ";")) {
      tag.clear();
    }
    if (tag.empty() && absl::EndsWith(line, ";")) statements.push_back("");
  }
  statements.pop_back();
  return statements;
}

TEST_F(InstallationTest, UninstallAfterAnInstallThatStoppedAnywhere) {
  const Config config = Configure({Full(Orders()), Full(Carts())});
  const std::string before = database_.Dump();
  const std::vector<std::string> statements =
      Statements(InstallSql(config, database_.Define(config)));
  ASSERT_GT(statements.size(), 20u);
  for (size_t count = 1; count <= statements.size(); ++count) {
    SCOPED_TRACE(statements[count - 1]);
    for (size_t i = 0; i < count; ++i) database_.Sql(statements[i]);
    const absl::Status uninstalled = database_.Uninstall(config);
    ASSERT_TRUE(uninstalled.ok()) << uninstalled;
    // A dump at each step would take minutes.
    if (count % 8 != 0) continue;
    ASSERT_EQ(database_.Dump(), before);
  }
  EXPECT_EQ(database_.Dump(), before);
}

TEST_F(InstallationTest, InstallingAgainChangesNothing) {
  const Config config = Configure({Full(Orders()), Full(Carts()), Full(Events())});
  database_.Install(config);
  const std::string installed = database_.Dump();
  const std::string oids =
      "SELECT string_agg(oid::text, ' ' ORDER BY oid) FROM (SELECT oid FROM pg_class UNION SELECT "
      "oid FROM pg_policy UNION SELECT oid FROM pg_trigger UNION SELECT oid FROM pg_proc UNION "
      "SELECT oid FROM pg_publication_rel) AS o WHERE oid >= 16384";
  const std::string before = database_.Value(oids);
  database_.Install(config);
  EXPECT_EQ(database_.Dump(), installed);
  EXPECT_EQ(database_.Value(oids), before);
}

// Whatever was installed before, the same is there afterwards.
// Of the version before holds: which containers have some is not known yet.
TEST_F(InstallationTest, PoliciesOfAnOlderVersionCountAsHeldUntilTheyAreMirrored) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  database_.Sql(
      "ALTER TABLE ttl.policy DROP has_holds; INSERT INTO ttl.policy VALUES ('orders', "
      "60, 1, now())");
  database_.Install(config);
  EXPECT_EQ(database_.Value("SELECT has_holds FROM ttl.policy"), "t");
  database_.Sql("INSERT INTO ttl.policy VALUES ('more', 60, 1, now())");
  EXPECT_EQ(database_.Value("SELECT has_holds FROM ttl.policy WHERE container = 'more'"), "f");
  // From then on installing does not wait for the readers of views.
  const auto reader = database_.Connect();
  ASSERT_TRUE(reader->Execute("BEGIN; SELECT FROM ttl.policy").ok());
  database_.Install(config);
}

TEST_F(InstallationTest, FormerConfigurationLeavesNoTrace) {
  std::vector<Config> configs = {
      Configure({Full(Orders()), Full(Events())}),
      Configure({Orders()}),
      Configure({Full(Carts())}),
      Configure({Full(Orders())}),
      Configure({Full(Orders())}),
  };
  configs[3].tables[0].live_view = "fresh_orders";
  configs[3].tables[0].container = "other";
  configs[3].tables[0].ttl_column.reset();
  configs[4].tables[0].row_level_security = false;
  configs[4].publication += "_2";
  std::vector<std::string> dumps;
  for (const Config& config : configs) {
    database_.Install(config);
    dumps.push_back(database_.Dump());
    ASSERT_TRUE(database_.Uninstall(config).ok());
  }
  for (size_t from = 0; from < configs.size(); ++from) {
    for (size_t to = 0; to < configs.size(); ++to) {
      if (from == to) continue;
      SCOPED_TRACE(absl::StrCat(from, " to ", to));
      database_.Install(configs[from]);
      database_.Install(configs[to]);
      EXPECT_EQ(database_.Dump(), dumps[to]);
      EXPECT_EQ(CheckInstallation(configs[to]), absl::OkStatus());
      ASSERT_TRUE(database_.Uninstall(configs[to]).ok());
    }
  }
}

TEST_F(InstallationTest, SlotOfAFormerConfigurationGoes) {
  Config config = Configure({Orders()});
  database_.Install(config);
  CreateSlot(config.slot);
  const std::string former = config.slot;
  config.slot += "_new";
  database_.Install(config);
  EXPECT_THAT(database_.Dump(), testing::Not(HasSubstr(former)));
  // One that was never replaced, since nobody installed again, goes with the rest.
  CreateSlot(config.slot);
  config.slot += "_newer";
  ASSERT_TRUE(database_.Uninstall(config).ok());
  EXPECT_THAT(database_.Dump(), testing::Not(HasSubstr(former)));
}

TEST_F(InstallationTest, SlotInUseIsRefusedAndNothingChanges) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  CreateSlot(config.slot);
  const std::string before = database_.Dump();
  {
    auto walsender = Connection::Open(config.database, "walsender", Connection::Kind::kReplication);
    ASSERT_TRUE(walsender.ok());
    ASSERT_TRUE((*walsender)
                    ->Query(absl::StrCat("START_REPLICATION SLOT ", config.slot,
                                         " LOGICAL 0/0 (proto_version '1', publication_names '",
                                         config.publication, "')"))
                    .ok());
    const absl::Status refused = database_.Uninstall(config);
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr(config.slot), HasSubstr("is in use by the process"),
                      HasSubstr("stop the ttl-postgres")));
    EXPECT_EQ(database_.Dump(), before);
  }
  ASSERT_TRUE(WaitUntil(
      [&] {
        return database_.Value("SELECT count(*) FROM pg_replication_slots WHERE active") == "0";
      },
      absl::Seconds(60)));
  EXPECT_TRUE(database_.Uninstall(config).ok());
}

TEST_F(InstallationTest, WhatOthersBuiltOnItIsNotDropped) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  for (const char* built :
       {"CREATE VIEW mine AS TABLE orders_live",
        "CREATE VIEW mine AS SELECT id, ttl.is_expired('orders', ts) FROM orders",
        "CREATE VIEW mine AS TABLE ttl.policy"}) {
    database_.Sql(built);
    const std::string before = database_.Dump();
    const absl::Status refused = database_.Uninstall(config);
    EXPECT_EQ(SqlState(refused), kDependentObjectsStillExist);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("public.mine"));
    EXPECT_EQ(database_.Dump(), before);
    database_.Sql("DROP VIEW mine");
  }
  database_.Sql("CREATE TABLE ttl.mine ()");
  const absl::Status refused = database_.Uninstall(config);
  EXPECT_EQ(SqlState(refused), kDependentObjectsStillExist);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ttl.mine"));
}

TEST_F(InstallationTest, WhatIsNotOursIsNeitherReplacedNorDropped) {
  const Config config = Configure({Full(Orders())});
  const std::vector<TableDefinition> tables = database_.Define(config);
  struct Foreign {
    std::string make;
    std::string drop;
    std::string says;
  };
  const std::vector<Foreign> all = {
      {"CREATE SCHEMA ttl", "DROP SCHEMA ttl", "schema ttl is there already"},
      {"CREATE VIEW orders_live AS SELECT 1 AS x", "DROP VIEW orders_live",
       "public.orders_live is there already"},
      {absl::StrCat("CREATE PUBLICATION ", config.publication),
       absl::StrCat("DROP PUBLICATION ", config.publication), "is there already and not ours"},
      {"CREATE POLICY mine ON orders USING (true)", "DROP POLICY mine ON orders",
       "has policies, but its row-level security is off"}};
  for (const Foreign& foreign : all) {
    SCOPED_TRACE(foreign.make);
    database_.Sql(foreign.make);
    const std::string before = database_.Dump();
    const auto refused = database_.connection().Execute(InstallSql(config, tables));
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr(foreign.says));
    EXPECT_EQ(database_.Dump(), before);
    EXPECT_TRUE(database_.Uninstall(config).ok());
    EXPECT_EQ(database_.Dump(), before);
    database_.Sql(foreign.drop);
  }
}

TEST_F(InstallationTest, RowSecurityThatWasOnStaysOn) {
  database_.Sql(
      "ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON orders USING (id > 0)");
  const std::string before = database_.Dump();
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_policies WHERE policyname = "
                            "'ttl_postgres_all'"),
            "0");
  EXPECT_EQ(CheckInstallation(config), absl::OkStatus());
  ASSERT_TRUE(database_.Uninstall(config).ok());
  EXPECT_EQ(database_.Dump(), before);
}

TEST_F(InstallationTest, PoliciesThatCameSinceStayInForce) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  database_.Sql("CREATE POLICY mine ON orders USING (id > 0)");
  ASSERT_TRUE(database_.Uninstall(config).ok());
  EXPECT_EQ(database_.Value("SELECT relrowsecurity FROM pg_class WHERE relname = 'orders'"), "t");
  EXPECT_EQ(database_.Value("SELECT string_agg(policyname, ' ') FROM pg_policies"), "mine");
}

TEST_F(InstallationTest, ViewTakesColumnsThatCameAndLosesThoseThatWent) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  database_.Sql(
      "ALTER TABLE orders ADD color text; CREATE VIEW mine AS SELECT id FROM orders_live");
  database_.Install(config);
  const std::string columns =
      "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = "
      "'orders_live'::regclass";
  EXPECT_EQ(database_.Value(columns), "id ts ttl note color");
  EXPECT_EQ(database_.Value("SELECT count(*) FROM mine"), "0");
  // A column's name cannot be replaced, so the view is made anew.
  database_.Sql("DROP VIEW mine; ALTER VIEW orders_live RENAME note TO text");
  database_.Install(config);
  EXPECT_EQ(database_.Value(columns), "id ts ttl note color");
  // The server protects what the view has.
  EXPECT_EQ(SqlState(database_.connection().Execute("ALTER TABLE orders DROP note").status()),
            kDependentObjectsStillExist);
  database_.Sql("DROP VIEW orders_live; ALTER TABLE orders DROP note");
  database_.Install(config);
  EXPECT_EQ(database_.Value(columns), "id ts ttl color");
}

TEST_F(InstallationTest, TriggerThatIsDisabledInAPartitionIsNamedAndInstallingEnablesIt) {
  TableConfig events = Events();
  events.replace_expired = true;
  const Config config = Configure({events});
  database_.Install(config);
  ASSERT_EQ(CheckInstallation(config), absl::OkStatus());
  database_.Sql("ALTER TABLE events_a DISABLE TRIGGER zz_ttl_postgres_replace_expired");
  EXPECT_THAT(std::string(CheckInstallation(config).message()),
              HasSubstr("the trigger of table public.events is disabled"));
  database_.Install(config);
  EXPECT_EQ(CheckInstallation(config), absl::OkStatus());
}

TEST_F(InstallationTest, PolicyGoesWithTheLastObjectThatAsksForIt) {
  database_.Install(Configure({Full(Orders()), Carts()}));
  database_.Sql(
      "INSERT INTO ttl.policy SELECT unnest(ARRAY['orders', $q$it's \"carts\" \\ $ttl$$q$]), 60, "
      "1, "
      "now()");
  database_.Install(Configure({Full(Orders()), Carts()}));
  EXPECT_EQ(database_.Value("SELECT count(*) FROM ttl.policy"), "2");
  database_.Install(Configure({Carts()}));
  EXPECT_EQ(database_.Value("SELECT container FROM ttl.policy"), Carts().container);
}

TEST_F(InstallationTest, TriggerActsAsTheOwnerOfTheTable) {
  const std::string owner = database_.CreateRole();
  database_.Sql(absl::StrCat("ALTER TABLE orders OWNER TO ", owner));
  const std::string before = database_.Dump();
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  EXPECT_EQ(database_.Value("SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE proname LIKE "
                            "'replace_expired_%'"),
            owner);
  EXPECT_EQ(
      database_.Value(absl::StrCat("SELECT has_schema_privilege('", owner, "', 'ttl', 'CREATE')")),
      "f");
  ASSERT_TRUE(database_.Uninstall(config).ok());
  EXPECT_EQ(database_.Dump(), before);
}

TEST_F(InstallationTest, TriggerOfAFormerOwnerIsNamedAndInstallingAgainGivesItToTheNewOne) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  EXPECT_TRUE(CheckInstallation(config).ok());
  const std::string owner = database_.CreateRole();
  database_.Sql(absl::StrCat("ALTER TABLE orders OWNER TO ", owner));
  EXPECT_THAT(std::string(CheckInstallation(config).message()),
              HasSubstr("the trigger of table public.orders acts for a former owner"));
  database_.Install(config);
  EXPECT_TRUE(CheckInstallation(config).ok());
  database_.Sql("INSERT INTO orders (id) VALUES (1)");
}

TEST_F(InstallationTest, NobodyElseCanHaveTheTriggersFunctionCallWhatIsTheirs) {
  database_.Install(Configure({Full(Orders())}));
  const std::string other = database_.CreateRole();
  const auto connection = database_.Connect(other);
  // It would compare the key with a value of a type of theirs, by a cast of theirs.
  const auto made = connection->Execute(
      "CREATE TEMP TABLE bait (id int);"
      "CREATE TRIGGER bait BEFORE INSERT ON bait FOR EACH ROW EXECUTE FUNCTION " +
      database_.Value("SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE "
                      "'replace_expired_%'"));
  EXPECT_EQ(SqlState(made.status()), "42501") << made.status();
}

TEST_F(InstallationTest, TriggersThatReplacingRunsFindWhatIsBesideTheTable) {
  const Config config = Configure({Full(Orders())});
  database_.Install(config);
  database_.Sql(
      "CREATE TABLE gone (place bigint);"
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO gone VALUES (OLD.id); RETURN NULL; END $$;"
      "CREATE TRIGGER note AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION note();"
      "INSERT INTO ttl.policy VALUES ('orders', 60, 1, now());"
      "INSERT INTO orders (id, ts) VALUES (1, '2020-01-01'), (2, now());"
      "SET search_path = pg_catalog; INSERT INTO public.orders (id, ts) VALUES (1, now())");
  EXPECT_EQ(database_.Value("SHOW search_path"), "pg_catalog");
  database_.Sql("RESET search_path");
  EXPECT_EQ(database_.Value("SELECT string_agg(place::text, ' ') FROM gone"), "1");
  EXPECT_EQ(database_.Value("SELECT count(*) FROM orders WHERE ts > '2021-01-01'"), "2");
}

TEST_F(InstallationTest, OwnerWithoutOtherRightsCanInstallAndUninstall) {
  const std::string owner = database_.CreateRole("REPLICATION");
  database_.Sql(absl::StrCat("ALTER TABLE orders OWNER TO ", owner, "; GRANT CREATE ON DATABASE ",
                             database_.name(), " TO ", owner, "; GRANT CREATE ON SCHEMA public TO ",
                             owner));
  const std::string before = database_.Dump();
  const Config config = Configure({Full(Orders())});
  const auto connection = database_.Connect(owner);
  const absl::StatusOr<CatalogReport> report = CheckCatalog(*connection, config);
  ASSERT_TRUE(report.ok());
  ASSERT_THAT(report->problems, testing::IsEmpty());
  for (int round = 0; round < 2; ++round) {
    const auto installed = connection->Execute(InstallSql(config, report->tables));
    ASSERT_TRUE(installed.ok()) << installed.status();
  }
  EXPECT_EQ(CheckInstalled(*connection, config, report->tables), absl::OkStatus());
  const auto uninstalled = connection->Execute(UninstallSql(config));
  EXPECT_TRUE(uninstalled.ok()) << uninstalled.status();
  EXPECT_EQ(database_.Dump(), before);
}

TEST_F(InstallationTest, ViewGivesNoRightsThatTheTableDoesNot) {
  const std::string reader = database_.CreateRole();
  const std::string stranger = database_.CreateRole();
  database_.Sql(absl::StrCat("GRANT SELECT ON orders TO ", reader));
  database_.Install(Configure({Full(Orders())}));
  database_.Sql("INSERT INTO orders VALUES (1)");
  const auto reading = database_.Connect(reader);
  EXPECT_EQ(reading->Query("SELECT id FROM orders_live").value().rows(), 1);
  EXPECT_EQ(reading->Query("UPDATE orders_live SET id = 2").status().code(),
            absl::StatusCode::kPermissionDenied);
  const auto strange = database_.Connect(stranger);
  EXPECT_EQ(strange->Query("SELECT id FROM orders_live").status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(InstallationTest, WhatIsMissingIsNamed) {
  const Config config = Configure({Full(Orders())});
  const auto says = [&](const std::string& text) {
    return AllOf(HasSubstr(text), HasSubstr("ttl-postgres install"));
  };
  EXPECT_THAT(
      std::string(CheckInstallation(config).message()),
      AllOf(says("schema ttl is missing"), says("table \"ttl\".\"policy\" is missing"),
            says("view public.orders_live is missing"), says("is missing, or its options")));
  struct Damage {
    std::string sql;
    std::string says;
  };
  const std::vector<Damage> damages = {
      {"DROP VIEW orders_live", "view public.orders_live is missing"},
      {"DROP TRIGGER zz_ttl_postgres_replace_expired ON orders", "trigger "},
      {"ALTER TABLE orders DISABLE TRIGGER zz_ttl_postgres_replace_expired",
       "the trigger of table public.orders is disabled"},
      {"ALTER TABLE orders ENABLE REPLICA TRIGGER zz_ttl_postgres_replace_expired",
       "the trigger of table public.orders is disabled"},
      {"DROP POLICY ttl_postgres_update ON orders", "policy ttl_postgres_update"},
      {"ALTER TABLE orders DISABLE ROW LEVEL SECURITY",
       "row-level security of table public.orders"},
      {"DROP TABLE ttl.progress", "table \"ttl\".\"progress\" is missing"},
      {"DROP FUNCTION ttl.first_visible_ts",
       "function \"ttl\".\"first_visible_ts\"(text) is missing"},
      {"COMMENT ON SCHEMA ttl IS 'ttl-postgres (ttl): its own schema [0]'", "of another version"},
      {absl::StrCat("ALTER PUBLICATION ", config.publication, " DROP TABLE orders"),
       "does not have TABLE \"public\".\"orders\" (\"id\", \"ts\", \"ttl\")"},
      {absl::StrCat("ALTER PUBLICATION ", config.publication, " SET TABLE orders"),
       "has TABLE \"public\".\"orders\" without need"},
      {absl::StrCat("ALTER PUBLICATION ", config.publication, " ADD TABLE events"),
       "has TABLE \"public\".\"events\" without need"},
      {absl::StrCat("ALTER PUBLICATION ", config.publication, " SET (publish = 'insert')"),
       "its options are others"}};
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.sql);
    database_.Install(config);
    ASSERT_EQ(CheckInstallation(config), absl::OkStatus());
    database_.Sql(damage.sql);
    const absl::Status status = CheckInstallation(config);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), says(damage.says));
  }
  database_.Install(config);
  Config less = config;
  less.tables[0].replace_expired = false;
  EXPECT_THAT(std::string(CheckInstallation(less).message()),
              says("a former configuration left something: DROP TRIGGER"));
}

TEST_F(InstallationTest, RoleThatMayNotWriteTheMirrorIsNamed) {
  const Config config = Configure({Orders()});
  const std::vector<TableDefinition> tables = database_.Install(config);
  const auto connection = database_.Connect(database_.CreateRole());
  EXPECT_THAT(std::string(CheckInstalled(*connection, config, tables).message()),
              HasSubstr("table \"ttl\".\"policy\" is missing, or this role may not write it"));
}

// Every statement that others send later waits behind one that waits.
TEST_F(InstallationTest, TableInUseIsNotWaitedForForever) {
  const Config config = Configure({Full(Orders())});
  EXPECT_THAT(InstallSql(config, database_.Define(config)),
              HasSubstr("SET LOCAL lock_timeout = '10s';"));
  const auto busy = database_.Connect();
  ASSERT_TRUE(busy->Execute("BEGIN").ok());
  ASSERT_TRUE(busy->Execute("TABLE orders").ok());
  std::string sql = InstallSql(config, database_.Define(config));
  sql.replace(sql.find("'10s'"), 5, "'10ms'");
  EXPECT_EQ(database_.connection().Execute(sql).status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace ttl::postgres
