#include "service/rpc/services/container_watches.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/rpc/services/watch_position.h"
#include "service/storage/commit/container_log.h"
#include "tests/testing/channel.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Message = v1::WatchContainersResponse;

constexpr char kRareHeartbeats[] = "heartbeat_interval { seconds: 60 }";
constexpr char kFrequentHeartbeats[] = "heartbeat_interval { nanos: 100000000 }";

// One stream, as a client sees it. Cancelled when destroyed.
class Watcher {
 public:
  Watcher(v1::ContainerService::Stub& stub, const std::string& request) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    reader_ = stub.WatchContainers(&context_, Proto<v1::WatchContainersRequest>(request));
  }
  explicit Watcher(RpcSidecar& sidecar, const std::string& request = kRareHeartbeats)
      : Watcher(sidecar.containers(), request) {}
  ~Watcher() {
    context_.TryCancel();
    if (reader_ != nullptr) End().IgnoreError();
  }

  // The next message; none if the stream has ended.
  std::optional<Message> Next() {
    Message message;
    if (!reader_->Read(&message)) return std::nullopt;
    return message;
  }

  // The next one that is no heartbeat.
  std::optional<Message> NextNews() {
    std::optional<Message> message = Next();
    while (message.has_value() && message->event() == v1::WATCH_EVENT_HEARTBEAT) message = Next();
    return message;
  }

  // How the stream ended; whatever came before is thrown away.
  absl::Status End() {
    while (Next().has_value()) continue;
    const grpc::Status status = std::exchange(reader_, nullptr)->Finish();
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

  absl::Status Cancel() {
    context_.TryCancel();
    return End();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Message>> reader_;
};

std::vector<std::string> Ids(const Message& message) {
  std::vector<std::string> ids;
  for (const v1::Container& container : message.containers()) ids.push_back(container.id());
  return ids;
}

class ContainerWatchesTest : public testing::Test {
 protected:
  // A watcher who has read an empty or short snapshot.
  std::unique_ptr<Watcher> NewWatcher(const std::string& request = kRareHeartbeats) {
    auto watcher = std::make_unique<Watcher>(sidecar_, request);
    EXPECT_EQ(watcher->Next()->event(), v1::WATCH_EVENT_SNAPSHOT_END);
    return watcher;
  }

  RpcSidecar sidecar_;
};

TEST_F(ContainerWatchesTest, ASnapshotThenChangesThenHeartbeats) {
  const auto created = sidecar_.Create(60);
  Watcher watcher(sidecar_, kFrequentHeartbeats);
  const auto snapshot = watcher.Next();
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  EXPECT_EQ(snapshot->server_time().seconds(), sidecar_.Now());
  EXPECT_EQ(snapshot->clock_state(), v1::CLOCK_STATE_SOUND);
  ASSERT_THAT(Ids(*snapshot), ElementsAre("c"));
  EXPECT_EQ(snapshot->containers(0).SerializeAsString(), created->SerializeAsString());

  const auto updated = sidecar_.SetDefaultTtl(120);
  const auto change = watcher.NextNews();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->event(), v1::WATCH_EVENT_CHANGE);
  EXPECT_GT(change->revision(), snapshot->revision());
  ASSERT_THAT(Ids(*change), ElementsAre("c"));
  EXPECT_EQ(change->containers(0).SerializeAsString(), updated->SerializeAsString());
  EXPECT_THAT(change->deleted_containers(), IsEmpty());

  sidecar_.clock().Advance(absl::Seconds(7));
  std::optional<Message> heartbeat;
  do {
    heartbeat = watcher.Next();
    ASSERT_TRUE(heartbeat.has_value());
    EXPECT_EQ(heartbeat->event(), v1::WATCH_EVENT_HEARTBEAT);
    EXPECT_EQ(heartbeat->revision(), change->revision());
    EXPECT_THAT(heartbeat->containers(), IsEmpty());
  } while (heartbeat->server_time().seconds() < sidecar_.Now());
}

TEST_F(ContainerWatchesTest, WithoutContainersTheSnapshotIsEmpty) {
  Watcher watcher(sidecar_);
  const auto snapshot = watcher.Next();
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  EXPECT_THAT(snapshot->containers(), IsEmpty());
}

TEST_F(ContainerWatchesTest, EveryWatcherHearsOfAChange) {
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 5; ++i) watchers.push_back(NewWatcher());
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  for (const auto& watcher : watchers) EXPECT_THAT(Ids(*watcher->Next()), ElementsAre("c"));
}

TEST_F(ContainerWatchesTest, ADeletedContainerIsToldById) {
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  const auto watcher = NewWatcher();
  ASSERT_TRUE(sidecar_.storage().Delete("c").ok());
  const auto change = watcher->Next();
  EXPECT_EQ(change->event(), v1::WATCH_EVENT_CHANGE);
  EXPECT_THAT(change->deleted_containers(), ElementsAre("c"));
  EXPECT_THAT(change->containers(), IsEmpty());
}

TEST_F(ContainerWatchesTest, ADeletedAndRecreatedContainerExistsInTheEndAndHasAnotherEtag) {
  const auto old = sidecar_.Create(60);
  const auto watcher = NewWatcher();
  ASSERT_TRUE(sidecar_.storage().Delete("c").ok());
  const auto created = sidecar_.Create(60);
  bool deleted = false;
  std::optional<v1::Container> known = *old;
  while (!known.has_value() || known->etag() != created->etag()) {
    const auto change = watcher->Next();
    ASSERT_TRUE(change.has_value());
    if (change->deleted_containers_size() > 0) {
      deleted = true;
      known.reset();
    }
    if (change->containers_size() > 0) known = change->containers(0);
  }
  EXPECT_TRUE(deleted);
}

TEST_F(ContainerWatchesTest, ManyContainersComeInPartsEachOnce) {
  constexpr size_t kMany = 2 * WatchPosition::kMaxChangesPerMessage + 1;
  for (size_t i = 0; i < kMany; ++i) {
    sidecar_.storage().Create(absl::StrCat("c", i), static_cast<int64_t>(i + 1));
  }
  Watcher watcher(sidecar_);
  std::map<std::string, int64_t> known;
  std::vector<v1::WatchEvent> events;
  while (events.empty() || events.back() == v1::WATCH_EVENT_SNAPSHOT_PART) {
    const auto part = watcher.Next();
    ASSERT_TRUE(part.has_value());
    events.push_back(part->event());
    for (const auto& c : part->containers())
      ASSERT_TRUE(known.emplace(c.id(), c.default_ttl()).second);
  }
  EXPECT_THAT(events, ElementsAre(v1::WATCH_EVENT_SNAPSHOT_PART, v1::WATCH_EVENT_SNAPSHOT_PART,
                                  v1::WATCH_EVENT_SNAPSHOT_END));
  ASSERT_EQ(known.size(), kMany);
  for (size_t i = 0; i < kMany; ++i) EXPECT_EQ(known[absl::StrCat("c", i)], i + 1);
}

TEST_F(ContainerWatchesTest, AFullLastPartIsTheEnd) {
  for (size_t i = 0; i < WatchPosition::kMaxChangesPerMessage; ++i) {
    sidecar_.storage().Create(absl::StrCat("c", i), 60);
  }
  Watcher watcher(sidecar_);
  const auto snapshot = watcher.Next();
  EXPECT_EQ(snapshot->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  EXPECT_EQ(snapshot->containers_size(), WatchPosition::kMaxChangesPerMessage);
}

TEST_F(ContainerWatchesTest, AClockThatIsSuspectIsShown) {
  const auto watcher = NewWatcher(kFrequentHeartbeats);
  const int64_t steady = sidecar_.Now();
  sidecar_.clock().StepWall(absl::Hours(1));
  std::optional<Message> message;
  do {
    message = watcher->Next();
    ASSERT_TRUE(message.has_value());
  } while (message->clock_state() != v1::CLOCK_STATE_SUSPECT);
  // What it judges by then is the earlier clock.
  EXPECT_EQ(message->server_time().seconds(), steady);
}

TEST_F(ContainerWatchesTest, HeartbeatIntervalsOutOfRangeAreRefused) {
  for (const char* interval : {"", "seconds: -1", "nanos: 99999999", "seconds: 60 nanos: 1",
                               "seconds: 9223372036854775807"}) {
    Watcher watcher(sidecar_, absl::StrCat("heartbeat_interval { ", interval, " }"));
    EXPECT_THAT(watcher.End(), IsInvalid("heartbeat_interval", "100ms", "1m")) << interval;
  }
  for (const char* request : {"", kFrequentHeartbeats, kRareHeartbeats}) NewWatcher(request);
}

TEST_F(ContainerWatchesTest, WhenThereAreTooManyOneIsRefusedUntilAnotherEnds) {
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < ContainerWatches::kMaxWatches; ++i) watchers.push_back(NewWatcher());
  EXPECT_THAT(Watcher(sidecar_).End(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("256")));
  EXPECT_THAT(watchers.back()->Cancel(), StatusIs(absl::StatusCode::kCancelled));
  watchers.pop_back();
  EXPECT_TRUE(WaitUntil([&] { return Watcher(sidecar_).Next().has_value(); }));
}

TEST_F(ContainerWatchesTest, WhenTheServerStopsOpenStreamsEndAndLaterOnesToo) {
  const auto watcher = NewWatcher();
  sidecar_.EndStreams();
  const auto is_end = StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down"));
  EXPECT_THAT(watcher->End(), is_end);
  EXPECT_THAT(Watcher(sidecar_).End(), is_end);
}

TEST_F(ContainerWatchesTest, AfterARestartRevisionsBeginAnewAndTheSnapshotIsComplete) {
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  ASSERT_THAT(sidecar_.SetDefaultTtl(61), IsOk());
  auto watcher = NewWatcher();
  sidecar_.Restart();
  EXPECT_FALSE(watcher->Next().has_value());
  Watcher again(sidecar_);
  EXPECT_EQ(again.Next()->containers(0).default_ttl(), 61);
}

// A watcher who does not read while more changes than its connection holds: it gets each
// container as it is by then, or a snapshot.
TEST_F(ContainerWatchesTest, ASlowReaderSkipsWhatItMissedButEndsUpRight) {
  const std::string long_id(200, 'x');
  const auto stub = v1::ContainerService::NewStub(NewSmallChannel(sidecar_.address()));
  Watcher watcher(*stub, kRareHeartbeats);
  ASSERT_TRUE(watcher.Next().has_value());
  int64_t ttl = 0;
  constexpr size_t kChanges = ContainerLog::kMaxEntries;
  for (size_t i = 0; i < kChanges; ++i) {
    const std::string id = absl::StrCat(long_id, i % 40);
    if (sidecar_.storage().Find(id) == nullptr) sidecar_.storage().Create(id, ++ttl);
    sidecar_.storage().SetDefaultTtl(id, ++ttl);
  }
  sidecar_.storage().Create("the end", ++ttl);
  std::map<std::string, int64_t> known;
  size_t told = 0;
  while (!known.contains("the end")) {
    const auto message = watcher.Next();
    ASSERT_TRUE(message.has_value());
    told += static_cast<size_t>(message->containers_size());
    for (const auto& c : message->containers()) known[c.id()] = c.default_ttl();
  }
  for (const ContainerPtr& container : sidecar_.storage()->containers().All()) {
    EXPECT_EQ(known[container->id], container->settings.policy.default_ttl);
  }
  EXPECT_LT(told, kChanges);
}

class WatchPositionTest : public testing::Test {
 protected:
  std::optional<Message> Next() {
    Message message;
    if (!position_.NextNews(message)) return std::nullopt;
    return message;
  }

  FakeClock clock_;
  GuardedClock guarded_clock_{clock_, std::nullopt};
  StorageForTest storage_;
  WatchPosition position_{storage_->containers(), storage_->holds(), guarded_clock_};
};

TEST_F(WatchPositionTest, OneWhoIsAskedRarelyTellsEachContainerOnceAsItIs) {
  EXPECT_EQ(Next()->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  storage_.Create("a", 60);
  for (int64_t ttl = 1; ttl <= 100; ++ttl) storage_.SetDefaultTtl("a", ttl);
  storage_.Create("b", 60);
  ASSERT_TRUE(storage_.Delete("b").ok());
  const auto change = Next();
  ASSERT_THAT(Ids(*change), ElementsAre("a"));
  EXPECT_EQ(change->containers(0).default_ttl(), 100);
  EXPECT_THAT(change->deleted_containers(), ElementsAre("b"));
  EXPECT_FALSE(Next().has_value());
}

TEST_F(WatchPositionTest, OneWhoHasFallenTooFarBehindTellsASnapshotAgain) {
  storage_.Create("gone", 60);
  EXPECT_THAT(Ids(*Next()), ElementsAre("gone"));
  ASSERT_TRUE(storage_.Delete("gone").ok());
  storage_.Create("a", 1);
  for (size_t i = 1; i <= ContainerLog::kMaxEntries; ++i) {
    storage_.SetDefaultTtl("a", static_cast<int64_t>(i));
  }
  const auto snapshot = Next();
  EXPECT_EQ(snapshot->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  EXPECT_THAT(Ids(*snapshot), ElementsAre("a"));
  EXPECT_FALSE(Next().has_value());
}

TEST_F(WatchPositionTest, WhatChangesWhileASnapshotIsToldComesAfterIt) {
  for (size_t i = 0; i < WatchPosition::kMaxChangesPerMessage; ++i) {
    storage_.Create(absl::StrCat("m", i), 60);
  }
  storage_.Create("z", 60);
  EXPECT_EQ(Next()->event(), v1::WATCH_EVENT_SNAPSHOT_PART);
  storage_.Create("a", 60);
  storage_.SetDefaultTtl("m0", 61);
  ASSERT_TRUE(storage_.Delete("m1").ok());
  const auto end = Next();
  EXPECT_EQ(end->event(), v1::WATCH_EVENT_SNAPSHOT_END);
  EXPECT_THAT(Ids(*end), ElementsAre("z"));
  const auto change = Next();
  EXPECT_EQ(change->event(), v1::WATCH_EVENT_CHANGE);
  EXPECT_THAT(Ids(*change), UnorderedElementsAre("a", "m0"));
  EXPECT_THAT(change->deleted_containers(), ElementsAre("m1"));
  EXPECT_FALSE(Next().has_value());
}

TEST_F(WatchPositionTest, ManyChangesComeInSeveralMessages) {
  Next();
  for (size_t i = 0; i <= WatchPosition::kMaxChangesPerMessage; ++i) {
    storage_.Create(absl::StrCat("c", i), 60);
  }
  const auto first = Next();
  EXPECT_EQ(first->containers_size(), WatchPosition::kMaxChangesPerMessage);
  const auto second = Next();
  EXPECT_THAT(Ids(*second), ElementsAre(absl::StrCat("c", WatchPosition::kMaxChangesPerMessage)));
  EXPECT_EQ(second->revision(), storage_->containers().Revision());
}

TEST_F(WatchPositionTest, AHeartbeatIsStampedWithTheRevisionAndTheTime) {
  storage_.Create("a", 60);
  const uint64_t revision = Next()->revision();
  clock_.Advance(absl::Milliseconds(1500));
  Message heartbeat;
  position_.Heartbeat(heartbeat);
  EXPECT_EQ(heartbeat.event(), v1::WATCH_EVENT_HEARTBEAT);
  EXPECT_EQ(heartbeat.revision(), revision);
  EXPECT_EQ(heartbeat.server_time().seconds(), 1'800'000'001);
  EXPECT_EQ(heartbeat.server_time().nanos(), 500'000'000);
}

}  // namespace
}  // namespace ttl
