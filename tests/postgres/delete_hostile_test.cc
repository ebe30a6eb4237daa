// Schemas, triggers and settings of the application that could mislead a delete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DeleteHostileTest : public testing::Test {
 protected:
  void CreateDeleteTrigger(const std::string& body) {
    db_.Sql(absl::StrCat("CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN ",
                         body,
                         " END $f$; CREATE TRIGGER instead BEFORE DELETE ON sessions "
                         "FOR EACH ROW EXECUTE FUNCTION instead()"));
  }

  StoreForTest db_;
};

TEST_F(DeleteHostileTest, TriggerThatUpdatesInsteadKeepsItsRowsAsTheyWere) {
  db_.FillSessions(4);
  CreateDeleteTrigger(
      "IF OLD.id > 2 THEN RETURN OLD; END IF;"
      "UPDATE sessions SET ts = now(), payload = 'gone' WHERE id = OLD.id; RETURN NULL;");
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED DELETED DELETED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("trigger"));
  EXPECT_EQ(db_.Value("SELECT string_agg(payload, ' ') FROM sessions"), "x x");
}

TEST_F(DeleteHostileTest, TriggerThatMovesTheRowIsNotTakenForADelete) {
  db_.FillSessions(2);
  CreateDeleteTrigger("UPDATE sessions SET id = -OLD.id WHERE id = OLD.id; RETURN NULL;");
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED");
  EXPECT_EQ(db_.Value("SELECT string_agg(id::text, ' ' ORDER BY id) FROM sessions"), "1 2");
}

TEST_F(DeleteHostileTest, SettingsThatATriggerLeavesBehindDoNotHideRows) {
  db_.Sql(
      "CREATE TABLE sessions (id timestamptz PRIMARY KEY, ts timestamptz, ttl integer);"
      "INSERT INTO sessions SELECT to_timestamp(i), '2020-01-01', NULL FROM generate_series(1, 3) "
      "i");
  CreateDeleteTrigger(
      "SET TIME ZONE 'Asia/Kolkata'; IF extract(epoch FROM OLD.id) = 2 THEN RETURN NULL; END IF;"
      "RETURN OLD;");
  db_.Open({Sessions()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED FAILED DELETED");
  db_.Sql(
      "INSERT INTO sessions SELECT to_timestamp(i), '2020-01-01', NULL "
      "FROM generate_series(11, 14) i");
  for (int i = 0; i < 4; ++i) db_.DeleteAll("sessions");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM sessions"), "1");
}

TEST_F(DeleteHostileTest, FunctionsAndOperatorsOfOthersAreNotCalled) {
  db_.Sql(
      "CREATE TABLE sessions (id varchar(20) PRIMARY KEY, ts timestamptz, ttl smallint);"
      "INSERT INTO sessions VALUES ('a', '2020-01-01', 5), ('b', '2020-01-01', NULL);"
      "CREATE TABLE called (what text);"
      "CREATE FUNCTION concat(varchar) RETURNS text LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO called VALUES ('concat'); RETURN $1; END $$;"
      "CREATE FUNCTION same(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO called VALUES ('='); RETURN $1::text = $2::text; END $$;"
      "CREATE OPERATOR = (FUNCTION = same, LEFTARG = varchar, RIGHTARG = varchar);"
      "CREATE FUNCTION below(bigint, numeric) RETURNS boolean LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO called VALUES ('<='); RETURN true; END $$;"
      "CREATE OPERATOR <= (FUNCTION = below, LEFTARG = bigint, RIGHTARG = numeric);"
      "CREATE FUNCTION times(numeric, integer) RETURNS numeric LANGUAGE plpgsql AS "
      "$$ BEGIN RETURN 1 / 0; END $$;"
      "CREATE OPERATOR * (FUNCTION = times, LEFTARG = numeric, RIGHTARG = integer)");
  db_.Open({Sessions()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  request.add_items()->set_id("c");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED NOT_FOUND");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM called"), "0");
}

TEST_F(DeleteHostileTest, ReasonIsShortAndUnicodeWhateverATriggerSays) {
  db_.Sql(absl::StrCat("CREATE DATABASE ", db_.name(),
                       "_bytes ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0"));
  db_.config().database = SharedServer().Conninfo(absl::StrCat(db_.name(), "_bytes"));
  db_.FillSessions(2);
  db_.Open({Sessions()});
  const auto bytes = SharedServer().Connect(absl::StrCat(db_.name(), "_bytes"));
  // The same table there.
  ASSERT_TRUE(bytes
                  ->Execute(absl::StrCat(
                      kSessions,
                      "; INSERT INTO sessions VALUES (1, '', '2020-01-01', NULL), "
                      "(2, '', '2020-01-01', NULL);"
                      "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                      "RAISE EXCEPTION 'not this: % %', E'\\xff\\xfe', repeat('long ', 1000000);"
                      " END $$; CREATE TRIGGER keep BEFORE DELETE ON sessions FOR EACH ROW "
                      "EXECUTE FUNCTION keep()"))
                  .ok());
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), AllOf(HasSubstr("not this"), HasSubstr("P0001")));
  EXPECT_LT(response.results(0).reason().size(), 2000);
  v1::DeleteItemsResponse read;
  EXPECT_TRUE(read.ParseFromString(response.SerializeAsString()));
}

TEST_F(DeleteHostileTest, KeyThatIsNoLongerUniqueConfusesNoOtherItem) {
  db_.Sql(
      "CREATE TABLE sessions (id bigint, ts timestamptz, ttl integer);"
      "INSERT INTO sessions VALUES (1, '2020-01-01', NULL), (2, '2020-01-01', NULL)");
  db_.Open({Sessions()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql(
      "UPDATE sessions SET ts = '2021-01-01';"
      "INSERT INTO sessions SELECT 1, '2022-01-01', 7 FROM generate_series(1, 50)");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "MODIFIED MODIFIED");
  EXPECT_EQ(response.results(1).current().ts(), 1609459200);
}

TEST_F(DeleteHostileTest, SettingsOfTheRoleDoNotMatter) {
  db_.FillSessions(3);
  db_.Sql(absl::StrCat("ALTER DATABASE ", db_.name(), " SET array_nulls = off; ALTER DATABASE ",
                       db_.name(), " SET default_transaction_read_only = on"));
  db_.Open({Sessions()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED DELETED DELETED");
}

TEST(DeleteDurabilityTest, WhatIsToldAsDeletedStaysSoWhenTheServerIsKilled) {
  PostgresServerOptions options;
  options.settings = {{"synchronous_commit", "off"}, {"wal_writer_delay", "10s"}};
  PostgresServer server(options);
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::StrCat(kSessions,
                      "; INSERT INTO sessions VALUES (1, '', '2020-01-01', NULL);"
                      "CHECKPOINT"));
  db.Open({Sessions()});
  EXPECT_EQ(Outcomes(db.DeleteAll("sessions")), "DELETED");
  server.Kill();
  ASSERT_TRUE(server.Start().ok());
  EXPECT_EQ(db.Value("SELECT count(*) FROM sessions"), "0");
}

}  // namespace
}  // namespace ttl::postgres
