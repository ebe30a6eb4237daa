// ttl-postgres is killed around a rewrite of a table by commit time.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

constexpr char kConfig[] = R"yaml(
tables:
  - { container: carts, table: carts, id: id, ttl_column: ttl, accept_commit_time: true, live_view: carts_live }
)yaml";

class RewrittenTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql("CREATE TABLE carts (id bigint PRIMARY KEY, ttl integer)");
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    v1::Container container;
    container.set_id("carts");
    container.set_default_ttl(3600);
    TtlClientOptions options;
    options.address = sidecar_.address();
    client_.emplace(options);
    ASSERT_TRUE(client_->containers().Create(container).ok());
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.Start(kPatience).ok()) << postgres_.Log();
  }

  std::string Ids(const std::string& relation) {
    return database_.Value(
        absl::StrCat("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM ", relation));
  }

  // The _ts that the sidecar knows of each item.
  std::map<std::string, int64_t> Tracked() {
    v1::ListItemsRequest request;
    request.set_container("carts");
    request.set_show_expired(true);
    const auto items = client_->ListItems(request);
    std::map<std::string, int64_t> times;
    if (!items.ok()) return times;
    for (const v1::ItemView& view : items->items()) times[view.item().id()] = view.item().ts();
    return times;
  }

  const TempDir dir_;
  PostgresServer database_;
  TtlPostgresProcessOptions options_{dir_.path(), "postgres", database_.Conninfo(),
                                     absl::StrCat("unix:", dir_.File("sidecar.sock")), kConfig};
  SidecarProcess sidecar_{
      {dir_.path(), "sidecar", TtlPostgresProcess::AddressOf(options_), {}, {}}};
  TtlPostgresProcess postgres_{options_};
  std::optional<TtlClient> client_;
};

TEST_F(RewrittenTableTest, TimesAreHeldAndTheDeletesGoOn) {
  database_.Sql("INSERT INTO carts VALUES (1, 6), (2, NULL), (3, NULL)");
  // Row 1 expires while nothing can delete it.
  const auto migrating = database_.Connect();
  ASSERT_TRUE(migrating->Execute("BEGIN; LOCK TABLE carts").ok());
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 3; }, kPatience)) << postgres_.Log();
  std::map<std::string, int64_t> before = Tracked();
  const auto is_expired = [&] {
    return migrating
        ->Query(
            "SELECT clock_timestamp() > pg_xact_commit_timestamp(xmin) + interval '7 s' FROM "
            "carts WHERE id = 1")
        ->Bool(0, 0);
  };
  ASSERT_TRUE(WaitUntil(is_expired, kPatience));
  ASSERT_TRUE(
      migrating->Execute("ALTER TABLE carts ADD other uuid DEFAULT gen_random_uuid()").ok());
  postgres_.Kill();
  ASSERT_TRUE(migrating->Execute("COMMIT").ok());
  EXPECT_EQ(Ids("carts_live"), "2 3");
  EXPECT_EQ(Ids("carts"), "1 2 3");
  database_.Sql("UPDATE carts SET other = NULL WHERE id = 3");
  for (int kill = 0; kill < 2; ++kill) {
    ASSERT_TRUE(postgres_.Start(kPatience).ok()) << postgres_.Log();
    if (kill == 0) postgres_.Kill();
  }
  EXPECT_TRUE(WaitUntil([&] { return Ids("carts") == "2 3"; }, kPatience)) << postgres_.Log();
  EXPECT_TRUE(WaitUntil([&] { return Tracked().size() == 2; }, kPatience)) << postgres_.Log();
  EXPECT_EQ(Tracked()["2"], before["2"]);
  EXPECT_GT(Tracked()["3"], before["3"]);
  // Of the other rows nothing is held any more.
  EXPECT_TRUE(WaitUntil(
      [&] { return database_.Value("SELECT count(*) FROM ttl.held_times") == "1"; }, kPatience));
}

}  // namespace
}  // namespace ttl
