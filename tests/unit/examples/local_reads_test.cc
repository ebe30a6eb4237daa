#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/examples/document_store/document_engine.h"
#include "tests/testing/fake_watch_service.h"
#include "tests/testing/wait.h"
#include "tests/unit/examples/document_store_for_test.h"
#include "ttl/local_evaluator.h"

namespace documentstore {
namespace {

using testing::ElementsAre;
using Method = ttl::FakeItemService::Method;

// A store that judges reads locally, on the data of the one beside it, which does not.
class LocalReadsTest : public testing::Test, public DocumentStoreForTest {
 protected:
  // The sidecar announces kContainer, at the time that its clock shows.
  void Announce() {
    ttl::v1::WatchContainersResponse snapshot;
    snapshot.set_event(ttl::v1::WATCH_EVENT_SNAPSHOT_END);
    snapshot.set_clock_state(ttl::v1::CLOCK_STATE_SOUND);
    snapshot.mutable_server_time()->set_seconds(absl::ToUnixSeconds(clocks.sidecar()));
    snapshot.add_containers()->set_id(kContainer);
    snapshot.mutable_containers(0)->set_default_ttl(-1);
    watch_.Send(snapshot);
    ASSERT_TRUE(ttl::WaitUntil([&] { return evaluator_.IsSure(); }));
  }

  absl::StatusOr<v1::GetDocumentResponse> GetLocally(const std::string& id) {
    return local_.Get(KeyRequest<v1::GetDocumentRequest>(id));
  }
  std::vector<std::string> QueryLocally() {
    v1::QueryDocumentsRequest request;
    request.set_container(kContainer);
    const auto response = local_.Query(request);
    if (!response.ok()) return {response.status().ToString()};
    std::vector<std::string> ids;
    for (const v1::Document& document : response->documents()) ids.push_back(document.id());
    return ids;
  }
  int checks() { return sidecar.calls(Method::kCheck); }

  ttl::LocalEvaluatorOptions Options() {
    ttl::LocalEvaluatorOptions options;
    options.client.address = watch_.address();
    options.steady_clock = [] { return std::chrono::nanoseconds(0); };
    return options;
  }

  ttl::FakeWatchService watch_;
  ttl::LocalEvaluator evaluator_{Options()};
  DocumentEngine local_{*store().table, store().sidecar, store().reporter,
                        [this] { return clocks.store(); }, &evaluator_};
};

TEST_F(LocalReadsTest, WhatIsKnownIsJudgedWithoutACall) {
  ASSERT_TRUE(Put("expired", 60).ok());
  clocks.Advance(60);
  ASSERT_TRUE(Put("live", 60).ok());
  ASSERT_TRUE(Put("forever").ok());
  Announce();
  const int before = checks();
  EXPECT_EQ(GetLocally("expired").status().code(), absl::StatusCode::kNotFound);
  const auto live = GetLocally("live");
  ASSERT_TRUE(live.ok()) << live.status();
  EXPECT_EQ(live->judged_at().seconds(), absl::ToUnixSeconds(clocks.sidecar()));
  EXPECT_THAT(QueryLocally(), ElementsAre("forever", "live"));
  EXPECT_EQ(checks(), before);
}

TEST_F(LocalReadsTest, WhatIsNotKnownIsAsked) {
  ASSERT_TRUE(Put("expired", 60).ok());
  clocks.Advance(60);
  ASSERT_TRUE(Put("live", 60).ok());
  const int before = checks();
  EXPECT_EQ(GetLocally("expired").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(QueryLocally(), ElementsAre("live"));
  EXPECT_EQ(checks(), before + 2);
}

TEST_F(LocalReadsTest, WritesAskTheSidecar) {
  ASSERT_TRUE(Put("a", 60).ok());
  Announce();
  const int before = checks();
  ASSERT_TRUE(local_.Touch(KeyRequest<v1::TouchDocumentRequest>("a")).ok());
  EXPECT_EQ(checks(), before + 1);
}

TEST_F(LocalReadsTest, WhileTheSidecarIsAwayReadsGoOn) {
  ASSERT_TRUE(Put("a", 60).ok());
  Announce();
  sidecar.SetStatus(grpc::Status(grpc::StatusCode::UNAVAILABLE, "restarting"));
  EXPECT_FALSE(Get("a").ok());
  EXPECT_TRUE(GetLocally("a").ok());
}

}  // namespace
}  // namespace documentstore
