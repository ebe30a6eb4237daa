#include "tests/postgres/store_for_test.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "client/postgres/sql/archive_fit.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/schema_layout.h"
#include "ttl/proto_time.h"

namespace ttl::postgres {

const char kSessions[] =
    "CREATE TABLE sessions (id bigint PRIMARY KEY, payload text NOT NULL DEFAULT '', "
    "ts timestamptz, ttl integer)";

TableConfig Sessions() {
  TableConfig config;
  config.container = "sessions";
  config.table = "sessions";
  config.id = {"id"};
  config.ts_column = "ts";
  config.ttl_column = "ttl";
  return config;
}

PostgresServer& SharedServer() {
  static PostgresServer* const server = [] {
    PostgresServerOptions options;
    options.settings = {{"max_connections", "60"}};
    auto* started = new PostgresServer(options);
    const absl::Status status = started->Start();
    EXPECT_TRUE(status.ok()) << status;
    std::atexit([] { SharedServer().Kill(); });
    return started;
  }();
  return *server;
}

StoreForTest::StoreForTest(PostgresServer& server) : server_(server) {
  static int databases = 0;
  name_ = absl::StrCat("store_", ++databases);
  server_.Sql(absl::StrCat("CREATE DATABASE ", name_));
  config_.database = server_.Conninfo(name_);
  config_.statement_timeout = kPatience;
  Sql(CreateSchemaSql(config_.schema));
}

TableDefinition StoreForTest::Describe(const TableConfig& config) {
  const std::string table = QuoteText(QuoteQualified(config.schema, config.table));
  const auto column = [&](const std::string& name) {
    return ColumnDefinition{
        name, Value(absl::Substitute("SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
                                     "WHERE attrelid = $0::regclass AND attname = $1",
                                     table, QuoteText(name)))};
  };
  TableDefinition definition;
  definition.config = config;
  definition.own_schema = config_.schema;
  uint32_t oid = 0;
  EXPECT_TRUE(absl::SimpleAtoi(Value(absl::StrCat("SELECT ", table, "::regclass::oid")), &oid));
  definition.oid = oid;
  definition.is_partitioned =
      Value(absl::StrCat("SELECT relkind FROM pg_class WHERE oid = ", oid)) == "p";
  for (const std::string& name : config.partition_key) {
    definition.partition_key.push_back(column(name));
  }
  for (const std::string& name : config.id) definition.id.push_back(column(name));
  if (config.ts_column.has_value()) {
    definition.ts = column(*config.ts_column);
    definition.ts_source = definition.ts->type == "timestamp with time zone"
                               ? TsSource::kTimestamp
                               : TsSource::kEpochNumber;
  }
  if (!config.ts_zone.empty()) {
    definition.ts_source = TsSource::kReading;
    definition.zone = *StatedZone::Load(config.ts_zone);
  }
  if (config.ttl_column.has_value()) definition.ttl = column(*config.ttl_column);
  if (config.expires_column.has_value()) {
    definition.expires = column(*config.expires_column);
    definition.end_source = definition.expires->type == "timestamp with time zone"
                                ? EndSource::kTimestamp
                                : EndSource::kEpochNumber;
    if (!config.ts_column.has_value()) definition.ts_source = TsSource::kNone;
  }
  if (config.size_column.has_value()) definition.size = column(*config.size_column);
  if (config.on_expiry == OnExpiry::kMark) definition.mark = column(config.mark_column);
  if (config.on_expiry == OnExpiry::kArchive) {
    const auto connection = Connect();
    EXPECT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    auto archive = ReadArchive(*connection, config);
    EXPECT_TRUE(archive.ok()) << archive.status();
    if (archive.ok()) definition.archive = *std::move(archive);
  }
  return definition;
}

PrimaryStore& StoreForTest::Open(const std::vector<TableConfig>& tables,
                                 PrimaryStore::YieldRule yield_rule) {
  std::vector<TableDefinition> definitions;
  for (const TableConfig& table : tables) definitions.push_back(Describe(table));
  store_ = std::make_unique<PrimaryStore>(config_, definitions, position_, std::move(yield_rule),
                                          reported_, [] { return absl::Now(); });
  return *store_;
}

PrimaryStore& StoreForTest::OpenDefined(const std::vector<TableDefinition>& definitions) {
  store_ = std::make_unique<PrimaryStore>(
      config_, definitions, position_, [] { return std::nullopt; }, reported_,
      [] { return absl::Now(); });
  return *store_;
}

void StoreForTest::ShowPosition(uint64_t lsn) {
  position_.Acknowledge(lsn);
  position_.ObserveSnapshot(lsn, 5, 5);
  position_.ObserveSnapshot(lsn, 5, 5);
  EXPECT_EQ(position_.Get(), lsn);
}

std::vector<v1::Item> StoreForTest::Items(const std::string& container) {
  v1::ScanItemsRequest request;
  request.set_container(container);
  request.set_max_items(1'000'000);
  std::vector<v1::Item> items;
  const absl::Status status = store_->ScanItems(
      request, absl::Now() + absl::Minutes(1), [] { return false; },
      [&](const v1::ScanItemsResponse& message) {
        items.insert(items.end(), message.items().begin(), message.items().end());
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return items;
}

void StoreForTest::FillSessions(int rows) {
  Sql(absl::StrCat(kSessions,
                   "; INSERT INTO sessions SELECT i, 'x', '2020-01-01', NULL "
                   "FROM generate_series(1, ",
                   rows, ") i"));
}

v1::DeleteItemsRequest StoreForTest::Judged(const std::string& container,
                                            const std::vector<v1::Item>& items,
                                            int64_t default_ttl) {
  v1::DeleteItemsRequest request;
  request.set_container(container);
  *request.mutable_not_after() = ToTimestamp(absl::Now() + kPatience);
  for (const v1::Item& item : items) {
    v1::ExpiredItem& asked = *request.add_items();
    asked.set_partition_key(item.partition_key());
    asked.set_id(item.id());
    asked.set_ts(item.ts());
    if (item.has_ttl()) asked.set_ttl(item.ttl());
    asked.set_etag(item.etag());
    asked.set_effective_ttl(item.has_ttl() ? item.ttl() : default_ttl);
    asked.set_expire_time(item.ts() + asked.effective_ttl());
    if (!item.has_expire_at()) continue;
    asked.set_expire_at(item.expire_at());
    const bool is_earlier = item.ttl() <= 0 || item.expire_at() < asked.expire_time();
    if (is_earlier) asked.set_expire_time(item.expire_at());
  }
  return request;
}

v1::DeleteItemsResponse StoreForTest::Delete(const v1::DeleteItemsRequest& request) {
  auto response = store_->DeleteItems(request, absl::Now() + kPatience);
  EXPECT_TRUE(response.ok()) << response.status();
  if (!response.ok()) return {};
  EXPECT_EQ(response->results_size(), request.items_size());
  return *std::move(response);
}

v1::DeleteItemsResponse StoreForTest::DeleteAll(const std::string& container, int64_t default_ttl) {
  return Delete(Judged(container, Items(container), default_ttl));
}

std::string Outcomes(const v1::DeleteItemsResponse& response) {
  return absl::StrJoin(response.results(), " ",
                       [](std::string* out, const v1::DeleteResult& result) {
                         const std::string name = v1::DeleteOutcome_Name(result.outcome());
                         absl::StrAppend(out, absl::StripPrefix(name, "DELETE_OUTCOME_"));
                       });
}

}  // namespace ttl::postgres
