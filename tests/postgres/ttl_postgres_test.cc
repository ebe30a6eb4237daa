#include "client/postgres/program/ttl_postgres.h"

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
};

Result RunProgram(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = RunTtlPostgres(arguments, {out, err}, [] { return absl::Now(); });
  return {code, out.str(), err.str()};
}

TEST(TtlPostgresUsageTest, CommandLineThatIsWrongIsSaidAndDoesNothing) {
  const std::vector<std::string> kCases[] = {
      {},
      {"check"},
      {"--config", "/nowhere.yaml"},
      {"frobnicate", "--config", "/nowhere.yaml"},
      {"check", "--config", "/nowhere.yaml", "--print"},
      {"check", "--config", "/nowhere.yaml"},
      {"check", "--config", "/nowhere.yaml", "--log-level", "loud"},
  };
  for (const auto& arguments : kCases) {
    const Result result = RunProgram(arguments);
    EXPECT_EQ(result.code, ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, StartsWith("ttl-postgres: ")) << testing::PrintToString(arguments);
    EXPECT_THAT(result.out, IsEmpty()) << testing::PrintToString(arguments);
  }
}

TEST(TtlPostgresUsageTest, UnknownWordIsNamedEvenIfTheConfigurationIsMissing) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"nonsense"}, {"--nonsense"}, {"check", "nonsense"}}) {
    EXPECT_EQ(RunProgram(arguments).err,
              absl::StrCat("ttl-postgres: \"", arguments.back(),
                           "\" is not a subcommand or option (see ttl-postgres --help)\n"));
  }
}

TEST(TtlPostgresUsageTest, HelpNamesCommandsAndExitCodes) {
  const Result help = RunProgram({"--help"});
  EXPECT_EQ(help.code, ExitCode::kOk);
  EXPECT_THAT(help.out, AllOf(HasSubstr("check"), HasSubstr("install"), HasSubstr("uninstall"),
                              HasSubstr("Exit codes:")));
  EXPECT_THAT(RunProgram({"--version"}).out, HasSubstr("ttl-postgres "));
}

// A sidecar that has one container, and says nothing else.
class OneContainer : public v1::ContainerService::Service, public v1::ExpiryService::Service {
 public:
  OneContainer(const std::string& address, v1::Container container)
      : container_(std::move(container)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<v1::ContainerService::Service*>(this));
    builder.RegisterService(static_cast<v1::ExpiryService::Service*>(this));
    server_ = builder.BuildAndStart();
  }

 private:
  grpc::Status ListContainers(grpc::ServerContext*, const v1::ListContainersRequest*,
                              v1::ListContainersResponse* response) override {
    *response->add_containers() = container_;
    return grpc::Status::OK;
  }
  grpc::Status ListExpiryStatuses(grpc::ServerContext*, const v1::ListExpiryStatusesRequest*,
                                  v1::ListExpiryStatusesResponse*) override {
    return grpc::Status::OK;
  }

  const v1::Container container_;
  std::unique_ptr<grpc::Server> server_;
};

class TtlPostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = server_.Start();
    ASSERT_TRUE(started.ok()) << started;
    server_.Sql("CREATE TABLE orders (id bigint PRIMARY KEY, updated_at timestamptz NOT NULL)");
  }

  // A configuration for the table, with these lines about it besides.
  std::string WriteConfig(const std::string& lines = "") {
    const std::string path = dir_.File("ttl.yaml");
    std::ofstream(path) << "database: " << server_.Conninfo()
                        << "\ntables:\n  - container: shop/orders\n    table: orders\n"
                           "    id: id\n    ts_column: updated_at\n"
                        << lines;
    return path;
  }

  std::string CountSchemas() {
    return server_.Value("SELECT count(*) FROM pg_namespace WHERE nspname = 'ttl'");
  }

  TempDir dir_;
  PostgresServer server_;
};

TEST_F(TtlPostgresTest, ConfigurationThatIsWrongIsNamedLineByLine) {
  const Result result =
      RunProgram({"check", "--config", WriteConfig("    ttl_colum: x\n    slot: y\n")});
  EXPECT_EQ(result.code, ExitCode::kRefused);
  EXPECT_THAT(result.err, AllOf(HasSubstr("ttl.yaml: line 7: tables[0]: unknown key \"ttl_colum\""),
                                HasSubstr("\nttl-postgres: "), HasSubstr("line 8: ")));
}

TEST_F(TtlPostgresTest, CheckNamesEveryProblemOnALineOfItsOwn) {
  const Result result = RunProgram(
      {"check", "--config", WriteConfig("    ttl_column: keep\n    size_column: bytes\n")});
  EXPECT_EQ(result.code, ExitCode::kRefused);
  EXPECT_THAT(result.err, AllOf(testing::ContainsRegex("(^|\n)problem: [^\n]*keep"),
                                testing::ContainsRegex("(^|\n)problem: [^\n]*bytes")));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(TtlPostgresTest, ContainerThatShowsHeldItemsIsRefused) {
  const std::string address = absl::StrCat("unix:", dir_.File("sidecar.sock"));
  const std::string config = WriteConfig(absl::StrCat("sidecar: ", address, "\n"));
  EXPECT_EQ(RunProgram({"check", "--config", config}).code, ExitCode::kOk) << "it is not there";
  v1::Container container;
  container.set_id("shop/orders");
  for (const bool shows_held : {true, false}) {
    container.set_show_held(shows_held);
    const OneContainer sidecar(address, container);
    const Result checked = RunProgram({"check", "--config", config});
    EXPECT_EQ(checked.code, shows_held ? ExitCode::kRefused : ExitCode::kOk);
    EXPECT_EQ(checked.err.find("problem: container shop/orders has show_held") == std::string::npos,
              !shows_held)
        << checked.err;
  }
}

TEST_F(TtlPostgresTest, ContainerWhoseItemsMayHaveBeenTouchedIsRefused) {
  const std::string address = absl::StrCat("unix:", dir_.File("sidecar.sock"));
  const std::string config = WriteConfig(absl::StrCat("sidecar: ", address, "\n"));
  for (const auto& set : {&v1::Container::set_allow_touch, &v1::Container::set_has_touches}) {
    v1::Container container;
    container.set_id("shop/orders");
    (container.*set)(true);
    const OneContainer sidecar(address, container);
    const Result checked = RunProgram({"check", "--config", config});
    EXPECT_EQ(checked.code, ExitCode::kRefused);
    EXPECT_THAT(checked.err, HasSubstr("problem: container shop/orders has or had allow_touch"));
  }
}

TEST_F(TtlPostgresTest, InstallIsRefusedWhileThereAreProblems) {
  const std::string config = WriteConfig("    ttl_column: keep\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"install", "--config", config},
        std::vector<std::string>{"install", "--print", "--config", config}}) {
    const Result result = RunProgram(arguments);
    EXPECT_EQ(result.code, ExitCode::kRefused);
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("problem: "), HasSubstr("ttl-postgres: nothing was installed")));
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_EQ(CountSchemas(), "0");
}

TEST_F(TtlPostgresTest, PrintingChangesNothing) {
  const std::string config = WriteConfig();
  const Result install = RunProgram({"install", "--print", "--config", config});
  EXPECT_EQ(install.code, ExitCode::kOk) << install.err;
  EXPECT_THAT(install.out, HasSubstr("CREATE"));
  EXPECT_EQ(CountSchemas(), "0");

  ASSERT_EQ(RunProgram({"install", "--config", config}).code, ExitCode::kOk);
  const Result uninstall = RunProgram({"uninstall", "--print", "--config", config});
  EXPECT_EQ(uninstall.code, ExitCode::kOk) << uninstall.err;
  EXPECT_THAT(uninstall.out, HasSubstr("DROP"));
  EXPECT_EQ(CountSchemas(), "1");
}

TEST_F(TtlPostgresTest, PrintedSqlIsWhatInstalls) {
  const std::string config = WriteConfig();
  server_.Sql(RunProgram({"install", "--print", "--config", config}).out);
  EXPECT_THAT(RunProgram({"check", "--config", config}).out, HasSubstr("; installed"));
  server_.Sql(RunProgram({"uninstall", "--print", "--config", config}).out);
  EXPECT_EQ(CountSchemas(), "0");
}

TEST_F(TtlPostgresTest, CheckSaysWhetherItIsInstalled) {
  const std::string config = WriteConfig();
  const Result before = RunProgram({"check", "--config", config});
  EXPECT_EQ(before.code, ExitCode::kOk) << before.err;
  EXPECT_THAT(before.out, AllOf(HasSubstr("ok: "), HasSubstr("not installed: ")));

  const Result install = RunProgram({"install", "--config", config});
  EXPECT_EQ(install.code, ExitCode::kOk) << install.err;
  EXPECT_THAT(install.out, StartsWith("installed\n"));
  const Result after = RunProgram({"check", "--config", config});
  EXPECT_EQ(after.code, ExitCode::kOk) << after.err;
  EXPECT_THAT(after.out, AllOf(HasSubstr("; installed"), Not(HasSubstr("not installed"))));

  const Result uninstall = RunProgram({"uninstall", "--config", config});
  EXPECT_EQ(uninstall.code, ExitCode::kOk) << uninstall.err;
  EXPECT_EQ(CountSchemas(), "0");
}

// A pooler, mostly.
TEST_F(TtlPostgresTest, ReplicationThatDoesNotWorkIsFoundBeforeAnythingIsMade) {
  server_.Sql("CREATE DATABASE shop");
  const struct {
    std::string address;
    std::string fault;
  } cases[] = {
      {"host=/nowhere dbname=postgres", "is refused: "},
      {server_.Conninfo("shop"), "leads to the database shop, and must lead to postgres"},
  };
  for (const auto& [address, fault] : cases) {
    const std::string config = WriteConfig(absl::StrCat("replication: ", address, "\n"));
    for (const char* command : {"check", "install"}) {
      const Result result = RunProgram({command, "--config", config});
      EXPECT_EQ(result.code, ExitCode::kRefused) << command << " " << address;
      EXPECT_THAT(result.err,
                  HasSubstr(absl::StrCat("problem: a connection for replication, by replication of "
                                         "the configuration, ",
                                         fault)));
    }
  }
  EXPECT_EQ(CountSchemas(), "0");
  EXPECT_EQ(RunProgram({"check", "--config",
                        WriteConfig(absl::StrCat("replication: ", server_.Conninfo(), "\n"))})
                .code,
            ExitCode::kOk);
}

TEST_F(TtlPostgresTest, InstallAsksWhereNothingLimitsTheWalOfAForgottenSlot) {
  const std::string config = WriteConfig();
  server_.Sql("ALTER SYSTEM SET max_slot_wal_keep_size = -1");
  server_.Sql("SELECT pg_reload_conf()");
  ASSERT_TRUE(WaitUntil(
      [&] { return server_.Value("SELECT current_setting('max_slot_wal_keep_size')") == "-1"; },
      absl::Seconds(60)));
  EXPECT_THAT(RunProgram({"check", "--config", config}).out,
              HasSubstr("; install needs max_slot_wal_keep_size on the server, or "
                        "--accept-unlimited-wal\n"));
  const Result result = RunProgram({"install", "--config", config});
  EXPECT_EQ(result.code, ExitCode::kRefused);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("ttl-postgres: nothing is installed while max_slot_wal_keep_size"),
                    HasSubstr("ALTER SYSTEM SET max_slot_wal_keep_size = '16GB'; SELECT "
                              "pg_reload_conf(), or accept that by --accept-unlimited-wal")));
  EXPECT_EQ(CountSchemas(), "0");
  EXPECT_EQ(RunProgram({"install", "--accept-unlimited-wal", "--config", config}).code,
            ExitCode::kOk);
  EXPECT_EQ(CountSchemas(), "1");
  // The slot is there, and an update adds none.
  server_.Sql("SELECT pg_create_logical_replication_slot('ttl_sidecar', 'pgoutput')");
  EXPECT_EQ(RunProgram({"install", "--config", config}).code, ExitCode::kOk);
  EXPECT_THAT(RunProgram({"check", "--config", config}).out, HasSubstr("; installed\n"));
}

TEST_F(TtlPostgresTest, PreviewCountsWhatADefaultWouldHide) {
  server_.Sql(
      "ALTER TABLE orders ALTER updated_at DROP NOT NULL, ADD keep bigint;"
      "INSERT INTO orders SELECT i, now() - make_interval(hours => i) FROM generate_series(1, 9) i;"
      "INSERT INTO orders VALUES (20, NULL, NULL), (21, now() + interval '3 days', NULL),"
      "(22, now() - interval '9 hours', -1), (23, now() - interval '2 hours', 60),"
      "(24, now(), 99999999999)");
  const std::string config = WriteConfig("    ttl_column: keep\n");
  const Result result = RunProgram({"preview", "--default-ttl", "18000", "--config", config});
  EXPECT_EQ(result.code, ExitCode::kOk) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("shop/orders: 14 rows, written from "),
                                HasSubstr("with default_ttl 18000: 6 rows are hidden at once"),
                                HasSubstr("2 rows never expire; 2 rows cannot be tracked")));
  EXPECT_EQ(CountSchemas(), "0");
  EXPECT_THAT(result.out, Not(HasSubstr("null_means")));
  const std::string some = WriteConfig("    where: id > 5\n");
  EXPECT_THAT(RunProgram({"preview", "--default-ttl", "18000", "--config", some}).out,
              AllOf(HasSubstr("5 rows are hidden at once"), HasSubstr("; 2 rows cannot be tracked"),
                    HasSubstr("5 rows are outside its where, and never expire")));
  const std::string expecting = WriteConfig("    ttl_column: keep\n    null_means: never\n");
  const Result expected = RunProgram({"preview", "--default-ttl", "18000", "--config", expecting});
  EXPECT_THAT(expected.out, AllOf(HasSubstr("2 rows never expire; 1 rows cannot be tracked"),
                                  HasSubstr("1 rows have no time, and never expire")));
  EXPECT_THAT(expected.err, AllOf(HasSubstr("note: table public.orders: column updated_at"),
                                  Not(HasSubstr("SET NOT NULL"))));
  const Result never = RunProgram({"preview", "--default-ttl", "-1", "--config", config});
  EXPECT_THAT(never.out, HasSubstr("with default_ttl -1: 1 rows are hidden at once"));
  EXPECT_EQ(RunProgram({"preview", "--default-ttl", "0", "--config", config}).code,
            ExitCode::kUsage);
  EXPECT_EQ(
      RunProgram({"preview", "--default-ttl", "5", "--container", "x", "--config", config}).code,
      ExitCode::kRefused);
}

TEST_F(TtlPostgresTest, UnfitArchiveAndMarkAreRefusedBeforeAnythingIsInstalled) {
  const std::string archive = "    on_expiry: archive\n    archive_table: old\n";
  const std::string mark =
      "    where: id > 0\n    on_expiry: mark\n    mark_column: gone\n    mark_value: true\n";
  server_.Sql("ALTER TABLE orders ADD gone boolean");
  for (const auto& [lines, problem] :
       {std::pair{archive,
                  "problem: table public.orders: archive_table \"public\".\"old\" does not "
                  "exist: CREATE TABLE"},
        std::pair{mark, "problem: table public.orders: its where does not use its mark_column"}}) {
    const std::string config = WriteConfig(lines);
    for (const char* command : {"check", "install"}) {
      const Result result = RunProgram({command, "--config", config});
      EXPECT_EQ(result.code, ExitCode::kRefused) << command;
      EXPECT_THAT(result.err, HasSubstr(problem)) << command;
    }
  }
  EXPECT_EQ(CountSchemas(), "0");
  server_.Sql("CREATE TABLE old (LIKE orders)");
  const Result cured = RunProgram({"check", "--config", WriteConfig(archive)});
  EXPECT_EQ(cured.code, ExitCode::kOk) << cured.err;
}

TEST_F(TtlPostgresTest, PreviewSaysHowOldTheRowsAreAndHowLongTheirDeletesTake) {
  server_.Sql(
      "INSERT INTO orders SELECT i, timestamptz '2020-01-01 00:00:00+00' + make_interval(hours => "
      "i) "
      "FROM generate_series(1, 3600) i; INSERT INTO orders VALUES (5000, now())");
  const auto preview = [&](const std::string& config) {
    const Result result = RunProgram({"preview", "--default-ttl", "3600", "--config", config});
    EXPECT_EQ(result.code, ExitCode::kOk) << result.err;
    return result.out;
  };
  const std::string config = WriteConfig();
  EXPECT_THAT(preview(config),
              AllOf(HasSubstr(": 3600 rows are hidden at once, and deleted after"),
                    HasSubstr("the oldest of them expired at 2020-01-01 02:00:00+00, the newest at "
                              "2020-05-30 01:00:00+00\n"),
                    HasSubstr("deleting them has no limit (assumed, as by default, because the "
                              "sidecar at unix:"),
                    HasSubstr("with a limit of 1000 rows per second it takes about 4s\n")));
  server_.Sql("CREATE TABLE old (LIKE orders)");
  EXPECT_THAT(preview(WriteConfig("    on_expiry: archive\n    archive_table: old\n")),
              AllOf(HasSubstr("hidden at once, and moved to public.old after"),
                    HasSubstr("moving them to public.old has no limit")));
  server_.Sql("ALTER TABLE orders ADD gone boolean NOT NULL DEFAULT false");
  EXPECT_THAT(preview(WriteConfig("    where: NOT gone\n    on_expiry: mark\n    mark_column: "
                                  "gone\n    mark_value: true\n")),
              HasSubstr("hidden at once, and marked in gone after"));
  // Of none there is no oldest.
  server_.Sql("DELETE FROM orders WHERE id <= 3600");
  EXPECT_THAT(preview(config), AllOf(Not(HasSubstr("oldest")), Not(HasSubstr("limit"))));
}

TEST_F(TtlPostgresTest, InstallEndsWithAPreviewOfWhatIsNotOnYet) {
  server_.Sql("INSERT INTO orders SELECT i, now() - interval '1 day' FROM generate_series(1, 7) i");
  const std::string config = WriteConfig();
  const auto install = [&](const std::string& default_ttl) {
    return RunProgram(
        {"install", "--accept-unlimited-wal", "--default-ttl", default_ttl, "--config", config});
  };
  EXPECT_THAT(RunProgram({"install", "--accept-unlimited-wal", "--config", config}).out,
              HasSubstr("installed\nshop/orders: which rows expire depends on the default_ttl; to "
                        "count them: ttl-postgres preview --default-ttl SECONDS --container "
                        "shop/orders\n"));
  EXPECT_THAT(install("60").out, AllOf(StartsWith("installed\nshop/orders: 7 rows"),
                                       HasSubstr("7 rows are hidden at once")));
  EXPECT_EQ(install("0").code, ExitCode::kUsage);
  // What cannot be counted is installed all the same. The check reads ten thousand rows.
  server_.Sql("INSERT INTO orders SELECT i, now() FROM generate_series(101, 10200) i");
  const std::string failing = WriteConfig("    where: 10 / (id - 10200) <> 5\n");
  const Result uncounted =
      RunProgram({"install", "--accept-unlimited-wal", "--default-ttl", "60", "--config", failing});
  EXPECT_EQ(uncounted.code, ExitCode::kOk);
  EXPECT_THAT(
      uncounted.out,
      AllOf(StartsWith("installed\nshop/orders: the rows were not counted (division by zero"),
            HasSubstr("ttl-postgres preview --default-ttl 60 --container shop/orders")));
}

TEST_F(TtlPostgresTest, TableThatSaysWhenItsRowsEndIsToldOfAndPreviewed) {
  server_.Sql(
      "ALTER TABLE orders DROP updated_at, ADD ends bigint, ADD ts timestamptz, ADD ttl int;"
      "INSERT INTO orders SELECT i, extract(epoch FROM now()) + i * 3600, now() - interval '2 h' "
      "FROM generate_series(-3, 5) i WHERE i <> 0;"
      "INSERT INTO orders VALUES (20, NULL, now()), (21, 0, now()), (22, -1, now())");
  const std::string path = dir_.File("ends.yaml");
  const auto write = [&](const std::string& lines) {
    std::ofstream(path) << "database: " << server_.Conninfo()
                        << "\ntables:\n  - container: c\n    table: orders\n    id: id\n"
                           "    expires_column: ends\n"
                        << lines;
  };
  write("");
  const auto tells = [&](const std::vector<std::string>& command) {
    const Result result = RunProgram(command);
    EXPECT_EQ(result.code, ExitCode::kOk) << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("note: table public.orders: rows end at the time of their "
                                "expires_column, ends, once container c has a default_ttl"),
                      HasSubstr("ttlctl containers create c --default-ttl -1"),
                      HasSubstr("warning: table public.orders: column ends, its expires_column, is "
                                "not after 1970-01-01 00:00:00")));
  };
  tells({"check", "--config", path});
  tells({"install", "--accept-unlimited-wal", "--config", path});
  const auto preview = [&](const std::string& default_ttl) {
    return RunProgram({"preview", "--default-ttl", default_ttl, "--config", path}).out;
  };
  EXPECT_THAT(preview("-1"),
              AllOf(HasSubstr("c: 11 rows, ending from "), HasSubstr(": 3 rows are hidden at once"),
                    HasSubstr("1 rows never expire; 2 rows cannot be tracked")));
  // It is all the same where no row inherits.
  EXPECT_THAT(preview("60"), HasSubstr(": 3 rows are hidden at once"));
  server_.Sql(
      "UPDATE orders SET ttl = 60 WHERE id IN (4, 5); UPDATE orders SET ts = now() - "
      "interval '1 h' WHERE id = 20");
  write("    ts_column: ts\n    ttl_column: ttl\n    expires_null: inherits\n");
  EXPECT_THAT(preview("60"),
              AllOf(HasSubstr("c: 11 rows, written from "), HasSubstr(": 6 rows are hidden"),
                    HasSubstr("0 rows never expire; 2 rows cannot be tracked")));
  EXPECT_THAT(preview("-1"),
              AllOf(HasSubstr(": 5 rows are hidden"), HasSubstr("1 rows never expire")));
}

TEST_F(TtlPostgresTest, GroupsArePreviewedAndShownAsGroups) {
  server_.Sql(
      absl::StrCat(kCreateCheckpoints,
                   "; INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, "
                   "ttl_written_at) SELECT i % 4, i, '{}', now() - interval '2 h' FROM "
                   "generate_series(1, 40) i; UPDATE checkpoints SET ttl_written_at = now() "
                   "WHERE checkpoint_id = '40'"));
  const std::string path = dir_.File("groups.yaml");
  std::ofstream(path) << "database: " << server_.Conninfo()
                      << "\ntables:\n  - container: threads\n    group_by: thread_id\n"
                         "    table: checkpoints\n    ts_column: ttl_written_at\n"
                         "    live_view: checkpoints_live\n    members:\n"
                         "      - { table: checkpoint_blobs, ts_column: ttl_written_at }\n"
                         "      - { table: checkpoint_writes }\n";
  const auto run = [&](std::vector<std::string> command) {
    command.insert(command.end(), {"--config", path});
    return RunProgram(command);
  };
  const Result checked = run({"check"});
  EXPECT_THAT(checked.err, Not(HasSubstr("problem: "))) << checked.err;
  EXPECT_EQ(run({"install", "--accept-unlimited-wal"}).code, ExitCode::kOk);
  EXPECT_EQ(run({"check"}).code, ExitCode::kOk);
  EXPECT_THAT(run({"preview", "--default-ttl", "3600"}).out,
              AllOf(HasSubstr("threads: 4 groups, written from "),
                    HasSubstr("with default_ttl 3600: 3 groups are hidden at once"),
                    HasSubstr("0 groups never expire; 0 groups cannot be tracked")));
  EXPECT_THAT(run({"status"}).out,
              HasSubstr("container threads, groups of tables public.checkpoints, "
                        "public.checkpoint_blobs, public.checkpoint_writes: "));
  EXPECT_EQ(run({"uninstall"}).code, ExitCode::kOk);
  EXPECT_EQ(server_.Value("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal"), "0");
}

TEST_F(TtlPostgresTest, UnitThatCannotBeIsRefusedBeforeAnythingIsInstalled) {
  server_.Sql(
      "ALTER TABLE orders DROP updated_at, ADD updated_at bigint NOT NULL;"
      "INSERT INTO orders SELECT i, extract(epoch FROM now()) FROM generate_series(1, 9) i");
  const std::string config = WriteConfig("    ts_unit: milliseconds\n");
  for (const char* command : {"check", "install"}) {
    const Result result = RunProgram({command, "--config", config});
    EXPECT_EQ(result.code, ExitCode::kRefused) << command;
    EXPECT_THAT(result.err, HasSubstr("problem: table public.orders: column updated_at, its "
                                      "ts_column, counts seconds, it seems"))
        << command;
  }
  EXPECT_EQ(CountSchemas(), "0");
}

TEST_F(TtlPostgresTest, DatabaseThatIsAwayHasAnExitCodeOfItsOwn) {
  const std::string config = WriteConfig();
  server_.Kill();
  for (const char* command : {"check", "install", "uninstall"}) {
    const Result result = RunProgram({command, "--config", config});
    EXPECT_EQ(result.code, ExitCode::kUnreachable) << command;
    EXPECT_THAT(result.err, StartsWith("ttl-postgres: ")) << command;
  }
}

}  // namespace
}  // namespace ttl::postgres
