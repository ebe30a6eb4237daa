// Holds as their callers see them, over a real socket. Nothing sweeps here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "leveldb/db.h"
#include "service/storage/format/key_codec.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using HoldStub = v1::HoldService::Stub;
using Watch = grpc::ClientReader<v1::WatchContainersResponse>;

// Reads the next change of a watch, skipping heartbeats for at most about 20 s.
bool ReadChange(Watch& watch, v1::WatchContainersResponse& message) {
  for (int i = 0; i < 20; ++i) {
    if (!watch.Read(&message)) return false;
    if (message.event() == v1::WATCH_EVENT_CHANGE) return true;
  }
  return false;
}

// A sidecar with the container "c", whose items live for 10 s.
class HoldServiceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(sidecar_.Create(10), IsOk()); }

  absl::StatusOr<v1::PlaceHoldResponse> Place(const std::string& hold_id, const std::string& fields,
                                              const std::string& container = "c") {
    return Call(
        sidecar_.holds(), &HoldStub::PlaceHold,
        Proto<v1::PlaceHoldRequest>(absl::StrCat("container: '", container, "' hold_id: '", hold_id,
                                                 "' reason: 'an audit' ", fields)));
  }
  absl::Status Release(const std::string& hold_id) {
    return Call(sidecar_.holds(), &HoldStub::ReleaseHold,
                Proto<v1::ReleaseHoldRequest>(
                    absl::StrCat("container: 'c' hold_id: '", hold_id, "'")))
        .status();
  }

  // The ids of all holds that a request lists, with "|" between pages.
  std::vector<std::string> List(const std::string& fields) {
    auto request = Proto<v1::ListHoldsRequest>(fields);
    std::vector<std::string> ids;
    while (true) {
      const auto response = Call(sidecar_.holds(), &HoldStub::ListHolds, request);
      if (!response.ok()) return {response.status().ToString()};
      for (const v1::Hold& hold : response->holds()) {
        ids.push_back(absl::StrCat(hold.container(), "/", hold.hold_id()));
      }
      if (response->next_page_token().empty()) return ids;
      ids.push_back("|");
      request.set_page_token(response->next_page_token());
    }
  }

  // Updates the fields of "c" that `mask` names.
  absl::Status Update(const std::string& fields, const std::string& mask, bool force = false) {
    auto request = Proto<v1::UpdateContainerRequest>(
        absl::StrCat("container { id: 'c' ", fields, " } update_mask { paths: '", mask, "' }"));
    request.set_force(force);
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer, request)
        .status();
  }

  v1::Container Container() {
    v1::GetContainerRequest request;
    request.set_id("c");
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer, request)
        .value_or(v1::GetContainerResponse())
        .container();
  }

  absl::StatusOr<v1::ExplainItemResponse> Explain(const std::string& id) {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::ExplainItem,
                Proto<v1::ExplainItemRequest>(
                    absl::StrCat("container: 'c' partition_key: 'p' id: '", id, "'")));
  }

  v1::ContainerExpiryStatus Status() {
    v1::GetExpiryStatusRequest request;
    request.set_container("c");
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus, request)
        .value_or(v1::GetExpiryStatusResponse())
        .container();
  }

  // The verdict about an item of the partition "p" whose check carries its expired state.
  v1::Visibility CheckCarrying(const std::string& id) {
    v1::CheckVisibilityRequest request;
    request.set_container("c");
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key("p");
    check.set_id(id);
    check.set_ts(sidecar_.Now() - 100);
    const auto response = Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility, request);
    return response.ok() ? response->visibilities(0) : v1::VISIBILITY_UNSPECIFIED;
  }

  // The same over a stream, without state.
  v1::Visibility CheckStreamed(const std::string& id) {
    grpc::ClientContext context;
    const auto stream = sidecar_.items().StreamCheckVisibility(&context);
    v1::StreamCheckVisibilityRequest request;
    request.mutable_request()->set_container("c");
    v1::VisibilityCheck& check = *request.mutable_request()->add_checks();
    check.set_partition_key("p");
    check.set_id(id);
    v1::StreamCheckVisibilityResponse response;
    EXPECT_TRUE(stream->Write(request) && stream->Read(&response));
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    return response.response().visibilities(0);
  }

  // Does what the sweep does with a due item of the partition "p" that is held.
  void SetAside(const std::string& id) {
    StorageForTest& storage = sidecar_.storage();
    const auto moved = Await<absl::StatusOr<int64_t>>([&](auto done) {
      storage->holds().SetAside(storage.Find("c")->number,
                                {{KeyOf(id), storage.FindItem("c", id)->generation}},
                                std::move(done));
    });
    EXPECT_EQ(moved.value_or(0), 1);
  }

  int64_t BacklogOfForecast() {
    auto request = Proto<v1::GetForecastRequest>("container: 'c' step { seconds: 60 }");
    request.mutable_until()->set_seconds(sidecar_.Now() + 60);
    const auto forecast = Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetForecast, request);
    EXPECT_THAT(forecast, IsOk());
    return forecast.value_or(v1::GetForecastResponse()).backlog_items();
  }

  // Puts another value into a record of the database. Returns the one it had.
  std::string SwapRecord(const std::string& key, const std::string& value) {
    leveldb::Options options;
    options.env = &sidecar_.storage().env();
    leveldb::DB* opened = nullptr;
    EXPECT_TRUE(leveldb::DB::Open(options, "/ttl", &opened).ok());
    const std::unique_ptr<leveldb::DB> database(opened);
    std::string before;
    EXPECT_TRUE(database->Get({}, key, &before).ok());
    EXPECT_TRUE(database->Put({}, key, value).ok());
    return before;
  }

  RpcSidecar sidecar_;
};

void PlaceOnAll(StorageForTest& storage, const std::string& container, const std::string& hold_id) {
  const HoldRequest hold = {
      .hold_id = hold_id, .reason = "r", .author = "", .until = {}, .scope = AllItems()};
  const auto placed = Await<absl::StatusOr<PlacedHold>>(
      [&](auto done) { storage->holds().Place(container, hold, kTestNow, std::move(done)); });
  ASSERT_THAT(placed, IsOk());
}

absl::Status DeleteByForce(StorageForTest& storage, const std::string& container) {
  return Await<absl::Status>([&](auto done) {
    storage->containers().Delete(container, "", /*force=*/true, std::move(done));
  });
}

TEST_F(HoldServiceTest, AHoldSaysWhatItCoversAndWhatItFound) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  const auto placed = Place("h",
                            "keys { keys { partition_key: 'p' id: 'a' } "
                            "keys { partition_key: 'p' id: 'none' } }");
  ASSERT_THAT(placed, IsOk());
  EXPECT_THAT(placed->results(),
              ElementsAre(v1::PLACE_HOLD_RESULT_HELD, v1::PLACE_HOLD_RESULT_NOT_TRACKED));
  EXPECT_EQ(placed->hold().container(), "c");
  EXPECT_EQ(placed->hold().hold_id(), "h");
  EXPECT_EQ(placed->hold().reason(), "an audit");
  EXPECT_EQ(placed->hold().author(), "address:test");
  EXPECT_EQ(placed->hold().create_time().seconds(), sidecar_.Now());
  EXPECT_EQ(placed->hold().key_count(), 2);
  const auto all = Place("all", "all_items: true");
  ASSERT_THAT(all, IsOk());
  EXPECT_TRUE(all->hold().all_items());
  EXPECT_THAT(all->results(), IsEmpty());
}

TEST_F(HoldServiceTest, AChangeOfAHoldIsLoggedWithWhatItWas) {
  const CapturedLog log;
  ASSERT_THAT(Place("h", "all_items: true until { seconds: 1900000000 }"), IsOk());
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  const std::string first =
      "{scope=all_items reason=\"an audit\" until=2030-03-17T17:46:40Z author=\"address:test\"}";
  EXPECT_EQ(log.text(),
            absl::StrCat("info hold placed: container=\"c\" hold=\"h\" old=none new=", first,
                         "\ninfo hold changed: container=\"c\" hold=\"h\" old=", first,
                         " new={scope=all_items reason=\"an audit\" until=released "
                         "author=\"address:test\"}\n"));
}

TEST_F(HoldServiceTest, HoldsAreListedInTheirOrderInPages) {
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>("container { id: 'b' }")),
              IsOk());
  for (const char* id : {"3", "1", "2"}) ASSERT_THAT(Place(id, "partition_key: 'p'"), IsOk());
  ASSERT_THAT(Place("4", "all_items: true", "b"), IsOk());
  EXPECT_THAT(List(""), ElementsAre("b/4", "c/1", "c/2", "c/3"));
  EXPECT_THAT(List("page_size: 2"), ElementsAre("b/4", "c/1", "|", "c/2", "c/3"));
  EXPECT_THAT(List("container: 'c' page_size: 2"), ElementsAre("c/1", "c/2", "|", "c/3"));
  EXPECT_THAT(List("container: 'b'"), ElementsAre("b/4"));
}

// The containers are of another storage, in which "b" is deleted already.
TEST(HoldListTest, APageThatLosesHoldsOfADeletedContainerIsNotTheLast) {
  StorageForTest holds;
  StorageForTest containers;
  for (StorageForTest* storage : {&holds, &containers}) {
    for (const char* id : {"a", "b", "c"}) storage->Create(id, 10);
  }
  for (const char* id : {"a", "b", "c"}) PlaceOnAll(holds, id, "1");
  PlaceOnAll(holds, "b", "2");
  ASSERT_THAT(containers.Delete("b"), IsOk());
  FakeClock clock;
  const GuardedClock guarded_clock(clock, std::nullopt);
  const HoldService service(containers->containers(), holds->holds(), guarded_clock);
  auto request = Proto<v1::ListHoldsRequest>("page_size: 2");
  v1::ListHoldsResponse first;
  ASSERT_THAT(service.List(request, first), IsOk());
  ASSERT_EQ(first.holds_size(), 1);
  EXPECT_EQ(first.holds(0).container(), "a");
  ASSERT_NE(first.next_page_token(), "");
  ASSERT_TRUE(DeleteByForce(holds, "b").ok());
  request.set_page_token(first.next_page_token());
  v1::ListHoldsResponse second;
  ASSERT_THAT(service.List(request, second), IsOk());
  ASSERT_EQ(second.holds_size(), 1);
  EXPECT_EQ(second.holds(0).container(), "c");
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(HoldServiceTest, ATokenOfAnotherContainerIsRefused) {
  ASSERT_THAT(Place("1", "all_items: true"), IsOk());
  ASSERT_THAT(Place("2", "all_items: true"), IsOk());
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>("container { id: 'b' }")),
              IsOk());
  auto request = Proto<v1::ListHoldsRequest>("container: 'c' page_size: 1");
  const auto first = Call(sidecar_.holds(), &HoldStub::ListHolds, request);
  ASSERT_THAT(first, IsOk());
  request.set_container("b");
  request.set_page_token(first->next_page_token());
  EXPECT_THAT(Call(sidecar_.holds(), &HoldStub::ListHolds, request),
              IsInvalid("page_token is of a list of container \"c\""));
}

TEST_F(HoldServiceTest, TheKeysOfAHoldAreListedInPages) {
  ASSERT_THAT(Place("h", "keys { keys { id: '3' } keys { id: '1' } }"), IsOk());
  ASSERT_THAT(Place("h", "keys { keys { id: '2' } keys { id: '1' } }"), IsOk());
  auto request = Proto<v1::ListHeldKeysRequest>("container: 'c' hold_id: 'h' page_size: 2");
  const auto first = Call(sidecar_.holds(), &HoldStub::ListHeldKeys, request);
  ASSERT_THAT(first, IsOk());
  ASSERT_EQ(first->keys_size(), 2);
  EXPECT_EQ(first->keys(0).id(), "1");
  EXPECT_EQ(first->keys(1).id(), "2");
  request.set_page_token(first->next_page_token());
  const auto second = Call(sidecar_.holds(), &HoldStub::ListHeldKeys, request);
  ASSERT_THAT(second, IsOk());
  ASSERT_EQ(second->keys_size(), 1);
  EXPECT_EQ(second->keys(0).id(), "3");
  EXPECT_EQ(second->next_page_token(), "");
}

TEST_F(HoldServiceTest, AReleasedHoldIsGoneAtOnce) {
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  EXPECT_TRUE(Container().has_holds());
  EXPECT_EQ(Status().hold_counts().holds(), 1);
  EXPECT_EQ(Status().hold_counts().on_all_items(), 1);
  ASSERT_THAT(Release("h"), IsOk());
  EXPECT_FALSE(Container().has_holds());
  EXPECT_THAT(List(""), IsEmpty());
  EXPECT_THAT(Release("h"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(HoldServiceTest, AHoldSurvivesARestart) {
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  sidecar_.Restart();
  EXPECT_THAT(List(""), ElementsAre("c/h"));
  EXPECT_THAT(Status().holds(), Contains(v1::DELETE_HOLD_HELD));
}

TEST_F(HoldServiceTest, AContainerWithHoldsIsDeletedByForceOnly) {
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  const auto remove = [this](const std::string& fields) {
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::DeleteContainer,
                Proto<v1::DeleteContainerRequest>(absl::StrCat("id: 'c' ", fields)))
        .status();
  };
  EXPECT_THAT(remove(""), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(remove("force: true"), IsOk());
  EXPECT_THAT(List(""), IsEmpty());
}

TEST_F(HoldServiceTest, AnIndexWithHoldsIsTakenAwayByForceOnly) {
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  const std::string none = "indexing_mode: INDEXING_MODE_NONE";
  EXPECT_THAT(Update(none, "*"), StatusIs(absl::StatusCode::kFailedPrecondition));
  auto preview = Proto<v1::UpdateContainerRequest>(
      "container { id: 'c' indexing_mode: INDEXING_MODE_NONE } update_mask { paths: '*' } "
      "validate_only: true");
  EXPECT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer, preview),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const CapturedLog log;
  EXPECT_THAT(Update(none, "*", /*force=*/true), IsOk());
  const std::string said = "holds disregarded because of force: container=\"c\" holds=1";
  EXPECT_THAT(log.text(), HasSubstr(said));
  EXPECT_THAT(List(""), ElementsAre("c/h")) << "the hold is kept";
  EXPECT_THAT(Update("show_held: true", "show_held", /*force=*/true), IsOk());
  EXPECT_EQ(log.text().find(said), log.text().rfind(said)) << "there was no index to take away";
}

TEST_F(HoldServiceTest, AHoldStopsTheDeleteAndNotTheExpiry) {
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now() - 20), IsOk());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(CheckStreamed("a"), v1::VISIBILITY_EXPIRED);
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(sidecar_.List(), IsEmpty());
}

TEST_F(HoldServiceTest, WithShowHeldHeldItemsStayReadable) {
  ASSERT_THAT(Update("show_held: true", "show_held"), IsOk());
  ASSERT_THAT(Place("h", "keys { keys { partition_key: 'p' id: 'held' } }"), IsOk());
  for (const char* id : {"held", "free"}) {
    ASSERT_THAT(sidecar_.Track(id, sidecar_.Now() - 20), IsOk());
  }
  EXPECT_EQ(sidecar_.Check("held"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(CheckCarrying("held"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(CheckStreamed("held"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.Check("free"), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(CheckCarrying("free"), v1::VISIBILITY_EXPIRED);
  ASSERT_THAT(sidecar_.Get("held"), IsOk());
  EXPECT_TRUE(sidecar_.Get("held")->expired());
  EXPECT_THAT(sidecar_.Get("free"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(sidecar_.List(), ElementsAre("held"));
  EXPECT_EQ(Status().items().expired_items(), 2) << "counts stay as expired";
  ASSERT_THAT(Release("h"), IsOk());
  EXPECT_EQ(sidecar_.Check("held"), v1::VISIBILITY_EXPIRED);
}

TEST_F(HoldServiceTest, WhileHoldsAreInDoubtAnExpiredItemIsNeitherShownNorHidden) {
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::DeleteContainer,
                   Proto<v1::DeleteContainerRequest>("id: 'c'")),
              IsOk());
  ASSERT_THAT(
      Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
           Proto<v1::CreateContainerRequest>(
               "container { id: 'c' default_ttl: 10 show_held: true requires_holds: true }")),
      IsOk());
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now() - 20), IsOk());
  ASSERT_THAT(sidecar_.Track("b", sidecar_.Now() - 20), IsOk());
  ASSERT_THAT(Place("h", "keys { keys { partition_key: 'p' id: 'b' } }"), IsOk());
  EXPECT_THAT(Status().holds(), Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ(CheckCarrying("a"), v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ(sidecar_.Check("b"), v1::VISIBILITY_VISIBLE) << "this hold is known";
  EXPECT_THAT(sidecar_.Get("a"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("a hold covers the item")));
  v1::AcceptHoldsRequest accept;
  accept.set_container("c");
  ASSERT_THAT(Call(sidecar_.holds(), &HoldStub::AcceptHolds, accept), IsOk());
  EXPECT_THAT(Status().holds(), Not(Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT)));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_EXPIRED);
  sidecar_.Restart();
  EXPECT_THAT(Status().holds(), Not(Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT)));
}

TEST_F(HoldServiceTest, ExplainNamesTheHoldsOfAnItem) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now() - 20), IsOk());
  ASSERT_THAT(Place("by key", "keys { keys { partition_key: 'p' id: 'a' } }"), IsOk());
  ASSERT_THAT(Place("by partition", "partition_key: 'p'"), IsOk());
  ASSERT_THAT(Place("elsewhere", "partition_key: 'q'"), IsOk());
  const auto answer = Explain("a");
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer->item_holds_size(), 2);
  EXPECT_EQ(answer->item_holds(0).hold_id(), "by key");
  EXPECT_EQ(answer->item_holds(1).hold_id(), "by partition");
  EXPECT_THAT(answer->holds(), Contains(v1::DELETE_HOLD_HELD));
  EXPECT_THAT(answer->explanation(),
              AllOf(HasSubstr("holds \"by key\" (reason \"an audit\", until it is released)"),
                    HasSubstr("cover it")));
}

// The index knows that an item is due even if the number of those set aside does not.
TEST_F(HoldServiceTest, AnItemThatIsSetAsideAndLivesAgainHidesNoDueItem) {
  ASSERT_THAT(Place("h", "keys { keys { partition_key: 'p' id: 'a' } }"), IsOk());
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now() - 20), IsOk());
  SetAside("a");
  EXPECT_EQ(BacklogOfForecast(), 0);
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now()), IsOk());
  ASSERT_THAT(sidecar_.Track("b", sidecar_.Now() - 20), IsOk());
  EXPECT_EQ(BacklogOfForecast(), 1);
  EXPECT_EQ(Status().backlog(), 1);
}

TEST_F(HoldServiceTest, ExplainAnswersEvenIfTheHoldsOfTheItemCannotBeRead) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now() - 20), IsOk());
  ASSERT_THAT(Place("h", "keys { keys { partition_key: 'p' id: 'a' } }"), IsOk());
  const std::string record = KeyHoldsKey(sidecar_.storage().Find("c")->number, KeyOf("a"));
  std::string sound;
  sidecar_.Restart([&] { sound = SwapRecord(record, "\xff"); });
  const auto answer = Explain("a");
  sidecar_.Restart([&] { SwapRecord(record, sound); });
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->item_holds_size(), 0);
  EXPECT_THAT(answer->holds(), Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT));
  EXPECT_THAT(answer->explanation(),
              AllOf(HasSubstr("Its holds cannot be read ("), HasSubstr("), so it is kept.")));
  EXPECT_EQ(Explain("a")->item_holds_size(), 1);
}

TEST_F(HoldServiceTest, AWatcherHearsThatAContainerHasHolds) {
  grpc::ClientContext context;
  v1::WatchContainersRequest request;
  const auto stream = sidecar_.containers().WatchContainers(&context, request);
  v1::WatchContainersResponse message;
  ASSERT_TRUE(stream->Read(&message));
  ASSERT_EQ(message.containers_size(), 1);
  EXPECT_FALSE(message.containers(0).has_holds());
  ASSERT_THAT(Place("h", "all_items: true"), IsOk());
  ASSERT_TRUE(ReadChange(*stream, message));
  ASSERT_EQ(message.containers_size(), 1);
  EXPECT_TRUE(message.containers(0).has_holds());
  context.TryCancel();
}

TEST_F(HoldServiceTest, AContainerHasHoldsForItsWatchersUntilItsHoldsAreAccepted) {
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                   Proto<v1::CreateContainerRequest>("container { id: 'd' requires_holds: true }")),
              IsOk());
  grpc::ClientContext context;
  const auto stream = sidecar_.containers().WatchContainers(&context, v1::WatchContainersRequest());
  v1::WatchContainersResponse message;
  ASSERT_TRUE(stream->Read(&message));
  ASSERT_EQ(message.containers_size(), 2);
  EXPECT_FALSE(message.containers(0).has_holds());
  EXPECT_TRUE(message.containers(1).has_holds()) << "it may have holds";
  v1::AcceptHoldsRequest accept;
  accept.set_container("d");
  ASSERT_THAT(Call(sidecar_.holds(), &HoldStub::AcceptHolds, accept), IsOk());
  ASSERT_TRUE(ReadChange(*stream, message));
  ASSERT_EQ(message.containers_size(), 1);
  EXPECT_FALSE(message.containers(0).has_holds()) << "none stands";
  context.TryCancel();
}

TEST_F(HoldServiceTest, AWatcherThatDoesNotKnowShowHeldIsNotToldOfTheContainer) {
  ASSERT_THAT(Update("show_held: true", "show_held"), IsOk());
  const auto containers_told = [this](bool knows) {
    grpc::ClientContext context;
    v1::WatchContainersRequest request;
    if (knows) request.add_rules(v1::JUDGING_RULE_SHOW_HELD);
    const auto stream = sidecar_.containers().WatchContainers(&context, request);
    v1::WatchContainersResponse message;
    EXPECT_TRUE(stream->Read(&message));
    context.TryCancel();
    return message.containers_size();
  };
  EXPECT_EQ(containers_told(false), 0);
  EXPECT_EQ(containers_told(true), 1);
}

TEST_F(HoldServiceTest, AnAdminPlacesAndAReaderLists) {
  RpcSidecar::Options options;
  options.roles = {Role::kReader};
  RpcSidecar reader(options);
  v1::ListHoldsRequest list;
  EXPECT_THAT(Call(reader.holds(), &HoldStub::ListHolds, list), IsOk());
  const auto refused = StatusIs(absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(Call(reader.holds(), &HoldStub::PlaceHold, v1::PlaceHoldRequest()), refused);
  EXPECT_THAT(Call(reader.holds(), &HoldStub::ReleaseHold, v1::ReleaseHoldRequest()), refused);
  EXPECT_THAT(Call(reader.holds(), &HoldStub::AcceptHolds, v1::AcceptHoldsRequest()), refused);
}

}  // namespace
}  // namespace ttl
