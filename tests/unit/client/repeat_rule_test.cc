#include "client/cpp/repeat_rule.h"

#include <gtest/gtest.h>

#include <optional>

namespace ttl {
namespace {

using grpc::StatusCode;

struct Case {
  CallKind kind;
  StatusCode code;
  std::optional<absl::Duration> hint;
  int attempt;
  bool until_deadline;
  std::optional<absl::Duration> pause;  // with a second left, and a random number of 1
};

TEST(RepeatRuleTest, SaysWhetherAndWhenToRepeat) {
  constexpr absl::Duration kHint = absl::Milliseconds(7);
  const Case cases[] = {
      {CallKind::kRead, StatusCode::UNAVAILABLE, {}, 1, true, absl::Milliseconds(50)},
      {CallKind::kRead, StatusCode::UNAVAILABLE, {}, 2, true, absl::Milliseconds(100)},
      {CallKind::kRead, StatusCode::UNAVAILABLE, {}, 100, true, absl::Milliseconds(500)},
      {CallKind::kRead, StatusCode::UNAVAILABLE, {}, 3, false, absl::Milliseconds(200)},
      {CallKind::kRead, StatusCode::UNAVAILABLE, {}, 4, false, {}},
      {CallKind::kRead, StatusCode::UNAVAILABLE, kHint, 5, true, kHint},
      {CallKind::kRead, StatusCode::UNAVAILABLE, absl::Seconds(1), 1, true, {}},
      {CallKind::kRead, StatusCode::RESOURCE_EXHAUSTED, {}, 1, true, {}},
      {CallKind::kRead, StatusCode::INTERNAL, {}, 1, true, {}},
      {CallKind::kRead, StatusCode::DEADLINE_EXCEEDED, {}, 1, true, {}},
      {CallKind::kHold, StatusCode::UNAVAILABLE, {}, 9, true, absl::Milliseconds(500)},
      {CallKind::kHold, StatusCode::UNAVAILABLE, {}, 4, false, {}},
      {CallKind::kHold, StatusCode::RESOURCE_EXHAUSTED, {}, 1, true, {}},
      {CallKind::kTouch, StatusCode::UNAVAILABLE, {}, 9, true, absl::Milliseconds(500)},
      {CallKind::kTouch, StatusCode::RESOURCE_EXHAUSTED, kHint, 3, true, kHint},
      {CallKind::kTouch, StatusCode::RESOURCE_EXHAUSTED, kHint, 4, true, {}},
      {CallKind::kOrderedReport, StatusCode::UNAVAILABLE, {}, 9, true, absl::Milliseconds(500)},
      {CallKind::kOrderedReport, StatusCode::RESOURCE_EXHAUSTED, kHint, 3, true, kHint},
      {CallKind::kOrderedReport, StatusCode::RESOURCE_EXHAUSTED, kHint, 4, true, {}},
      {CallKind::kReport, StatusCode::UNAVAILABLE, {}, 1, true, {}},
      {CallKind::kReport, StatusCode::UNAVAILABLE, kHint, 9, true, kHint},
      {CallKind::kReport, StatusCode::RESOURCE_EXHAUSTED, {}, 1, true, absl::Milliseconds(50)},
      {CallKind::kReport, StatusCode::RESOURCE_EXHAUSTED, absl::InfiniteDuration(), 1, true, {}},
      {CallKind::kChange, StatusCode::UNAVAILABLE, kHint, 1, true, {}},
      {CallKind::kChange, StatusCode::RESOURCE_EXHAUSTED, kHint, 1, true, {}},
      {CallKind::kNow, StatusCode::UNAVAILABLE, kHint, 1, true, {}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PauseBeforeRepeat(c.kind, {c.code, c.hint, c.attempt}, c.until_deadline,
                                absl::Seconds(1), 1),
              c.pause)
        << "kind " << static_cast<int>(c.kind) << ", code " << c.code << ", attempt " << c.attempt;
  }
}

TEST(RepeatRuleTest, ClientsThatFailTogetherComeBackOneByOne) {
  const FailedAttempt failure = {StatusCode::UNAVAILABLE, {}, 1};
  EXPECT_EQ(PauseBeforeRepeat(CallKind::kRead, failure, true, absl::Seconds(1), 0),
            absl::Milliseconds(25));
}

TEST(RepeatRuleTest, NothingIsRepeatedBeyondTheDeadline) {
  const FailedAttempt failure = {StatusCode::UNAVAILABLE, {}, 1};
  EXPECT_EQ(PauseBeforeRepeat(CallKind::kRead, failure, true, absl::Milliseconds(50), 1),
            std::nullopt);
}

}  // namespace
}  // namespace ttl
