#include "tests/testing/ttl_postgres_fixture.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/wait.h"
#include "ttl/container_client.h"

namespace ttl {

TtlPostgresFixture::TtlPostgresFixture(const std::string& yaml, const std::string& user,
                                       const std::string& more, const PostgresServerOptions& server)
    : database_(server),
      postgres_({dir_.path(), "postgres", absl::StrCat(database_.Conninfo("postgres", user), more),
                 sidecar_.address(), yaml}) {}

void TtlPostgresFixture::StartServers(const std::string& sql,
                                      const std::vector<std::string>& containers) {
  ASSERT_TRUE(database_.Start().ok()) << database_.Log();
  database_.Sql(sql);
  ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
  TtlClientOptions options;
  options.address = sidecar_.address();
  client_.emplace(options);
  for (const std::string& id : containers) {
    v1::Container container;
    container.set_id(id);
    ASSERT_TRUE(client_->containers().Create(container).ok());
  }
}

void TtlPostgresFixture::InstallAndStart() {
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
}

int TtlPostgresFixture::Tracked(const std::string& container) {
  v1::ListItemsRequest request;
  request.set_container(container);
  request.set_show_expired(true);
  const auto items = client_->ListItems(request);
  return items.ok() ? items->items_size() : -1;
}

void TtlPostgresFixture::ExpectTracked(const std::string& container, int count) {
  EXPECT_TRUE(WaitUntil([&] { return Tracked(container) == count; }, kPatience))
      << container << " has " << Tracked(container) << " items\n"
      << postgres_.Log();
}

void TtlPostgresFixture::ExpectLog(absl::string_view text) {
  EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(postgres_.Log(), text); }, kPatience))
      << text << " is not in\n"
      << postgres_.Log();
}

}  // namespace ttl
