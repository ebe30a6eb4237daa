// How a sidecar stops as a real process, whatever its clients and its store do.

#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/mutex.h"
#include "tests/integration/raw_http2.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::HasSubstr;

// The stop deadline of these tests, of which a clean stop takes about a second: a process
// that needs all of it ends itself, and not with code 0. By kGone it has ended either way.
constexpr int kDeadlineSeconds = 20;
constexpr absl::Duration kGone = absl::Seconds(kDeadlineSeconds + 20);

constexpr absl::Duration kPatience = absl::Seconds(30);

// An open stream of the health service; its messages have the wire form of these.
class OpenWatch {
 public:
  explicit OpenWatch(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    google::protobuf::StringValue request;
    request.set_value("readiness");
    bool own_buffer = false;
    grpc::SerializationTraits<google::protobuf::StringValue>::Serialize(request, &buffer_,
                                                                        &own_buffer);
    call_ = stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_);
    call_->StartCall(nullptr);
    Next();
    call_->WriteLast(buffer_, grpc::WriteOptions(), nullptr);
    Next();
    call_->Read(&buffer_, nullptr);
    is_open_ = Next();
  }
  ~OpenWatch() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  bool is_open() const { return is_open_; }

 private:
  bool Next() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::ByteBuffer buffer_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool is_open_ = false;
};

// Whether a change of "c" waits for deletes on their way.
bool IsChangeUnderWay(SidecarCalls& calls) {
  const auto status = calls.GetStatus("c");
  if (!status.ok()) return false;
  const auto& holds = status->container().holds();
  return std::find(holds.begin(), holds.end(), v1::DELETE_HOLD_CHANGE_UNDER_WAY) != holds.end();
}

bool TellsNotReady(const std::shared_ptr<grpc::Channel>& channel) {
  // 2 is NOT_SERVING.
  return absl::StrContains(CheckHealth(channel, "readiness", kPatience).message(),
                           " is 2, not SERVING");
}

// As a caller without a client library does it.
grpc::Status Check(const std::shared_ptr<grpc::Channel>& channel, grpc::ClientContext& context) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  request.add_checks()->set_id("item");
  v1::CheckVisibilityResponse response;
  return v1::ItemService::NewStub(channel)->CheckVisibility(&context, request, &response);
}

// The same over a stream, `messages` times.
grpc::Status StreamChecks(const std::shared_ptr<grpc::Channel>& channel,
                          grpc::ClientContext& context, int messages) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const auto stub = v1::ItemService::NewStub(channel);
  const auto stream = stub->StreamCheckVisibility(&context);
  v1::StreamCheckVisibilityRequest request;
  request.mutable_request()->set_container("c");
  request.mutable_request()->add_checks()->set_id("item");
  v1::StreamCheckVisibilityResponse response;
  while (messages-- > 0 && stream->Write(request) && stream->Read(&response)) continue;
  stream->WritesDone();
  while (stream->Read(&response)) continue;
  return stream->Finish();
}

// Callers that check one item all the time, each on a connection of its own, a part of them over
// streams, and the codes that they see.
class Callers {
 public:
  Callers(const std::vector<std::string>& addresses, int of_each) {
    for (const std::string& address : addresses) {
      for (int i = 0; i < of_each; ++i) {
        threads_.emplace_back(
            [this, address, streams = i % 2 == 1] { Run(NewTestChannel(address), streams); });
      }
    }
  }
  ~Callers() { End(); }

  bool HaveSeen(int64_t answers) const { return answers_ >= answers; }

  // Ends them, and returns how often they saw each code.
  std::map<grpc::StatusCode, int64_t> End() {
    is_ending_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    const MutexLock lock(mutex_);
    return seen_;
  }

 private:
  void Run(const std::shared_ptr<grpc::Channel>& channel, bool streams) {
    while (!is_ending_) {
      grpc::ClientContext context;
      const grpc::Status status =
          streams ? StreamChecks(channel, context, 20) : Check(channel, context);
      const grpc::StatusCode code = status.error_code();
      if (code == grpc::StatusCode::OK) ++answers_;
      const MutexLock lock(mutex_);
      ++seen_[code];
    }
  }

  std::atomic<bool> is_ending_ = false;
  std::atomic<int64_t> answers_ = 0;
  Mutex mutex_;
  std::map<grpc::StatusCode, int64_t> seen_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// Reads a stream of maintenance to its end; returns how it ended.
template <typename Request, typename Response>
grpc::Status ReadAll(v1::MaintenanceService::Stub& stub,
                     std::unique_ptr<grpc::ClientReader<Response>> (
                         v1::MaintenanceService::Stub::*method)(grpc::ClientContext*,
                                                                const Request&)) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const auto reader = (stub.*method)(&context, Request());
  Response message;
  while (reader->Read(&message)) continue;
  return reader->Finish();
}

class SidecarStopTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}, const std::string& store = "",
             int deadline_seconds = kDeadlineSeconds) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store;
    options.flags = std::move(flags);
    options.flags.push_back(absl::StrCat("--stop-deadline-seconds=", deadline_seconds));
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // A store that never answers the delete of an item that the sidecar has sent it.
  void StartWithHangingDelete(std::vector<std::string> flags, FakePrimaryStore& store,
                              int deadline_seconds = kDeadlineSeconds) {
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    ItemVersion version;
    version.times = {.ts = now - 100, .ttl = 1};
    store.Put("c", {"a", "a"}, version);
    store.Hang();
    Start(std::move(flags), store.address(), deadline_seconds);
    SidecarCalls calls(sidecar_->channel());
    ASSERT_TRUE(calls.CreateContainer("c", -1).ok());
    ASSERT_TRUE(calls.Track("c", "a", now - 100, 1).ok());
    ASSERT_TRUE(WaitUntil([&] { return store.HangingCalls() > 0; }, kPatience));
  }

  // A change of "c" waits for that delete, and the stop for the change: it lasts until the
  // store answers.
  std::thread StartWaitingChange(SidecarCalls& calls, absl::Status& changed) {
    std::thread change([&] { changed = calls.SetDefaultTtl("c", std::nullopt); });
    EXPECT_TRUE(WaitUntil([&] { return IsChangeUnderWay(calls); }, kPatience));
    return change;
  }

  bool HasLogged(const std::string& text) {
    return WaitUntil([&] { return absl::StrContains(sidecar_->Log(), text); }, kPatience);
  }

  void ExpectCleanStop() {
    const absl::Status stopped = sidecar_->Stop(kGone);
    EXPECT_TRUE(stopped.ok()) << stopped;
    EXPECT_SOON(sidecar_->Log(), HasSubstr("msg=\"stopped\""));
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

TEST_F(SidecarStopTest, StopsWhenIdleAndLeavesNoSocket) {
  Start();
  ExpectCleanStop();
  EXPECT_NE(access(sidecar_->socket_path().c_str(), F_OK), 0);
}

TEST_F(SidecarStopTest, StopsWithAnOpenStream) {
  Start();
  const OpenWatch watch(NewTestChannel(sidecar_->address()));
  ASSERT_TRUE(watch.is_open());
  ExpectCleanStop();
}

TEST_F(SidecarStopTest, StopsWithClientsThatNeverFinishTheirRequest) {
  Start();
  std::vector<std::unique_ptr<RawHttp2>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawHttp2>(sidecar_->socket_path()));
    ASSERT_TRUE(clients.back()->is_connected());
    // The first half of a frame.
    clients.back()->Send(std::string("\x00\x40\x00\x00\x01", 5));
  }
  ExpectCleanStop();
}

TEST_F(SidecarStopTest, WatchersOfTheContainersAreToldWhyTheirStreamEnds) {
  Start();
  const auto stub = v1::ContainerService::NewStub(sidecar_->channel());
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const auto watch = stub->WatchContainers(&context, v1::WatchContainersRequest());
  v1::WatchContainersResponse message;
  ASSERT_TRUE(watch->Read(&message));
  ASSERT_TRUE(sidecar_->process()->Signal(SIGTERM).ok());
  while (watch->Read(&message)) continue;
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("shutting down"));
  const auto ended = sidecar_->process()->Wait(kGone);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_TRUE(ended->Succeeded());
}

// While the first is not done with, for a reason that lasts.
TEST_F(SidecarStopTest, SecondSignalEndsItAtOnce) {
  FakePrimaryStore store([] { return absl::Now(); });
  ASSERT_NO_FATAL_FAILURE(StartWithHangingDelete({"--delete-deadline-seconds=300"}, store, 310));
  SidecarCalls calls(sidecar_->channel());
  absl::Status changed;
  std::thread change = StartWaitingChange(calls, changed);
  EXPECT_TRUE(sidecar_->process()->Signal(SIGTERM).ok());
  EXPECT_TRUE(HasLogged("msg=\"stopping\""));
  EXPECT_TRUE(sidecar_->process()->Signal(SIGINT).ok());
  const auto ended = sidecar_->process()->Wait(kPatience);
  change.join();
  EXPECT_FALSE(changed.ok());
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->code, 1);
  EXPECT_SOON(sidecar_->Log(), HasSubstr("second signal"));
}

TEST_F(SidecarStopTest, ReadinessGoesOffAndCallsUnderWayMayEnd) {
  Start();
  const OpenWatch watch(NewTestChannel(sidecar_->address()));
  ASSERT_TRUE(watch.is_open());
  ASSERT_TRUE(sidecar_->process()->Signal(SIGTERM).ok());
  EXPECT_TRUE(HasLogged("msg=\"not ready\""));
  const auto ended = sidecar_->process()->Wait(kGone);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_TRUE(ended->Succeeded());
}

TEST_F(SidecarStopTest, WhatWasAcknowledgedUnderLoadIsThereAfterwards) {
  Start();
  SidecarCalls calls(sidecar_->channel());
  ASSERT_TRUE(calls.CreateContainer("c", -1).ok());
  constexpr int kThreads = 4;
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  std::atomic<bool> stopping = false;
  std::atomic<int> total = 0;
  std::vector<int> acknowledged(kThreads, 0);
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      while (!stopping) {
        const std::string id = absl::StrCat(t, "-", acknowledged[t]);
        if (!calls.Track("c", id, now).ok()) return;
        ++acknowledged[t];
        ++total;
      }
    });
  }
  EXPECT_TRUE(WaitUntil([&] { return total > 200; }, absl::Seconds(60)));
  ExpectCleanStop();
  stopping = true;
  for (std::thread& writer : writers) writer.join();

  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  SidecarCalls again(sidecar_->channel());
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < acknowledged[t]; ++i) {
      const auto visibility = again.Check("c", absl::StrCat(t, "-", i));
      ASSERT_TRUE(visibility.ok()) << visibility.status();
      ASSERT_EQ(*visibility, v1::VISIBILITY_VISIBLE) << t << "-" << i;
    }
  }
}

TEST_F(SidecarStopTest, CallersSeeWhatTheyWereAnsweredOrUnavailableOverGracefulRestarts) {
  Start({"--listen-tcp=127.0.0.1:0,roles=reader", "--insecure-tcp"});
  ASSERT_TRUE(SidecarCalls(sidecar_->channel()).CreateContainer("c", -1).ok());
  constexpr int kRestarts = 12;
  for (int restart = 0; restart < kRestarts; ++restart) {
    Callers callers({sidecar_->address(), absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0))},
                    4);
    EXPECT_TRUE(WaitUntil([&] { return callers.HaveSeen(200); }, absl::Seconds(60)));
    ExpectCleanStop();
    absl::SleepFor(restart * absl::Seconds(1) / (kRestarts - 1));  // how long it is away
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    for (const auto& [code, count] : callers.End()) {
      EXPECT_TRUE(code == grpc::StatusCode::OK || code == grpc::StatusCode::UNAVAILABLE)
          << "code " << code << ", " << count << " times at restart " << restart;
    }
  }
}

TEST_F(SidecarStopTest, StopsWhileTheStoreHangsAndAChangeWaitsForIt) {
  FakePrimaryStore store([] { return absl::Now(); });
  ASSERT_NO_FATAL_FAILURE(StartWithHangingDelete({"--delete-deadline-seconds=3"}, store));
  SidecarCalls calls(sidecar_->channel());
  std::thread change([&] { (void)calls.SetDefaultTtl("c", std::nullopt); });
  ExpectCleanStop();
  change.join();
  store.Release();

  const absl::Status started = sidecar_->Start();
  EXPECT_TRUE(started.ok()) << started;
}

// A verification once waited for each record that was deleted since it was read: a backup waited
// for it, and the stop took all of its time.
TEST_F(SidecarStopTest, StopsWhileDataIsVerifiedBesideMassDeletes) {
  // Many containers, so that deletes go on in many places and a verification meets some.
  constexpr int kContainers = 50;
  constexpr int64_t kItemsOfEach = 6000;
  std::atomic<int64_t> deleted = 0;
  FakePrimaryStore store([] { return absl::Now(); });
  store.SetBeforeDelete([&](auto& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_DELETED);
    }
    deleted += request.items_size();
    return grpc::Status::OK;
  });
  Start({"--max-deletes-per-second=0"}, store.address());
  SidecarCalls calls(sidecar_->channel());
  const int64_t ts = absl::ToUnixSeconds(absl::Now()) - 100;
  for (int i = 0; i < kContainers; ++i) {
    const std::string container = absl::StrCat("c", i);
    ASSERT_TRUE(calls.CreateContainer(container, -1).ok());
    ASSERT_TRUE(calls.TrackMany(container, "due", kItemsOfEach, ts, 10).ok());
  }
  ASSERT_TRUE(calls.SetMaxDeletesPerSecond(20'000).ok());
  EXPECT_TRUE(WaitUntil([&] { return deleted > 0; }, kPatience));

  const auto stub = v1::MaintenanceService::NewStub(sidecar_->channel());
  std::atomic<int> verifications = 0;
  grpc::Status ended;
  std::thread verifier([&] {
    while (true) {
      ended = ReadAll(*stub, &v1::MaintenanceService::Stub::VerifyData);
      if (!ended.ok()) return;
      ++verifications;
    }
  });
  const grpc::Status backed_up = ReadAll(*stub, &v1::MaintenanceService::Stub::BackUpData);
  EXPECT_TRUE(backed_up.ok()) << backed_up.error_message();
  EXPECT_TRUE(WaitUntil([&] { return verifications > 2; }, kPatience));
  EXPECT_LT(deleted, kContainers * kItemsOfEach) << "they are still going on";
  ExpectCleanStop();
  verifier.join();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::UNAVAILABLE) << ended.error_message();
}

TEST_F(SidecarStopTest, LivenessIsToldOnEveryAddressUntilTheLastCallIsAnswered) {
  FakePrimaryStore store([] { return absl::Now(); });
  ASSERT_NO_FATAL_FAILURE(StartWithHangingDelete(
      {"--delete-deadline-seconds=60", "--health-tcp=127.0.0.1:0"}, store, 70));
  const std::vector<int> ports = sidecar_->TcpPorts();
  ASSERT_EQ(ports.size(), 1U) << sidecar_->Log();
  SidecarCalls calls(sidecar_->channel());
  absl::Status changed;
  std::thread change = StartWaitingChange(calls, changed);
  EXPECT_TRUE(sidecar_->process()->Signal(SIGTERM).ok());

  const std::shared_ptr<grpc::Channel> addresses[] = {
      NewTestChannel(sidecar_->address()), NewTestChannel(absl::StrCat("127.0.0.1:", ports[0]))};
  for (const auto& channel : addresses) {
    EXPECT_TRUE(WaitUntil([&] { return TellsNotReady(channel); }, kPatience));
  }
  for (const auto& channel : addresses) {
    const absl::Status liveness = CheckHealth(channel, "liveness", kPatience);
    EXPECT_TRUE(liveness.ok()) << liveness;
    EXPECT_TRUE(TellsNotReady(channel)) << CheckHealth(channel, "readiness", kPatience);
  }
  grpc::ClientContext context;
  const grpc::Status refused = Check(addresses[0], context);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), HasSubstr("shutting down"));
  EXPECT_EQ(context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1U);

  store.Release();
  change.join();
  EXPECT_TRUE(changed.ok()) << changed;
  const auto ended = sidecar_->process()->Wait(kGone);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_TRUE(ended->Succeeded());
}

}  // namespace
}  // namespace ttl
