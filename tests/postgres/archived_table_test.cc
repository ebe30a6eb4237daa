// Expired orders are moved to an archive while ttl-postgres and PostgreSQL are killed at random
// moments: each order is in exactly one of the two tables.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"

namespace ttl {
namespace {

constexpr int kOrders = 20000;
constexpr int kKills = 12;

constexpr char kTables[] = R"sql(
  CREATE TABLE orders (id bigint PRIMARY KEY, item text NOT NULL, ends_at timestamptz NOT NULL);
  CREATE TABLE orders_archive (LIKE orders);
  ALTER TABLE orders_archive ADD COLUMN archived_at timestamptz NOT NULL;
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - container: orders
    table: orders
    id: id
    expires_column: ends_at
    live_view: live_orders
    on_expiry: archive
    archive_table: orders_archive
    archived_at: archived_at
)yaml";

class ArchivedTableTest : public KilledAdapterFixture {
 protected:
  ArchivedTableTest() : KilledAdapterFixture(kConfig) {}

  // Orders that are in none of the tables, and that are in both or in one of them twice.
  std::string Lost() {
    return CountOf(absl::StrCat("generate_series(1, ", kOrders,
                                ") AS i WHERE NOT EXISTS (SELECT FROM orders WHERE id = i) AND NOT "
                                "EXISTS (SELECT FROM orders_archive WHERE id = i)"));
  }
  std::string Doubled() {
    return CountOf(
        "(SELECT id FROM (SELECT id FROM orders UNION ALL SELECT id FROM orders_archive) AS b "
        "GROUP "
        "BY id HAVING count(*) > 1) AS doubled");
  }
};

TEST_F(ArchivedTableTest, EachRowIsInExactlyOneOfTheTablesWhateverIsKilled) {
  v1::Container container;
  container.set_id("orders");
  container.set_default_ttl(-1);
  // So that deletes last while all is killed.
  container.mutable_delete_policy()->set_max_deletes_per_second(kOrders / 10.0);
  ASSERT_NO_FATAL_FAILURE(StartAll(kTables, container));
  database_.Sql(
      absl::StrCat("INSERT INTO orders SELECT i, 'order ' || i, now() + interval '1 s' "
                   "FROM generate_series(1, ",
                   kOrders, ") AS i"));
  for (int i = 0; i < kKills; ++i) {
    // A moment in the middle of the deletes, and not of a start.
    const std::string before = CountOf("orders_archive");
    EXPECT_TRUE(
        WaitUntil([&] { return CountOf("orders_archive") != before || CountOf("orders") == "0"; },
                  absl::Minutes(2)));
    if (i % 3 == 2) {
      database_.Kill();
      ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    } else {
      postgres_.Kill();
      EXPECT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
    }
    EXPECT_EQ(Lost(), "0") << "after kill " << i;
    EXPECT_EQ(Doubled(), "0") << "after kill " << i;
  }
  EXPECT_TRUE(WaitUntil([&] { return CountOf("orders") == "0"; }, absl::Minutes(5),
                        absl::Milliseconds(200)))
      << CountOf("orders") << " are left; " << postgres_.Log();
  EXPECT_EQ(Lost(), "0");
  EXPECT_EQ(Doubled(), "0");
  EXPECT_EQ(CountOf("orders_archive WHERE item <> 'order ' || id OR archived_at < ends_at"), "0");
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
