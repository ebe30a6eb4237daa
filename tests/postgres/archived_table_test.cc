// Expired orders are moved to an archive while ttl-postgres and PostgreSQL are killed at random
// moments: each order is in exactly one of the two tables.

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "tests/postgres/killed_adapter_fixture.h"
#include "ttl/operator_client.h"

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

// A change of on_expiry, and of the tables, while ttl-postgres runs.
class ChangedOnExpiryTest : public ArchivedTableTest {
 protected:
  static constexpr char kDeleted[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, expires_column: ends_at, live_view: live_orders }
)yaml";
  static constexpr char kMarked[] = R"yaml(
tables:
  - container: orders
    table: orders
    id: id
    expires_column: ends_at
    where: gone_at IS NULL
    live_view: live_orders
    on_expiry: mark
    mark_column: gone_at
    mark_value: now
)yaml";

  void Reload(const char* yaml) {
    TtlPostgresProcessOptions options = postgres_options_;
    options.yaml = yaml;
    TtlPostgresProcess::Reconfigure(options);
    const int before = Reloads();
    ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
    ASSERT_TRUE(WaitUntil([&] { return Reloads() > before; }, absl::Minutes(1))) << postgres_.Log();
  }

  int Reloads() {
    const std::vector<std::string> parts =
        absl::StrSplit(postgres_.Log(), "the new one is used now");
    return static_cast<int>(parts.size());
  }

  void InsertEnding(int id) {
    database_.Sql(absl::StrCat("INSERT INTO orders (id, item, ends_at) VALUES (", id,
                               ", 'x', now() + interval '1 s')"));
  }

  void ExpectSoon(absl::string_view rows, absl::string_view count) {
    EXPECT_TRUE(WaitUntil([&] { return CountOf(rows) == count; }, absl::Minutes(2)))
        << rows << " are " << CountOf(rows) << "; " << postgres_.Log();
  }
};

TEST_F(ChangedOnExpiryTest, AppliesToWhatExpiresFromTheHangupOn) {
  v1::Container container;
  container.set_id("orders");
  container.set_default_ttl(-1);
  ASSERT_NO_FATAL_FAILURE(StartAll(kTables, container));
  InsertEnding(1);
  ExpectSoon("orders_archive WHERE id = 1", "1");
  ExpectSoon("orders", "0");

  ASSERT_NO_FATAL_FAILURE(Reload(kDeleted));
  InsertEnding(2);
  ExpectSoon("orders", "1");
  ExpectSoon("orders", "0");
  EXPECT_EQ(CountOf("orders_archive"), "1");

  // The table is followed although its archive is unfit: its rows are hidden, and stay.
  database_.Sql("ALTER TABLE orders ADD COLUMN gone_at timestamptz");
  ASSERT_NO_FATAL_FAILURE(Reload(kConfig));
  InsertEnding(3);
  TtlClient client = Client();
  const auto is_stuck = [&] {
    v1::ListStuckItemsRequest request;
    request.set_container("orders");
    const auto stuck = client.operations().ListStuckItems(request);
    return stuck.ok() && stuck->items_size() == 1 &&
           absl::StrContains(stuck->items(0).last_error(), "has no column gone_at");
  };
  EXPECT_TRUE(WaitUntil(is_stuck, absl::Minutes(1))) << postgres_.Log();
  EXPECT_TRUE(absl::StrContains(postgres_.Log(), "expired rows cannot be moved"));
  EXPECT_EQ(CountOf("orders"), "1");
  EXPECT_EQ(CountOf("live_orders"), "0");
  database_.Sql("ALTER TABLE orders_archive ADD COLUMN gone_at timestamptz");
  ExpectSoon("orders_archive WHERE id = 3", "1");

  // Its view has another condition.
  ASSERT_NO_FATAL_FAILURE(Reload(kMarked));
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.WaitReady(absl::Minutes(1)).ok()) << postgres_.Log();
  InsertEnding(4);
  ExpectSoon("orders WHERE gone_at IS NOT NULL", "1");
  EXPECT_EQ(CountOf("live_orders WHERE id = 4"), "1") << "as other deleted rows";
  EXPECT_EQ(CountOf("orders_archive WHERE id = 4"), "0");
  EXPECT_TRUE(postgres_.Stop().ok());
}

}  // namespace
}  // namespace ttl
