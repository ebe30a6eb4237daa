
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ContainerStub = v1::ContainerService::Stub;

class ContainerServiceTest : public testing::Test {
 protected:
  absl::StatusOr<v1::CreateContainerResponse> Create(const std::string& container) {
    return Call(sidecar_.containers(), &ContainerStub::CreateContainer,
                Proto<v1::CreateContainerRequest>("container { " + container + " }"));
  }
  absl::StatusOr<v1::GetContainerResponse> Get(const std::string& id) {
    v1::GetContainerRequest request;
    request.set_id(id);
    return Call(sidecar_.containers(), &ContainerStub::GetContainer, request);
  }
  absl::StatusOr<v1::UpdateContainerResponse> Update(const std::string& text) {
    return Call(sidecar_.containers(), &ContainerStub::UpdateContainer,
                Proto<v1::UpdateContainerRequest>(text));
  }
  absl::StatusOr<v1::DeleteContainerResponse> Delete(const std::string& text) {
    return Call(sidecar_.containers(), &ContainerStub::DeleteContainer,
                Proto<v1::DeleteContainerRequest>(text));
  }
  absl::StatusOr<v1::ListContainersResponse> List(const std::string& text) {
    return Call(sidecar_.containers(), &ContainerStub::ListContainers,
                Proto<v1::ListContainersRequest>(text));
  }

  RpcSidecar sidecar_;
};

TEST_F(ContainerServiceTest, ACreatedContainerReadsBackAsItWasGiven) {
  const auto created = Create(
      "id: 'salesdb/orders' default_ttl: 60 indexing_mode: INDEXING_MODE_LAZY etag: 'mine' "
      "delete_policy { max_deletes_per_second: 0.1 delay { seconds: 30 } }");
  ASSERT_THAT(created, IsOk());
  const v1::Container& container = created->container();
  EXPECT_EQ(container.id(), "salesdb/orders");
  EXPECT_EQ(container.default_ttl(), 60);
  EXPECT_EQ(container.indexing_mode(), v1::INDEXING_MODE_LAZY);
  EXPECT_EQ(container.delete_policy().max_deletes_per_second(), 0.1);
  EXPECT_EQ(container.delete_policy().delay().seconds(), 30);
  EXPECT_NE(container.etag(), "mine");
  EXPECT_EQ(container.create_time().seconds(), sidecar_.Now());
  EXPECT_EQ(container.update_time().seconds(), sidecar_.Now());
  EXPECT_EQ(container.index_progress().state(), v1::INDEX_STATE_READY);
  EXPECT_EQ(Get("salesdb/orders")->container().SerializeAsString(), container.SerializeAsString());
  sidecar_.Restart();
  EXPECT_EQ(Get("salesdb/orders")->container().SerializeAsString(), container.SerializeAsString());
}

// Nobody knows which clock is right until one is accepted.
TEST_F(ContainerServiceTest, AStricterPolicyHasItsGraceByWhicheverClockIsAccepted) {
  ASSERT_THAT(Create("id: 'c' default_ttl: 3600"), IsOk());
  sidecar_.clock().StepWall(absl::Hours(1));
  sidecar_.guarded_clock().Tick();
  ASSERT_TRUE(sidecar_.guarded_clock().Status().suspect);
  ASSERT_THAT(Update("container { id: 'c' default_ttl: 1 } update_mask { paths: 'default_ttl' }"),
              IsOk());
  ASSERT_TRUE(sidecar_.guarded_clock().AcceptWall().ok());
  const ContainerPtr container = sidecar_.storage().Find("c");
  ASSERT_THAT(container->replaced_policies, SizeIs(1));
  EXPECT_EQ(container->replaced_policies[0].until,
            absl::FromUnixSeconds(sidecar_.Now()) + ContainerServiceOptions().policy_grace);
}

TEST_F(ContainerServiceTest, AnUnspecifiedIndexingModeIsConsistent) {
  EXPECT_EQ(Create("id: 'c'")->container().indexing_mode(), v1::INDEXING_MODE_CONSISTENT);
}

TEST_F(ContainerServiceTest, BadContainersAreRefusedAndNotCreated) {
  EXPECT_THAT(Create(""), IsInvalid("container id"));
  EXPECT_THAT(Create(absl::StrCat("id: '", std::string(256, 'x'), "'")), IsInvalid("256 bytes"));
  EXPECT_THAT(Create("id: 'a\\nb'"), IsInvalid("control characters"));
  EXPECT_THAT(Create("id: 'c' default_ttl: 0"), IsInvalid("default_ttl is 0"));
  EXPECT_THAT(Create("id: 'c' indexing_mode: 17"), IsInvalid("indexing_mode is 17"));
  EXPECT_THAT(Create("id: 'c' delete_policy { max_deletes_per_second: nan }"),
              IsInvalid("max_deletes_per_second"));
  EXPECT_THAT(Create("id: 'c' delete_policy { delay { seconds: 1 nanos: 5 } }"),
              IsInvalid("delete_policy.delay", "whole seconds"));
  EXPECT_THAT(Create("id: 'c' default_ttl: 60 indexing_mode: INDEXING_MODE_NONE"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(List("")->containers(), IsEmpty());
}

TEST_F(ContainerServiceTest, AnIdLivesOnce) {
  ASSERT_THAT(Create("id: 'c' default_ttl: 60"), IsOk());
  EXPECT_THAT(Create("id: 'c'"), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(Get("c")->container().default_ttl(), 60);
}

TEST_F(ContainerServiceTest, AnUnknownContainerIsNotFound) {
  EXPECT_THAT(Get("c"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"c\"")));
  EXPECT_THAT(Get(""), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Update("container { id: 'c' } update_mask { paths: '*' }"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Delete("id: 'c'"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ContainerServiceTest, AnIdTooLongForTheAnswersMetadataIsNotFoundToo) {
  EXPECT_THAT(Get(std::string(1 << 20, 'x')), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ContainerServiceTest, ListsInTheOrderOfIdsPageByPage) {
  for (const char* id : {"b", "a/2", "c", "a", "a/10"}) {
    ASSERT_THAT(Create(absl::StrCat("id: '", id, "'")), IsOk());
  }
  for (const int page_size : {1, 2, 3, 5, 100}) {
    std::vector<std::string> ids;
    std::string token;
    int pages = 0;
    do {
      const auto page = List(absl::StrCat("page_size: ", page_size, " page_token: '", token, "'"));
      ASSERT_THAT(page, IsOk());
      for (const auto& container : page->containers()) ids.push_back(container.id());
      token = page->next_page_token();
      ++pages;
    } while (!token.empty());
    EXPECT_THAT(ids, ElementsAre("a", "a/10", "a/2", "b", "c")) << page_size;
    EXPECT_EQ(pages, (5 + page_size - 1) / page_size) << page_size;
  }
  EXPECT_THAT(List("page_size: -1"), IsInvalid("page_size is -1"));
  EXPECT_THAT(List("page_token: 'broken'"), IsInvalid("page_token is \"broken\""));
}

TEST_F(ContainerServiceTest, AnUpdateMovesEtagAndUpdateTimeAndLeavesTheRest) {
  const auto created = Create("id: 'c' default_ttl: 60 delete_policy { delay { seconds: 5 } }");
  ASSERT_THAT(created, IsOk());
  sidecar_.clock().Advance(absl::Seconds(30));
  const auto updated = Update(
      "container { id: 'c' default_ttl: -1 delete_policy { delay { seconds: 9 } } } "
      "update_mask { paths: 'default_ttl' }");
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->container().default_ttl(), -1);
  EXPECT_EQ(updated->container().delete_policy().delay().seconds(), 5);
  EXPECT_NE(updated->container().etag(), created->container().etag());
  EXPECT_EQ(updated->container().create_time().seconds(), sidecar_.Now() - 30);
  EXPECT_EQ(updated->container().update_time().seconds(), sidecar_.Now());
}

TEST_F(ContainerServiceTest, ARefusedUpdateChangesNothing) {
  const std::string before = Create("id: 'c' default_ttl: 60")->container().SerializeAsString();
  EXPECT_THAT(Update("container { id: 'c' default_ttl: 5 }"), IsInvalid("update_mask is empty"));
  EXPECT_THAT(Update("container { id: 'c' default_ttl: 5 } "
                     "update_mask { paths: 'default_ttl' paths: 'ttl' }"),
              IsInvalid("update_mask names \"ttl\""));
  EXPECT_THAT(Update("container { id: 'c' default_ttl: 5 delete_policy { delay { seconds: -1 } } } "
                     "update_mask { paths: '*' }"),
              IsInvalid("delete_policy.delay is -1"));
  EXPECT_THAT(Update("container { id: 'c' default_ttl: 5 etag: 'old' } "
                     "update_mask { paths: 'default_ttl' }"),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("container.etag is \"old\"")));
  EXPECT_EQ(Get("c")->container().SerializeAsString(), before);
}

TEST_F(ContainerServiceTest, AnUpdateOfTheVersionThatWasReadGoesThroughOnce) {
  const std::string etag = Create("id: 'c'")->container().etag();
  const std::string update = absl::StrCat("container { id: 'c' default_ttl: 5 etag: '", etag,
                                          "' } update_mask { paths: 'default_ttl' }");
  EXPECT_THAT(Update(update), IsOk());
  EXPECT_THAT(Update(update), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(ContainerServiceTest, DeletesOnlyTheGivenVersion) {
  const std::string etag = Create("id: 'c'")->container().etag();
  EXPECT_THAT(Delete("id: 'c' etag: 'other'"), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(Get("c"), IsOk());
  EXPECT_THAT(Delete(absl::StrCat("id: 'c' etag: '", etag, "'")), IsOk());
  EXPECT_THAT(Get("c"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ContainerServiceTest, ARecreatedContainerKnowsNothingOfItsNamesake) {
  const std::string etag = Create("id: 'c' default_ttl: -1")->container().etag();
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 100), IsOk());
  ASSERT_THAT(Delete("id: 'c'"), IsOk());
  const auto again = Create("id: 'c'");
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(again->container().etag(), etag);
  EXPECT_FALSE(again->container().has_default_ttl());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_UNTRACKED);
  EXPECT_THAT(sidecar_.List(true), IsEmpty());
}

// A change of policy is answered only once no delete of the old policy is on its
// way, and none can start meanwhile.
TEST_F(ContainerServiceTest, ChangesWaitForDeletesOnTheirWay) {
  for (const bool by_update : {true, false}) {
    ASSERT_THAT(Create("id: 'c' default_ttl: 60"), IsOk());
    const uint64_t number = sidecar_.storage().Find("c")->number;
    DeleteGate& gate = sidecar_.storage()->delete_gate();
    std::optional<DeleteGate::Pass> pass = gate.TryEnter(number);
    ASSERT_TRUE(pass.has_value());
    auto change = std::async(std::launch::async, [&] {
      return by_update
                 ? Update("container { id: 'c' } update_mask { paths: 'default_ttl' }").status()
                 : Delete("id: 'c'").status();
    });
    ASSERT_TRUE(WaitUntil([&] { return gate.IsClosed(number); }));
    EXPECT_FALSE(gate.TryEnter(number).has_value());
    EXPECT_EQ(change.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    EXPECT_THAT(Get("c"), IsOk());
    pass.reset();
    EXPECT_THAT(change.get(), IsOk());
    EXPECT_FALSE(gate.IsClosed(number));
    if (by_update) {
      ASSERT_THAT(Delete("id: 'c'"), IsOk());
    }
  }
}

TEST_F(ContainerServiceTest, StorageThatRefusesWritesIsUnavailable) {
  ASSERT_THAT(Create("id: 'c' default_ttl: 60"), IsOk());
  sidecar_.storage().env().FailWrites(true);
  EXPECT_THAT(Create("id: 'd'"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Update("container { id: 'c' } update_mask { paths: 'default_ttl' }"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(Get("c")->container().default_ttl(), 60);
  sidecar_.storage().env().FailWrites(false);
}

TEST_F(ContainerServiceTest, EveryChangeIsOneLogLineWithOldAndNewValues) {
  const CapturedLog log;
  ASSERT_THAT(Create("id: 'a b'"), IsOk());
  ASSERT_THAT(Update("container { id: 'a b' default_ttl: 5 } update_mask { paths: 'default_ttl' }"),
              IsOk());
  ASSERT_THAT(Get("a b"), IsOk());
  ASSERT_THAT(Update("container { id: 'a b' } update_mask { paths: 'nonsense' }"), IsInvalid(""));
  ASSERT_THAT(Delete("id: 'a b'"), IsOk());
  const std::string rest =
      " indexing_mode=INDEXING_MODE_CONSISTENT max_deletes_per_second=absent delay_seconds=0 "
      "request_units_per_second=absent request_units_per_delete=absent min_deletes_per_second=0 "
      "brake=absent windows=absent show_held=false requires_holds=false feed=absent "
      "allow_touch=false}";
  EXPECT_EQ(log.text(),
            absl::StrCat(
                "info container created: container=\"a b\" new={default_ttl=absent", rest,
                "\ninfo container updated: container=\"a b\" old={default_ttl=absent", rest,
                " new={default_ttl=5", rest,
                " brakes_pulled=none\ninfo container deleted: container=\"a b\" old={default_ttl=5",
                rest, "\n"));
}

}  // namespace
}  // namespace ttl
