#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using ExpiryStub = v1::ExpiryService::Stub;

class ExpiryServiceTest : public testing::Test {
 protected:
  ExpiryServiceTest() { EXPECT_THAT(sidecar_.Create(60), IsOk()); }

  static RpcSidecar::Options Options() {
    RpcSidecar::Options options;
    options.max_deletes_per_second = 1000;
    options.container_max_deletes_per_second = 200;
    return options;
  }

  // A store that answers.
  void PostReachableStore() {
    StoreView store;
    store.configured = true;
    store.reachable = true;
    store.store_id = "store-1";
    sidecar_.published().PostStore(store);
  }

  absl::StatusOr<v1::GetExpiryStatusResponse> GetStatus(const std::string& container) {
    v1::GetExpiryStatusRequest request;
    request.set_container(container);
    return Call(sidecar_.expiry(), &ExpiryStub::GetExpiryStatus, request);
  }
  v1::ContainerExpiryStatus StatusOfC() {
    const auto status = GetStatus("c");
    EXPECT_THAT(status, IsOk());
    return status.ok() ? status->container() : v1::ContainerExpiryStatus();
  }
  absl::StatusOr<v1::ExplainItemResponse> Explain(const std::string& id) {
    v1::ExplainItemRequest request;
    request.set_container("c");
    request.set_partition_key("p");
    request.set_id(id);
    return Call(sidecar_.expiry(), &ExpiryStub::ExplainItem, request);
  }
  absl::StatusOr<v1::PauseDeletesResponse> Pause(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::PauseDeletes, Proto<v1::PauseDeletesRequest>(text));
  }
  absl::StatusOr<v1::ResumeDeletesResponse> Resume(const std::string& text) {
    return Call(sidecar_.expiry(), &ExpiryStub::ResumeDeletes,
                Proto<v1::ResumeDeletesRequest>(text));
  }
  absl::StatusOr<v1::AcceptClockResponse> AcceptClock() {
    return Call(sidecar_.expiry(), &ExpiryStub::AcceptClock, v1::AcceptClockRequest());
  }
  void Update(const std::string& text) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                     Proto<v1::UpdateContainerRequest>(text)),
                IsOk());
  }
  void Advance(absl::Duration duration) {
    sidecar_.clock().Advance(duration);
    sidecar_.guarded_clock().Tick();
  }

  RpcSidecar sidecar_{Options()};
};

TEST_F(ExpiryServiceTest, StatusOfTheSidecarAlone) {
  PostReachableStore();
  const auto status = GetStatus("");
  ASSERT_THAT(status, IsOk());
  EXPECT_FALSE(status->has_container());
  const v1::SidecarStatus& sidecar = status->sidecar();
  EXPECT_EQ(sidecar.clock().state(), v1::CLOCK_STATE_SOUND);
  EXPECT_EQ(sidecar.clock().now().seconds(), sidecar_.Now());
  EXPECT_TRUE(sidecar.store().reachable());
  EXPECT_EQ(sidecar.store().store_id(), "store-1");
  EXPECT_FALSE(sidecar.has_pause());
  EXPECT_EQ(sidecar.max_deletes_per_second(), 1000);
  EXPECT_TRUE(sidecar.storage_writable());
  EXPECT_EQ(sidecar.storage_problem(), "");
  EXPECT_EQ(sidecar.start_time().seconds(), sidecar_.Now());
}

TEST_F(ExpiryServiceTest, AnUnknownContainerIsNotFound) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere"));
  EXPECT_THAT(GetStatus("nowhere"), not_found);
  EXPECT_THAT(Pause("container: 'nowhere' reason: 'r'"), not_found);
  EXPECT_THAT(Resume("container: 'nowhere'"), not_found);
  EXPECT_THAT(Call(sidecar_.expiry(), &ExpiryStub::ExplainItem,
                   Proto<v1::ExplainItemRequest>("container: 'nowhere'")),
              not_found);
}

TEST_F(ExpiryServiceTest, BacklogAndAgeOfTheOldestDueItem) {
  PostReachableStore();
  EXPECT_EQ(StatusOfC().backlog(), 0);
  EXPECT_FALSE(StatusOfC().has_oldest_due_age());
  ASSERT_THAT(sidecar_.Track("inherits", sidecar_.Now()), IsOk());
  ASSERT_THAT(sidecar_.Track("own", sidecar_.Now(), 10), IsOk());
  ASSERT_THAT(sidecar_.Track("later", sidecar_.Now(), 1000), IsOk());
  ASSERT_THAT(sidecar_.Track("never", sidecar_.Now(), -1), IsOk());
  Advance(absl::Seconds(90));
  const v1::ContainerExpiryStatus status = StatusOfC();
  EXPECT_EQ(status.backlog(), 2);
  EXPECT_FALSE(status.backlog_is_lower_bound());
  EXPECT_EQ(status.oldest_due_age().seconds(), 80);
  EXPECT_THAT(status.holds(), IsEmpty());
}

TEST_F(ExpiryServiceTest, AnItemIsDueOnlyAfterTheDelay) {
  Update(
      "container { id: 'c' delete_policy { delay { seconds: 100 } } } "
      "update_mask { paths: 'delete_policy.delay' }");
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  Advance(absl::Seconds(159));
  EXPECT_EQ(StatusOfC().backlog(), 0);
  Advance(absl::Seconds(1));
  EXPECT_EQ(StatusOfC().backlog(), 1);
}

TEST_F(ExpiryServiceTest, TheAllowedRateIsTheLesserOfContainersAndOverall) {
  EXPECT_EQ(StatusOfC().allowed_deletes_per_second(), 200);
  const auto with_rate = [&](const std::string& rate) {
    Update(absl::StrCat("container { id: 'c' delete_policy { max_deletes_per_second: ", rate,
                        " } } update_mask { paths: 'delete_policy.max_deletes_per_second' }"));
    return StatusOfC().allowed_deletes_per_second();
  };
  EXPECT_EQ(with_rate("0.1"), 0.1);
  EXPECT_EQ(with_rate("500"), 500);
  EXPECT_EQ(with_rate("5000"), 1000);
  EXPECT_EQ(with_rate("0"), 0);
  EXPECT_THAT(StatusOfC().holds(), Contains(v1::DELETE_HOLD_ZERO_RATE));
}

TEST_F(ExpiryServiceTest, HoldsSayWhatKeepsDeletesBack) {
  EXPECT_THAT(StatusOfC().holds(), ElementsAre(v1::DELETE_HOLD_NO_STORE));
  PostReachableStore();
  EXPECT_THAT(StatusOfC().holds(), IsEmpty());
  ASSERT_THAT(Pause("all_containers: true reason: 'all'"), IsOk());
  ASSERT_THAT(Pause("container: 'c' reason: 'one'"), IsOk());
  EXPECT_THAT(StatusOfC().holds(),
              ElementsAre(v1::DELETE_HOLD_ALL_PAUSED, v1::DELETE_HOLD_CONTAINER_PAUSED));
  ASSERT_THAT(sidecar_.SetDefaultTtl(std::nullopt), IsOk());
  EXPECT_THAT(StatusOfC().holds(), Contains(v1::DELETE_HOLD_TTL_OFF));
}

TEST_F(ExpiryServiceTest, GraceAfterAStricterPolicy) {
  PostReachableStore();
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  Advance(absl::Seconds(30));
  ASSERT_THAT(sidecar_.SetDefaultTtl(10), IsOk());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(StatusOfC().grace_until().seconds(), sidecar_.Now() + 60);
  EXPECT_THAT(StatusOfC().holds(), ElementsAre(v1::DELETE_HOLD_GRACE));
  EXPECT_EQ(StatusOfC().backlog(), 0);
  const auto explained = Explain("a");
  ASSERT_THAT(explained, IsOk());
  EXPECT_EQ(explained->due_time(), sidecar_.Now() + 30);  // expired under the old policy too
  EXPECT_THAT(explained->explanation(), HasSubstr("grace of a stricter policy"));
  Advance(absl::Seconds(30));
  EXPECT_EQ(StatusOfC().backlog(), 1);
  EXPECT_THAT(Explain("a")->explanation(), HasSubstr("next in line"));
}

TEST_F(ExpiryServiceTest, APauseIsDurableAndVisibilityGoesOn) {
  const int64_t since = sidecar_.Now();
  const auto paused = Pause("container: 'c' reason: 'restore of \"orders\"'");
  ASSERT_THAT(paused, IsOk());
  EXPECT_EQ(paused->pause().reason(), "restore of \"orders\"");
  EXPECT_EQ(paused->pause().since().seconds(), since);
  EXPECT_EQ(paused->pause().author(), "address:test");
  ASSERT_THAT(Pause("all_containers: true reason: 'night'"), IsOk());
  ASSERT_THAT(sidecar_.Track("a", since), IsOk());
  Advance(absl::Seconds(60));
  sidecar_.Restart();
  EXPECT_EQ(StatusOfC().pause().reason(), "restore of \"orders\"");
  EXPECT_EQ(StatusOfC().pause().since().seconds(), since);
  EXPECT_EQ(StatusOfC().pause().author(), "address:test");
  EXPECT_EQ(GetStatus("")->sidecar().pause().reason(), "night");
  EXPECT_EQ(GetStatus("")->sidecar().pause().author(), "address:test");
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
}

TEST_F(ExpiryServiceTest, LiftingThePauseOfAllLeavesTheContainersOwn) {
  ASSERT_THAT(Pause("container: 'c' reason: 'one'"), IsOk());
  ASSERT_THAT(Pause("all_containers: true reason: 'all'"), IsOk());
  ASSERT_THAT(Resume("all_containers: true"), IsOk());
  EXPECT_FALSE(GetStatus("")->sidecar().has_pause());
  EXPECT_TRUE(StatusOfC().has_pause());
  ASSERT_THAT(Resume("container: 'c'"), IsOk());
  EXPECT_FALSE(StatusOfC().has_pause());
  EXPECT_THAT(Resume("container: 'c'"), IsOk());
  EXPECT_THAT(Resume("all_containers: true"), IsOk());
}

TEST_F(ExpiryServiceTest, PausingWhatIsPausedReplacesTheReason) {
  ASSERT_THAT(Pause("container: 'c' reason: 'first'"), IsOk());
  ASSERT_THAT(Pause("container: 'c' reason: 'second'"), IsOk());
  EXPECT_EQ(StatusOfC().pause().reason(), "second");
}

TEST_F(ExpiryServiceTest, APauseNeedsTargetAndReason) {
  EXPECT_THAT(Pause("reason: 'r'"), IsInvalid("target is absent"));
  EXPECT_THAT(Pause("all_containers: false reason: 'r'"), IsInvalid("all_containers is false"));
  EXPECT_THAT(Pause("container: 'c'"), IsInvalid("reason"));
  EXPECT_THAT(Pause(absl::StrCat("container: 'c' reason: '", std::string(1025, 'r'), "'")),
              IsInvalid("1025 bytes"));
  EXPECT_THAT(Resume(""), IsInvalid("target is absent"));
  EXPECT_FALSE(StatusOfC().has_pause());
}

TEST_F(ExpiryServiceTest, APauseIsAnsweredOnceNoDeleteIsOnItsWay) {
  DeleteGate& gate = sidecar_.storage()->delete_gate();
  const uint64_t number = sidecar_.storage().Find("c")->number;
  std::optional<DeleteGate::Pass> pass = gate.TryEnter(number);
  auto pause = std::async(std::launch::async,
                          [&] { return Pause("all_containers: true reason: 'r'").status(); });
  ASSERT_TRUE(WaitUntil([&] { return gate.IsClosed(number); }));
  EXPECT_THAT(StatusOfC().holds(), Contains(v1::DELETE_HOLD_CHANGE_UNDER_WAY));
  EXPECT_EQ(pause.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  pass.reset();
  EXPECT_THAT(pause.get(), IsOk());
  EXPECT_THAT(StatusOfC().holds(), Not(Contains(v1::DELETE_HOLD_CHANGE_UNDER_WAY)));
}

TEST_F(ExpiryServiceTest, ExplainsLiveAndExpiredItemsAlike) {
  PostReachableStore();
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  EXPECT_THAT(Explain("a")->explanation(), HasSubstr("live and expires in 10 s"));
  EXPECT_EQ(Explain("a")->due_time(), sidecar_.Now() + 10);
  Advance(absl::Seconds(25));
  const auto expired = Explain("a");
  ASSERT_THAT(expired, IsOk());
  EXPECT_TRUE(expired->item().expired());
  EXPECT_EQ(expired->item().remaining_seconds(), 0);
  EXPECT_THAT(expired->holds(), IsEmpty());
  EXPECT_THAT(expired->explanation(), HasSubstr("next in line"));
  EXPECT_THAT(Explain("b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ExpiryServiceTest, ExplainsFailedDeletes) {
  PostReachableStore();
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  Advance(absl::Seconds(10));
  DeleteReport report;
  report.key = KeyOf("a");
  report.generation = sidecar_.storage().FindItem("c", "a")->generation;
  report.kind = DeleteReport::Kind::kRetryLater;
  report.retry_time = sidecar_.Now() + 20;
  report.counts_as_attempt = true;
  report.error = "row is locked";
  ASSERT_EQ(sidecar_.storage().Apply("c", {report}), 1);
  const auto explained = Explain("a");
  ASSERT_THAT(explained, IsOk());
  EXPECT_EQ(explained->attempts(), 1);
  EXPECT_EQ(explained->last_error(), "row is locked");
  EXPECT_EQ(explained->due_time(), sidecar_.Now() + 20);
  EXPECT_THAT(explained->explanation(), HasSubstr("is retried after 1 failed attempt."));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
}

TEST_F(ExpiryServiceTest, AnItemTheStoreHasInAnotherUnknownVersionIsShownAndExplained) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  Advance(absl::Seconds(10));
  DeleteReport report;
  report.key = KeyOf("a");
  report.generation = sidecar_.storage().FindItem("c", "a")->generation;
  report.kind = DeleteReport::Kind::kStateUnknown;
  report.retry_time = sidecar_.Now() + 3600;
  ASSERT_EQ(sidecar_.storage().Apply("c", {report}), 1);
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_UNTRACKED);
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(sidecar_.List(true), IsEmpty());
  EXPECT_THAT(Explain("a")->explanation(), HasSubstr("counts as untracked"));
}

TEST_F(ExpiryServiceTest, ListsTheStatusOfAllContainersPageByPage) {
  for (const char* id : {"b", "d", "a"}) {
    ASSERT_THAT(
        Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
             Proto<v1::CreateContainerRequest>(absl::StrCat("container { id: '", id, "' }"))),
        IsOk());
  }
  std::vector<std::string> ids;
  std::string token;
  int pages = 0;
  do {
    const auto page = Call(sidecar_.expiry(), &ExpiryStub::ListExpiryStatuses,
                           Proto<v1::ListExpiryStatusesRequest>(
                               absl::StrCat("page_size: 2 page_token: '", token, "'")));
    ASSERT_THAT(page, IsOk());
    EXPECT_TRUE(page->has_sidecar());
    for (const auto& status : page->containers()) ids.push_back(status.container());
    token = page->next_page_token();
    ++pages;
  } while (!token.empty());
  EXPECT_THAT(ids, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(pages, 2);
  EXPECT_THAT(Call(sidecar_.expiry(), &ExpiryStub::ListExpiryStatuses,
                   Proto<v1::ListExpiryStatusesRequest>("page_size: -1")),
              IsInvalid("page_size is -1"));
}

TEST_F(ExpiryServiceTest, CountingIsBoundedAndNeitherEndsAPageNorHidesABacklog) {
  for (const char* id : {"d", "e", "f"}) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                     Proto<v1::CreateContainerRequest>(
                         absl::StrCat("container { id: '", id, "' default_ttl: 60 }"))),
                IsOk());
  }
  std::vector<ItemReport> reports;
  for (int i = 0; i < 10001; ++i) reports.push_back({KeyOf(absl::StrCat(i)), {}});
  for (ItemReport& report : reports) report.version.times.ts = sidecar_.Now();
  for (const char* id : {"c", "d"}) ASSERT_THAT(sidecar_.storage().Track(id, reports), IsOk());
  reports.resize(500);
  for (size_t i = 0; i < 450; ++i) reports[i].version.times.ts -= 30;
  ASSERT_THAT(sidecar_.storage().Track("e", reports), IsOk());
  reports.resize(80);
  ASSERT_THAT(sidecar_.storage().Track("f", reports), IsOk());
  Advance(absl::Seconds(45));
  const auto one = GetStatus("e");
  ASSERT_THAT(one, IsOk());
  EXPECT_EQ(one->container().backlog(), 450);
  EXPECT_FALSE(one->container().backlog_is_lower_bound());
  Advance(absl::Seconds(15));
  EXPECT_EQ(StatusOfC().backlog(), 10000);
  EXPECT_TRUE(StatusOfC().backlog_is_lower_bound());
  const auto first =
      Call(sidecar_.expiry(), &ExpiryStub::ListExpiryStatuses, v1::ListExpiryStatusesRequest());
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->next_page_token(), "");
  ASSERT_THAT(first->containers(), SizeIs(4));
  const v1::ContainerExpiryStatus& e = first->containers(2);
  EXPECT_EQ(e.backlog(), 500);
  EXPECT_TRUE(e.backlog_is_lower_bound());
  EXPECT_EQ(e.oldest_due_age().seconds(), 30);
  EXPECT_EQ(e.backlog_problem(), "");
  EXPECT_EQ(first->containers(3).backlog(), 80);
}

TEST_F(ExpiryServiceTest, AContainerWhoseIndexCannotBeReadHidesNothingElse) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < 3000; ++i) reports.push_back({KeyOf(absl::StrCat(i)), {}});
  for (ItemReport& report : reports) report.version.times.ts = sidecar_.Now();
  ASSERT_THAT(sidecar_.storage().Track("c", reports), IsOk());
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>("container { id: 'd' default_ttl: 60 }")),
              IsOk());
  Advance(absl::Seconds(100));
  sidecar_.Restart();  // into a table, which is read from the file
  sidecar_.storage().FinishHousekeeping();
  sidecar_.storage().env().FailReads(true);
  const auto list =
      Call(sidecar_.expiry(), &ExpiryStub::ListExpiryStatuses, v1::ListExpiryStatusesRequest());
  const auto get = GetStatus("c");
  sidecar_.storage().env().FailReads(false);
  ASSERT_THAT(list, IsOk());
  EXPECT_TRUE(list->sidecar().has_health());
  ASSERT_THAT(list->containers(), SizeIs(2));
  EXPECT_EQ(list->containers(1).backlog_problem(), "");
  ASSERT_THAT(get, IsOk());
  for (const v1::ContainerExpiryStatus& c : {list->containers(0), get->container()}) {
    EXPECT_EQ(c.backlog(), 3000);
    EXPECT_TRUE(c.backlog_is_lower_bound());
    EXPECT_FALSE(c.has_oldest_due_age());
    EXPECT_THAT(c.backlog_problem(), HasSubstr("read fails"));
  }
  const v1::ContainerExpiryStatus again = StatusOfC();
  EXPECT_EQ(again.backlog_problem(), "");
  EXPECT_FALSE(again.backlog_is_lower_bound());
  EXPECT_EQ(again.oldest_due_age().seconds(), 40);
}

TEST_F(ExpiryServiceTest, TalliesComeFromThePublishedSweep) {
  const uint64_t number = sidecar_.storage().Find("c")->number;
  DeleteRecord record;
  record.tally.sent = 5;
  record.tally.deleted = 3;
  sidecar_.published().AddDeletes(number, record);
  sidecar_.published().AddEarlyEntries(number, 7);
  PaceView pace;
  pace.waiting_for_rate = true;
  sidecar_.published().PostPace(number, pace);
  PostReachableStore();
  EXPECT_EQ(StatusOfC().deletes().sent(), 5);
  EXPECT_EQ(StatusOfC().deletes().deleted(), 3);
  EXPECT_EQ(StatusOfC().early_entries(), 7);
  EXPECT_THAT(StatusOfC().holds(), ElementsAre(v1::DELETE_HOLD_RATE));
}

TEST_F(ExpiryServiceTest, AClockThatIsNotSuspectCannotBeAccepted) {
  EXPECT_THAT(AcceptClock(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(sidecar_.clocks_accepted(), 0);
}

TEST_F(ExpiryServiceTest, ASuspectClockHoldsDeletesUntilItIsAccepted) {
  PostReachableStore();
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 3600), IsOk());
  sidecar_.clock().StepWall(absl::Hours(48));
  sidecar_.guarded_clock().Tick();
  const auto suspect = GetStatus("c");
  ASSERT_THAT(suspect, IsOk());
  EXPECT_EQ(suspect->sidecar().clock().state(), v1::CLOCK_STATE_SUSPECT);
  EXPECT_NE(suspect->sidecar().clock().reason(), "");
  EXPECT_THAT(suspect->container().holds(), Contains(v1::DELETE_HOLD_CLOCK_SUSPECT));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);

  const auto accepted = AcceptClock();
  ASSERT_THAT(accepted, IsOk());
  EXPECT_EQ(accepted->clock().state(), v1::CLOCK_STATE_SOUND);
  EXPECT_EQ(accepted->clock().now().seconds(), sidecar_.Now());
  EXPECT_EQ(sidecar_.clocks_accepted(), 1);
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_THAT(StatusOfC().holds(), Not(Contains(v1::DELETE_HOLD_CLOCK_SUSPECT)));
}

TEST_F(ExpiryServiceTest, StorageThatRefusesWritesIsInTheStatus) {
  sidecar_.storage().env().FailWrites(true);
  EXPECT_THAT(sidecar_.Track("a", sidecar_.Now()), StatusIs(absl::StatusCode::kUnavailable));
  const auto status = GetStatus("c");
  ASSERT_THAT(status, IsOk());
  EXPECT_FALSE(status->sidecar().storage_writable());
  EXPECT_NE(status->sidecar().storage_problem(), "");
  EXPECT_THAT(status->container().holds(), Contains(v1::DELETE_HOLD_STORAGE));
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ExpiryServiceTest, ItemsAreCountedByTheirStateAtTheTimeOfTheCall) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(sidecar_.Track(absl::StrCat("short", i), sidecar_.Now(), 10), IsOk());
  }
  ASSERT_THAT(sidecar_.Track("inherits", sidecar_.Now()), IsOk());
  ASSERT_THAT(sidecar_.Track("long", sidecar_.Now(), 7200), IsOk());
  ASSERT_THAT(sidecar_.Track("never", sidecar_.Now(), -1), IsOk());
  Advance(absl::Seconds(10));
  const v1::ItemCounts items = StatusOfC().items();
  EXPECT_EQ(items.tracked_items(), 8);
  EXPECT_EQ(items.live_items(), 3);
  EXPECT_EQ(items.expired_items(), 5);
  EXPECT_EQ(items.error_bound_items(), 0);
  EXPECT_TRUE(items.complete());
  ASSERT_THAT(items.expiring_per_hour(), SizeIs(24));
  EXPECT_EQ(items.expiring_per_hour(0), 1);  // the one that inherits
  EXPECT_EQ(items.expiring_per_hour(1), 1);  // the long one
  EXPECT_EQ(items.expiring_per_hour(2), 0);
}

TEST_F(ExpiryServiceTest, NothingExpiresWhileTtlIsOff) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  Advance(absl::Hours(1));
  ASSERT_THAT(sidecar_.SetDefaultTtl(std::nullopt), IsOk());
  EXPECT_EQ(StatusOfC().items().live_items(), 1);
  EXPECT_EQ(StatusOfC().items().expired_items(), 0);
}

// The sweep loop may be dead, or may never have lived: the handler must see it.
TEST_F(ExpiryServiceTest, ASweeperThatTakesNoStepsMakesHealthDegraded) {
  PostReachableStore();
  EXPECT_EQ(GetStatus("")->sidecar().health().state(), v1::HEALTH_STATE_HEALTHY);
  EXPECT_FALSE(GetStatus("")->sidecar().sweep().has_last_step_time());

  SweeperView sweeper;
  sweeper.last_step = *sidecar_.clock().Read().boot;
  sweeper.calls_under_way = 3;
  sidecar_.published().PostSweeper(sweeper);
  const int64_t stepped = sidecar_.Now();
  Advance(absl::Seconds(30));
  v1::SidecarStatus status = GetStatus("")->sidecar();
  EXPECT_EQ(status.sweep().last_step_time().seconds(), stepped);
  EXPECT_FALSE(status.sweep().stalled());
  EXPECT_EQ(status.sweep().calls_under_way(), 3);
  EXPECT_EQ(status.health().state(), v1::HEALTH_STATE_HEALTHY);

  Advance(absl::Seconds(1));
  status = GetStatus("")->sidecar();
  EXPECT_TRUE(status.sweep().stalled());
  EXPECT_EQ(status.health().state(), v1::HEALTH_STATE_DEGRADED);
  EXPECT_THAT(status.health().reasons(), ElementsAre(HasSubstr("no step for 31 s")));
}

TEST_F(ExpiryServiceTest, ASweeperThatNeverTookAStepIsSeenToo) {
  PostReachableStore();
  Advance(absl::Seconds(31));
  EXPECT_TRUE(GetStatus("")->sidecar().sweep().stalled());
}

TEST_F(ExpiryServiceTest, BudgetAndPushBackLowerWhatIsAllowed) {
  PostReachableStore();
  Update(
      "container { id: 'c' delete_policy { request_units_per_second: 100 "
      "request_units_per_delete: 2 } } update_mask { paths: 'delete_policy' }");
  EXPECT_FALSE(StatusOfC().budget().has_used_by_requests());
  EXPECT_EQ(StatusOfC().budget().deletes_per_second(), 0);
  EXPECT_THAT(StatusOfC().holds(), ElementsAre(v1::DELETE_HOLD_BUDGET));

  const uint64_t number = sidecar_.storage().Find("c")->number;
  sidecar_.usage().Report(number, "r", 70, absl::Seconds(1), *sidecar_.clock().Read().boot);
  v1::ContainerExpiryStatus status = StatusOfC();
  EXPECT_EQ(status.budget().used_by_requests(), 70);
  EXPECT_EQ(status.budget().request_units_per_delete(), 2);
  EXPECT_EQ(status.allowed_deletes_per_second(), 15);
  EXPECT_THAT(status.holds(), IsEmpty());

  PaceView pace;
  pace.bearable_per_second = 4;
  pace.learned_cost = 3;
  pace.held_until = absl::FromUnixSeconds(sidecar_.Now() + 5);
  sidecar_.published().PostPace(number, pace);
  status = StatusOfC();
  EXPECT_EQ(status.budget().deletes_per_second(), 10);
  EXPECT_EQ(status.allowed_deletes_per_second(), 4);
  EXPECT_EQ(status.push_back_deletes_per_second(), 4);
  EXPECT_EQ(status.held_until().seconds(), sidecar_.Now() + 5);
  EXPECT_THAT(status.holds(), ElementsAre(v1::DELETE_HOLD_BACKOFF, v1::DELETE_HOLD_PUSH_BACK));

  // Silence of the reporters counts as full use.
  Advance(absl::Seconds(11));
  EXPECT_THAT(StatusOfC().holds(), Contains(v1::DELETE_HOLD_BUDGET));
  EXPECT_FALSE(StatusOfC().has_held_until());
}

}  // namespace
}  // namespace ttl
