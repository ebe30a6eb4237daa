#include "client/postgres/program/daemon.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/testing/channel.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/proto_time.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

// The rows 1 to 3, expired long ago.
constexpr char kExpiredRows[] =
    "INSERT INTO sessions SELECT i, '', to_timestamp(1000), 5 FROM generate_series(1, 3) AS i";

class DaemonTest : public CaptureFixture {
 protected:
  void SetUp() override {
    Sql(kCreateSessions);
    Sql(kExpiredRows);
    capture_.config().max_latency = absl::ZeroDuration();
  }
  void TearDown() override {
    HoldReports(false);
    daemon_.reset();
  }

  void Prepare() {
    capture_.CreateContainer("sessions");
    capture_.Install({Sessions()});
  }
  absl::Status TryStart() {
    daemon_.reset();
    store_server_.reset();
    auto server = StoreServer::Start(absl::StrCat("unix:", dir_.File("store.sock")),
                                     [] { return absl::Now(); });
    if (!server.ok()) return server.status();
    store_server_ = *std::move(server);
    channel_ = NewTestChannel(store_server_->address());
    auto daemon = Daemon::Start(capture_.config(), {capture_.tables(), {}, ""}, *store_server_,
                                [] { return absl::Now(); });
    if (daemon.ok()) daemon_ = *std::move(daemon);
    return daemon.status();
  }
  void Start() {
    const absl::Status status = TryStart();
    ASSERT_TRUE(status.ok()) << status;
  }

  // From now on nothing that the sidecar is told becomes durable, or it does again.
  void HoldReports(bool hold) { sidecar_.storage().env().HoldSyncs(hold); }

  bool IsReady() { return CheckHealth(channel_, "readiness").ok(); }

  // What the sidecar would be told if it asked for the delete of a row: the outcome, and when it
  // has to wait, for how long.
  std::string Delete(int id) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    v1::DeleteItemsResponse response;
    const grpc::Status status =
        v1::PrimaryStoreService::NewStub(channel_)->DeleteItems(&context, Judged(id), &response);
    if (!status.ok()) return status.error_message();
    const v1::DeleteOutcome outcome = response.results(0).outcome();
    const std::string name(absl::StripPrefix(v1::DeleteOutcome_Name(outcome), "DELETE_OUTCOME_"));
    if (outcome != v1::DELETE_OUTCOME_THROTTLED) return name;
    return absl::StrCat(name, " ", absl::FormatDuration(ToDuration(response.retry_after())));
  }

  const TempDir dir_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<StoreServer> store_server_;
  std::unique_ptr<Daemon> daemon_;

 private:
  v1::DeleteItemsRequest Judged(int id) {
    v1::DeleteItemsRequest request;
    request.set_container("sessions");
    *request.mutable_not_after() = ToTimestamp(absl::Now() + absl::Seconds(10));
    v1::ExpiredItem& item = *request.add_items();
    item.set_id(absl::StrCat(id));
    item.set_ts(1000);
    item.set_ttl(5);
    item.set_effective_ttl(5);
    item.set_expire_time(1005);
    return request;
  }
};

TEST_F(DaemonTest, DeletesYieldUntilTheCaptureHasCaughtUp) {
  Prepare();
  Start();
  ASSERT_TRUE(WaitUntil([&] { return Delete(1) == "DELETED"; }, absl::Seconds(30))) << Delete(1);
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 2; }, absl::Seconds(30)));
  daemon_.reset();

  // Committed while nobody looked: the sidecar does not know of it yet.
  Sql("DELETE FROM sessions WHERE id = 2");
  HoldReports(true);
  Start();
  sidecar_.storage().env().AwaitHeldSync();
  EXPECT_FALSE(WaitUntil([&] { return Delete(3) != "THROTTLED 200ms"; }, absl::Seconds(1)))
      << Delete(3);
  EXPECT_TRUE(WaitUntil([&] { return IsReady(); }, absl::Seconds(30))) << "it is no trouble";
  EXPECT_EQ(Value("SELECT count(*) FROM sessions"), "1");
  HoldReports(false);
  EXPECT_TRUE(WaitUntil([&] { return Delete(3) == "DELETED"; }, absl::Seconds(30))) << Delete(3);
  EXPECT_EQ(Value("SELECT count(*) FROM sessions"), "0");
}

TEST_F(DaemonTest, DeletesYieldWhileTheSidecarHasNotAnsweredTheCapture) {
  capture_.Install({Sessions()});
  Start();
  EXPECT_FALSE(WaitUntil([&] { return Delete(1) != "THROTTLED 200ms"; }, absl::Seconds(1)));
  capture_.CreateContainer("sessions");
  EXPECT_TRUE(WaitUntil([&] { return Delete(1) == "DELETED"; }, absl::Seconds(30)));
}

// The application's own clean-up deletes many expired rows at once.
TEST_F(DaemonTest, RowThatTheApplicationDeletedIsNotFoundOnlyWhenTheSidecarKnows) {
  Prepare();
  Start();
  ASSERT_TRUE(WaitUntil([&] { return Delete(1) == "DELETED"; }, absl::Seconds(30))) << Delete(1);
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 2; }, absl::Seconds(30)));
  HoldReports(true);
  Sql("SET synchronous_commit = off; DELETE FROM sessions WHERE id = 2; RESET synchronous_commit");
  sidecar_.storage().env().AwaitHeldSync();
  EXPECT_EQ(Delete(2), "THROTTLED 1s");
  HoldReports(false);
  EXPECT_TRUE(WaitUntil([&] { return Delete(2) == "NOT_FOUND"; }, absl::Seconds(30))) << Delete(2);
  EXPECT_EQ(Tracked().size(), 1);
}

TEST_F(DaemonTest, DeletesYieldWhileTheDatabaseIsSlow) {
  capture_.config().max_latency = absl::Nanoseconds(1);
  Prepare();
  Start();
  // Longer than for the capture: until it is asked again.
  EXPECT_TRUE(WaitUntil([&] { return Delete(99) == "THROTTLED 1s"; }, absl::Seconds(60)))
      << Delete(99);
}

TEST_F(DaemonTest, IsReadyWhileItsTablesCanBeFollowed) {
  capture_.Install({Sessions()});
  Start();
  EXPECT_FALSE(IsReady());
  for (int i = 0; i < 2; ++i) {
    capture_.CreateContainer("sessions");
    EXPECT_TRUE(WaitUntil([&] { return IsReady(); }, absl::Seconds(30)));
    capture_.DeleteContainer("sessions");
    EXPECT_TRUE(WaitUntil([&] { return !IsReady(); }, absl::Seconds(30)));
  }
}

TEST_F(DaemonTest, IsNotReadyWhileTheNewSlotWaitsForAnOldTransaction) {
  const auto other = capture_.Connect();
  ASSERT_TRUE(other->Execute("BEGIN; SELECT pg_current_xact_id()").ok());
  Prepare();
  Start();
  EXPECT_FALSE(WaitUntil([&] { return IsReady(); }, absl::Seconds(3)));
  ASSERT_TRUE(other->Execute("COMMIT").ok());
  EXPECT_TRUE(WaitUntil([&] { return IsReady(); }, absl::Seconds(30)));
}

TEST_F(DaemonTest, SecondOneOnTheSameSocketIsRefusedAndLeavesTheFirstAlone) {
  Prepare();
  Start();
  ASSERT_TRUE(WaitUntil([&] { return IsReady(); }, absl::Seconds(30)));
  const auto second = StoreServer::Start(store_server_->address(), [] { return absl::Now(); });
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(second.status().message(), HasSubstr("another process listens on"));
  EXPECT_TRUE(CheckHealth(NewTestChannel(store_server_->address()), "readiness").ok());
}

// A TCP port of this machine that is taken.
class TakenPort {
 public:
  TakenPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_, any, size), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    EXPECT_EQ(getsockname(socket_, any, &size), 0);
    number_ = ntohs(address.sin_port);
  }
  ~TakenPort() { close(socket_); }
  int number() const { return number_; }

 private:
  const int socket_;
  int number_ = 0;
};

TEST_F(DaemonTest, AddressOfMetricsThatIsTakenIsRefused) {
  const TakenPort port;
  capture_.config().metrics_listen = absl::StrCat("127.0.0.1:", port.number());
  Prepare();
  const absl::Status status = TryStart();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("metrics_listen: cannot listen on ",
                                                       capture_.config().metrics_listen)));
}

TEST_F(DaemonTest, EndsWithinSecondsWhateverHangs) {
  Prepare();
  Start();
  ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == 3; }, absl::Seconds(30)));
  HoldReports(true);
  Sql("DELETE FROM sessions WHERE id = 2");
  sidecar_.storage().env().AwaitHeldSync();
  server_->Suspend();
  const absl::Time before = absl::Now();
  daemon_.reset();
  const absl::Duration took = absl::Now() - before;
  server_->Resume();
  EXPECT_LT(took, absl::Seconds(10));
}

}  // namespace
}  // namespace ttl::postgres
