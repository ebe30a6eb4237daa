// One table of several is dropped, renamed or changed while ttl-postgres runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/ttl_client.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

constexpr char kTables[] = R"sql(
  CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz);
  CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz);
  INSERT INTO orders VALUES (1, now());
  INSERT INTO carts VALUES (1, now());
  CREATE SCHEMA attic;
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts, live_view: orders_live }
  - { container: carts, table: carts, id: id, ts_column: ts, live_view: carts_live }
)yaml";

struct Change {
  const char* name;
  const char* away;  // carts is no longer what it was
  const char* write;
  const char* back;
  bool needs_install;
};

class LeftOutTablesTest : public testing::TestWithParam<Change> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(kTables);
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    TtlClientOptions options;
    options.address = sidecar_.address();
    client_.emplace(options);
    for (const char* id : {"orders", "carts"}) {
      v1::Container container;
      container.set_id(id);
      ASSERT_TRUE(client_->CreateContainer(container).ok());
    }
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
    ExpectTracked("orders", 1);
    ExpectTracked("carts", 1);
  }

  int Tracked(const std::string& container) {
    v1::ListItemsRequest request;
    request.set_container(container);
    request.set_show_expired(true);
    const auto items = client_->ListItems(request);
    return items.ok() ? items->items_size() : -1;
  }

  void ExpectTracked(const std::string& container, int count) {
    EXPECT_TRUE(WaitUntil([&] { return Tracked(container) == count; }, kPatience))
        << container << " has " << Tracked(container) << " items\n"
        << postgres_.Log();
  }

  bool WaitForLog(absl::string_view text) {
    return WaitUntil([&] { return absl::StrContains(postgres_.Log(), text); }, kPatience);
  }

  const TempDir dir_;
  PostgresServer database_;
  SidecarProcess sidecar_{{dir_.path(), "sidecar", "", {}, {}}};
  TtlPostgresProcess postgres_{
      {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(), kConfig}};
  std::optional<TtlClient> client_;
};

INSTANTIATE_TEST_SUITE_P(
    Changes, LeftOutTablesTest,
    testing::Values(
        Change{"Drop", "DROP TABLE carts CASCADE", "SELECT 1",
               "CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz);"
               "INSERT INTO carts VALUES (1, now()), (2, now())",
               true},
        Change{"RenameTable", "ALTER TABLE carts RENAME TO old_carts",
               "INSERT INTO old_carts VALUES (2, now())", "ALTER TABLE old_carts RENAME TO carts",
               false},
        Change{"RenameColumn", "ALTER TABLE carts RENAME ts TO written",
               "INSERT INTO carts VALUES (2, now())", "ALTER TABLE carts RENAME written TO ts",
               false},
        Change{"SetSchema", "ALTER TABLE carts SET SCHEMA attic",
               "INSERT INTO attic.carts VALUES (2, now())",
               "ALTER TABLE attic.carts SET SCHEMA public", false},
        Change{"Swap",
               "BEGIN; CREATE TABLE new_carts (LIKE carts INCLUDING ALL);"
               "ALTER TABLE carts RENAME TO old_carts; ALTER TABLE new_carts RENAME TO carts;"
               "ALTER VIEW carts_live RENAME TO old_carts_live; COMMIT",
               "INSERT INTO carts VALUES (1, now()), (2, now())", "DROP VIEW old_carts_live",
               true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(LeftOutTablesTest, TheOthersGoOnAndItIsTakenUpAgain) {
  database_.Sql(GetParam().away);
  ASSERT_TRUE(WaitForLog("msg=\"table left out\" container=\"carts\"")) << postgres_.Log();
  database_.Sql(GetParam().write);
  database_.Sql("INSERT INTO orders VALUES (2, now())");
  ExpectTracked("orders", 2);

  postgres_.Kill();
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
  database_.Sql("INSERT INTO orders VALUES (3, now())");
  ExpectTracked("orders", 3);

  database_.Sql(GetParam().back);
  if (GetParam().needs_install) {
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  }
  ExpectTracked("carts", 2);
  database_.Sql("INSERT INTO carts VALUES (3, now())");
  ExpectTracked("carts", 3);
}

}  // namespace
}  // namespace ttl
