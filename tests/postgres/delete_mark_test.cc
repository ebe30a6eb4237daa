// Tables with on_expiry: mark: what DeleteItems marks, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

class DeleteMarkTest : public testing::Test {
 protected:
  DeleteMarkTest() {
    db_.Sql(
        "CREATE TABLE notes (id bigint PRIMARY KEY, body text, ts timestamptz, deleted_at "
        "timestamptz, state varchar(8) NOT NULL DEFAULT 'open');"
        "INSERT INTO notes SELECT i, 'b', '2020-01-01' FROM generate_series(1, 4) i");
  }

  static TableConfig Marked() {
    TableConfig config;
    config.container = config.table = "notes";
    config.id = {"id"};
    config.ts_column = "ts";
    config.where = "deleted_at IS NULL";
    config.on_expiry = OnExpiry::kMark;
    config.mark_column = "deleted_at";
    config.mark_value = "now";
    return config;
  }

  std::string MarkedIds() {
    return db_.Value(
        "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM notes WHERE deleted_at "
        "BETWEEN now() - interval '1 minute' AND now()");
  }

  StoreForTest db_;
};

TEST_F(DeleteMarkTest, ColumnIsSetAndTheRowIsNoItemFromThenOn) {
  db_.Open({Marked()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("notes", db_.Items("notes"));
  db_.Sql("UPDATE notes SET ts = now() WHERE id = 3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED MODIFIED DELETED");
  EXPECT_EQ(MarkedIds(), "1 2 4");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM notes WHERE body = 'b' AND state = 'open'"), "4");
  ASSERT_EQ(db_.Items("notes").size(), 1u);
  EXPECT_EQ(db_.Items("notes")[0].id(), "3");
  // An answer that was lost: what is asked for again never expires.
  const v1::DeleteItemsResponse again = db_.Delete(request);
  EXPECT_EQ(Outcomes(again), "MODIFIED MODIFIED MODIFIED MODIFIED");
  EXPECT_EQ(again.results(0).current().ttl(), -1);
  EXPECT_FALSE(again.results(2).current().has_ttl());
}

TEST_F(DeleteMarkTest, RowThatIsTakenBackWithItsEndInThePastIsMarkedAgain) {
  db_.Open({Marked()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("notes")), "DELETED DELETED DELETED DELETED");
  db_.Sql("UPDATE notes SET deleted_at = NULL WHERE id = 2");
  EXPECT_EQ(MarkedIds(), "1 3 4");
  EXPECT_EQ(Outcomes(db_.DeleteAll("notes")), "DELETED");
  EXPECT_EQ(MarkedIds(), "1 2 3 4");
}

TEST_F(DeleteMarkTest, ValueIsOneOfTheColumnsType) {
  db_.Sql(
      "CREATE TYPE mood AS ENUM ('new', 'gone'); ALTER TABLE notes ADD COLUMN mood mood NOT "
      "NULL DEFAULT 'new'");
  TableConfig config = Marked();
  config.where = "mood <> 'gone'";
  config.mark_column = "mood";
  config.mark_value = "gone";
  db_.Open({config});
  EXPECT_EQ(Outcomes(db_.DeleteAll("notes")), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM notes WHERE mood = 'gone'"), "4");
}

TEST_F(DeleteMarkTest, RowMovesToThePartitionOfItsMark) {
  db_.Sql(
      "CREATE TABLE parted (id int, gone boolean NOT NULL, ts timestamptz, PRIMARY KEY (id, gone)) "
      "PARTITION BY LIST (gone); CREATE TABLE p_live PARTITION OF parted FOR VALUES IN (false);"
      "CREATE TABLE p_gone PARTITION OF parted FOR VALUES IN (true);"
      "INSERT INTO parted SELECT i, false, '2020-01-01' FROM generate_series(1, 3) i");
  TableConfig config = Marked();
  config.container = config.table = "parted";
  config.where = "NOT gone";
  config.mark_column = "gone";
  config.mark_value = "true";
  db_.Open({config});
  EXPECT_EQ(Outcomes(db_.DeleteAll("parted")), "DELETED DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM p_gone"), "3");
}

TEST_F(DeleteMarkTest, RowThatStaysInsideWhereIsLeftAsItWas) {
  db_.Sql(
      "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 2 THEN "
      "NEW.deleted_at := NULL; NEW.body := 'changed'; END IF; RETURN NEW; END $$; CREATE TRIGGER "
      "undo BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION undo()");
  db_.Open({Marked()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("notes");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("still matches the where"));
  EXPECT_EQ(MarkedIds(), "1 3 4");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM notes WHERE body = 'b'"), "4");
}

// The sequence counts what is rolled back, too.
TEST_F(DeleteMarkTest, RowsThatAreAllTakenBackAreWrittenOnce) {
  db_.Sql(
      "INSERT INTO notes SELECT i, 'b', '2020-01-01' FROM generate_series(5, 32) i; CREATE "
      "SEQUENCE "
      "writes; CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
      "nextval('writes'); NEW.deleted_at := CASE WHEN NEW.id = 9 THEN NEW.deleted_at END; RETURN "
      "NEW; END $$; CREATE TRIGGER undo BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION "
      "undo()");
  db_.Open({Marked()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("notes");
  EXPECT_EQ(response.results(7).outcome(), v1::DELETE_OUTCOME_FAILED);
  EXPECT_THAT(response.results(7).reason(), HasSubstr("still matches the where"));
  EXPECT_EQ(MarkedIds(), "9");
  EXPECT_EQ(db_.Value("SELECT last_value FROM writes"), "33");
}

TEST_F(DeleteMarkTest, RowThatADeferredTriggerTakesBackIsLeftAsItWas) {
  db_.Sql(
      "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN SET DateStyle = German; "
      "UPDATE notes SET deleted_at = NULL WHERE id = NEW.id AND id = 2 AND deleted_at IS NOT NULL; "
      "RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER undo AFTER UPDATE ON notes DEFERRABLE "
      "INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION undo()");
  db_.Open({Marked()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("notes");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("still matches the where"));
  EXPECT_EQ(MarkedIds(), "1 3 4");
}

TEST_F(DeleteMarkTest, RowThatOthersReferToIsMarkedAndTheyStay) {
  db_.Sql(
      "CREATE TABLE refers (id bigint REFERENCES notes ON DELETE CASCADE); INSERT INTO refers "
      "VALUES (1), (2); CREATE TABLE holds (id bigint REFERENCES notes); INSERT INTO holds VALUES "
      "(3)");
  db_.Open({Marked()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("notes")), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM refers"), "2");
}

TEST_F(DeleteMarkTest, RowThatAUniqueIndexRefusesDoesNotKeepTheOthers) {
  db_.Sql(
      "CREATE UNIQUE INDEX one ON notes (body, state) WHERE state = 'gone'; UPDATE notes SET body "
      "= id % 3");
  TableConfig config = Marked();
  config.where = "state <> 'gone'";
  config.mark_column = "state";
  config.mark_value = "gone";
  db_.Open({config});
  const v1::DeleteItemsResponse response = db_.DeleteAll("notes");
  EXPECT_EQ(Outcomes(response), "DELETED DELETED DELETED FAILED");
  EXPECT_THAT(response.results(3).reason(), HasSubstr("unique constraint \"one\""));
}

}  // namespace
}  // namespace ttl::postgres
