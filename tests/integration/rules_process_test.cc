// The TTL rules as the real process answers them, by the real clock.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

constexpr auto kVisible = v1::VISIBILITY_VISIBLE;
constexpr auto kExpired = v1::VISIBILITY_EXPIRED;

class RulesProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sidecar_.Start().ok());
    items_ = v1::ItemService::NewStub(sidecar_.channel());
  }

  // One check of an item whose partition key is its id, as SidecarCalls tracks it.
  v1::CheckVisibilityResponse Check(const std::string& container, const std::string& id) {
    v1::CheckVisibilityRequest request;
    request.set_container(container);
    request.add_checks()->set_id(id);
    request.mutable_checks(0)->set_partition_key(id);
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    v1::CheckVisibilityResponse response;
    const grpc::Status status = items_->CheckVisibility(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static SidecarProcessOptions In(const std::string& dir) {
    SidecarProcessOptions options;
    options.dir = dir;
    return options;
  }

  const TempDir dir_;
  SidecarProcess sidecar_{In(dir_.path())};
  SidecarCalls calls_{sidecar_.channel()};
  std::unique_ptr<v1::ItemService::Stub> items_;
};

TEST_F(RulesProcessTest, TheThreeByThreeTable) {
  struct Case {
    const char* name;
    std::optional<int64_t> default_ttl;
    std::optional<int64_t> ttl;
    std::optional<int64_t> expires_after;
  };
  const Case cases[] = {
      {"off, absent", {}, {}, {}},       {"-1, absent", -1, {}, {}}, {"n, absent", 500, {}, 500},
      {"off, -1", {}, -1, {}},           {"-1, -1", -1, -1, {}},     {"n, -1", 500, -1, {}},
      {"off, m", {}, 100, {}},           {"-1, m", -1, 100, 100},    {"n, m", 500, 100, 100},
      {"n, m above n", 500, 9000, 9000},
  };
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string container = absl::StrCat("table/", c.name);
    ASSERT_TRUE(calls_.CreateContainer(container, c.default_ttl).ok());
    ASSERT_TRUE(calls_.Track(container, "fresh", now, c.ttl).ok());
    ASSERT_TRUE(calls_.Track(container, "old", now - 10'000, c.ttl).ok());
    const auto fresh = Check(container, "fresh");
    EXPECT_EQ(fresh.visibilities(0), kVisible);
    EXPECT_EQ(fresh.expire_times(0), c.expires_after.has_value() ? now + *c.expires_after : 0);
    EXPECT_EQ(Check(container, "old").visibilities(0),
              c.expires_after.has_value() ? kExpired : kVisible);
  }
}

TEST_F(RulesProcessTest, AnItemIsVisibleUpToItsSecondAndExpiredFromItOn) {
  // Long enough that a machine which stands still for seconds sees it visible, too.
  constexpr int64_t kTtl = 6;
  ASSERT_TRUE(calls_.CreateContainer("c", kTtl).ok());
  const int64_t ts = absl::ToUnixSeconds(absl::Now());
  ASSERT_TRUE(calls_.Track("c", "a", ts).ok());
  int visible = 0;
  // Every answer is held against the instant that it names.
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto answer = Check("c", "a");
        const bool expired = answer.judged_at().seconds() >= ts + kTtl;
        EXPECT_EQ(answer.visibilities(0), expired ? kExpired : kVisible)
            << answer.judged_at().seconds() << "." << answer.judged_at().nanos();
        if (!expired) ++visible;
        return expired;
      },
      absl::Seconds(30)));
  EXPECT_GT(visible, 0);
}

}  // namespace
}  // namespace ttl
