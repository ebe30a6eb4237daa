// What PostgreSQL itself writes, read.

#include <gtest/gtest.h>

#include <string>

#include "client/postgres/row/lsn.h"
#include "client/postgres/row/row_item.h"
#include "tests/testing/postgres_server.h"

namespace ttl::postgres {
namespace {

class TextTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = server_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  PostgresServer server_;
};

TEST_F(TextTest, TimestampsAreReadAsPostgresqlMeansThem) {
  // Days, and odd parts of them, from the first year to the last that there can be.
  const QueryResult rows = server_.Sql(
      "SELECT t, extract(epoch FROM date_trunc('second', t))::bigint FROM ("
      "  SELECT '0001-01-01 UTC'::timestamptz + n * interval '997 days 7:13:41.618034' AS t"
      "  FROM generate_series(0, 107000) AS n"
      "  UNION ALL SELECT '1970-01-01 UTC'::timestamptz + n * interval '0.25 s'"
      "  FROM generate_series(-10, 10) AS n"
      "  UNION ALL SELECT '294276-12-31 23:59:59.999999 UTC') AS times");
  ASSERT_GT(rows.rows(), 107000);
  for (int row = 0; row < rows.rows(); ++row) {
    const auto parsed = ParseTimestamp(rows.Text(row, 0));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ASSERT_EQ(*parsed, rows.Number(row, 1)) << rows.Text(row, 0);
  }
}

TEST_F(TextTest, TimesThatAreNoneAreRefused) {
  const QueryResult rows = server_.Sql(
      "SELECT unnest(ARRAY['infinity', '-infinity', '0044-03-15 UTC BC']::timestamptz[])");
  ASSERT_EQ(rows.rows(), 3);
  for (int row = 0; row < rows.rows(); ++row) {
    EXPECT_FALSE(ParseTimestamp(rows.Text(row, 0)).ok()) << rows.Text(row, 0);
  }
}

TEST_F(TextTest, LsnsAreThoseOfPostgresql) {
  for (const std::string text : {"0/0", "0/1", "16/B374D848", "FFFFFFFF/FFFFFFFF"}) {
    EXPECT_EQ(FormatLsn(*ParseLsn(text)), text);
    EXPECT_EQ(server_.Value("SELECT '" + text + "'::pg_lsn"), text);
  }
  const auto now = ParseLsn(server_.Value("SELECT pg_current_wal_lsn()"));
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_EQ(server_.Value("SELECT pg_current_wal_lsn() >= '" + FormatLsn(*now) + "'"), "t");
}

}  // namespace
}  // namespace ttl::postgres
