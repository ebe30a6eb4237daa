#include "client/postgres/policy/watched_policies.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/rpc_proto.h"

namespace ttl::postgres {
namespace {

v1::WatchContainersResponse Message(const std::string& event, const std::string& rest) {
  return Proto<v1::WatchContainersResponse>(absl::StrCat("event: WATCH_EVENT_", event, " ", rest));
}

class WatchedPoliciesTest : public testing::Test {
 protected:
  bool Apply(const std::string& event, const std::string& rest = "") {
    return policies_.Apply(Message(event, rest));
  }

  // "off", a number, "not there", or "unknown".
  std::string Policy(const std::string& container) const {
    if (!policies_.current().has_value()) return "unknown";
    const WatchedPolicy policy = policies_.current()->containers.at(container);
    if (!policy.exists) return "not there";
    return policy.default_ttl.has_value() ? absl::StrCat(*policy.default_ttl) : "off";
  }

  WatchedPolicies policies_{{"a", "b"}};
};

TEST_F(WatchedPoliciesTest, NothingIsKnownBeforeASnapshotIsComplete) {
  EXPECT_FALSE(Apply("HEARTBEAT"));
  EXPECT_FALSE(Apply("CHANGE", "containers { id: 'a' default_ttl: 1 }"));
  EXPECT_FALSE(Apply("SNAPSHOT_PART", "containers { id: 'a' default_ttl: 1 }"));
  EXPECT_EQ(Policy("a"), "unknown");
  EXPECT_TRUE(Apply("SNAPSHOT_END", "revision: 7 containers { id: 'b' }"));
  EXPECT_EQ(Policy("a"), "1");
  EXPECT_EQ(Policy("b"), "off");
  EXPECT_EQ(policies_.current()->revision, 7u);
}

TEST_F(WatchedPoliciesTest, ChangesAreFollowed) {
  Apply("SNAPSHOT_END", "containers { id: 'a' default_ttl: 1 }");
  EXPECT_EQ(Policy("b"), "not there");
  EXPECT_TRUE(Apply("CHANGE", "revision: 8 containers { id: 'b' default_ttl: -1 }"));
  EXPECT_EQ(Policy("a"), "1");
  EXPECT_EQ(Policy("b"), "-1");
  EXPECT_EQ(policies_.current()->revision, 8u);
  EXPECT_TRUE(Apply("CHANGE", "deleted_containers: 'a'"));
  EXPECT_EQ(Policy("a"), "not there");
  EXPECT_TRUE(Apply("CHANGE", "deleted_containers: 'b' containers { id: 'b' default_ttl: 9 }"));
  EXPECT_EQ(Policy("b"), "9");
  EXPECT_TRUE(Apply("HEARTBEAT"));
  EXPECT_EQ(Policy("b"), "9");
}

TEST_F(WatchedPoliciesTest, HalfASnapshotChangesNothing) {
  Apply("SNAPSHOT_END", "containers { id: 'a' default_ttl: 1 }");
  policies_.Disconnect();
  EXPECT_EQ(Policy("a"), "1");
  EXPECT_FALSE(Apply("SNAPSHOT_PART", "containers { id: 'b' default_ttl: 2 }"));
  EXPECT_EQ(Policy("a"), "1");
  EXPECT_FALSE(Apply("HEARTBEAT"));
  policies_.Disconnect();
  EXPECT_TRUE(Apply("SNAPSHOT_END"));
  EXPECT_EQ(Policy("a"), "not there");
  EXPECT_EQ(Policy("b"), "not there");
}

// It stands for changes that the reader was too slow for.
TEST_F(WatchedPoliciesTest, SnapshotInsideAStreamReplacesAll) {
  Apply("SNAPSHOT_END", "containers { id: 'a' default_ttl: 1 }");
  EXPECT_FALSE(Apply("SNAPSHOT_PART", "containers { id: 'b' default_ttl: 2 }"));
  EXPECT_EQ(Policy("a"), "1");
  EXPECT_TRUE(Apply("SNAPSHOT_END"));
  EXPECT_EQ(Policy("a"), "not there");
  EXPECT_EQ(Policy("b"), "2");
}

TEST_F(WatchedPoliciesTest, PolicyThatMakesNoSenseIsOff) {
  for (const int64_t senseless : {int64_t{0}, int64_t{-2}, int64_t{2147483648}}) {
    Apply("SNAPSHOT_END", absl::StrCat("containers { id: 'a' default_ttl: ", senseless, " }"));
    EXPECT_EQ(Policy("a"), "off");
  }
}

TEST_F(WatchedPoliciesTest, HoldsAreFollowed) {
  const auto a = [&] { return policies_.current()->containers.at("a"); };
  Apply("SNAPSHOT_END", "containers { id: 'a' has_holds: true }");
  EXPECT_TRUE(a().has_holds);
  EXPECT_FALSE(a().shows_held);
  Apply("CHANGE", "containers { id: 'a' show_held: true }");
  EXPECT_FALSE(a().has_holds);
  EXPECT_TRUE(a().shows_held);
  Apply("CHANGE", "deleted_containers: 'a'");
  EXPECT_FALSE(a().shows_held);
}

TEST_F(WatchedPoliciesTest, WhereItemsMayHaveBeenTouchedNoneIsReplaced) {
  const auto a = [&] { return policies_.current()->containers.at("a"); };
  for (const char* touches : {"allow_touch: true", "has_touches: true"}) {
    Apply("SNAPSHOT_END", absl::StrCat("containers { id: 'a' ", touches, " }"));
    EXPECT_TRUE(a().may_be_touched) << touches;
    EXPECT_TRUE(a().has_holds) << touches;
    Apply("CHANGE", "containers { id: 'a' }");
    EXPECT_FALSE(a().may_be_touched);
    EXPECT_FALSE(a().has_holds);
  }
}

TEST_F(WatchedPoliciesTest, OtherContainersAreNotKept) {
  for (int i = 0; i < 1000; ++i) {
    Apply("SNAPSHOT_PART", absl::StrCat("containers { id: 'other", i, "' default_ttl: 1 }"));
  }
  Apply("SNAPSHOT_END");
  Apply("CHANGE", "containers { id: 'another' } deleted_containers: 'other1'");
  EXPECT_EQ(policies_.current()->containers.size(), 2u);
}

}  // namespace
}  // namespace ttl::postgres
