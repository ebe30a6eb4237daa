#include "client/postgres/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/temp_dir.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A file that says what it must.
constexpr char kShort[] = R"(
database: dbname=shop
tables:
  - container: shop/orders
    table: orders
    id: order_id
)";

Config Parsed(const std::string& yaml) {
  const auto config = ParseConfig(yaml);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : Config();
}

std::vector<std::string> Problems(const std::string& yaml) {
  const auto config = ParseConfig(yaml);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << yaml;
  return absl::StrSplit(config.status().message(), '\n', absl::SkipEmpty());
}

// What is wrong with these lines, put before those that must be there.
std::vector<std::string> ProblemsOfLines(const std::string& lines) {
  return Problems(absl::StrCat(lines, kShort));
}

// What is wrong with a table that has these lines besides.
std::vector<std::string> ProblemsOfTable(const std::string& lines) {
  return Problems(absl::StrCat(kShort, lines));
}

TEST(ConfigTest, ReadsAllKeys) {
  const Config config = Parsed(R"(
database: host=/var/run/postgresql dbname=shop
sidecar: localhost:7070
listen: localhost:7071
health_listen: 0.0.0.0:7073
metrics_listen: 127.0.0.1:9465
replication: host=db1 dbname=shop
schema: retention
slot: shop_ttl
publication: Shop TTL
max_slot_bytes: 512MiB
lock_timeout: 50ms
statement_timeout: 1min
max_latency: 2s
max_active_backends: 16
tables:
  - container: shop/orders
    schema: Sales
    table: Orders
    partition_key: [region, tenant]
    id: [order_id, line]
    where: "state = 'done' AND tenant <> 7"
    ts_column: updated_at
    ts_unit: milliseconds
    ts_zone: Europe/Berlin
    null_means: never
    ttl_column: keep_for
    expires_column: ends_at
    expires_unit: milliseconds
    expires_zone: Europe/Paris
    ends: end
    expires_null: inherits
    size_column: bytes
    live_view: orders_live
    row_level_security: true
    replace_expired: true
)");
  EXPECT_EQ(config.database, "host=/var/run/postgresql dbname=shop");
  EXPECT_EQ(config.replication, "host=db1 dbname=shop");
  EXPECT_EQ(config.replication_address(), config.replication);
  EXPECT_EQ(config.sidecar, "localhost:7070");
  EXPECT_EQ(config.listen, "localhost:7071");
  EXPECT_EQ(config.health_listen, "0.0.0.0:7073");
  EXPECT_EQ(config.metrics_listen, "127.0.0.1:9465");
  EXPECT_EQ(config.schema, "retention");
  EXPECT_EQ(config.slot, "shop_ttl");
  EXPECT_EQ(config.publication, "Shop TTL");
  EXPECT_EQ(config.max_slot_bytes, int64_t{512} << 20);
  EXPECT_EQ(config.lock_timeout, absl::Milliseconds(50));
  EXPECT_EQ(config.statement_timeout, absl::Minutes(1));
  EXPECT_EQ(config.max_latency, absl::Seconds(2));
  EXPECT_EQ(config.max_active_backends, 16);
  ASSERT_EQ(config.tables.size(), 1);
  const TableConfig& table = config.tables[0];
  EXPECT_EQ(table.container, "shop/orders");
  EXPECT_EQ(table.schema, "Sales");
  EXPECT_EQ(table.table, "Orders");
  EXPECT_THAT(table.partition_key, ElementsAre("region", "tenant"));
  EXPECT_THAT(table.id, ElementsAre("order_id", "line"));
  EXPECT_EQ(table.where, "state = 'done' AND tenant <> 7");
  EXPECT_EQ(table.ts_column, "updated_at");
  EXPECT_EQ(table.ts_unit, EpochUnit::kMilliseconds);
  EXPECT_EQ(table.ts_zone, "Europe/Berlin");
  EXPECT_EQ(table.null_means, NullMeans::kNever);
  EXPECT_EQ(table.ttl_column, "keep_for");
  EXPECT_EQ(table.expires_column, "ends_at");
  EXPECT_EQ(table.expires_unit, EpochUnit::kMilliseconds);
  EXPECT_EQ(table.expires_zone, "Europe/Paris");
  EXPECT_EQ(table.ends, DayEdge::kEnd);
  EXPECT_EQ(table.expires_null, NullEnd::kInherits);
  EXPECT_EQ(table.size_column, "bytes");
  EXPECT_EQ(table.live_view, "orders_live");
  EXPECT_TRUE(table.row_level_security);
  EXPECT_TRUE(table.replace_expired);
}

TEST(ConfigTest, ReadsWhatIsDoneToAnExpiredRow) {
  EXPECT_EQ(Parsed(kShort).tables[0].on_expiry, OnExpiry::kDelete);
  EXPECT_EQ(Parsed(absl::StrCat(kShort, "    on_expiry: delete\n")).tables[0].on_expiry,
            OnExpiry::kDelete);
  const TableConfig archived = Parsed(absl::StrCat(kShort, R"(
    schema: sales
    on_expiry: archive
    archive_table: Old Orders
    archived_at: moved_at
)"))
                                   .tables[0];
  EXPECT_EQ(archived.on_expiry, OnExpiry::kArchive);
  EXPECT_EQ(archived.archive_table, "Old Orders");
  EXPECT_EQ(archived.archived_at, "moved_at");
  EXPECT_EQ(archived.schema_of_archive(), "sales");
  const TableConfig elsewhere = Parsed(absl::StrCat(kShort, R"(
    on_expiry: archive
    archive_table: orders
    archive_schema: archive
    replace_expired: true
)"))
                                    .tables[0];
  EXPECT_EQ(elsewhere.schema_of_archive(), "archive");
  const TableConfig marked = Parsed(absl::StrCat(kShort, R"(
    where: NOT is_deleted
    on_expiry: mark
    mark_column: is_deleted
    mark_value: true
)"))
                                 .tables[0];
  EXPECT_EQ(marked.on_expiry, OnExpiry::kMark);
  EXPECT_EQ(marked.mark_column, "is_deleted");
  EXPECT_EQ(marked.mark_value, "true");
}

TEST(ConfigTest, RefusesAnOnExpiryThatCannotBe) {
  EXPECT_THAT(ProblemsOfTable("    on_expiry: purge\n"),
              ElementsAre(HasSubstr("on_expiry: \"purge\" is not allowed; give delete, archive or "
                                    "mark")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: archive\n"),
              ElementsAre(HasSubstr("on_expiry: archive needs archive_table")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: archive\n    archive_table: orders\n"),
              ElementsAre(HasSubstr("archive_table is the table itself")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: archive\n    archive_table: stored\n"
                              "    rename_table: stored\n"),
              ElementsAre(HasSubstr("archive_table is the table itself")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: archive\n    archive_table: live\n"
                              "    live_view: live\n"),
              ElementsAre(HasSubstr("public.live, is the view of container shop/orders")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: mark\n"),
              ElementsAre(HasSubstr("on_expiry: mark needs mark_column"),
                          HasSubstr("on_expiry: mark needs mark_value"),
                          HasSubstr("on_expiry: mark needs a where")));
  const std::string mark = "    on_expiry: mark\n    where: x > 0\n    mark_value: 1\n";
  EXPECT_THAT(ProblemsOfTable(absl::StrCat(mark, "    mark_column: order_id\n")),
              ElementsAre(HasSubstr("mark_column order_id is a column of the key")));
  EXPECT_THAT(
      ProblemsOfTable(absl::StrCat(mark, "    mark_column: ends\n    expires_column: ends\n")),
      ElementsAre(HasSubstr("mark_column ends is a column of the key, or another one")));
  EXPECT_THAT(
      ProblemsOfTable(absl::StrCat(mark, "    mark_column: y\n    replace_expired: true\n")),
      ElementsAre(HasSubstr("replace_expired is given with on_expiry: mark")));
}

TEST(ConfigTest, RefusesArchivesInACircle) {
  const auto with = [](const std::string& last) {
    return absl::StrCat(
        kShort,
        "    on_expiry: archive\n    archive_table: old\n"
        "  - { container: b, table: old, id: id, on_expiry: archive, archive_table: "
        "older }\n  - { container: c, table: older, id: id",
        last, " }\n");
  };
  EXPECT_EQ(Parsed(with("")).tables.size(), 3u);
  EXPECT_EQ(Parsed(with(", on_expiry: archive, archive_table: oldest")).tables.size(), 3u);
  EXPECT_THAT(Problems(with(", on_expiry: archive, archive_table: orders")),
              ElementsAre(AllOf(HasSubstr("archive_table of container shop/orders"),
                                HasSubstr("leads back to the table"))));
}

TEST(ConfigTest, RefusesKeysOfAnotherOnExpiry) {
  EXPECT_THAT(ProblemsOfTable("    archive_table: old\n    archive_schema: b\n"
                              "    archived_at: c\n    mark_column: x\n    mark_value: 1\n"),
              ElementsAre(HasSubstr("archive_table needs on_expiry: archive"),
                          HasSubstr("archive_schema needs on_expiry: archive"),
                          HasSubstr("archived_at needs on_expiry: archive"),
                          HasSubstr("mark_column needs on_expiry: mark"),
                          HasSubstr("mark_value needs on_expiry: mark")));
  EXPECT_THAT(ProblemsOfTable("    on_expiry: archive\n    archive_table: old\n"
                              "    mark_column: x\n"),
              ElementsAre(HasSubstr("mark_column needs on_expiry: mark")));
}

TEST(ConfigTest, ViewHasTheNameOfTheTableWhereTheApplicationIsToFindItByThat) {
  const TableConfig searched = Parsed(absl::StrCat(kShort, "    view_schema: live\n")).tables[0];
  EXPECT_EQ(searched.live_view, "orders");
  EXPECT_EQ(searched.live_view_schema(), "live");
  const TableConfig renamed = Parsed(absl::StrCat(kShort, "    rename_table: rows\n")).tables[0];
  EXPECT_EQ(renamed.live_view, "orders");
  EXPECT_EQ(renamed.live_view_schema(), "public");
  EXPECT_EQ(renamed.rename_table, "rows");
  const TableConfig named =
      Parsed(absl::StrCat(kShort, "    view_schema: live\n    live_view: fresh\n")).tables[0];
  EXPECT_EQ(named.live_view, "fresh");
}

TEST(ConfigTest, WhatIsLeftOutOrNullHasItsDefault) {
  for (const std::string& yaml :
       {std::string(kShort),
        absl::StrCat("slot:\nlock_timeout: null\nmax_latency: ~\n", kShort,
                     "    partition_key:\n    ts_column:\n    live_view: null\n")}) {
    const Config config = Parsed(yaml);
    EXPECT_EQ(config.replication_address(), config.database);
    EXPECT_EQ(config.sidecar, "unix:/run/ttl-sidecar/sidecar.sock");
    EXPECT_EQ(config.listen, "unix:/run/ttl-sidecar/store.sock");
    EXPECT_EQ(config.health_listen, "");
    EXPECT_EQ(config.metrics_listen, "");
    EXPECT_EQ(config.schema, "ttl");
    EXPECT_EQ(config.slot, "ttl_sidecar");
    EXPECT_EQ(config.publication, "ttl_sidecar");
    EXPECT_EQ(config.max_slot_bytes, int64_t{16} << 30);
    EXPECT_EQ(config.lock_timeout, absl::Milliseconds(100));
    EXPECT_EQ(config.statement_timeout, absl::Seconds(2));
    EXPECT_EQ(config.max_latency, absl::Milliseconds(50));
    EXPECT_EQ(config.max_active_backends, 0);
    ASSERT_EQ(config.tables.size(), 1);
    EXPECT_EQ(config.tables[0].schema, "public");
    EXPECT_THAT(config.tables[0].partition_key, IsEmpty());
    EXPECT_THAT(config.tables[0].id, ElementsAre("order_id"));
    EXPECT_EQ(config.tables[0].ts_column, std::nullopt);
    EXPECT_EQ(config.tables[0].ts_unit, EpochUnit::kSeconds);
    EXPECT_EQ(config.tables[0].live_view, "");
    EXPECT_FALSE(config.tables[0].row_level_security);
  }
}

TEST(ConfigTest, LimitsCanBeSwitchedOff) {
  const Config config = Parsed(absl::StrCat("max_slot_bytes: 0\nmax_latency: 0\n", kShort));
  EXPECT_EQ(config.max_slot_bytes, 0);
  EXPECT_EQ(config.max_latency, absl::ZeroDuration());
}

TEST(ConfigTest, WhatMustBeThereIsNamed) {
  EXPECT_THAT(Problems("tables: [{table: orders}]"),
              ElementsAre("line 1: tables[0]: container is missing",
                          "line 1: tables[0]: id is missing", "line 1: database is missing"));
  EXPECT_THAT(Problems("database: dbname=shop"), ElementsAre("line 1: tables is missing"));
  EXPECT_THAT(
      Problems("database: dbname=shop\ntables: []"),
      ElementsAre(StartsWith("line 2: tables: a list is not allowed; give a list of tables, "
                             "at least one")));
  EXPECT_THAT(ProblemsOfTable("    id: []\n"), ElementsAre(HasSubstr("id is given twice")));
}

TEST(ConfigTest, AllProblemsAreNamedAtOnceEachWithItsLine) {
  EXPECT_THAT(Problems(R"(
databas: dbname=shop
slot: Shop
max_latency: 50
tables:
  - container: shop/orders
    table: orders
    id: [id]
    ts_unit: minutes
  - shop/carts
)"),
              ElementsAre(StartsWith("line 2: unknown key \"databas\"; did you mean database?"),
                          StartsWith("line 3: slot: \"Shop\" is not allowed; give "),
                          StartsWith("line 4: max_latency: \"50\" is not allowed; give a whole "
                                     "number with ms, s, min or h"),
                          StartsWith("line 9: tables[0].ts_unit: \"minutes\" is not allowed; give "
                                     "seconds or milliseconds"),
                          StartsWith("line 6: tables[0]: ts_unit needs ts_column"),
                          StartsWith("line 10: tables[1]: \"shop/carts\" is not allowed; give a "
                                     "mapping"),
                          StartsWith("line 2: database is missing")));
}

TEST(ConfigTest, CommitTimesAreAcceptedOnlyWhereTheyCount) {
  EXPECT_TRUE(
      Parsed(absl::StrCat(kShort, "    accept_commit_time: true\n")).tables[0].accept_commit_time);
  EXPECT_FALSE(Parsed(kShort).tables[0].accept_commit_time);
  EXPECT_THAT(ProblemsOfTable("    ts_column: at\n    accept_commit_time: true\n"),
              ElementsAre(HasSubstr("accept_commit_time is given with ts_column")));
}

TEST(ConfigTest, ZoneIsRefusedWithoutAColumnThatIsInIt) {
  EXPECT_EQ(Parsed(kShort).tables[0].ts_zone, "");
  EXPECT_THAT(ProblemsOfTable("    ts_zone: UTC\n"),
              ElementsAre(HasSubstr("ts_zone needs ts_column")));
}

TEST(ConfigTest, WhereIsATextOfBoundedLength) {
  EXPECT_EQ(Parsed(kShort).tables[0].where, "");
  EXPECT_THAT(ProblemsOfTable(absl::StrCat("    where: ", std::string(4001, 'x'), "\n")),
              ElementsAre(HasSubstr("give an SQL condition of at most 4000 bytes")));
  EXPECT_THAT(ProblemsOfTable("    where: [a, b]\n"), ElementsAre(HasSubstr("a list is not")));
}

TEST(ConfigTest, NullMeansIsRefusedWhereThereIsNoTimeToBeNull) {
  EXPECT_EQ(Parsed(absl::StrCat(kShort, "    ts_column: at\n")).tables[0].null_means,
            NullMeans::kFault);
  EXPECT_THAT(ProblemsOfTable("    null_means: never\n"),
              ElementsAre(HasSubstr("null_means needs ts_column")));
  EXPECT_THAT(ProblemsOfTable("    ts_column: at\n    null_means: expired\n"),
              ElementsAre(HasSubstr("null_means: \"expired\" is not allowed; give never")));
}

TEST(ConfigTest, ExpiresColumnGoesWithWhatIsAboutIt) {
  const TableConfig table =
      Parsed(absl::StrCat(kShort, "    expires_column: at\n    ends: start\n")).tables[0];
  EXPECT_EQ(table.expires_column, "at");
  EXPECT_EQ(table.ends, DayEdge::kStart);
  EXPECT_EQ(table.expires_null, NullEnd::kNever);
  EXPECT_EQ(table.expires_unit, EpochUnit::kSeconds);
  EXPECT_THAT(ProblemsOfTable("    expires_unit: seconds\n    expires_zone: UTC\n    ends: end\n"
                              "    expires_null: never\n"),
              ElementsAre(HasSubstr("expires_unit needs expires_column"),
                          HasSubstr("expires_zone needs expires_column"),
                          HasSubstr("ends needs expires_column"),
                          HasSubstr("expires_null needs expires_column")));
  EXPECT_THAT(ProblemsOfTable("    expires_column: at\n    ends: noon\n    expires_null: 0\n"),
              ElementsAre(HasSubstr("ends: \"noon\" is not allowed; give start or end"),
                          HasSubstr("expires_null: \"0\" is not allowed; give never or inherits")));
  EXPECT_THAT(ProblemsOfTable("    expires_column: at\n    ts_column: at\n"),
              ElementsAre(HasSubstr("expires_column and ts_column are the same column")));
}

TEST(ConfigTest, WhatCountsFromTsIsRefusedWithoutAColumnOfIt) {
  EXPECT_THAT(
      ProblemsOfTable("    expires_column: at\n    ttl_column: ttl\n    expires_null: inherits\n"
                      "    accept_commit_time: true\n"),
      ElementsAre(HasSubstr("accept_commit_time is given with expires_column"),
                  HasSubstr("ttl_column needs ts_column"),
                  HasSubstr("expires_null: inherits needs ts_column")));
}

TEST(ConfigTest, ReadsGroups) {
  const Config config = Parsed(R"(
database: dbname=shop
tables:
  - container: threads
    members:
      - table: blobs
        ts_column: at
      - { table: notes, schema: other, group_by: [t, n], live_view: notes_live }
    schema: agent
    table: checkpoints
    group_by: [thread, ns]
    ts_column: at
    view_schema: live
)");
  ASSERT_EQ(config.tables.size(), 1u);
  const TableConfig& group = config.tables[0];
  EXPECT_TRUE(group.is_group);
  EXPECT_THAT(group.id, ElementsAre("thread", "ns"));
  EXPECT_EQ(group.live_view, "checkpoints");
  ASSERT_EQ(group.members.size(), 2u);
  // A member has the container, the schema and the columns of its group, wherever these are given.
  EXPECT_EQ(group.members[0].container, "threads");
  EXPECT_EQ(group.members[0].schema, "agent");
  EXPECT_THAT(group.members[0].id, ElementsAre("thread", "ns"));
  EXPECT_TRUE(group.members[0].is_group);
  EXPECT_EQ(group.members[0].ts_column, "at");
  EXPECT_EQ(group.members[1].schema, "other");
  EXPECT_THAT(group.members[1].id, ElementsAre("t", "n"));
  EXPECT_FALSE(group.members[1].has_times());
  EXPECT_EQ(group.members[1].live_view, "notes_live");
}

TEST(ConfigTest, WhatIsNotDefinedForGroupsIsRefused) {
  const auto problems = [](const std::string& lines) {
    return Problems(
        absl::StrCat("database: dbname=shop\ntables:\n  - container: c\n    table: t\n", lines));
  };
  EXPECT_THAT(problems("    group_by: g\n"),
              ElementsAre(HasSubstr("group_by needs either a ts_column or an expires_column")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: a\n    expires_column: b\n"),
              ElementsAre(HasSubstr("group_by needs either a ts_column or an expires_column")));
  for (const char* line : {"id: i", "partition_key: p", "where: a", "ttl_column: a",
                           "size_column: a", "rename_table: a", "replace_expired: true"}) {
    const std::string key(line, std::string(line).find(':'));
    EXPECT_THAT(problems(absl::StrCat("    group_by: g\n    ts_column: ts\n    ", line, "\n")),
                Contains(HasSubstr(absl::StrCat(key, " is given with group_by"))));
  }
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    on_expiry: archive\n    "
                       "archive_table: a\n"),
              ElementsAre(HasSubstr("on_expiry is given with group_by")));
  EXPECT_THAT(problems("    id: i\n    members: [{ table: m }]\n"),
              ElementsAre(HasSubstr("members needs group_by")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    members: []\n"),
              ElementsAre(HasSubstr("a list of tables, at least one")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    members:\n      - { table: m, "
                       "group_by: [a, b] }\n"),
              ElementsAre(HasSubstr("member m has 2 columns in group_by; must have 1")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    members:\n      - { table: m, "
                       "expires_column: e }\n"),
              ElementsAre(HasSubstr("member m: the tables of a group have either")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    members:\n      - { table: t }\n"),
              ElementsAre(HasSubstr("table public.t is taken")));
  EXPECT_THAT(problems("    group_by: g\n    ts_column: ts\n    members:\n      - { table: m, "
                       "where: a }\n"),
              ElementsAre(HasSubstr("where")));
}

TEST(ConfigTest, UnknownKeyIsRefusedWithTheNearest) {
  EXPECT_THAT(
      ProblemsOfTable("    ttl_colum: keep_for\n"),
      ElementsAre("line 7: tables[0]: unknown key \"ttl_colum\"; did you mean ttl_column?"));
  EXPECT_THAT(ProblemsOfTable("    TTL_Column: keep_for\n"),
              ElementsAre(HasSubstr("did you mean ttl_column?")));
  EXPECT_THAT(ProblemsOfTable("    default_ttl: 60\n"),
              ElementsAre(AllOf(HasSubstr("unknown key \"default_ttl\"; the keys are container, "),
                                HasSubstr("ttl_column, expires_column, "))));
  EXPECT_THAT(ProblemsOfLines("? [a, b]\n: 1\n"), ElementsAre(HasSubstr("unknown key a list")));
  EXPECT_THAT(ProblemsOfLines("slot: a\nslot: b\n"), ElementsAre("line 2: slot is given twice"));
}

TEST(ConfigTest, ValuesOutOfTheirRangeAreRefused) {
  for (const std::string line : {
           "max_slot_bytes: 16GB",
           "max_slot_bytes: 16",
           "max_slot_bytes: 1.5GiB",
           "max_slot_bytes: -1GiB",
           "max_slot_bytes: 16 GiB",
           "max_slot_bytes: 1023KiB",
           "max_slot_bytes: 99999999TiB",
           "max_slot_bytes: \"16GiB\"",
           "lock_timeout: 0",
           "lock_timeout: 100",
           "lock_timeout: 100us",
           "lock_timeout: 0.1s",
           "lock_timeout: -1s",
           "lock_timeout: 010ms",
           "lock_timeout: 61min",
           "lock_timeout: 9999999999999999h",
           "lock_timeout: [1s]",
           "statement_timeout: 0ms",
           "max_active_backends: -1",
           "max_active_backends: 262144",
           "max_active_backends: 0x10",
           "max_active_backends: \"1\"",
           "sidecar: http://localhost:7070",
           "sidecar: /run/sidecar.sock",
           "sidecar: localhost",
           "listen: 'unix:'",
           "listen: {}",
           "health_listen: unix:/run/health.sock",
           "metrics_listen: 9465",
           "metrics_listen: ':9465'",
           "metrics_listen: localhost:65536",
           "metrics_listen: localhost:http",
           "schema: public",
           "schema: pg_ttl",
           "schema: \"\"",
           "slot: ttl-sidecar",
           "publication: \"a\\0b\"",
           "publication: [a]",
       }) {
    const std::string key = line.substr(0, line.find(':'));
    EXPECT_THAT(ProblemsOfLines(line + "\n"),
                ElementsAre(AllOf(StartsWith(absl::StrCat("line 1: ", key, ": ")),
                                  HasSubstr("is not allowed; give "))))
        << line;
  }
}

TEST(ConfigTest, ValuesOfATableOutOfTheirRangeAreRefused) {
  const std::string long_name(64, 'x');
  for (const std::string& line : {
           std::string("row_level_security: yes"),
           std::string("row_level_security: \"true\""),
           std::string("replace_expired: 1"),
           std::string("ts_column: [a, b]"),
           std::string("ttl_column: \"\""),
           absl::StrCat("size_column: ", long_name),
           absl::StrCat("live_view: ", long_name),
           absl::StrCat("partition_key: [a, ", long_name, "]"),
           std::string("partition_key: [a, [b]]"),
           std::string("partition_key: {a: b}"),
       }) {
    EXPECT_THAT(ProblemsOfTable(absl::StrCat("    ", line, "\n")),
                ElementsAre(HasSubstr(": tables[0].")))
        << line;
  }
  EXPECT_THAT(
      Problems("database: dbname=shop\ntables: [{container: \"a\\tb\", table: t, id: id}]"),
      ElementsAre(HasSubstr("tables[0].container: \"a\\tb\" is not allowed; give the id of a "
                            "container")));
}

TEST(ConfigTest, NamesMayBeAnything) {
  const Config config = Parsed(R"(
database: dbname=shop
tables: [{container: "größe/1", table: 'or"der', id: [select, "a.b", 1]}]
)");
  EXPECT_EQ(config.tables[0].container, "größe/1");
  EXPECT_EQ(config.tables[0].table, "or\"der");
  EXPECT_THAT(config.tables[0].id, ElementsAre("select", "a.b", "1"));
}

TEST(ConfigTest, ContainersTablesAndViewsAreDistinct) {
  const auto problems = [](const std::string& second) {
    return Problems(absl::StrCat(kShort, "    live_view: live\n  - {", second, "}\n"));
  };
  EXPECT_THAT(problems("container: shop/orders, table: b, id: i"),
              ElementsAre("line 8: tables[1]: container shop/orders is taken by tables[0]"));
  EXPECT_THAT(problems("container: b, table: orders, id: i"),
              ElementsAre("line 8: tables[1]: table public.orders is taken by tables[0]"));
  EXPECT_THAT(problems("container: b, table: b, id: i, live_view: live"),
              ElementsAre("line 8: tables[1]: view public.live is taken by tables[0]"));
  EXPECT_THAT(problems("container: b, table: b, id: i, live_view: orders"),
              ElementsAre("line 8: tables[1]: view public.orders is taken by tables[0]"));
  EXPECT_EQ(Parsed(absl::StrCat(kShort,
                                "    live_view: live\n"
                                "  - {container: b, schema: other, table: orders, id: i, "
                                "live_view: live}\n"))
                .tables.size(),
            2);
}

TEST(ConfigTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(ProblemsOfLines("lock_timeout: 3s\n"),
              ElementsAre(HasSubstr("lock_timeout is longer than statement_timeout")));
  EXPECT_THAT(ProblemsOfTable("    schema: ttl\n"),
              ElementsAre(HasSubstr("ttl is the schema of table orders")));
  EXPECT_THAT(ProblemsOfTable("    view_schema: ttl\n"),
              ElementsAre(HasSubstr("ttl is the schema of table orders or of its view")));
  EXPECT_THAT(ProblemsOfTable("    rename_table: rows\n    live_view: live\n"),
              ElementsAre(HasSubstr("rename_table is given with live_view or view_schema")));
  EXPECT_THAT(ProblemsOfTable("    rename_table: orders\n"),
              Contains(HasSubstr("rename_table is the table's own name")));
  EXPECT_THAT(ProblemsOfTable("    partition_key: [tenant, order_id]\n"),
              ElementsAre(HasSubstr("column order_id is in the key twice")));
}

TEST(ConfigTest, AProblemIsOneLineWhateverTheNames) {
  const auto config =
      ParseConfig("database: d\ntables:\n- {container: c, table: t, id: [\"a\\nb\", \"a\\nb\"]}\n");
  ASSERT_TRUE(absl::IsInvalidArgument(config.status()));
  EXPECT_EQ(config.status().message(), "line 3: tables[0]: column a\\nb is in the key twice");
}

TEST(ConfigTest, WhatIsNoYamlIsRefusedWithItsLine) {
  for (const std::string yaml :
       {"a: [1\n", "database: x\n\ttables: 1", ",", "a: b\n---\nc: d", "tables: *nowhere"}) {
    EXPECT_THAT(Problems(yaml), ElementsAre(StartsWith("line "))) << yaml;
  }
  for (const std::string yaml : {"", "# nothing", "- a", "text"}) {
    EXPECT_THAT(Problems(yaml), ElementsAre(HasSubstr("give a mapping"))) << yaml;
  }
}

TEST(ConfigTest, FileIsNamedBeforeEachProblem) {
  const TempDir dir;
  const std::string path = dir.File("ttl.yaml");
  EXPECT_EQ(ReadConfig(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadConfig(dir.path()).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(path) << kShort;
  EXPECT_TRUE(ReadConfig(path).ok());
  std::ofstream(path) << "a: 1\nb: 2";
  const auto config = ReadConfig(path);
  EXPECT_THAT(std::vector<std::string>(absl::StrSplit(config.status().message(), '\n')),
              testing::Each(StartsWith(path + ": line ")));
  std::ofstream(path) << std::string(size_t{2} << 20, '#');
  EXPECT_THAT(ReadConfig(path).status().message(), HasSubstr("more than 1048576 bytes"));
}

}  // namespace
}  // namespace ttl::postgres
