#include "tests/postgres/capture_for_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/postgres/row/lsn.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/testing/wait.h"
#include "ttl/client_channel.h"

namespace ttl::postgres {
namespace {

// Of what takes moments, but for a machine that has no time for it.
constexpr absl::Duration kStallDeadline = absl::Seconds(60);

void SetDeadline(grpc::ClientContext& context) {
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(kStallDeadline));
}

// Names are the server's, which tests of one executable share.
std::string NextName() {
  static int number = 0;
  return absl::StrCat("capture_", ++number);
}

std::string Describe(const CaptureStatus& status) {
  std::string text = absl::StrCat("state: ", status.state, "; problem: ", status.problem,
                                  "; acknowledged: ", FormatLsn(status.acknowledged),
                                  "; restarts: ", status.restarts);
  for (const TableStatus& table : status.tables) {
    absl::StrAppend(&text, "; ", table.container, " scanned ", table.scanned, " done ",
                    table.scan_done, " ghosts done ", table.ghosts_done);
  }
  return text;
}

}  // namespace

const char kCreateSessions[] =
    "CREATE TABLE sessions (id bigint PRIMARY KEY, note text, ts timestamptz, ttl integer)";
const char kSessionRows[] =
    "SELECT '', id, floor(extract(epoch FROM ts))::bigint, ttl FROM sessions";

TableConfig Sessions() {
  TableConfig table;
  table.container = "sessions";
  table.table = "sessions";
  table.id = {"id"};
  table.ts_column = "ts";
  table.ttl_column = "ttl";
  return table;
}

CaptureForTest::CaptureForTest(PostgresServer& server, std::string sidecar_address)
    : server_(server), name_(NextName()), visible_(std::make_unique<VisiblePosition>()) {
  server_.Sql(absl::StrCat("CREATE DATABASE ", name_));
  config_.database = server_.Conninfo(name_);
  config_.sidecar = std::move(sidecar_address);
  config_.slot = name_;
  config_.publication = name_;
  options_.catalog_interval = absl::Milliseconds(200);
  options_.longest_pause = absl::Milliseconds(500);
  TtlClientOptions options;
  options.address = config_.sidecar;
  channel_ = NewRepeatingChannel(options);
  containers_ = v1::ContainerService::NewStub(channel_);
  items_ = v1::ItemService::NewStub(channel_);
}

CaptureForTest::~CaptureForTest() {
  Stop();
  if (!server_.IsRunning()) return;
  const auto connection = Connection::Open(config_.database, "test");
  if (!connection.ok()) return;
  const std::string drop = absl::StrCat(
      "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '",
      config_.slot, "'");
  EXPECT_TRUE(WaitUntil([&] { return (*connection)->Execute(drop).ok(); }, kStallDeadline));
}

void CaptureForTest::Install(std::vector<TableConfig> tables) {
  config_.tables = std::move(tables);
  const auto connection = Connect();
  const auto report = CheckCatalog(*connection, config_);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->problems.empty()) << absl::StrJoin(report->problems, "\n");
  tables_ = report->tables;
  const auto installed = connection->Execute(InstallSql(config_, tables_));
  ASSERT_TRUE(installed.ok()) << installed.status();
}

void CaptureForTest::CreateContainer(const std::string& id) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id(id);
  v1::CreateContainerResponse response;
  const grpc::Status status = containers_->CreateContainer(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
}

void CaptureForTest::DeleteContainer(const std::string& id) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::DeleteContainerRequest request;
  request.set_id(id);
  v1::DeleteContainerResponse response;
  const grpc::Status status = containers_->DeleteContainer(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
}

void CaptureForTest::Track(const std::string& container, const std::string& id, int64_t ts,
                           uint64_t sequence) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::TrackItemsRequest request;
  request.set_container(container);
  v1::Item& item = *request.add_items();
  item.set_id(id);
  item.set_ts(ts);
  item.set_sequence(sequence);
  v1::TrackItemsResponse response;
  const grpc::Status status = items_->TrackItems(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
}

void CaptureForTest::Begin(std::vector<TableConfig> tables) {
  for (const TableConfig& table : tables) CreateContainer(table.container);
  Install(std::move(tables));
  if (!testing::Test::HasFatalFailure()) Start();
}

void CaptureForTest::Start() {
  Stop();
  visible_ = std::make_unique<VisiblePosition>();
  capture_ = std::make_unique<Capture>(
      config_, tables_, channel_, *visible_, [] { return absl::Now(); }, options_);
}

bool CaptureForTest::CatchUp(absl::Duration deadline) {
  if (capture_ == nullptr) return false;
  // A commit of our own, so that what the status shows is no older than this.
  Value("SELECT pg_logical_emit_message(true, 'test', 'catch up')");
  const auto now = ParseLsn(Value("SELECT pg_current_wal_flush_lsn()"));
  EXPECT_TRUE(now.ok()) << now.status();
  const bool is_there = WaitUntil(
      [&] {
        const CaptureStatus status = capture_->status();
        return status.is_complete && status.problem.empty() && status.acknowledged >= *now;
      },
      deadline);
  EXPECT_TRUE(is_there) << Describe(capture_->status());
  return is_there;
}

bool CaptureForTest::WaitForProblem(absl::string_view text, absl::Duration deadline) {
  const bool is_there =
      WaitUntil([&] { return absl::StrContains(capture_->status().problem, text); }, deadline);
  EXPECT_TRUE(is_there) << Describe(capture_->status());
  return is_there;
}

bool CaptureForTest::WaitForStream() {
  const bool is_there = WaitUntil([&] { return capture_->status().is_streaming; }, kStallDeadline);
  EXPECT_TRUE(is_there) << Describe(capture_->status());
  return is_there;
}

bool CaptureForTest::WaitForConfirmed() {
  const std::string now = Value("SELECT pg_current_wal_flush_lsn()");
  const std::string confirmed =
      absl::StrCat("SELECT confirmed_flush_lsn >= '", now,
                   "' FROM pg_replication_slots WHERE slot_name = '", config_.slot, "'");
  const bool is_there = WaitUntil([&] { return Value(confirmed) == "t"; }, kStallDeadline);
  EXPECT_TRUE(is_there) << Describe(capture_->status());
  return is_there;
}

std::vector<v1::Item> CaptureForTest::Items(const std::string& container) {
  std::vector<v1::Item> items;
  v1::ListItemsRequest request;
  request.set_container(container);
  request.set_page_size(1000);
  request.set_show_expired(true);
  do {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListItemsResponse response;
    const grpc::Status status = items_->ListItems(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (!status.ok()) break;
    for (v1::ItemView& view : *response.mutable_items()) {
      items.push_back(std::move(*view.mutable_item()));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return items;
}

std::string CaptureForTest::Line(absl::string_view partition_key, absl::string_view id,
                                 absl::string_view ts, absl::string_view ttl) {
  return absl::StrCat(partition_key, "|", id, "|", ts, "|", ttl);
}

std::vector<std::string> CaptureForTest::Tracked(const std::string& container) {
  std::vector<std::string> lines;
  for (const v1::Item& item : Items(container)) {
    lines.push_back(Line(item.partition_key(), item.id(), absl::StrCat(item.ts()),
                         item.has_ttl() ? absl::StrCat(item.ttl()) : ""));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> CaptureForTest::Rows(const std::string& query) {
  const QueryResult rows = Sql(query);
  std::vector<std::string> lines;
  for (int i = 0; i < rows.rows(); ++i) {
    lines.push_back(Line(rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), rows.Text(i, 3)));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace ttl::postgres
