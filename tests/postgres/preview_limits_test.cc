// How long a preview says that deletes take, and by which limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "client/postgres/program/preview/sidecar_view.h"
#include "client/postgres/program/preview/table_preview.h"
#include "tests/testing/rpc_sidecar.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(PreviewLimitsTest, RowsTakeAsLongAsTheLimitSays) {
  EXPECT_EQ(DeletesTake(36000, {10, "said so"}, "deleting them"),
            "deleting them takes about 1h at the limit of 10 rows per second (said so)");
  EXPECT_EQ(DeletesTake(1, {0.5, "x"}, "marking them"),
            "marking them takes about 2s at the limit of 0.5 rows per second (x)");
  EXPECT_EQ(DeletesTake(5, {0, "x"}, "deleting them"),
            "deleting them does not begin: the limit is 0 rows per second (x)");
  EXPECT_THAT(DeletesTake(90000, {std::nullopt, "none is set"}, "deleting them"),
              AllOf(HasSubstr("has no limit (none is set)"), HasSubstr("about 1m30s")));
}

// A container with this limit of its own.
void Create(const RpcSidecar& sidecar, const std::string& id, std::optional<double> limit,
            std::optional<int64_t> default_ttl = std::nullopt) {
  TtlClientOptions options;
  options.address = sidecar.address();
  v1::Container container;
  container.set_id(id);
  if (default_ttl.has_value()) container.set_default_ttl(*default_ttl);
  if (limit.has_value()) container.mutable_delete_policy()->set_max_deletes_per_second(*limit);
  ASSERT_TRUE(TtlClient(options).containers().Create(container).ok());
}

TEST(PreviewLimitsTest, TheLowerOfTheSidecarsLimitAndTheContainersCounts) {
  RpcSidecar::Options options;
  options.max_deletes_per_second = 50;
  RpcSidecar sidecar(options);
  Create(sidecar, "slow", 10);
  Create(sidecar, "fast", 1000);
  Create(sidecar, "none", std::nullopt);
  const SidecarView view = SidecarView::Read(sidecar.address());
  EXPECT_EQ(view.LimitOf("slow").per_second, 10);
  EXPECT_EQ(view.LimitOf("slow").from, "the container's max_deletes_per_second");
  for (const char* container : {"fast", "none"}) {
    EXPECT_EQ(view.LimitOf(container).per_second, 50) << container;
    EXPECT_THAT(view.LimitOf(container).from, HasSubstr("all containers share")) << container;
  }
  EXPECT_EQ(view.LimitOf("unknown").per_second, 50);
  EXPECT_THAT(view.LimitOf("unknown").from, HasSubstr("; the container does not exist yet"));
}

TEST(PreviewLimitsTest, LimitThatTheSidecarHasForEachContainerCounts) {
  RpcSidecar::Options options;
  options.container_max_deletes_per_second = 20;
  RpcSidecar sidecar(options);
  Create(sidecar, "none", std::nullopt);
  const DeleteLimit limit = SidecarView::Read(sidecar.address()).LimitOf("none");
  EXPECT_EQ(limit.per_second, 20);
  EXPECT_EQ(limit.from, "what the sidecar allows the container now");
}

TEST(PreviewLimitsTest, NoLimitIsSaidWithWhereItIsKnownFrom) {
  RpcSidecar sidecar;
  Create(sidecar, "none", std::nullopt);
  const DeleteLimit none = SidecarView::Read(sidecar.address()).LimitOf("none");
  EXPECT_EQ(none.per_second, std::nullopt);
  EXPECT_EQ(none.from, "neither the sidecar nor the container sets one");
  const DeleteLimit unknown = SidecarView::Read("unix:/nowhere.sock").LimitOf("none");
  EXPECT_EQ(unknown.per_second, std::nullopt);
  EXPECT_THAT(unknown.from, HasSubstr("the sidecar at unix:/nowhere.sock does not answer"));
}

TEST(PreviewLimitsTest, ContainerIsOnOnceItHasADefaultTtl) {
  RpcSidecar sidecar;
  Create(sidecar, "off", std::nullopt);
  Create(sidecar, "on", std::nullopt, -1);
  const SidecarView view = SidecarView::Read(sidecar.address());
  EXPECT_FALSE(view.IsOn("off"));
  EXPECT_TRUE(view.IsOn("on"));
  EXPECT_FALSE(view.IsOn("unknown"));
  EXPECT_FALSE(SidecarView::Read("unix:/nowhere.sock").IsOn("on"));
}

}  // namespace
}  // namespace ttl::postgres
