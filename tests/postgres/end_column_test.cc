// Tables with an expires_column: what the view and the policies show, and that rows are read as the
// server judges them.
#include "client/postgres/sql/end_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/postgres/row/row_item.h"
#include "client/postgres/row/row_select.h"
#include "service/core/ttl_rules.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

constexpr int64_t kTsOfRules = 1'600'000'000;
// Beyond it an expire_at of the rules is no time beside that _ts, but one by itself.
constexpr int64_t kBesideTs = 1'000'000;

// How a table says its ends.
struct EndKind {
  const char* name;
  const char* type;
  const char* of_seconds;  // an end, from seconds as numeric
  EpochUnit unit = EpochUnit::kSeconds;
  const char* zone = "";
  bool holds_fractions = true;
};

const std::vector<EndKind> kKinds = {
    {"timestamptz", "timestamptz", "timestamptz 'epoch' + (%s) * interval '1 second'"},
    {"seconds", "bigint", "ceil(%s)::bigint", EpochUnit::kSeconds, "", false},
    {"milliseconds", "bigint", "ceil((%s) * 1000)::bigint", EpochUnit::kMilliseconds},
    {"a clock with daylight saving", "timestamp",
     "(timestamptz 'epoch' + (%s) * interval '1 second') AT TIME ZONE 'Europe/Berlin'",
     EpochUnit::kSeconds, "Europe/Berlin"},
    {"a clock without", "timestamp",
     "(timestamptz 'epoch' + (%s) * interval '1 second') AT TIME ZONE interval '-05:30'",
     EpochUnit::kSeconds, "-05:30"},
};

std::string ValueOf(const EndKind& kind, const std::string& seconds) {
  return absl::StrReplaceAll(kind.of_seconds, {{"%s", seconds}});
}

TableConfig Rows(const EndKind& kind) {
  TableConfig table;
  table.container = "rows";
  table.table = "rows";
  table.id = {"id"};
  table.expires_column = "ends";
  table.expires_unit = kind.unit;
  table.expires_zone = kind.zone;
  table.live_view = "rows_live";
  return table;
}

void SetPolicy(DatabaseForTest& database, const std::string& default_ttl) {
  database.Sql(absl::StrCat("DELETE FROM ttl.policy; INSERT INTO ttl.policy VALUES ('rows', ",
                            default_ttl, ", 1, now())"));
}

std::optional<int64_t> Number(absl::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::stoll(std::string(text));
}

// A line of the file of the rules.
struct Rule {
  std::string default_ttl;  // "NULL": absent
  std::optional<int64_t> ttl;
  std::optional<int64_t> expire_at;
  std::optional<int64_t> expire_time;
};

std::vector<Rule> ReadRules() {
  std::ifstream file(EXPIRY_RULES_FILE);
  std::vector<Rule> rules;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("default_ttl")) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    rules.push_back({fields.at(0).empty() ? "NULL" : fields.at(0), Number(fields.at(1)),
                     Number(fields.at(2)), Number(fields.at(3))});
  }
  EXPECT_EQ(rules.size(), 252u) << EXPIRY_RULES_FILE;
  return rules;
}

bool IsBesideTs(int64_t time) {
  return time > kTsOfRules - kBesideTs && time < kTsOfRules + kBesideTs;
}

// As the rule has it, so much later.
std::optional<int64_t> Later(std::optional<int64_t> time, int64_t shift) {
  return time.has_value() && IsBesideTs(*time) ? *time + shift : time;
}

std::string Sql(std::optional<int64_t> number) {
  return number.has_value() ? absl::StrCat(*number) : "NULL";
}

// Which columns the table has, and the rules that can be told by them.
struct Form {
  const char* name;
  bool has_ts;
  bool has_ttl;
  NullEnd null_end;
  bool (*takes)(const Rule&);
};

const std::vector<Form> kForms = {
    {"ttl, or inherits", true, true, NullEnd::kInherits, [](const Rule&) { return true; }},
    {"inherits", true, false, NullEnd::kInherits, [](const Rule& rule) { return !rule.ttl; }},
    {"ttl, or never", true, true, NullEnd::kNever,
     [](const Rule& rule) { return rule.ttl || rule.expire_at; }},
    {"an end, or never", true, false, NullEnd::kNever,
     [](const Rule& rule) { return rule.ttl == -1; }},
    {"nothing but an end", false, false, NullEnd::kNever,
     [](const Rule& rule) { return rule.ttl == -1; }},
};

struct Judged {
  std::string id;
  std::optional<int64_t> expire_time;
};

// Rows of each rule that end in some seconds, end now, and have ended.
std::vector<Judged> FillRows(DatabaseForTest& database, const EndKind& kind, const Form& form,
                             const std::vector<Rule>& rules, const std::string& default_ttl) {
  const int64_t now = std::stoll(database.Value("SELECT floor(extract(epoch FROM now()))::bigint"));
  std::vector<Judged> judged;
  std::vector<std::string> values;
  for (const Rule& rule : rules) {
    if (rule.default_ttl != default_ttl || !form.takes(rule)) continue;
    for (const int64_t until_end : {-1, 0, 1, 2, 3, 4, 5, 60}) {
      const int64_t base = rule.expire_time.has_value() && IsBesideTs(*rule.expire_time)
                               ? *rule.expire_time
                               : kTsOfRules;
      const int64_t shift = now + until_end - base;
      const std::string id = absl::StrCat(judged.size() + 1);
      judged.push_back({id, Later(rule.expire_time, shift)});
      const std::string end = Sql(Later(rule.expire_at, shift));
      values.push_back(absl::StrCat("(", id, ", ", kTsOfRules + shift, ", ", Sql(rule.ttl), ", ",
                                    ValueOf(kind, absl::StrCat(end, "::numeric")), ")"));
    }
  }
  database.Sql(
      absl::StrCat("TRUNCATE rows; INSERT INTO rows SELECT v.id, to_timestamp(v.ts), "
                   "v.ttl::bigint, v.ends FROM (VALUES ",
                   absl::StrJoin(values, ", "), ") AS v(id, ts, ttl, ends)"));
  return judged;
}

// `judged_at` is SQL of the instant.
void ExpectSeen(Connection& connection, const std::string& relation,
                const std::vector<Judged>& judged,
                const std::string& judged_at = "statement_timestamp()") {
  const auto seen = connection.Query(
      absl::StrCat("SELECT array_to_string(ARRAY(SELECT id FROM ", relation,
                   " ORDER BY id), ' '), floor(extract(epoch FROM ", judged_at, "))::bigint"));
  ASSERT_TRUE(seen.ok()) << seen.status();
  std::vector<std::string> live;
  for (const Judged& row : judged) {
    if (!IsExpiredAt(row.expire_time, absl::FromUnixSeconds(seen->Number(0, 1)))) {
      live.push_back(row.id);
    }
  }
  EXPECT_EQ(seen->Text(0, 0), absl::StrJoin(live, " "));
}

void ExpectSeenAsOfThreeSecondsAgo(Connection& connection, const std::string& relation,
                                   const std::vector<Judged>& judged) {
  ASSERT_TRUE(connection
                  .Execute("SELECT set_config('ttl_postgres.as_of', (clock_timestamp() - interval "
                           "'3 s')::text, false)")
                  .ok());
  ExpectSeen(connection, relation, judged, "current_setting('ttl_postgres.as_of')::timestamptz");
  ASSERT_TRUE(connection.Execute("RESET ttl_postgres.as_of").ok());
}

TEST(EndColumnTest, ViewAndRowSecurityAgreeWithTheRules) {
  const std::vector<Rule> rules = ReadRules();
  for (const EndKind& kind : kKinds) {
    for (const Form& form : kForms) {
      DatabaseForTest database;
      database.Sql(
          absl::StrCat("CREATE TABLE rows (id int PRIMARY KEY, ts timestamptz, ttl bigint, "
                       "ends ",
                       kind.type, ")"));
      const std::string reader = database.CreateRole();
      database.Sql(absl::StrCat("GRANT SELECT ON rows TO ", reader));
      TableConfig table = Rows(kind);
      if (form.has_ts) table.ts_column = "ts";
      if (form.has_ttl) table.ttl_column = "ttl";
      table.expires_null = form.null_end;
      table.row_level_security = true;
      database.Install(database.ConfigFor({table}));
      const auto connection = database.Connect(reader);
      for (const std::string default_ttl : {"NULL", "-1", "60"}) {
        SCOPED_TRACE(absl::StrCat(kind.name, ", ", form.name, ", default_ttl ", default_ttl));
        SetPolicy(database, default_ttl);
        const std::vector<Judged> judged = FillRows(database, kind, form, rules, default_ttl);
        ASSERT_GT(judged.size(), 50u);
        ExpectSeen(database.connection(), "rows_live", judged);
        ExpectSeen(*connection, "rows", judged);
        ExpectSeenAsOfThreeSecondsAgo(database.connection(), "rows_live", judged);
        ExpectSeenAsOfThreeSecondsAgo(*connection, "rows", judged);
      }
    }
  }
}

TEST(EndColumnTest, FractionsOfASecondAreRoundedUpAndInfinityIsNever) {
  for (const EndKind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    DatabaseForTest database;
    database.Sql(absl::StrCat("CREATE TABLE rows (id serial PRIMARY KEY, ends ", kind.type, ")"));
    database.Install(database.ConfigFor({Rows(kind)}));
    SetPolicy(database, "-1");
    database.Sql(absl::StrCat(
        "INSERT INTO rows (ends) SELECT ",
        ValueOf(kind, "floor(extract(epoch FROM now())) + step + fraction"),
        " FROM generate_series(-2, 12) AS step, unnest('{0, 0.001, 0.999}'::numeric[]) AS fraction "
        "ORDER BY step, fraction"));
    const bool has_infinity = absl::string_view(kind.type) != "bigint";
    if (has_infinity) database.Sql("INSERT INTO rows (ends) VALUES ('infinity'), ('-infinity')");
    const QueryResult rows =
        database.Sql(absl::StrCat("SELECT id, ceil(extract(epoch FROM ",
                                  *kind.zone == '\0' ? has_infinity ? "ends" : "to_timestamp(ends)"
                                                     : StatedZone::Load(kind.zone)->At("ends"),
                                  ")", kind.unit == EpochUnit::kMilliseconds ? " / 1000" : "",
                                  ")::text FROM rows ORDER BY id"));
    std::vector<Judged> judged;
    for (int row = 0; row < rows.rows(); ++row) {
      std::optional<int64_t> end;
      double seconds = std::stod(std::string(rows.Text(row, 1)));
      if (std::isfinite(seconds)) end = static_cast<int64_t>(std::ceil(seconds));
      judged.push_back({std::string(rows.Text(row, 0)), end});
    }
    ExpectSeen(database.connection(), "rows_live", judged);
  }
}

struct DateKind {
  const char* zone;
  DayEdge edge;
};

const std::vector<DateKind> kDates = {
    {"UTC", DayEdge::kStart},           {"UTC", DayEdge::kEnd},
    {"-05:30", DayEdge::kStart},        {"+14:00", DayEdge::kEnd},
    {"Europe/Berlin", DayEdge::kStart}, {"Europe/Berlin", DayEdge::kEnd},
};

TableConfig Dates(const DateKind& kind) {
  TableConfig table = Rows({.name = "", .type = "date", .of_seconds = "", .zone = kind.zone});
  table.ends = kind.edge;
  return table;
}

TEST(EndColumnTest, DateEndsAtTheStartOrTheEndOfItsDayInItsZone) {
  for (const DateKind& kind : kDates) {
    SCOPED_TRACE(absl::StrCat(kind.zone, kind.edge == DayEdge::kEnd ? " end" : " start"));
    DatabaseForTest database;
    database.Sql(
        "CREATE TABLE rows (id serial PRIMARY KEY, ends date);"
        "INSERT INTO rows (ends) SELECT current_date + i FROM generate_series(-3, 3) i;"
        "INSERT INTO rows (ends) VALUES ('infinity'), ('-infinity'), (NULL), "
        "('1969-12-31'), ('9999-12-30'), ('200000-01-01')");
    const TableDefinition table = database.Install(database.ConfigFor({Dates(kind)})).at(0);
    SetPolicy(database, "-1");
    const QueryResult rows = database.Sql("SELECT id, ends FROM rows ORDER BY id");
    std::vector<Judged> judged;
    for (int row = 0; row < rows.rows(); ++row) {
      RowTexts texts;
      texts.id = {rows.Text(row, 0)};
      texts.expires = rows.Value(row, 1);
      const auto item = RowToItem(table, texts, {}, absl::Now());
      const bool ends = item.ok() && item->has_expire_at();
      judged.push_back({std::string(rows.Text(row, 0)),
                        ends ? std::make_optional(item->expire_at()) : std::nullopt});
      // Dates around today, and the last one, end; what is no end never does.
      EXPECT_EQ(ends, row < 7 || row == 11) << rows.Text(row, 1);
    }
    ExpectSeen(database.connection(), "rows_live", judged);
    SetPolicy(database, "NULL");
    EXPECT_EQ(database.Value("SELECT count(*) FROM rows_live"), "13");
  }
}

// What the stream says, what a query says and what the delete compares are the same.
TEST(EndColumnTest, RowIsReadAsTheDeleteJudgesIt) {
  const std::vector<std::pair<TableConfig, std::vector<std::string>>> kTables = {
      {Rows(kKinds[0]),
       {"NULL", "'infinity'", "'-infinity'", "'1970-01-01 00:00:00+00'",
        "'1970-01-01 00:00:00.000001+00'", "'2026-10-25 00:59:59.5+00'", "'9999-12-31 23:59:59+00'",
        "'9999-12-31 23:59:59.1+00'", "'0044-03-15 BC'", "'294276-12-31'"}},
      {Rows(kKinds[1]),
       {"NULL", "-9223372036854775808", "-1", "0", "1", "1700000000", "253402300799",
        "253402300800", "9223372036854775807"}},
      {Rows(kKinds[2]),
       {"NULL", "-9223372036854775808", "-1", "0", "1", "1700000000001", "1700000000000",
        "253402300799000", "253402300799001", "9223372036854775807"}},
      {Rows(kKinds[3]),
       {"NULL", "'infinity'", "'-infinity'", "'1970-01-01 01:00:00'", "'1970-01-01 01:00:00.1'",
        "'2025-10-26 02:30:00'", "'2025-03-30 02:30:00.5'", "'2025-07-01 12:00:00.000001'",
        "'10000-01-01 01:00:00'", "'0044-03-15 BC'"}},
      {Dates({"Europe/Berlin", DayEdge::kEnd}),
       {"NULL", "'infinity'", "'-infinity'", "'1969-12-30'", "'1969-12-31'", "'1970-01-01'",
        "'2025-10-26'", "'2025-03-29'", "'9999-12-30'", "'9999-12-31'", "'0044-03-15 BC'"}},
      {Dates({"-05:30", DayEdge::kStart}),
       {"NULL", "'1969-12-31'", "'1970-01-01'", "'2025-10-26'", "'9999-12-31'", "'10000-01-01'"}},
  };
  const std::vector<std::string> types = {"timestamptz", "bigint", "bigint",
                                          "timestamp",   "date",   "date"};
  for (size_t i = 0; i < kTables.size(); ++i) {
    DatabaseForTest database;
    database.Sql(absl::StrCat("CREATE TABLE rows (id serial PRIMARY KEY, ends ", types[i],
                              "); INSERT INTO rows (ends) VALUES (",
                              absl::StrJoin(kTables[i].second, "), ("), ")"));
    const TableDefinition table = database.Define(database.ConfigFor({kTables[i].first})).at(0);
    ASSERT_TRUE(database.connection().Execute(Connection::SetTextSettings()).ok());
    const RowSelect select(table);
    const QueryResult read = database.Sql(select.FirstPage(100));
    const QueryResult rows =
        database.Sql(absl::StrCat("SELECT id, ends, ", ExpireAtOfRow(table, "ends"), ", ",
                                  TtlByEnd(table, "ends"), " FROM rows ORDER BY id"));
    ASSERT_EQ(read.rows(), static_cast<int>(kTables[i].second.size()));
    SelectedRow selected;
    for (int row = 0; row < rows.rows(); ++row) {
      select.Read(read, row, selected);
      RowTexts streamed = selected.texts;
      streamed.expires = rows.Value(row, 1);
      for (const RowTexts& texts : {selected.texts, streamed}) {
        const auto item = RowToItem(table, texts, {}, absl::Now());
        SCOPED_TRACE(
            absl::StrCat(types[i], " ", rows.Text(row, 1), ": ", item.status().ToString()));
        const bool is_refused = rows.Value(row, 2).has_value() && rows.Number(row, 2) == 0;
        ASSERT_EQ(item.ok(), !is_refused);
        if (is_refused) continue;
        EXPECT_EQ(item->ts(), 1);
        EXPECT_EQ(item->has_expire_at() ? absl::StrCat(item->expire_at()) : "", rows.Text(row, 2));
        EXPECT_EQ(item->has_ttl() ? absl::StrCat(item->ttl()) : "", rows.Text(row, 3));
      }
    }
  }
}

std::string Plan(DatabaseForTest& database, const std::string& query) {
  const QueryResult lines = database.Sql(absl::StrCat("EXPLAIN (COSTS off) ", query));
  std::string text;
  for (int row = 0; row < lines.rows(); ++row) absl::StrAppend(&text, lines.Text(row, 0), "\n");
  return text;
}

TEST(EndColumnTest, IndexServesTheViewAndThePolicies) {
  std::vector<std::pair<TableConfig, std::string>> tables;
  for (const EndKind& kind : kKinds) tables.emplace_back(Rows(kind), kind.type);
  for (const DateKind& kind : kDates) tables.emplace_back(Dates(kind), "date");
  for (const auto& [config, type] : tables) {
    SCOPED_TRACE(absl::StrCat(type, " ", config.expires_zone));
    DatabaseForTest database;
    database.Sql(absl::StrCat("CREATE TABLE rows (id int PRIMARY KEY, ends ", type, ")"));
    database.Sql(type == "bigint"
                     ? "INSERT INTO rows SELECT i, 1 + i FROM generate_series(1, 20000) i"
                     : "INSERT INTO rows SELECT i, timestamp '2000-01-01' + i * interval '1 hour' "
                       "FROM generate_series(1, 20000) i");
    const std::string reader = database.CreateRole();
    database.Sql(absl::StrCat("GRANT SELECT ON rows TO ", reader));
    TableConfig secured = config;
    secured.row_level_security = true;
    const TableDefinition table = database.Install(database.ConfigFor({secured})).at(0);
    const std::string indexed = IndexedEnd(table);
    EXPECT_EQ(indexed.empty(), config.expires_zone != "Europe/Berlin");
    database.Sql(absl::StrCat("CREATE INDEX by_end ON rows (",
                              indexed.empty() ? "ends" : absl::StrCat("(", indexed, ")"),
                              "); ANALYZE rows; SET enable_seqscan = off"));
    SetPolicy(database, "-1");
    EXPECT_THAT(Plan(database, "SELECT * FROM rows_live"), HasSubstr("Index Scan on by_end"));
    database.Sql(absl::StrCat("SET ROLE ", reader));
    EXPECT_THAT(Plan(database, "SELECT * FROM rows"), HasSubstr("Index Scan on by_end"));
  }
}

TEST(EndColumnTest, InsertReplacesARowThatHasEnded) {
  DatabaseForTest database;
  database.Sql(
      "CREATE TABLE rows (id int PRIMARY KEY, ts timestamptz DEFAULT now(), ends "
      "timestamptz, note text);"
      "INSERT INTO rows VALUES (1, '2020-01-01', '2020-01-01'), (2, now(), "
      "'2020-01-01'), (3, now(), now() + interval '1 hour'), (4, '2020-01-01', NULL), "
      "(5, NULL, '2020-01-01')");
  TableConfig table = Rows(kKinds[0]);
  table.ts_column = "ts";
  table.expires_null = NullEnd::kInherits;
  table.replace_expired = true;
  database.Install(database.ConfigFor({table}));
  SetPolicy(database, "60");
  const std::string insert =
      "INSERT INTO rows SELECT i, now(), now() + interval '1 hour', 'new' "
      "FROM generate_series(1, 5) i ON CONFLICT DO NOTHING";
  database.Sql(insert);
  EXPECT_EQ(database.Value("SELECT string_agg(id::text, ' ' ORDER BY id) FROM rows WHERE note = "
                           "'new'"),
            "1 2 4");
}

}  // namespace
}  // namespace ttl::postgres
