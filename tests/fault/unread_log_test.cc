// The real programs when their standard error cannot be written to.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/channel.h"
#include "tests/testing/document_store_process.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/log_ends.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/small_volume.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(60);

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class UnreadLogTest : public testing::TestWithParam<LogEnds::Kind> {
 protected:
  // Logs each delete, which is more than may wait.
  void StartSidecar() {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store_.address();
    options.flags = {"--log-level=trace", absl::StrCat("--metrics-listen=unix:", metrics_)};
    options.error_fd = ends_.write_end();
    sidecar_.emplace(options);
    ASSERT_EQ(sidecar_->Start(), absl::OkStatus());
    calls_.emplace(sidecar_->channel());
  }

  // Changes of policy go on, and so do deletes.
  void Work() {
    ASSERT_EQ(calls_->CreateContainer("c", 3600), absl::OkStatus());
    for (int i = 1; i <= 100; ++i) {
      ASSERT_EQ(calls_->SetDefaultTtl("c", 3600 + i), absl::OkStatus()) << i;
    }
    constexpr int kItems = 6000;
    const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 10;
    for (int i = 0; i < kItems; ++i) {
      ItemVersion version;
      version.times = {.ts = ts, .ttl = 1};
      const std::string id = absl::StrCat("item", i);
      store_.Put("c", {"", id}, version);
    }
    ASSERT_EQ(calls_->TrackMany("c", "item", kItems, ts, 1), absl::OkStatus());
    ASSERT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }, kPatience));
    ASSERT_TRUE(WaitUntil([&] { return LostLines() > 0; }, kPatience));
  }

  double LostLines() const {
    const auto scrape = Scrape::Get(metrics_);
    return scrape.ok() ? scrape->Value("ttl_sidecar_log_lines_lost_total") : -1;
  }

  const TempDir dir_;
  const std::string metrics_ = dir_.File("metrics.sock");
  LogEnds ends_{GetParam()};
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::optional<SidecarProcess> sidecar_;
  std::optional<SidecarCalls> calls_;
};

INSTANTIATE_TEST_SUITE_P(Ends, UnreadLogTest,
                         testing::Values(LogEnds::Kind::kPipe, LogEnds::Kind::kSockets));

TEST_P(UnreadLogTest, SidecarWorksAndStops) {
  StartSidecar();
  ends_.Fill();
  Work();
  EXPECT_EQ(sidecar_->Stop(kPatience), absl::OkStatus());
}

TEST_P(UnreadLogTest, SidecarStartsAndStops) {
  ends_.Fill();
  StartSidecar();
  EXPECT_EQ(sidecar_->Stop(kPatience), absl::OkStatus());
}

TEST_P(UnreadLogTest, SidecarGoesOnWithItsLogOnceThatIsRead) {
  StartSidecar();
  ends_.Fill();
  Work();
  std::string log;
  EXPECT_TRUE(WaitUntil(
      [&] {
        log += ends_.Read();
        return absl::StrContains(log, "level=warn msg=\"log lines lost\" lines=");
      },
      kPatience));
  const double lost = LostLines();
  EXPECT_EQ(calls_->SetMaxDeletesPerSecond(5), absl::OkStatus());
  EXPECT_TRUE(WaitUntil(
      [&] {
        log += ends_.Read();
        return absl::StrContains(log, "limit on all deletes set");
      },
      kPatience));
  EXPECT_EQ(LostLines(), lost);
  ASSERT_EQ(sidecar_->process()->Signal(SIGTERM), absl::OkStatus());
  EXPECT_TRUE(WaitUntil(
      [&] {
        log += ends_.Read();
        return !sidecar_->IsRunning();
      },
      kPatience));
  EXPECT_TRUE(absl::StrContains(log + ends_.Read(), "msg=\"stopped\""));
}

TEST_P(UnreadLogTest, DocumentStoreDeletesAndStops) {
  DocumentStoreProcessOptions options;
  options.dir = dir_.path();
  options.sidecar_address = absl::StrCat("unix:", dir_.File("none.sock"));
  options.error_fd = ends_.write_end();
  DocumentStoreProcess store(options);
  ASSERT_EQ(store.Start(), absl::OkStatus());
  ends_.Fill();
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
    v1::DeleteItemsRequest request;
    request.set_container("c");
    request.mutable_not_after()->set_seconds(absl::ToUnixSeconds(absl::Now()) + 3600);
    v1::ExpiredItem& item = *request.add_items();
    item.set_id("a");
    item.set_partition_key("a");
    item.set_ts(1000);
    item.set_effective_ttl(5);
    item.set_expire_time(1005);
    v1::DeleteItemsResponse response;
    const grpc::Status status = v1::PrimaryStoreService::NewStub(store.channel())
                                    ->DeleteItems(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_EQ(store.Stop(kPatience), absl::OkStatus());
}

TEST_P(UnreadLogTest, TtlPostgresStartsAndStops) {
  TtlPostgresProcessOptions options;
  options.dir = dir_.path();
  options.conninfo = absl::StrCat("host=", dir_.path(), " dbname=none");
  options.sidecar_address = absl::StrCat("unix:", dir_.File("none.sock"));
  options.yaml = "tables:\n  - {container: c, table: t, id: [id], ts_column: ts}\n";
  options.error_fd = ends_.write_end();
  TtlPostgresProcess postgres(options);
  ends_.Fill();
  ASSERT_EQ(postgres.Launch(), absl::OkStatus());
  // It serves while it waits for its database, of which it has logged by then.
  ASSERT_TRUE(WaitUntil(
      [&] {
        return absl::StrContains(CheckHealth(postgres.channel(), "readiness").message(),
                                 "not SERVING");
      },
      kPatience));
  EXPECT_EQ(postgres.Stop(kPatience), absl::OkStatus());
}

class InterruptedLogTest : public testing::Test {
 protected:
  void Start(int error_fd) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.error_fd = error_fd;
    sidecar_.emplace(options);
    ASSERT_EQ(sidecar_->Start(), absl::OkStatus());
    calls_.emplace(sidecar_->channel());
  }

  // More of the log than fits into the rest of a page.
  void LogSome() {
    for (int i = 0; i < 30; ++i) {
      const std::string id = absl::StrCat(std::string(100, 'c'), i);
      ASSERT_EQ(calls_->CreateContainer(id, 60), absl::OkStatus());
      ASSERT_EQ(calls_->SetDefaultTtl(id, 61), absl::OkStatus());
    }
  }

  const TempDir dir_;
  std::optional<SidecarProcess> sidecar_;
  std::optional<SidecarCalls> calls_;
};

TEST_F(InterruptedLogTest, GoesOnAfterAFullDisk) {
  const auto volume = SmallVolume::Mount(1);
  ASSERT_TRUE(volume.ok()) << volume.status();
  const std::string path = absl::StrCat((*volume)->path(), "/log");
  const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_GE(log, 0);
  Start(log);
  ASSERT_EQ((*volume)->Fill(0), absl::OkStatus());
  LogSome();
  EXPECT_EQ(calls_->SetMaxDeletesPerSecond(5), absl::OkStatus());
  EXPECT_THAT(ReadAll(path), testing::Not(HasSubstr("limit on all deletes set")));

  (*volume)->Empty();
  EXPECT_TRUE(WaitUntil(
      [&] { return absl::StrContains(ReadAll(path), "limit on all deletes set"); }, kPatience));
  EXPECT_EQ(sidecar_->Stop(kPatience), absl::OkStatus());
  EXPECT_THAT(ReadAll(path), HasSubstr("msg=\"stopped\""));
  sidecar_.reset();
  close(log);
}

TEST_F(InterruptedLogTest, GoesOnWhenTheReaderOfItsPipeComesBack) {
  const std::string path = dir_.File("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int log = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(log, 0);
  Start(log);
  close(reader);
  LogSome();

  reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(calls_->SetMaxDeletesPerSecond(5), absl::OkStatus());
  std::string text;
  EXPECT_TRUE(WaitUntil(
      [&] {
        char buffer[4096];
        const ssize_t size = read(reader, buffer, sizeof(buffer));
        if (size > 0) text.append(buffer, static_cast<size_t>(size));
        return absl::StrContains(text, "limit on all deletes set");
      },
      kPatience));
  EXPECT_EQ(sidecar_->Stop(kPatience), absl::OkStatus());
  close(reader);
  close(log);
}

}  // namespace
}  // namespace ttl
