// ScanItems, and the service as the sidecar reaches it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/store/store_server.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/channel.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/proto_time.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

struct Scanned {
  absl::Status status;
  std::vector<v1::ScanItemsResponse> messages;

  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const v1::ScanItemsResponse& message : messages) {
      for (const v1::Item& item : message.items()) ids.push_back(item.id());
    }
    return ids;
  }
};

class ScanItemsTest : public testing::Test {
 protected:
  Scanned Scan(int max_items, const std::string& page_token = "",
               const std::string& container = "sessions") {
    v1::ScanItemsRequest request;
    request.set_container(container);
    request.set_page_token(page_token);
    request.set_max_items(max_items);
    Scanned scanned;
    scanned.status = db_.store().ScanItems(
        request, absl::Now() + absl::Minutes(1), [] { return false; },
        [&](const v1::ScanItemsResponse& message) {
          scanned.messages.push_back(message);
          return true;
        });
    return scanned;
  }

  void Fill(int rows) {
    db_.FillSessions(rows);
    db_.Open({Sessions()});
  }

  StoreForTest db_;
};

TEST_F(ScanItemsTest, GivesItemsAsTheyAreReported) {
  db_.Sql(absl::StrCat(kSessions,
                       "; ALTER TABLE sessions ADD bytes int;"
                       "INSERT INTO sessions VALUES "
                       "(7, 'x', '2020-01-01 00:00:59.9+00', 30, 123)"));
  TableConfig config = Sessions();
  config.size_column = "bytes";
  db_.Open({config});
  db_.ShowPosition(4711);
  const Scanned scanned = Scan(10);
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  ASSERT_EQ(scanned.messages.size(), 1u);
  ASSERT_EQ(scanned.messages[0].items_size(), 1);
  const v1::Item& item = scanned.messages[0].items(0);
  EXPECT_EQ(item.id(), "7");
  EXPECT_EQ(item.ts(), 1577836859);
  EXPECT_EQ(item.ttl(), 30);
  EXPECT_EQ(item.size_bytes(), 123);
  EXPECT_EQ(item.etag(), db_.Value("SELECT xmin FROM sessions"));
  EXPECT_EQ(item.sequence(), 4711u);
  EXPECT_EQ(scanned.messages[0].next_page_token(), "");
}

TEST_F(ScanItemsTest, GivesEveryRowOnceInPages) {
  Fill(2500);
  const Scanned scanned = Scan(10'000);
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  ASSERT_EQ(scanned.messages.size(), 3u);
  EXPECT_EQ(scanned.messages[0].items_size(), 1000);
  EXPECT_EQ(scanned.messages[2].next_page_token(), "");
  const std::vector<std::string> ids = scanned.ids();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 2500u);
}

TEST_F(ScanItemsTest, GoesOnWhereAnotherCallEnded) {
  Fill(20);
  std::vector<std::string> ids;
  std::string token;
  int calls = 0;
  do {
    const Scanned scanned = Scan(7, token);
    ASSERT_TRUE(scanned.status.ok()) << scanned.status;
    for (const std::string& id : scanned.ids()) ids.push_back(id);
    token = scanned.messages.back().next_page_token();
    // What is before the token does not matter any more.
    if (++calls == 1) db_.Sql("DELETE FROM sessions WHERE id = 7");
  } while (!token.empty());
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(calls, 3);
}

TEST_F(ScanItemsTest, EmptyTableIsOneMessageWithoutToken) {
  Fill(0);
  const Scanned scanned = Scan(7);
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  ASSERT_EQ(scanned.messages.size(), 1u);
  EXPECT_EQ(scanned.messages[0].items_size(), 0);
  EXPECT_EQ(scanned.messages[0].next_page_token(), "");
}

TEST_F(ScanItemsTest, LeavesOutWhatCannotBeTrackedAndCountsIt) {
  Fill(3000);
  db_.Sql(
      "UPDATE sessions SET ts = NULL WHERE id <= 1100; "
      "UPDATE sessions SET ttl = 0 WHERE id = 3000");
  const Scanned scanned = Scan(10'000);
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  EXPECT_EQ(scanned.ids().size(), 1899u);
  EXPECT_EQ(db_.store().CountersOf("sessions")->rows_scanned, 3000);
  EXPECT_EQ(db_.store().CountersOf("sessions")->rows_untrackable, 1101);
}

TEST_F(ScanItemsTest, KeysThatFitIntoNoTokenAreReadOver) {
  db_.Sql(
      "CREATE TABLE t (a text, b text, ts timestamptz, PRIMARY KEY (a, b));"
      // Compresses, so that an index takes it.
      "INSERT INTO t SELECT 'k' || lpad(i::text, 5, '0') || repeat('x', "
      "CASE WHEN i BETWEEN 3 AND 2600 THEN 9000 ELSE 0 END), 'b', '2020-01-01' "
      "FROM generate_series(1, 3000) i");
  TableConfig config = Sessions();
  config.table = "t";
  config.partition_key = {"a"};
  config.id = {"b"};
  config.ttl_column.reset();
  db_.Open({config});
  Scanned scanned = Scan(10'000);
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  EXPECT_EQ(scanned.ids().size(), 402u);
  // And so from the place that was given last.
  scanned = Scan(10'000, scanned.messages[0].next_page_token());
  EXPECT_EQ(scanned.ids().size(), 400u);
}

TEST_F(ScanItemsTest, EstimatesTheWholeOnceItIsAnalyzed) {
  Fill(500);
  Scanned scanned = Scan(10);
  EXPECT_FALSE(scanned.messages[0].has_estimated_items());
  db_.Sql("ANALYZE sessions");
  scanned = Scan(10);
  EXPECT_EQ(scanned.messages[0].estimated_items(), 500);
}

TEST_F(ScanItemsTest, EstimatesAllPartitions) {
  db_.Sql(
      "CREATE TABLE t (id int PRIMARY KEY, ts timestamptz) PARTITION BY RANGE (id);"
      "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (100);"
      "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (100) TO (1000);"
      "INSERT INTO t SELECT i, '2020-01-01' FROM generate_series(1, 300) i; ANALYZE t");
  TableConfig config = Sessions();
  config.table = "t";
  config.ttl_column.reset();
  db_.Open({config});
  EXPECT_EQ(Scan(10).messages[0].estimated_items(), 300);
}

TEST_F(ScanItemsTest, RefusesWhatTheApiDoesNotAllow) {
  Fill(3);
  EXPECT_TRUE(absl::IsInvalidArgument(Scan(0).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Scan(5, "nonsense").status));
  EXPECT_TRUE(absl::IsInvalidArgument(Scan(5, "3:one").status));
  EXPECT_TRUE(absl::IsNotFound(Scan(5, "", "orders").status));
}

TEST_F(ScanItemsTest, WaitsUntilTheDatabaseShowsWhatTheSidecarKnows) {
  Fill(3);
  db_.position().Acknowledge(100);
  std::thread capture([this] {
    const auto waits = [this] {
      return db_.Value(
                 "SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                 "'ttl-postgres scan' AND datname = current_database()") != "0";
    };
    EXPECT_TRUE(WaitUntil(waits, absl::Seconds(60)));
    db_.ShowPosition(100);
  });
  const Scanned scanned = Scan(10);
  capture.join();
  ASSERT_TRUE(scanned.status.ok()) << scanned.status;
  EXPECT_EQ(scanned.messages[0].items(0).sequence(), 100u);
}

TEST_F(ScanItemsTest, NamesTheTransactionInTheWay) {
  Fill(3);
  const auto application = db_.Connect();
  ASSERT_TRUE(application
                  ->Execute("SET application_name = 'nightly report'; BEGIN;"
                            "UPDATE sessions SET payload = 'y' WHERE id = 1")
                  .ok());
  db_.position().Acknowledge(100);
  v1::ScanItemsRequest request;
  request.set_container("sessions");
  request.set_max_items(5);
  const absl::Status status = db_.store().ScanItems(
      request, absl::Now() + absl::Milliseconds(300), [] { return false; },
      [](const v1::ScanItemsResponse&) { return true; });
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nightly report"));

  const absl::Status cancelled = db_.store().ScanItems(
      request, absl::Now() + absl::Minutes(1), [] { return true; },
      [](const v1::ScanItemsResponse&) { return true; });
  EXPECT_TRUE(absl::IsCancelled(cancelled));
}

// Over gRPC.

class StoreServerTest : public ScanItemsTest {
 protected:
  void Serve() {
    auto server = StoreServer::Start(absl::StrCat("unix:", dir_.File("store.sock")),
                                     [] { return absl::Now(); });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->Serve(db_.store());
    stub_ = v1::PrimaryStoreService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }

  const TempDir dir_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<v1::PrimaryStoreService::Stub> stub_;
};

TEST(StoreServerWithoutStoreTest, IsLiveAndNotReadyAndSaysWhatItWaitsFor) {
  const TempDir dir;
  const auto server =
      StoreServer::Start(absl::StrCat("unix:", dir.File("store.sock")), [] { return absl::Now(); });
  ASSERT_TRUE(server.ok()) << server.status();
  const auto channel =
      grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials());
  EXPECT_EQ(CheckHealth(channel, "liveness", absl::Minutes(1)), absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(CheckHealth(channel, "readiness", absl::Minutes(1))));
  grpc::ClientContext context;
  v1::GetStoreInfoResponse info;
  const grpc::Status status =
      v1::PrimaryStoreService::NewStub(channel)->GetStoreInfo(&context, {}, &info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("waits for its database"));
}

TEST_F(StoreServerTest, SaysWhoItIs) {
  Fill(0);
  Serve();
  grpc::ClientContext context;
  v1::GetStoreInfoResponse info;
  const absl::Time before = absl::Now();
  const grpc::Status status = stub_->GetStoreInfo(&context, {}, &info);
  const absl::Time after = absl::Now();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(info.store_id(),
            db_.Value("SELECT 'postgresql/' || system_identifier || '/' || oid FROM "
                      "pg_control_system(), pg_database WHERE datname = current_database()"));
  EXPECT_EQ(info.max_batch_items(), 1000);
  EXPECT_THAT(info.capabilities(),
              testing::UnorderedElementsAre(v1::STORE_CAPABILITY_ETAG, v1::STORE_CAPABILITY_SCAN,
                                            v1::STORE_CAPABILITY_EXPIRE_AT));
  // As far as clocks are read alike.
  EXPECT_GE(ToTime(info.now()), before - absl::Seconds(1));
  EXPECT_LE(ToTime(info.now()), after + absl::Seconds(1));
}

TEST_F(StoreServerTest, ScansAndDeletes) {
  Fill(1500);
  Serve();
  v1::ScanItemsRequest request;
  request.set_container("sessions");
  request.set_max_items(900);
  grpc::ClientContext scan;
  auto reader = stub_->ScanItems(&scan, request);
  v1::ScanItemsResponse message;
  std::vector<v1::Item> items;
  while (reader->Read(&message)) {
    items.insert(items.end(), message.items().begin(), message.items().end());
  }
  ASSERT_TRUE(reader->Finish().ok());
  ASSERT_EQ(items.size(), 900u);

  grpc::ClientContext context;
  v1::DeleteItemsResponse response;
  const grpc::Status status =
      stub_->DeleteItems(&context, StoreForTest::Judged("sessions", items), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(db_.Value("SELECT count(*) FROM sessions"), "600");
}

TEST_F(StoreServerTest, UnknownContainerIsNotFound) {
  Fill(0);
  Serve();
  grpc::ClientContext context;
  v1::DeleteItemsRequest request;
  request.set_container("orders");
  v1::DeleteItemsResponse response;
  EXPECT_EQ(stub_->DeleteItems(&context, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(StoreServerTest, CallsUnderWayDoNotHoldUpTheEnd) {
  Fill(1);
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(60); RETURN OLD; END $$;"
      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION slow()");
  db_.config().statement_timeout = absl::Minutes(1);
  db_.Open({Sessions()});
  Serve();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  std::thread call([&] {
    grpc::ClientContext context;
    v1::DeleteItemsResponse response;
    EXPECT_FALSE(stub_->DeleteItems(&context, request, &response).ok());
  });
  EXPECT_TRUE(WaitUntil(
      [&] {
        return db_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                   "AND datname = current_database()") == "1";
      },
      absl::Seconds(30)));
  const absl::Time before = absl::Now();
  server_.reset();
  // The row alone would take a minute.
  EXPECT_LT(absl::Now() - before, absl::Seconds(20));
  call.join();
}

class RewrittenScanTest : public ScanItemsTest {
 protected:
  // A table by commit time whose file is known.
  void Prepare() {
    db_.Sql("CREATE TABLE rows (id int PRIMARY KEY, note text); INSERT INTO rows VALUES (1, 'a')");
    db_.Sql(absl::StrCat("CREATE SCHEMA own; ", HeldTimesSql("own")));
    TableConfig config;
    config.container = "rows";
    config.table = "rows";
    config.id = {"id"};
    TableDefinition table = db_.Describe(config);
    table.own_schema = "own";
    store_.emplace(
        db_.config(), std::vector<TableDefinition>{table}, db_.position(),
        [] { return std::nullopt; }, [] { return std::numeric_limits<uint64_t>::max(); },
        [] { return absl::Now(); });
    db_.Sql(
        "INSERT INTO own.known_files VALUES ('public.rows'::regclass, "
        "pg_relation_filenode('public.rows'), '')");
  }

  absl::Status Scan() {
    v1::ScanItemsRequest request;
    request.set_container("rows");
    request.set_max_items(10);
    return store_->ScanItems(
        request, absl::Now() + StoreForTest::kPatience, [] { return false; },
        [&](const v1::ScanItemsResponse& message) {
          items_.assign(message.items().begin(), message.items().end());
          return true;
        });
  }

  std::optional<PrimaryStore> store_;
  std::vector<v1::Item> items_;
};

// By commit time, and rewritten: the times that its rows seem to have are not theirs.
TEST_F(RewrittenScanTest, TableWhoseTimesAreNotHeldYetIsNeitherScannedNorDeletedFrom) {
  Prepare();
  const auto erase = [&] {
    v1::DeleteItemsRequest request = StoreForTest::Judged("rows", items_, 1);
    const auto response = store_->DeleteItems(request, absl::Now() + StoreForTest::kPatience);
    return response.ok() ? Outcomes(*response) : response.status().ToString();
  };
  ASSERT_EQ(Scan(), absl::OkStatus());
  ASSERT_EQ(items_.size(), 1u);
  db_.Sql("ALTER TABLE public.rows ADD other uuid DEFAULT gen_random_uuid()");
  EXPECT_TRUE(absl::IsUnavailable(Scan()));
  EXPECT_EQ(erase(), "THROTTLED");
  db_.Sql("UPDATE own.known_files SET filenode = pg_relation_filenode('public.rows')");
  EXPECT_EQ(erase(), "MODIFIED");
  EXPECT_EQ(Scan(), absl::OkStatus());
}

// The page that was read before is not what the rows' times are now.
TEST_F(RewrittenScanTest, TimesThatAreHeldWhileAPageIsReadAreThoseOfTheScan) {
  Prepare();
  ASSERT_EQ(Scan(), absl::OkStatus());
  const int64_t ts = items_.at(0).ts();
  db_.Sql("ALTER TABLE public.rows ADD other uuid DEFAULT gen_random_uuid()");
  const auto holder = db_.Connect();
  ASSERT_TRUE(holder->Execute("BEGIN; LOCK own.known_files").ok());
  std::future<absl::Status> scan = std::async(std::launch::async, [this] { return Scan(); });
  EXPECT_TRUE(WaitUntil(
      [&] {
        return db_.Value(
                   "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "
                   "'own.known_files'::regclass") == "1";
      },
      absl::Seconds(30)));
  const auto held = holder->Execute(absl::StrCat(
      "INSERT INTO own.rewrites SELECT pg_relation_filenode(tableoid), tableoid, ARRAY[xmin] FROM "
      "public.rows; INSERT INTO own.held_times SELECT pg_relation_filenode(tableoid), ctid, xmin, "
      "to_timestamp(",
      ts - 100,
      ") FROM public.rows; UPDATE own.known_files SET filenode = "
      "pg_relation_filenode('public.rows'); COMMIT"));
  ASSERT_TRUE(held.ok()) << held.status();
  ASSERT_EQ(scan.get(), absl::OkStatus());
  EXPECT_EQ(items_.at(0).ts(), ts - 100);
}

}  // namespace
}  // namespace ttl::postgres
