// What check says of on_expiry: archive and on_expiry: mark, and what install makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/check/archive_check.h"
#include "client/postgres/sql/check/mark_check.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OnExpiryCheckTest : public testing::Test {
 protected:
  OnExpiryCheckTest() {
    database_.Sql(
        "CREATE TABLE notes (id bigint PRIMARY KEY, kind varchar(5), ts timestamptz NOT NULL, "
        "deleted_at timestamptz);"
        "CREATE TABLE old (LIKE notes); ALTER TABLE old ADD COLUMN at timestamptz");
  }

  static TableConfig Notes() {
    TableConfig table;
    table.container = table.table = "notes";
    table.id = {"id"};
    table.ts_column = "ts";
    return table;
  }

  static TableConfig Archived() {
    TableConfig table = Notes();
    table.on_expiry = OnExpiry::kArchive;
    table.archive_table = "old";
    table.archived_at = "at";
    return table;
  }

  static TableConfig Marked() {
    TableConfig table = Notes();
    table.where = "deleted_at IS NULL";
    table.on_expiry = OnExpiry::kMark;
    table.mark_column = "deleted_at";
    table.mark_value = "now";
    return table;
  }

  CatalogReport Check(const TableConfig& table, absl::string_view user = "postgres") {
    Config config = database_.ConfigFor({table});
    const auto connection = database_.Connect(user);
    EXPECT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    auto report = CheckCatalog(*connection, config);
    EXPECT_TRUE(report.ok()) << report.status();
    for (const TableDefinition& found : std::vector<TableDefinition>(report->tables)) {
      EXPECT_TRUE(CheckArchive(*connection, found, *report).ok());
      EXPECT_TRUE(CheckMark(*connection, found, *report).ok());
    }
    return *std::move(report);
  }

  // What makes the archive unfit after `change`, which is undone.
  std::vector<std::string> ArchiveProblems(const std::string& change,
                                           const TableConfig& table = Archived()) {
    database_.Sql(change);
    CatalogReport report = Check(table);
    EXPECT_EQ(report.tables.size(), 1u) << "the table is followed all the same";
    database_.Sql(
        "DROP TABLE IF EXISTS old CASCADE; DROP TABLE notes CASCADE;"
        "CREATE TABLE notes (id bigint PRIMARY KEY, kind varchar(5), ts timestamptz NOT NULL, "
        "deleted_at timestamptz); CREATE TABLE old (LIKE notes); ALTER TABLE old ADD COLUMN at "
        "timestamptz");
    return report.archive_problems;
  }

  std::vector<std::string> MarkProblems(const TableConfig& table) { return Check(table).problems; }

  DatabaseForTest database_;
};

TEST_F(OnExpiryCheckTest, FitArchiveIsTaken) {
  EXPECT_THAT(ArchiveProblems(""), IsEmpty());
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ALTER kind TYPE text, ALTER id TYPE numeric;"
                              "ALTER TABLE old ADD COLUMN own bigserial PRIMARY KEY;"
                              "CREATE UNIQUE INDEX ON old (id, at)"),
              IsEmpty());
  EXPECT_THAT(ArchiveProblems("ALTER TABLE notes ADD n int GENERATED ALWAYS AS IDENTITY; DROP "
                              "TABLE old; CREATE TABLE old (LIKE notes INCLUDING IDENTITY, at "
                              "timestamptz)"),
              IsEmpty());
}

TEST_F(OnExpiryCheckTest, ArchiveThatMayLoseOrRefuseARowIsRefusedWithItsCure) {
  const auto says = [](const std::string& text) { return ElementsAre(HasSubstr(text)); };
  EXPECT_THAT(ArchiveProblems("DROP TABLE old"),
              says("does not exist: CREATE TABLE \"public\".\"old\" (LIKE \"public\".\"notes\"); "
                   "ALTER TABLE \"public\".\"old\" ADD COLUMN \"at\" timestamp with time zone"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old SET UNLOGGED"),
              says("a crash of the server empties"));
  EXPECT_THAT(
      ArchiveProblems("ALTER TABLE notes ADD n int"),
      says("has no column n, which the table has: ALTER TABLE \"public\".\"old\" ADD COLUMN "
           "\"n\" integer"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ALTER kind TYPE varchar(4)"),
              says("column kind is of type character varying(4), and may not keep all of character "
                   "varying(5)"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ALTER id TYPE int"),
              says("column id is of type integer, and may not keep all of bigint"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ALTER kind SET NOT NULL"),
              says("column kind may not be NULL, as it may in the table"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ADD who text NOT NULL"),
              says("column who, which the table does not have, may not be NULL"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old DROP kind, ADD kind varchar(5) GENERATED ALWAYS AS "
                              "('x') STORED"),
              says("column kind is generated"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ADD PRIMARY KEY (id)"),
              says("old_pkey refuses a second row of the same values"));
  EXPECT_THAT(ArchiveProblems("CREATE UNIQUE INDEX partial ON old (lower(kind)) WHERE id > 5"),
              says("partial refuses a second row"));
  EXPECT_THAT(ArchiveProblems("CREATE RULE lose AS ON INSERT TO old DO INSTEAD NOTHING"),
              says("rules rewrite each INSERT"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old DROP at"),
              says("has no column at, its archived_at"));
  EXPECT_THAT(ArchiveProblems("ALTER TABLE old ALTER at TYPE timestamp"),
              says("it must be timestamp with time zone"));
  TableConfig own_column = Archived();
  own_column.archived_at = "deleted_at";
  EXPECT_THAT(ArchiveProblems("", own_column), says("is a column of the table, too"));
}

TEST_F(OnExpiryCheckTest, ArchiveThatIsAViewIsRefused) {
  database_.Sql("DROP TABLE old; CREATE VIEW old AS SELECT *, ts AS at FROM notes");
  EXPECT_THAT(Check(Archived()).archive_problems, ElementsAre(HasSubstr("\"old\" is not a table")));
}

TEST_F(OnExpiryCheckTest, ArchiveThatIsAPartitionOfTheTableIsRefused) {
  database_.Sql(
      "CREATE TABLE parted (id int PRIMARY KEY, ts timestamptz NOT NULL) PARTITION BY LIST (id);"
      "CREATE TABLE part PARTITION OF parted DEFAULT");
  TableConfig table = Notes();
  table.container = table.table = "parted";
  table.on_expiry = OnExpiry::kArchive;
  table.archive_table = "part";
  EXPECT_THAT(Check(table).archive_problems, Contains(HasSubstr("a partition of the same table")));
}

TEST_F(OnExpiryCheckTest, RightsAreThoseOfTheRoleAndWhereItReplacesOfTheOwner) {
  const std::string owner = database_.CreateRole();
  const std::string role = database_.CreateRole("REPLICATION");
  database_.Sql(absl::StrCat("ALTER TABLE notes OWNER TO ", owner, "; GRANT ", owner, " TO ", role,
                             "; CREATE SCHEMA deep; ALTER TABLE old SET SCHEMA deep; GRANT ALL ON "
                             "SCHEMA public TO ",
                             role, ", ", owner));
  TableConfig table = Archived();
  table.archive_schema = "deep";
  EXPECT_THAT(Check(table, role).archive_problems,
              ElementsAre(HasSubstr("may not use its schema: GRANT USAGE ON SCHEMA \"deep\""),
                          HasSubstr("GRANT INSERT ON \"deep\".\"old\" TO")));
  database_.Sql(
      absl::StrCat("GRANT USAGE ON SCHEMA deep TO ", role, "; GRANT INSERT ON deep.old TO ", role));
  EXPECT_THAT(Check(table, role).archive_problems, IsEmpty());
  table.replace_expired = true;
  EXPECT_THAT(Check(table, role).archive_problems,
              ElementsAre(HasSubstr(absl::StrCat("role \"", owner, "\" may not use its schema")),
                          HasSubstr(absl::StrCat("TO \"", owner, "\""))));
}

TEST_F(OnExpiryCheckTest, SequenceOfAColumnOfTheArchiveAloneNeedsARight) {
  const std::string role = database_.CreateRole("REPLICATION");
  database_.Sql(absl::StrCat("ALTER TABLE old ADD COLUMN number serial; GRANT INSERT ON old TO ",
                             role, "; GRANT ALL ON notes TO ", role));
  EXPECT_THAT(Check(Archived(), role).archive_problems,
              ElementsAre(HasSubstr("may not use the sequence of its column number: GRANT USAGE ON "
                                    "SEQUENCE public.old_number_seq TO ")));
  database_.Sql(absl::StrCat("GRANT USAGE ON SEQUENCE old_number_seq TO ", role));
  EXPECT_THAT(Check(Archived(), role).archive_problems, IsEmpty());
}

TEST_F(OnExpiryCheckTest, PartitionOfTheArchiveIsLookedAtLikeTheArchive) {
  const std::string parted =
      "DROP TABLE old; CREATE TABLE old (LIKE notes, at timestamptz) PARTITION BY LIST (id);";
  EXPECT_THAT(ArchiveProblems(parted + "CREATE TABLE part PARTITION OF old DEFAULT; CREATE UNIQUE "
                                       "INDEX ON old (id, at)"),
              IsEmpty());
  EXPECT_THAT(ArchiveProblems(parted + "CREATE UNLOGGED TABLE part PARTITION OF old DEFAULT"),
              ElementsAre(HasSubstr("its partition public.part is unlogged")));
  EXPECT_THAT(ArchiveProblems(parted + "CREATE TABLE part PARTITION OF old DEFAULT; CREATE UNIQUE "
                                       "INDEX once ON part (id)"),
              ElementsAre(HasSubstr("once refuses a second row")));
  EXPECT_THAT(ArchiveProblems(parted +
                              "CREATE EXTENSION IF NOT EXISTS file_fdw; CREATE SERVER IF NOT "
                              "EXISTS files FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE "
                              "part PARTITION OF old DEFAULT SERVER files OPTIONS (filename '/x')"),
              ElementsAre(HasSubstr("its partition public.part is unlogged, or not a table")));
}

TEST_F(OnExpiryCheckTest, RowSecurityOfTheArchiveMayBindTheOwnerOfTheTable) {
  const std::string owner = database_.CreateRole();
  database_.Sql(absl::StrCat("ALTER TABLE notes OWNER TO ", owner, "; GRANT INSERT ON old TO ",
                             owner, "; ALTER TABLE old ENABLE ROW LEVEL SECURITY"));
  TableConfig table = Archived();
  EXPECT_THAT(Check(table).archive_problems, IsEmpty());
  table.replace_expired = true;
  EXPECT_THAT(Check(table).archive_problems,
              ElementsAre(HasSubstr(absl::StrCat("binds role \"", owner, "\": ALTER ROLE"))));
}

TEST_F(OnExpiryCheckTest, RowsThatGoWithOneThatIsMovedAreWarnedOf) {
  database_.Sql("CREATE TABLE lines (note bigint REFERENCES notes ON DELETE CASCADE)");
  EXPECT_THAT(Check(Archived()).warnings,
              Contains(HasSubstr("ON DELETE CASCADE: lines_note_fkey of public.lines")));
}

TEST_F(OnExpiryCheckTest, RowsThatGoWithAPartitionOrWithOthersAreWarnedOf) {
  database_.Sql(
      "CREATE TABLE parted (id int PRIMARY KEY, ts timestamptz NOT NULL) PARTITION BY LIST (id);"
      "CREATE TABLE part PARTITION OF parted DEFAULT; CREATE TABLE a (id int PRIMARY KEY "
      "REFERENCES "
      "part ON DELETE CASCADE); CREATE TABLE b (id int REFERENCES a ON DELETE CASCADE);"
      "CREATE TABLE c (id int REFERENCES a)");
  TableConfig table = Notes();
  table.container = table.table = "parted";
  table.on_expiry = OnExpiry::kArchive;
  table.archive_table = "old_parted";
  database_.Sql("CREATE TABLE old_parted (LIKE parted)");
  EXPECT_THAT(Check(table).warnings,
              Contains(HasSubstr("CASCADE: a_id_fkey of public.a, b_id_fkey of public.b; a")));
}

TEST_F(OnExpiryCheckTest, MarkNeedsAValueARightAndAConditionThatItEnds) {
  database_.Sql("INSERT INTO notes VALUES (1, 'a', now()), (2, NULL, now())");
  EXPECT_THAT(MarkProblems(Marked()), IsEmpty());
  TableConfig table = Marked();
  table.mark_column = "gone";
  EXPECT_THAT(MarkProblems(table), ElementsAre(HasSubstr("has no column gone")));
  table = Marked();
  table.mark_value = "soon";
  EXPECT_THAT(
      MarkProblems(table),
      ElementsAre(HasSubstr("mark_value \"soon\" is not a value of its mark_column, deleted_at")));
  table = Marked();
  table.where = "kind = 'a'";
  EXPECT_THAT(MarkProblems(table),
              ElementsAre(HasSubstr("its where does not use its mark_column, deleted_at")));
  table.where = "deleted_at IS NULL OR kind = 'a'";
  EXPECT_THAT(MarkProblems(table),
              ElementsAre(HasSubstr("some of its first 10000 rows would still match its where")));
  table = Marked();
  table.where = "kind IS DISTINCT FROM 'gone for good'";
  table.mark_column = "kind";
  table.mark_value = "gone for good";
  EXPECT_THAT(MarkProblems(table),
              ElementsAre(HasSubstr("is not a value of its mark_column, kind")));
}

TEST_F(OnExpiryCheckTest, MarkIsAValueOfTheDomainOfItsColumn) {
  database_.Sql(
      "CREATE DOMAIN state AS text CHECK (VALUE IN ('open', 'gone')); ALTER TABLE notes ADD COLUMN "
      "state state");
  TableConfig table = Marked();
  table.where = "state = 'open'";
  table.mark_column = "state";
  table.mark_value = "gone";
  EXPECT_THAT(MarkProblems(table), IsEmpty());
  table.mark_value = "away";
  EXPECT_THAT(
      MarkProblems(table),
      ElementsAre(HasSubstr("mark_value \"away\" is not a value of its mark_column, state")));
}

TEST_F(OnExpiryCheckTest, MarkMayEndTheWhereByAGeneratedColumn) {
  database_.Sql(
      "ALTER TABLE notes ADD COLUMN is_live boolean GENERATED ALWAYS AS (deleted_at IS NULL) "
      "STORED; INSERT INTO notes VALUES (1, 'a', now())");
  TableConfig table = Marked();
  table.where = "is_live";
  EXPECT_THAT(MarkProblems(table), IsEmpty());
}

TEST_F(OnExpiryCheckTest, MarkNeedsTheRightToSetItsColumnAndNoneToDelete) {
  const std::string owner = database_.CreateRole();
  const std::string role = database_.CreateRole("REPLICATION");
  database_.Sql(absl::StrCat("ALTER TABLE notes OWNER TO ", owner,
                             "; GRANT USAGE ON SCHEMA public "
                             "TO ",
                             role, "; GRANT SELECT, UPDATE (ts) ON notes TO ", role));
  EXPECT_THAT(Check(Marked(), role).problems,
              Contains(HasSubstr("may not set its mark_column: GRANT UPDATE (\"deleted_at\")")));
  database_.Sql(absl::StrCat("GRANT UPDATE (deleted_at) ON notes TO ", role));
  EXPECT_THAT(Check(Marked(), role).left_out, IsEmpty());
}

TEST_F(OnExpiryCheckTest, MarkOfATableThatIsLockedIsWarnedOfAndHoldsUpNobody) {
  database_.Sql("INSERT INTO notes VALUES (1, 'a', now())");
  const auto other = database_.Connect();
  const CatalogReport before = Check(Marked());
  ASSERT_EQ(before.tables.size(), 1u);
  ASSERT_TRUE(other->Execute("BEGIN; LOCK TABLE notes").ok());
  CatalogReport report;
  EXPECT_TRUE(CheckMark(database_.connection(), before.tables[0], report).ok());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("its mark could not be tried out")));
  EXPECT_THAT(report.problems, IsEmpty());
}

TEST_F(OnExpiryCheckTest, MarkOfATableWhoseWhereRaisesIsWarnedOfAndHoldsUpNobody) {
  database_.Sql(
      "INSERT INTO notes VALUES (1, 'a', now()); CREATE FUNCTION angry(timestamptz) RETURNS "
      "boolean "
      "LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'no'; END $$");
  TableConfig table = Marked();
  table.where = "public.angry(deleted_at)";
  const CatalogReport report = Check(table);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("its mark could not be tried out: no")));
  EXPECT_THAT(report.left_out, IsEmpty());
}

TEST_F(OnExpiryCheckTest, MarkInAUniqueIndexIsWarnedOf) {
  database_.Sql("CREATE UNIQUE INDEX once ON notes (kind, deleted_at)");
  EXPECT_THAT(Check(Marked()).warnings, Contains(HasSubstr("in the unique index once")));
}

// The INSERT that replaces an expired row moves it, as a delete would.
class ReplacedRowTest : public OnExpiryCheckTest {
 protected:
  ReplacedRowTest() {
    TableConfig table = Archived();
    table.replace_expired = true;
    table.live_view = "live_notes";
    config_ = database_.ConfigFor({table});
    database_.Install(config_);
    database_.Sql(
        "INSERT INTO ttl.policy VALUES ('notes', 60, 1, now());"
        "INSERT INTO notes VALUES (1, 'a', now() - interval '1 hour'), (2, 'b', now())");
  }

  absl::Status Insert(const std::string& values) {
    return database_.connection()
        .Execute(absl::StrCat("INSERT INTO notes VALUES ", values))
        .status();
  }

  std::string Archive() {
    return database_.Value(
        "SELECT coalesce(string_agg(concat_ws(',', id, kind, at IS NULL), ' ' ORDER BY id), '') "
        "FROM "
        "old");
  }

  Config config_;
};

TEST_F(ReplacedRowTest, IsMoved) {
  EXPECT_TRUE(Insert("(1, 'new', now())").ok());
  EXPECT_EQ(Archive(), "1,a,f");
  EXPECT_EQ(database_.Value("SELECT string_agg(kind, ' ' ORDER BY id) FROM notes"), "new b");
  EXPECT_FALSE(Insert("(2, 'live', now())").ok());
  EXPECT_EQ(Archive(), "1,a,f");
}

TEST_F(ReplacedRowTest, IsNotLostOnceTheTablesHaveMovedOn) {
  database_.Sql("ALTER TABLE notes ADD COLUMN extra text DEFAULT 'x'");
  const absl::Status refused = Insert("(1, 'new', now())");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("run ttl-postgres install"));
  EXPECT_TRUE(Insert("(3, 'other', now())").ok()) << "no other INSERT is kept from anything";
  database_.Sql("ALTER TABLE old ADD COLUMN extra text");
  database_.Install(config_);
  EXPECT_TRUE(Insert("(1, 'new', now())").ok());
  EXPECT_EQ(database_.Value("SELECT extra FROM old"), "x");
}

TEST_F(ReplacedRowTest, IsNotLostToATriggerOfTheArchive) {
  database_.Sql(
      "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
      "CREATE TRIGGER lose BEFORE INSERT ON old FOR EACH ROW EXECUTE FUNCTION lose()");
  EXPECT_THAT(std::string(Insert("(1, 'new', now())").message()),
              HasSubstr("kept out of its archive_table by a trigger"));
  EXPECT_EQ(database_.Value("SELECT kind FROM notes WHERE id = 1"), "a");
}

// What is installed for the table goes; the archive is the application's.
TEST_F(ReplacedRowTest, UninstallLeavesTheArchive) {
  EXPECT_TRUE(Insert("(1, 'new', now())").ok());
  EXPECT_TRUE(database_.Uninstall(config_).ok());
  EXPECT_EQ(Archive(), "1,a,f");
  EXPECT_FALSE(Insert("(1, 'again', now())").ok()) << "nothing makes way any more";
}

}  // namespace
}  // namespace ttl::postgres
