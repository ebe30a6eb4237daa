// Tables with on_expiry: archive: what DeleteItems moves, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DeleteArchiveTest : public testing::Test {
 protected:
  DeleteArchiveTest() {
    db_.Sql(absl::StrCat(
        kSessions,
        "; CREATE TABLE sessions_archive (LIKE sessions); ALTER TABLE sessions_archive ADD COLUMN "
        "moved_at timestamptz; INSERT INTO sessions SELECT i, 'p' || i, '2020-01-01', NULL FROM "
        "generate_series(1, 4) i"));
  }

  static TableConfig Archived() {
    TableConfig config = Sessions();
    config.on_expiry = OnExpiry::kArchive;
    config.archive_table = "sessions_archive";
    config.archived_at = "moved_at";
    return config;
  }

  // "ids of the table | ids of the archive".
  std::string Ids() {
    return db_.Value(
        "SELECT concat((SELECT string_agg(id::text, ' ' ORDER BY id) FROM sessions), ' | ', "
        "(SELECT string_agg(id::text, ' ' ORDER BY id) FROM sessions_archive))");
  }

  // All items fail, with a reason that has this in it, and stay.
  void ExpectAllFail(const v1::DeleteItemsRequest& request, const std::string& reason) {
    const v1::DeleteItemsResponse response = db_.Delete(request);
    EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
    for (const v1::DeleteResult& result : response.results()) {
      EXPECT_THAT(result.reason(), HasSubstr(reason));
    }
    EXPECT_EQ(Ids(), "1 2 3 4 | ");
  }

  StoreForTest db_;
};

TEST_F(DeleteArchiveTest, RowsAreMovedWholeWithTheTimeOfTheMove) {
  db_.Open({Archived()});
  db_.Sql("UPDATE sessions SET ttl = 5 WHERE id = 2");
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("UPDATE sessions SET ts = now() WHERE id = 3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED MODIFIED DELETED");
  EXPECT_EQ(Ids(), "3 | 1 2 4");
  EXPECT_EQ(db_.Value("SELECT string_agg(concat_ws(',', id, payload, ts = '2020-01-01', ttl), ' ' "
                      "ORDER BY id) FROM sessions_archive"),
            "1,p1,t 2,p2,t,5 4,p4,t");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM sessions_archive WHERE moved_at BETWEEN now() - "
                      "interval '1 minute' AND now()"),
            "3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "NOT_FOUND NOT_FOUND MODIFIED NOT_FOUND");
  EXPECT_EQ(Ids(), "3 | 1 2 4");
}

TEST_F(DeleteArchiveTest, PartitionedTablesIdentitiesAndGeneratedColumnsAreMoved) {
  db_.Sql(
      "CREATE SCHEMA old; CREATE TABLE events (id int GENERATED ALWAYS AS IDENTITY, day date, n "
      "int, twice int GENERATED ALWAYS AS (n * 2) STORED, ts timestamptz, PRIMARY KEY (id, day)) "
      "PARTITION BY RANGE (day); CREATE TABLE e1 PARTITION OF events FOR VALUES FROM "
      "('2020-01-01') TO ('2021-01-01'); CREATE TABLE e2 (ts timestamptz, n int, day date NOT "
      "NULL, twice int "
      "GENERATED ALWAYS AS (n * 2) STORED, id int NOT NULL); ALTER TABLE events ATTACH PARTITION "
      "e2 FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');"
      "INSERT INTO events (day, n, ts) VALUES ('2020-05-05', 1, '2020-01-01'), ('2021-05-05', 2, "
      "'2020-01-02'); CREATE TABLE old.events (twice int, id int GENERATED ALWAYS AS IDENTITY, day "
      "date, n int, ts timestamptz)");
  TableConfig config;
  config.container = config.table = config.archive_table = "events";
  config.id = {"id", "day"};
  config.ts_column = "ts";
  config.on_expiry = OnExpiry::kArchive;
  config.archive_schema = "old";
  db_.Open({config});
  EXPECT_EQ(Outcomes(db_.DeleteAll("events")), "DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT string_agg(concat_ws(',', id, day, n, twice, ts = '2020-01-01'), ' ' "
                      "ORDER BY id) FROM old.events"),
            "1,2020-05-05,1,2,t 2,2021-05-05,2,4,f");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM events"), "0");
}

TEST_F(DeleteArchiveTest, ColumnThatTheArchiveLacksFailsEachItemWithTheReasonAndNoOtherTable) {
  db_.Sql(
      "CREATE TABLE others (LIKE sessions INCLUDING ALL); INSERT INTO others SELECT * FROM "
      "sessions");
  TableConfig others = Sessions();
  others.container = others.table = "others";
  db_.Open({Archived(), others});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("ALTER TABLE sessions ADD COLUMN note text DEFAULT 'keep'");
  ExpectAllFail(request, "has no column note, which the table has: ALTER TABLE");
  EXPECT_EQ(Outcomes(db_.DeleteAll("others")), "DELETED DELETED DELETED DELETED");

  db_.Open({Archived()});
  ExpectAllFail(request, "has no column note, which the table has");

  // Once both have it, what was checked before does not lose it: the row waits for a look.
  db_.Sql("ALTER TABLE sessions DROP COLUMN note");
  db_.Open({Archived()});
  db_.Sql(
      "ALTER TABLE sessions ADD COLUMN note text DEFAULT 'keep'; ALTER TABLE sessions_archive ADD "
      "COLUMN note text");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED THROTTLED THROTTLED THROTTLED");
  EXPECT_EQ(Ids(), "1 2 3 4 | ");
  db_.Open({Archived()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM sessions_archive WHERE note = 'keep'"), "4");
}

TEST_F(DeleteArchiveTest, ColumnThatIsReplacedByAnotherIsNotMistakenForIt) {
  db_.Open({Archived()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("ALTER TABLE sessions RENAME payload TO content");
  ExpectAllFail(request, "has no column content, which the table has");
}

TEST_F(DeleteArchiveTest, TypeThatWouldRoundIsRefusedEvenThoughPostgreSqlTakesIt) {
  db_.Sql("ALTER TABLE sessions_archive ALTER ts TYPE timestamptz(0)");
  db_.Sql("UPDATE sessions SET ts = '2020-01-01 00:00:00.75'");
  db_.Open({Archived()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  // It was so when the table was looked at.
  ExpectAllFail(request, "column ts is of type timestamp(0) with time zone, and may not keep all");
  db_.Sql("ALTER TABLE sessions_archive ALTER ts TYPE timestamptz");
  db_.Open({Archived()});
  db_.Sql("ALTER TABLE sessions_archive ALTER ts TYPE timestamptz(0)");
  ExpectAllFail(request, "column ts is of type timestamp(0) with time zone, and may not keep all");
  db_.Sql("ALTER TABLE sessions_archive ALTER ts TYPE integer USING 0");
  ExpectAllFail(request, "column ts is of type integer, and may not keep all");
}

TEST_F(DeleteArchiveTest, ArchiveThatBecomesAnotherKindOfRelationTakesNoRow) {
  db_.Open({Archived()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("ALTER TABLE sessions_archive SET UNLOGGED");
  ExpectAllFail(request, "a crash of the server empties it");
  db_.Sql("ALTER TABLE sessions_archive SET LOGGED");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED DELETED DELETED");

  db_.Sql(
      "INSERT INTO sessions SELECT id, payload, ts, ttl FROM sessions_archive; ALTER TABLE "
      "sessions_archive RENAME TO elsewhere; CREATE VIEW sessions_archive AS SELECT * FROM "
      "elsewhere WHERE false; CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
      "RETURN NEW; END'; CREATE TRIGGER lose INSTEAD OF INSERT ON sessions_archive FOR EACH ROW "
      "EXECUTE FUNCTION lose()");
  ExpectAllFail(StoreForTest::Judged("sessions", db_.Items("sessions")), "is not a table");
}

TEST_F(DeleteArchiveTest, PartitionOfTheArchiveThatIsUnloggedTakesNoRow) {
  db_.Sql(
      "DROP TABLE sessions_archive; CREATE TABLE sessions_archive (LIKE sessions, moved_at "
      "timestamptz) PARTITION BY LIST (id); CREATE TABLE most PARTITION OF sessions_archive "
      "DEFAULT");
  db_.Open({Archived()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("ALTER TABLE most SET UNLOGGED");
  ExpectAllFail(request, "most");
  db_.Sql(
      "ALTER TABLE most SET LOGGED; CREATE TABLE three PARTITION OF sessions_archive FOR VALUES IN "
      "(3)");
  // A partition that is added changes nothing.
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM three"), "1");
}

TEST_F(DeleteArchiveTest, MissingRightAndMissingTableFailEachItemWithTheReason) {
  db_.Sql(
      "CREATE ROLE mover LOGIN; GRANT SELECT, UPDATE, DELETE ON sessions TO mover; GRANT INSERT ON "
      "sessions_archive TO mover; GRANT USAGE ON SCHEMA ttl TO mover; GRANT SELECT ON ALL TABLES "
      "IN SCHEMA ttl TO mover; GRANT EXECUTE ON FUNCTION pg_control_system() TO mover");
  absl::StrAppend(&db_.config().database, " user=mover");
  db_.Open({Archived()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("REVOKE INSERT ON sessions_archive FROM mover");
  ExpectAllFail(request, "role \"mover\" lacks a right: GRANT INSERT ON");
  db_.Sql("ALTER TABLE sessions_archive RENAME TO elsewhere");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  ASSERT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(),
              AllOf(HasSubstr("does not exist"), HasSubstr("CREATE TABLE")));
  db_.Sql(
      "ALTER TABLE elsewhere RENAME TO sessions_archive; GRANT INSERT ON sessions_archive TO "
      "mover");
  // INSERT alone is enough of a right to the archive.
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED DELETED DELETED");
}

TEST_F(DeleteArchiveTest, KeyThatComesTwiceIsKeptTwiceOrFailsWhereTheArchiveRefusesIt) {
  db_.Open({Archived()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED DELETED DELETED DELETED");
  db_.Sql("INSERT INTO sessions VALUES (2, 'again', '2021-01-01'), (7, 'new', '2021-01-01')");
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT string_agg(payload, ' ' ORDER BY ts) FROM sessions_archive WHERE id "
                      "= 2"),
            "p2 again");
  db_.Sql(
      "DELETE FROM sessions_archive WHERE payload = 'again'; CREATE UNIQUE INDEX once ON "
      "sessions_archive (id); INSERT INTO sessions VALUES (2, 'again', '2021-01-01'), (8, 'new', "
      "'2021-01-01')");
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "FAILED DELETED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("unique constraint \"once\""));
  EXPECT_EQ(Ids(), "2 | 1 2 3 4 7 8");
}

TEST_F(DeleteArchiveTest, RowThatATriggerKeepsOutOfTheArchiveStays) {
  db_.Sql(
      "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 3 THEN "
      "RETURN NULL; END IF; RETURN NEW; END $$; CREATE TRIGGER lose BEFORE INSERT ON "
      "sessions_archive FOR EACH ROW EXECUTE FUNCTION lose()");
  db_.Open({Archived()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "DELETED DELETED FAILED DELETED");
  EXPECT_THAT(response.results(2).reason(), HasSubstr("a trigger of the archive_table keeps"));
  EXPECT_EQ(Ids(), "3 | 1 2 4");
}

// The sequence counts what is rolled back, too.
TEST_F(DeleteArchiveTest, RowsThatAreAllKeptOutOfTheArchiveAreTriedOnce) {
  db_.Sql(
      "CREATE SEQUENCE writes; CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "PERFORM nextval('writes'); RETURN NULL; END $$; CREATE TRIGGER lose BEFORE INSERT ON "
      "sessions_archive FOR EACH ROW EXECUTE FUNCTION lose()");
  db_.Open({Archived()});
  ExpectAllFail(StoreForTest::Judged("sessions", db_.Items("sessions")),
                "a trigger of the archive");
  EXPECT_EQ(db_.Value("SELECT last_value FROM writes"), "4");
}

TEST_F(DeleteArchiveTest, RowWhoseCopyATriggerRemovesStays) {
  db_.Sql(
      "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM "
      "sessions_archive WHERE id = NEW.id AND id = 3; RETURN NULL; END $$; CREATE CONSTRAINT "
      "TRIGGER lose AFTER INSERT ON sessions_archive DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
      "EXECUTE FUNCTION lose()");
  db_.Open({Archived()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "DELETED DELETED FAILED DELETED");
  EXPECT_THAT(response.results(2).reason(), HasSubstr("deletes rows of the archive_table"));
  EXPECT_EQ(Ids(), "3 | 1 2 4");
  // Those that were deleted before, and not within the transaction, do not count.
  db_.Sql("DROP TRIGGER lose ON sessions_archive");
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED");
}

TEST_F(DeleteArchiveTest, RowThatTheArchiveRefusesDoesNotKeepTheOthers) {
  db_.Sql("ALTER TABLE sessions_archive ADD CHECK (payload <> 'p2')");
  db_.Open({Archived()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("violates check constraint"));
  EXPECT_EQ(Ids(), "2 | 1 3 4");
}

TEST_F(DeleteArchiveTest, RowThatAForeignKeyKeepsIsNotMovedAndWhatACascadeTakesIsDeleted) {
  db_.Sql(
      "CREATE TABLE lines (id bigint REFERENCES sessions ON DELETE CASCADE); INSERT INTO lines "
      "VALUES (1), (1); CREATE TABLE holds (id bigint REFERENCES sessions); INSERT INTO holds "
      "VALUES (2); CREATE TABLE late (id bigint REFERENCES sessions DEFERRABLE INITIALLY "
      "DEFERRED); "
      "INSERT INTO late VALUES (3)");
  db_.Open({Archived()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED FAILED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("foreign key"));
  EXPECT_EQ(Ids(), "2 3 | 1 4");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM lines"), "0");
}

TEST_F(DeleteArchiveTest, ArchiveThatIsLockedPutsTheItemsOff) {
  db_.Open({Archived()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  const auto other = db_.Connect();
  ASSERT_TRUE(other->Execute("BEGIN; LOCK TABLE sessions_archive").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED THROTTLED THROTTLED THROTTLED");
  ASSERT_TRUE(other->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(Ids(), " | 1 2 3 4");
}

}  // namespace
}  // namespace ttl::postgres
