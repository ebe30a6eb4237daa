#include "client/postgres/capture/stream/pgoutput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <string>
#include <vector>

#include "tests/postgres/pgoutput_bytes.h"

namespace ttl::postgres {
namespace {

using Kind = ColumnValue::Kind;

std::vector<std::string> Texts(const Tuple& row) {
  std::vector<std::string> texts;
  for (const ColumnValue& value : row) {
    texts.push_back(value.kind == Kind::kNull        ? "NULL"
                    : value.kind == Kind::kUnchanged ? "unchanged"
                                                     : std::string(value.text));
  }
  return texts;
}

// What is returned has views of the bytes.
template <typename Message>
Message Parse(const std::string& message) {
  static std::list<std::string> kept;
  const std::string& bytes = kept.emplace_back(message);
  const auto parsed = ParsePgoutput(bytes);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok() || !std::holds_alternative<Message>(*parsed)) {
    ADD_FAILURE() << "another message";
    return {};
  }
  return std::get<Message>(*parsed);
}

std::string Problem(const std::string& bytes) {
  const auto parsed = ParsePgoutput(bytes);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kDataLoss);
  return std::string(parsed.status().message());
}

TEST(PgoutputTest, BeginHasPositionTimeAndTransaction) {
  const auto begin =
      Parse<BeginMessage>(PgoutputBytes('B').Int64(0x1600000010).Int64(1'500'000).Int32(4711));
  EXPECT_EQ(begin.final_lsn, 0x1600000010u);
  EXPECT_EQ(begin.commit_time, absl::FromUnixMillis(946'684'801'500));
  EXPECT_EQ(begin.xid, 4711u);
}

TEST(PgoutputTest, TimesBeforeTheYear2000AreTimes) {
  const auto begin = Parse<BeginMessage>(
      PgoutputBytes('B').Int64(1).Int64(static_cast<uint64_t>(-1'000'000)).Int32(1));
  EXPECT_EQ(begin.commit_time, absl::FromUnixSeconds(946'684'799));
}

TEST(PgoutputTest, CommitHasBothItsEnds) {
  const auto commit = Parse<CommitMessage>(PgoutputBytes('C').Byte(0).Int64(10).Int64(20).Int64(0));
  EXPECT_EQ(commit.commit_lsn, 10u);
  EXPECT_EQ(commit.end_lsn, 20u);
}

TEST(PgoutputTest, RelationHasItsColumnsInOrder) {
  const std::string bytes = PgoutputBytes('R')
                                .Int32(16384)
                                .Text("shop")
                                .Text("orders")
                                .Byte('f')
                                .Int16(2)
                                .Byte(1)
                                .Text("id")
                                .Int32(20)
                                .Int32(0xffffffff)
                                .Byte(0)
                                .Text("Kind")
                                .Int32(1043)
                                .Int32(24);
  const auto relation = Parse<RelationMessage>(bytes);
  EXPECT_EQ(relation.oid, 16384u);
  EXPECT_EQ(relation.schema, "shop");
  EXPECT_EQ(relation.table, "orders");
  EXPECT_EQ(relation.replica_identity, 'f');
  ASSERT_EQ(relation.columns.size(), 2u);
  EXPECT_TRUE(relation.columns[0].is_identity);
  EXPECT_EQ(relation.columns[0].name, "id");
  EXPECT_EQ(relation.columns[0].type_modifier, -1);
  EXPECT_FALSE(relation.columns[1].is_identity);
  EXPECT_EQ(relation.columns[1].type_oid, 1043u);
  EXPECT_EQ(relation.columns[1].type_modifier, 24);
}

TEST(PgoutputTest, RowsHaveTextsNullsAndWhatIsUnchanged) {
  const auto insert = Parse<InsertMessage>(
      PgoutputBytes('I').Int32(7).Byte('N').Int16(3).Value("a").Byte('n').Byte('u'));
  EXPECT_EQ(insert.relation, 7u);
  EXPECT_THAT(Texts(insert.row), testing::ElementsAre("a", "NULL", "unchanged"));
}

TEST(PgoutputTest, EmptyTextIsNotNull) {
  const auto insert =
      Parse<InsertMessage>(PgoutputBytes('I').Int32(7).Byte('N').Int16(1).Value(""));
  EXPECT_THAT(Texts(insert.row), testing::ElementsAre(""));
}

TEST(PgoutputTest, UpdateMayHaveTheRowBefore) {
  const auto plain =
      Parse<UpdateMessage>(PgoutputBytes('U').Int32(7).Byte('N').Int16(1).Value("a"));
  EXPECT_FALSE(plain.old_row.has_value());
  EXPECT_THAT(Texts(plain.row), testing::ElementsAre("a"));
  for (const char kind : {'K', 'O'}) {
    const auto update = Parse<UpdateMessage>(
        PgoutputBytes('U').Int32(7).Byte(kind).Int16(1).Value("before").Byte('N').Int16(1).Value(
            "after"));
    ASSERT_TRUE(update.old_row.has_value());
    EXPECT_THAT(Texts(*update.old_row), testing::ElementsAre("before"));
    EXPECT_THAT(Texts(update.row), testing::ElementsAre("after"));
  }
}

TEST(PgoutputTest, DeleteHasTheRowBefore) {
  const auto deleted =
      Parse<DeleteMessage>(PgoutputBytes('D').Int32(7).Byte('K').Int16(1).Value("a"));
  EXPECT_THAT(Texts(deleted.old_row), testing::ElementsAre("a"));
}

TEST(PgoutputTest, TruncateNamesItsTables) {
  const auto truncate =
      Parse<TruncateMessage>(PgoutputBytes('T').Int32(2).Byte(1).Int32(7).Int32(9));
  EXPECT_THAT(truncate.relations, testing::ElementsAre(7u, 9u));
}

TEST(PgoutputTest, OtherMessagesAreRead) {
  EXPECT_EQ(Parse<OriginMessage>(PgoutputBytes('O').Int64(5).Text("other")).name, "other");
  EXPECT_EQ(Parse<TypeMessage>(PgoutputBytes('Y').Int32(5).Text("shop").Text("kind")).name, "kind");
  std::string message = PgoutputBytes('M').Byte(1).Int64(5).Text("audit").Int32(3);
  message += "abc";
  EXPECT_EQ(Parse<LogicalMessage>(message).content, "abc");
}

TEST(PgoutputTest, NonsenseIsNamed) {
  EXPECT_THAT(Problem(""), testing::HasSubstr("no bytes"));
  EXPECT_THAT(Problem("Z"), testing::HasSubstr("'Z'"));
  EXPECT_THAT(Problem(PgoutputBytes('I').Int32(7).Byte('K').Int16(0)),
              testing::HasSubstr("no new row"));
  EXPECT_THAT(Problem(PgoutputBytes('D').Int32(7).Byte('N').Int16(0)),
              testing::HasSubstr("no old row"));
  EXPECT_THAT(Problem(PgoutputBytes('I').Int32(7).Byte('N').Int16(1).Byte('b')),
              testing::HasSubstr("of kind 'b'"));
  EXPECT_THAT(Problem(PgoutputBytes('T').Int32(1).Byte(0).Int32(7).Byte(0)),
              testing::HasSubstr("1 bytes too many"));
}

TEST(PgoutputTest, CountsThatCannotBeTrueTakeNoMemory) {
  EXPECT_THAT(Problem(PgoutputBytes('T').Int32(0xffffffff).Byte(0)),
              testing::HasSubstr("ends too early"));
  EXPECT_THAT(Problem(PgoutputBytes('I').Int32(7).Byte('N').Int16(0xffff)),
              testing::HasSubstr("ends too early"));
  EXPECT_THAT(Problem(PgoutputBytes('I').Int32(7).Byte('N').Int16(1).Byte('t').Int32(0xffffffff)),
              testing::HasSubstr("ends too early"));
}

RC_GTEST_PROP(PgoutputProperty, EveryCutIsRefused, (const std::vector<std::string>& texts)) {
  PgoutputBytes update('U');
  update.Int32(7).Byte('O').Int16(texts.size());
  for (const std::string& text : texts) update.Value(text);
  update.Byte('N').Int16(texts.size());
  for (const std::string& text : texts) update.Value(text);
  const std::string& bytes = update;
  const auto whole = ParsePgoutput(bytes);
  RC_ASSERT(whole.ok());
  RC_ASSERT(Texts(std::get<UpdateMessage>(*whole).row) == texts);
  const size_t cut = *rc::gen::inRange<size_t>(0, bytes.size());
  RC_ASSERT(absl::IsDataLoss(ParsePgoutput(bytes.substr(0, cut)).status()));
}

}  // namespace
}  // namespace ttl::postgres
