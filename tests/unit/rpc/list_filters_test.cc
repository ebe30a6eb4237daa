// The filters of ListContainers and ListItems, over a real socket.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ListFiltersTest : public ::testing::Test {
 protected:
  // The ids of all pages.
  std::vector<std::string> Containers(const std::string& filter, int page_size = 2) {
    std::vector<std::string> ids;
    v1::ListContainersRequest request = Proto<v1::ListContainersRequest>(filter);
    request.set_page_size(page_size);
    do {
      const auto page =
          Call(sidecar_.containers(), &v1::ContainerService::Stub::ListContainers, request);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) return ids;
      for (const v1::Container& container : page->containers()) ids.push_back(container.id());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return ids;
  }

  std::vector<std::string> Items(const std::string& filter, int page_size = 2) {
    std::vector<std::string> ids;
    v1::ListItemsRequest request = Proto<v1::ListItemsRequest>(filter);
    request.set_container("c");
    request.set_page_size(page_size);
    do {
      const auto page = Call(sidecar_.items(), &v1::ItemService::Stub::ListItems, request);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) return ids;
      for (const v1::ItemView& view : page->items()) ids.push_back(view.item().id());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return ids;
  }

  void CreateContainer(const std::string& id, std::optional<int64_t> default_ttl) {
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(id);
    if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer, request),
                IsOk());
  }

  // Expired an hour ago if `expired`.
  void TrackIn(const std::string& partition_key, const std::string& id, bool expired = false) {
    v1::TrackItemsRequest request;
    request.set_container("c");
    v1::Item& item = *request.add_items();
    item.set_partition_key(partition_key);
    item.set_id(id);
    item.set_ts(sidecar_.Now() - (expired ? 3660 : 0));
    item.set_ttl(60);
    ASSERT_THAT(Call(sidecar_.items(), &v1::ItemService::Stub::TrackItems, request), IsOk());
  }

  RpcSidecar sidecar_;
};

TEST_F(ListFiltersTest, ContainersByTheBeginningOfTheirIds) {
  for (const std::string id : {"a", "sales", "sales/carts", "sales/orders", "salt", "z"}) {
    CreateContainer(id, 60);
  }
  EXPECT_THAT(Containers("id_prefix: 'sales'"),
              ElementsAre("sales", "sales/carts", "sales/orders"));
  EXPECT_THAT(Containers("id_prefix: 'sales/'"), ElementsAre("sales/carts", "sales/orders"));
  EXPECT_THAT(Containers("id_prefix: 'x'"), IsEmpty());
  EXPECT_THAT(Containers("id_prefix: 'z'"), ElementsAre("z"));
  EXPECT_THAT(Containers("", 100), SizeIs(6));
}

TEST_F(ListFiltersTest, ContainersWithTtlOn) {
  CreateContainer("off", std::nullopt);
  CreateContainer("on", 60);
  CreateContainer("on, but for no default", -1);
  EXPECT_THAT(Containers("ttl_on_only: true"), ElementsAre("on", "on, but for no default"));
  EXPECT_THAT(Containers("ttl_on_only: true id_prefix: 'of'"), IsEmpty());
}

TEST_F(ListFiltersTest, AFilterFindsContainersBehindManyOthers) {
  for (int i = 0; i < 600; ++i) CreateContainer(absl::StrCat("off", 1000 + i), std::nullopt);
  CreateContainer("on", 60);
  EXPECT_THAT(Containers("ttl_on_only: true", 1), ElementsAre("on"));
}

TEST_F(ListFiltersTest, ItemsOfOnePartition) {
  CreateContainer("c", 60);
  for (const std::string partition : {"", "p", "pp", "q"}) {
    for (const std::string id : {"", "1", "2", "3"}) {
      ASSERT_NO_FATAL_FAILURE(TrackIn(partition, absl::StrCat(partition, id)));
    }
  }
  ASSERT_NO_FATAL_FAILURE(TrackIn("pp", ""));
  EXPECT_THAT(Items("partition_key: 'p'"), ElementsAre("p", "p1", "p2", "p3"));
  EXPECT_THAT(Items("partition_key: 'pp'"), ElementsAre("", "pp", "pp1", "pp2", "pp3"));
  EXPECT_THAT(Items("partition_key: 'pp'", 1), ElementsAre("", "pp", "pp1", "pp2", "pp3"));
  EXPECT_THAT(Items("partition_key: ''"), ElementsAre("", "1", "2", "3"));
  EXPECT_THAT(Items("partition_key: 'o'"), IsEmpty());
  EXPECT_THAT(Items(""), SizeIs(17));
}

TEST_F(ListFiltersTest, ATokenOfAnotherPartitionGoesOnFromThere) {
  CreateContainer("c", 60);
  for (const std::string partition : {"a", "b", "c"}) {
    ASSERT_NO_FATAL_FAILURE(TrackIn(partition, "1"));
    ASSERT_NO_FATAL_FAILURE(TrackIn(partition, "2"));
  }
  const auto page = Call(sidecar_.items(), &v1::ItemService::Stub::ListItems,
                         Proto<v1::ListItemsRequest>("container: 'c' page_size: 3"));
  ASSERT_THAT(page, IsOk());  // up to "b", "1"
  const std::string token = absl::StrCat("page_token: '", page->next_page_token(), "' ");
  EXPECT_THAT(Items(token + "partition_key: 'a'"), IsEmpty());
  EXPECT_THAT(Items(token + "partition_key: 'b'"), ElementsAre("2"));
  EXPECT_THAT(Items(token + "partition_key: 'c'"), ElementsAre("1", "2"));
}

// Storage orders partition keys by their length first.
TEST_F(ListFiltersTest, ATokenOfAPartitionOfAnotherLengthGoesOnFromThere) {
  CreateContainer("c", 60);
  ASSERT_NO_FATAL_FAILURE(TrackIn("q", "1"));
  ASSERT_NO_FATAL_FAILURE(TrackIn("q", "2"));
  ASSERT_NO_FATAL_FAILURE(TrackIn("pp", "1"));
  ASSERT_NO_FATAL_FAILURE(TrackIn("pp", "2"));
  const auto token_after = [&](int items) {
    const auto page =
        Call(sidecar_.items(), &v1::ItemService::Stub::ListItems,
             Proto<v1::ListItemsRequest>(absl::StrCat("container: 'c' page_size: ", items)));
    EXPECT_THAT(page, IsOk());
    return absl::StrCat("page_token: '", page->next_page_token(), "' ");
  };
  EXPECT_THAT(Items(token_after(1) + "partition_key: 'pp'"), ElementsAre("1", "2"));
  EXPECT_THAT(Items(token_after(3) + "partition_key: 'q'"), IsEmpty());
}

TEST_F(ListFiltersTest, OnlyExpiredItems) {
  CreateContainer("c", 60);
  ASSERT_NO_FATAL_FAILURE(TrackIn("p", "live"));
  ASSERT_NO_FATAL_FAILURE(TrackIn("p", "old", true));
  ASSERT_NO_FATAL_FAILURE(TrackIn("q", "older", true));
  EXPECT_THAT(Items("expired_only: true"), ElementsAre("old", "older"));
  EXPECT_THAT(Items("expired_only: true partition_key: 'q'"), ElementsAre("older"));
  EXPECT_THAT(Items("show_expired: true"), ElementsAre("live", "old", "older"));
}

TEST_F(ListFiltersTest, APartitionKeyThatCannotBeIsRefused) {
  CreateContainer("c", 60);
  v1::ListItemsRequest request;
  request.set_container("c");
  request.set_partition_key(std::string(2049, 'p'));
  EXPECT_THAT(Call(sidecar_.items(), &v1::ItemService::Stub::ListItems, request),
              IsInvalid("partition_key", "2048 bytes"));
}

}  // namespace
}  // namespace ttl
