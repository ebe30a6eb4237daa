#include "client/postgres/policy/policy_mirror.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/postgres/database_for_test.h"
#include "tests/testing/fake_watch_service.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"
#include "ttl/client_channel.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Minutes(1);

v1::WatchContainersResponse Message(const std::string& event, const std::string& rest = "") {
  return Proto<v1::WatchContainersResponse>(absl::StrCat("event: WATCH_EVENT_", event, " ", rest));
}

TableConfig Orders() {
  TableConfig table;
  table.container = "c";
  table.table = "orders";
  table.id = {"id"};
  table.ts_column = "ts";
  table.live_view = "orders_live";
  return table;
}

class PolicyMirrorTest : public testing::Test {
 protected:
  PolicyMirrorTest() : config_(database_.ConfigFor({Orders()})) {
    database_.Sql(
        "CREATE TABLE orders (id int PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now())");
    database_.Install(config_);
  }

  std::unique_ptr<PolicyMirror> NewMirror(const std::string& address) {
    TtlClientOptions options;
    options.address = address;
    return std::make_unique<PolicyMirror>(config_, NewClientChannel(options),
                                          [] { return absl::Now(); });
  }
  std::unique_ptr<PolicyMirror> NewMirror() { return NewMirror(sidecar_.address()); }

  // "c 60, d off".
  std::string Mirrored() {
    return database_.Value(
        "SELECT coalesce(string_agg(container || ' ' || coalesce(default_ttl::text, 'off'), ', ' "
        "ORDER BY container), 'nothing') FROM ttl.policy");
  }
  bool Becomes(const std::string& mirrored) {
    return WaitUntil([&] { return Mirrored() == mirrored; }, kPatience);
  }
  static bool BecomesSound(const PolicyMirror& mirror) {
    return WaitUntil([&] { return mirror.state().problem.empty(); }, kPatience);
  }
  static bool ComesToSay(const PolicyMirror& mirror, const std::string& problem) {
    const bool said = WaitUntil(
        [&] { return mirror.state().problem.find(problem) != std::string::npos; }, kPatience);
    if (!said) ADD_FAILURE() << "says: " << mirror.state().problem;
    return said;
  }

  void SendSnapshot(const std::string& containers) {
    sidecar_.Send(Message("SNAPSHOT_END", containers));
  }

  DatabaseForTest database_;
  Config config_;
  FakeWatchService sidecar_;
};

TEST_F(PolicyMirrorTest, PoliciesAreMirroredAndChangesFollowed) {
  const absl::Time before = absl::Now();
  const auto mirror = NewMirror();
  EXPECT_EQ(mirror->state().last_mirrored, absl::InfinitePast());
  SendSnapshot("revision: 5 containers { id: 'c' default_ttl: 60 } containers { id: 'other' }");
  EXPECT_TRUE(Becomes("c 60"));
  EXPECT_EQ(database_.Value("SELECT revision FROM ttl.policy"), "5");
  EXPECT_TRUE(BecomesSound(*mirror));
  EXPECT_GE(mirror->state().last_mirrored, before);
  sidecar_.Send(Message("CHANGE", "revision: 6 containers { id: 'c' default_ttl: -1 }"));
  EXPECT_TRUE(Becomes("c -1"));
  sidecar_.Send(Message("CHANGE", "revision: 7 containers { id: 'c' }"));
  EXPECT_TRUE(Becomes("c off"));
}

// The sidecar leaves such containers out for who does not judge by expire_at.
TEST_F(PolicyMirrorTest, ContainerWithItemsThatSayWhenTheyEndIsMirrored) {
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(60).ok());
  const auto track = Proto<v1::TrackItemsRequest>(
      "container: 'c' items { id: '1' ts: 1 ttl: -1 expire_at: 4000000000 }");
  grpc::ClientContext context;
  v1::TrackItemsResponse response;
  ASSERT_TRUE(sidecar.items().TrackItems(&context, track, &response).ok());
  const auto mirror = NewMirror(sidecar.address());
  EXPECT_TRUE(Becomes("c 60")) << Mirrored();
  EXPECT_TRUE(BecomesSound(*mirror));
}

TEST_F(PolicyMirrorTest, ContainerThatDoesNotExistIsOffAndSaid) {
  const auto mirror = NewMirror();
  SendSnapshot("");
  EXPECT_TRUE(Becomes("c off"));
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has no container \"c\""));
  sidecar_.Send(Message("CHANGE", "containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(Becomes("c 60"));
  EXPECT_TRUE(BecomesSound(*mirror));
  sidecar_.Send(Message("CHANGE", "deleted_containers: 'c'"));
  EXPECT_TRUE(Becomes("c off"));
  EXPECT_TRUE(ComesToSay(*mirror, "ttlctl containers create"));
}

TEST_F(PolicyMirrorTest, HoldsAreMirroredAsTheyComeAndGo) {
  const auto mirror = NewMirror();
  const auto becomes = [&](const std::string& held) {
    return WaitUntil([&] { return database_.Value("SELECT has_holds FROM ttl.policy") == held; },
                     kPatience);
  };
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  ASSERT_TRUE(Becomes("c 60"));
  EXPECT_TRUE(becomes("f"));
  sidecar_.Send(Message("CHANGE", "containers { id: 'c' default_ttl: 60 has_holds: true }"));
  EXPECT_TRUE(becomes("t"));
  // What others change is reverted, holds of a container that was lost stand.
  database_.Sql("UPDATE ttl.policy SET has_holds = false");
  sidecar_.Send(Message("HEARTBEAT"));
  EXPECT_TRUE(becomes("t"));
  SendSnapshot("");
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has no container \"c\""));
  EXPECT_TRUE(becomes("t"));
  sidecar_.Send(Message("CHANGE", "containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(becomes("f"));
}

// The sidecar leaves such containers out unless the request lists the rule; they would look lost.
TEST_F(PolicyMirrorTest, ContainerThatShowsHeldItemsIsMirroredAndSaid) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 show_held: true }");
  EXPECT_TRUE(Becomes("c 60"));
  EXPECT_TRUE(ComesToSay(*mirror, "container \"c\" has show_held, but SQL hides"));
  const auto rules = sidecar_.requests().at(0).rules();
  EXPECT_EQ(std::count(rules.begin(), rules.end(), v1::JUDGING_RULE_SHOW_HELD), 1);
  sidecar_.Send(Message("CHANGE", "containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(BecomesSound(*mirror));
}

TEST_F(PolicyMirrorTest, ContainerWhoseItemsMayHaveBeenTouchedIsMirroredAndSaid) {
  const auto mirror = NewMirror();
  for (const char* touches : {"allow_touch: true", "has_touches: true"}) {
    SendSnapshot(absl::StrCat("containers { id: 'c' default_ttl: 60 ", touches, " }"));
    EXPECT_TRUE(Becomes("c 60"));
    EXPECT_TRUE(ComesToSay(*mirror, "container \"c\" has or had allow_touch, but SQL hides"));
    SendSnapshot("containers { id: 'c' default_ttl: 60 }");
    EXPECT_TRUE(BecomesSound(*mirror));
  }
  const auto rules = sidecar_.requests().at(0).rules();
  EXPECT_EQ(std::count(rules.begin(), rules.end(), v1::JUDGING_RULE_TOUCH), 1);
}

// A sidecar that comes back with nothing says nothing about what is to be visible; who deletes a
// container does.
TEST_F(PolicyMirrorTest, ContainerThatTheSidecarHasLostKeepsItsPolicyUntilSomebodySaysOtherwise) {
  database_.Sql("INSERT INTO orders VALUES (1, now() - interval '1 h')");
  auto mirror = NewMirror();
  SendSnapshot("revision: 9 containers { id: 'c' default_ttl: 60 }");
  ASSERT_TRUE(Becomes("c 60"));
  sidecar_.StopServer();
  sidecar_.StartServer();
  SendSnapshot("revision: 1");
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has no container \"c\""));
  EXPECT_THAT(mirror->state().problem, HasSubstr("SQL goes on by the policy"));
  EXPECT_EQ(Mirrored(), "c 60");
  EXPECT_EQ(database_.Value("SELECT count(*) FROM orders_live"), "0");
  // Nor does a ttl-postgres that begins then know more.
  mirror.reset();
  EXPECT_TRUE(WaitUntil([&] { return sidecar_.open_streams() == 0; }, kPatience));
  mirror = NewMirror();
  SendSnapshot("revision: 1");
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has no container \"c\""));
  EXPECT_EQ(Mirrored(), "c 60");
  sidecar_.Send(Message("CHANGE", "revision: 2 containers { id: 'c' }"));
  EXPECT_TRUE(Becomes("c off"));
}

TEST_F(PolicyMirrorTest, ContainerThatWasDeletedIsOffAlsoWhenASnapshotLacksItLater) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  ASSERT_TRUE(Becomes("c 60"));
  sidecar_.Send(Message("CHANGE", "deleted_containers: 'c'"));
  ASSERT_TRUE(Becomes("c off"));
  // What the mirror would have missed, had the database been away meanwhile.
  database_.Sql("UPDATE ttl.policy SET default_ttl = 60");
  SendSnapshot("");
  EXPECT_TRUE(Becomes("c off"));
  EXPECT_TRUE(ComesToSay(*mirror, "it was deleted"));
}

// A view may ask for it until `install` has removed that.
TEST_F(PolicyMirrorTest, PolicyOfAContainerThatIsNotOursStays) {
  database_.Sql("INSERT INTO ttl.policy VALUES ('a', 1, 1, now())");
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  EXPECT_TRUE(Becomes("a 1, c 60")) << Mirrored();
}

TEST_F(PolicyMirrorTest, HeartbeatPutsRightWhatOthersChanged) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  EXPECT_TRUE(Becomes("c 60"));
  database_.Sql("UPDATE ttl.policy SET default_ttl = 1");
  sidecar_.Send(Message("HEARTBEAT"));
  EXPECT_TRUE(Becomes("c 60"));
}

TEST_F(PolicyMirrorTest, HeartbeatWritesNothingWhereNothingHasChanged) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  ASSERT_TRUE(Becomes("c 60"));
  // What follows counts from the end of that, which is noted a moment after it is seen.
  ASSERT_TRUE(BecomesSound(*mirror));
  const std::string version =
      "SELECT concat_ws(' ', xmin, xmax, ctid, mirrored_at) FROM ttl.policy";
  const std::string before = database_.Value(version);
  const absl::Time mirrored = mirror->state().last_mirrored;
  for (int i = 0; i < 3; ++i) sidecar_.Send(Message("HEARTBEAT"));
  EXPECT_TRUE(WaitUntil([&] { return mirror->state().last_mirrored > mirrored; }, kPatience));
  EXPECT_EQ(database_.Value(version), before);
}

// The rows that expire do so at their second, by the policy that was mirrored last.
TEST_F(PolicyMirrorTest, RowsVanishWhileTheSidecarIsAway) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 2 }");
  ASSERT_TRUE(Becomes("c 2"));
  database_.Sql("INSERT INTO orders VALUES (1)");
  sidecar_.StopServer();
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar does not say its policies"));
  EXPECT_THAT(mirror->state().problem, AllOf(HasSubstr("those mirrored at"), HasSubstr("go on")));
  const std::string query =
      "SELECT CASE WHEN EXISTS (TABLE orders_live) = (SELECT statement_timestamp() < date_trunc("
      "'second', ts) + interval '2 s' FROM orders) THEN count(*)::text ELSE 'wrong' END FROM "
      "orders_live";
  EXPECT_TRUE(WaitUntil(
      [&] {
        const std::string live = database_.Value(query);
        EXPECT_NE(live, "wrong");
        return live == "0";
      },
      kPatience));
  EXPECT_EQ(Mirrored(), "c 2");
  sidecar_.StartServer();
  SendSnapshot("containers { id: 'c' default_ttl: 3600 }");
  EXPECT_TRUE(Becomes("c 3600"));
  EXPECT_EQ(database_.Value("SELECT count(*) FROM orders_live"), "1");
  EXPECT_TRUE(BecomesSound(*mirror));
}

TEST_F(PolicyMirrorTest, SidecarThatWasNeverThereIsSaid) {
  sidecar_.StopServer();
  const auto mirror = NewMirror();
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has not sent its policies yet"));
  EXPECT_EQ(Mirrored(), "nothing");
}

TEST_F(PolicyMirrorTest, SilentSidecarIsSaid) {
  const auto mirror = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 2 }");
  EXPECT_TRUE(BecomesSound(*mirror));
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar does not say its policies; those mirrored at"));
}

TEST_F(PolicyMirrorTest, SchemaThatIsNotInstalledIsSaidAndWaitedFor) {
  ASSERT_TRUE(database_.Uninstall(config_).ok());
  const auto mirror = NewMirror();
  // A snapshot for each attempt.
  const auto send = [&] {
    SendSnapshot("containers { id: 'c' default_ttl: 60 }");
    return mirror->state().problem.find("ttl-postgres install") != std::string::npos;
  };
  EXPECT_TRUE(WaitUntil(send, kPatience));
  database_.Install(config_);
  EXPECT_TRUE(WaitUntil(
      [&] {
        SendSnapshot("containers { id: 'c' default_ttl: 60 }");
        return Mirrored() == "c 60";
      },
      kPatience));
}

TEST_F(PolicyMirrorTest, DatabaseThatWasAwayGetsTheNewestPolicy) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Sql(
      "CREATE SCHEMA ttl; CREATE TABLE ttl.policy (container text PRIMARY KEY, default_ttl "
      "bigint, revision bigint NOT NULL, mirrored_at timestamptz NOT NULL, has_holds boolean NOT "
      "NULL)");
  config_.database = server.Conninfo();
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(60).ok());
  const auto mirror = NewMirror(sidecar.address());
  EXPECT_TRUE(BecomesSound(*mirror));
  server.Kill();
  ASSERT_TRUE(sidecar.SetDefaultTtl(61).ok());
  EXPECT_TRUE(ComesToSay(*mirror, "the policies are not mirrored"));
  ASSERT_TRUE(sidecar.SetDefaultTtl(62).ok());
  ASSERT_TRUE(server.Start().ok());
  EXPECT_TRUE(WaitUntil([&] { return server.Value("SELECT default_ttl FROM ttl.policy") == "62"; },
                        kPatience));
  EXPECT_TRUE(BecomesSound(*mirror));
}

TEST_F(PolicyMirrorTest, DatabaseThatHangsIsSaidAndDoesNotHoldUpTheEnd) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  server.Sql(
      "CREATE SCHEMA ttl; CREATE TABLE ttl.policy (container text PRIMARY KEY, default_ttl "
      "bigint, revision bigint NOT NULL, mirrored_at timestamptz NOT NULL, has_holds boolean NOT "
      "NULL)");
  config_.database = server.Conninfo();
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(60).ok());
  auto mirror = NewMirror(sidecar.address());
  EXPECT_TRUE(BecomesSound(*mirror));
  server.Suspend();
  EXPECT_TRUE(ComesToSay(*mirror, "it does not answer"));
  const absl::Time begin = absl::Now();
  mirror.reset();
  // It would have hung for ever.
  EXPECT_LT(absl::Now() - begin, kPatience);
}

// What one was about to write when the next began must not come after what that one wrote.
TEST_F(PolicyMirrorTest, OneOfTwoWritesAndTheOtherTakesOverWithANewSnapshot) {
  auto first = NewMirror();
  SendSnapshot("containers { id: 'c' default_ttl: 60 }");
  ASSERT_TRUE(Becomes("c 60"));
  ASSERT_EQ(sidecar_.requests().size(), 1u);
  const auto second = NewMirror();
  EXPECT_TRUE(ComesToSay(*second, "another ttl-postgres mirrors them into schema ttl"));
  // It does not even watch before it may write.
  EXPECT_EQ(sidecar_.requests().size(), 1u);
  sidecar_.Send(Message("CHANGE", "containers { id: 'c' default_ttl: 61 }"));
  EXPECT_TRUE(Becomes("c 61"));
  first.reset();
  // And that of the first has ended, or it might take what is sent next.
  EXPECT_TRUE(WaitUntil(
      [&] { return sidecar_.requests().size() == 2 && sidecar_.open_streams() == 1; }, kPatience));
  EXPECT_EQ(Mirrored(), "c 61");
  SendSnapshot("containers { id: 'c' default_ttl: 62 }");
  EXPECT_TRUE(Becomes("c 62"));
  EXPECT_TRUE(BecomesSound(*second));
}

// As it is in earnest: an operator changes a policy, and SQL shows it.
TEST_F(PolicyMirrorTest, ChangeInTheSidecarIsSeenInSql) {
  RpcSidecar sidecar;
  const auto mirror = NewMirror(sidecar.address());
  EXPECT_TRUE(ComesToSay(*mirror, "the sidecar has no container \"c\""));
  database_.Sql("INSERT INTO orders VALUES (1, now() - interval '1 h')");
  const auto is_live = [&] { return database_.Value("SELECT count(*) FROM orders_live") == "1"; };
  EXPECT_TRUE(is_live());
  ASSERT_TRUE(sidecar.Create(60).ok());
  EXPECT_TRUE(WaitUntil([&] { return !is_live(); }, kPatience));
  ASSERT_TRUE(sidecar.SetDefaultTtl(7200).ok());
  EXPECT_TRUE(WaitUntil(is_live, kPatience));
  sidecar.Restart();
  ASSERT_TRUE(sidecar.SetDefaultTtl(60).ok());
  EXPECT_TRUE(WaitUntil([&] { return !is_live(); }, kPatience));
  ASSERT_TRUE(sidecar.SetDefaultTtl(std::nullopt).ok());
  EXPECT_TRUE(WaitUntil(is_live, kPatience));
}

}  // namespace
}  // namespace ttl::postgres
