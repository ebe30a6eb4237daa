// The trace context of each DeleteItems call: as a store sees it, and when it is sampled.
#include "service/expiry/sweep/call_traces.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

bool IsSampled(const CallTrace& trace) { return absl::EndsWith(trace.trace_parent, "-01"); }

TEST(CallTracesTest, OneCallInASecondIsSampledAndEachInTrouble) {
  CallTraces traces;
  const absl::Duration start = absl::Seconds(100);
  EXPECT_TRUE(IsSampled(traces.Next(false, start)));
  EXPECT_FALSE(IsSampled(traces.Next(false, start + absl::Milliseconds(500))));
  EXPECT_FALSE(IsSampled(traces.Next(false, start + absl::Milliseconds(999))));
  EXPECT_TRUE(IsSampled(traces.Next(false, start + absl::Seconds(1))));
  EXPECT_TRUE(IsSampled(traces.Next(true, start + absl::Seconds(1))));
  EXPECT_TRUE(IsSampled(traces.Next(true, start + absl::Seconds(1))));
  EXPECT_FALSE(IsSampled(traces.Next(false, start + absl::Seconds(1))));
}

TEST(CallTracesTest, TwoSidecarsDoNotMakeTheSameIds) {
  CallTraces a;
  CallTraces b;
  EXPECT_NE(a.Next(false, {}).trace_id, b.Next(false, {}).trace_id);
}

TEST(CallTracesTest, TheStoreSeesAValidAndDistinctOneWithEachCall) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 500, kStart - 1000, 10);
  h.store.SetMaxBatchItems(50);
  for (int i = 0; i < 1000 && h.store.Count("c") > 0; ++i) h.SweepFor(absl::Seconds(1));
  const auto received = h.store.ReceivedDeletes();
  ASSERT_GE(received.size(), 2u);
  std::set<std::string> trace_ids;
  for (const auto& call : received) {
    ASSERT_THAT(call.trace_parents, SizeIs(1));
    const std::string& trace_parent = call.trace_parents[0];
    EXPECT_THAT(trace_parent, MatchesRegex("00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]"));
    const std::string trace_id = trace_parent.substr(3, 32);
    EXPECT_NE(trace_id, std::string(32, '0'));
    EXPECT_NE(trace_parent.substr(36, 16), std::string(16, '0'));
    EXPECT_TRUE(trace_ids.insert(trace_id).second) << "the trace id came twice";
  }
}

TEST(CallTracesTest, TheLogOfAFailedBatchHasTheTraceId) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 3, kStart - 1000, 10);
  h.store.SetBeforeDelete([](auto&, auto&) -> std::optional<grpc::Status> {
    return grpc::Status(grpc::StatusCode::INTERNAL, "broken disk");
  });
  const CapturedLog log;
  for (int i = 0; i < 1000 && h.store.ReceivedDeletes().empty(); ++i) h.SweepFor(absl::Seconds(1));
  h.SweepFor(absl::Seconds(1));
  const auto received = h.store.ReceivedDeletes();
  ASSERT_FALSE(received.empty());
  EXPECT_THAT(log.text(), HasSubstr("trace_id=" + received[0].trace_parents.at(0).substr(3, 32)));
}

TEST(CallTracesTest, TheCallsAfterASlowOneAreSampledAndTheLogSaysWhetherItWas) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.SetLimit(1000);
  h.WriteMany("c", "due", 20'000, kStart - 100, 10);
  absl::Duration takes = absl::Milliseconds(30);
  h.store.SetBeforeDelete([&](auto&, auto&) -> std::optional<grpc::Status> {
    h.clock.Advance(takes);
    return std::nullopt;
  });
  h.SweepFor(absl::Seconds(3));
  const CapturedLog log;
  takes = absl::Milliseconds(90);
  h.SweepFor(absl::Seconds(1));
  const std::string text = log.text();
  const size_t line = text.find("deletes are slow: container=\"c\" items=");
  ASSERT_NE(line, std::string::npos) << text;
  const std::string trace_id = text.substr(text.find("trace_id=", line) + 9, 32);
  const auto received = h.store.ReceivedDeletes();
  const auto slow = std::find_if(received.begin(), received.end(), [&](const auto& call) {
    return call.trace_parents.at(0).substr(3, 32) == trace_id;
  });
  ASSERT_NE(slow, received.end()) << text;
  const bool sampled = absl::EndsWith(slow->trace_parents[0], "-01");
  EXPECT_THAT(text, HasSubstr(absl::StrCat(trace_id, " sampled=", sampled ? "true" : "false")));
  // One call a second would be, were the store not slow.
  ASSERT_GE(received.end() - slow, 4);
  for (auto next = slow + 1; next != slow + 4; ++next) {
    EXPECT_THAT(next->trace_parents.at(0), EndsWith("-01")) << next - slow;
  }
}

}  // namespace
}  // namespace ttl
