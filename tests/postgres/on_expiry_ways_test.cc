// on_expiry: archive and mark, with each of the four ways that show live rows to an application.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/store/primary_store.h"
#include "tests/postgres/database_for_test.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

constexpr int64_t kWritten = 1'577'836'800;  // 2020-01-01

struct Way {
  const char* name;
  void (*set)(TableConfig& table);
  const char* shown;  // what the application reads
};

const Way kWays[] = {
    {"own name", [](TableConfig& table) { table.live_view = "live_notes"; }, "live_notes"},
    {"rename",
     [](TableConfig& table) {
       table.rename_table = "stored_notes";
       table.live_view = "notes";
     },
     "notes"},
    {"search path",
     [](TableConfig& table) {
       table.view_schema = "live";
       table.live_view = "notes";
     },
     "live.notes"},
    {"row security", [](TableConfig& table) { table.row_level_security = true; }, "notes"}};

class OnExpiryWaysTest : public testing::TestWithParam<Way> {
 protected:
  // Note 1 has expired, and note 2 has not. The application is a role of its own.
  OnExpiryWaysTest() : role_(database_.CreateRole()), application_(database_.Connect(role_)) {
    database_.Sql(absl::StrCat(
        "CREATE TABLE notes (id bigint PRIMARY KEY, ts timestamptz NOT NULL, gone boolean NOT NULL "
        "DEFAULT false); GRANT ALL ON notes TO ",
        role_,
        "; CREATE TABLE old (LIKE notes); INSERT INTO notes VALUES (1, '2020-01-01 00:00:00+00'), "
        "(2, now())"));
    table_.container = table_.table = "notes";
    table_.id = {"id"};
    table_.ts_column = "ts";
    GetParam().set(table_);
  }

  // Installs for the table, and lets note 1 expire; the outcome of its delete.
  std::string Expire() {
    const Config config = database_.ConfigFor({table_});
    database_.Install(config);
    database_.Sql("INSERT INTO ttl.policy VALUES ('notes', 60, 1, now())");
    EXPECT_EQ(Shown(), "2") << "it is hidden";
    const VisiblePosition position;
    PrimaryStore store(
        config, database_.Define(config), position, [] { return std::nullopt; },
        [] { return UINT64_MAX; }, [] { return absl::Now(); });
    v1::Item item;
    item.set_id("1");
    item.set_ts(kWritten);
    const auto response = store.DeleteItems(StoreForTest::Judged("notes", {item}),
                                            absl::Now() + StoreForTest::kPatience);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? Outcomes(*response) : "";
  }

  // The ids that the application reads.
  std::string Shown() {
    const auto ids = application_->Query(
        absl::StrCat("SELECT string_agg(id::text, ' ' ORDER BY id) FROM ", GetParam().shown));
    EXPECT_TRUE(ids.ok()) << ids.status();
    return ids.ok() ? std::string(ids->Text(0, 0)) : "";
  }

  DatabaseForTest database_;
  const std::string role_;
  const std::unique_ptr<Connection> application_;
  TableConfig table_;
};

TEST_P(OnExpiryWaysTest, HiddenRowIsMoved) {
  table_.on_expiry = OnExpiry::kArchive;
  table_.archive_table = "old";
  EXPECT_EQ(Expire(), "DELETED");
  EXPECT_EQ(Shown(), "2");
  EXPECT_EQ(database_.Value("SELECT string_agg(id::text, ' ') FROM old"), "1");
}

TEST_P(OnExpiryWaysTest, RowIsHiddenUntilItIsMarkedAndShownAfterwards) {
  table_.where = "NOT gone";
  table_.on_expiry = OnExpiry::kMark;
  table_.mark_column = "gone";
  table_.mark_value = "true";
  EXPECT_EQ(Expire(), "DELETED");
  EXPECT_EQ(Shown(), "1 2");
  const auto restored =
      application_->Execute(absl::StrCat("UPDATE ", GetParam().shown, " SET gone = false"));
  EXPECT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(Shown(), "2") << "its end is in the past";
}

INSTANTIATE_TEST_SUITE_P(Ways, OnExpiryWaysTest, testing::ValuesIn(kWays),
                         [](const testing::TestParamInfo<Way>& info) {
                           std::string name = info.param.name;
                           std::erase(name, ' ');
                           return name;
                         });

}  // namespace
}  // namespace ttl::postgres
