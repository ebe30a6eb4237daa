#include "service/rpc/checks/visibility.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/unit/rpc/test_now.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// The letters of the tables below.
constexpr auto kVisible = v1::VISIBILITY_VISIBLE;
constexpr auto kExpired = v1::VISIBILITY_EXPIRED;
constexpr auto kUntracked = v1::VISIBILITY_UNTRACKED;

Container WithDefaultTtl(std::optional<int64_t> default_ttl) {
  Container container;
  container.settings.policy.default_ttl = default_ttl;
  return container;
}

Container WithTouches(std::optional<int64_t> default_ttl) {
  Container container = WithDefaultTtl(default_ttl);
  container.has_touches = true;
  return container;
}

struct Answer {
  v1::Visibility visibility;
  int64_t expire_time;

  friend bool operator==(const Answer&, const Answer&) = default;
  friend void PrintTo(const Answer& answer, std::ostream* out) {
    *out << v1::Visibility_Name(answer.visibility) << " " << answer.expire_time;
  }
};

// One check: of the key `id`, with carried state if `ts` is there.
v1::VisibilityCheck Check(const std::string& id, std::optional<int64_t> ts = std::nullopt,
                          std::optional<int64_t> ttl = std::nullopt) {
  v1::VisibilityCheck check;
  check.set_id(id);
  if (ts.has_value()) check.set_ts(*ts);
  if (ttl.has_value()) check.set_ttl(*ttl);
  return check;
}

// What is tracked, and which keys cannot be read.
struct Tracked {
  std::map<std::string, ItemTimes> items;
  std::string unreadable;
};

struct Outcome {
  absl::Status status;
  std::vector<Answer> answers;
  ImpossibleChecks impossible;
  v1::CheckVisibilityResponse response;
};

Outcome JudgeIn(const Container& container, const Tracked& tracked,
                const std::vector<v1::VisibilityCheck>& checks,
                absl::Time now = absl::FromUnixSeconds(kNowSeconds)) {
  v1::CheckVisibilityRequest request;
  for (const auto& check : checks) *request.add_checks() = check;
  const auto find_one = [&](absl::string_view id) -> FoundTimes {
    if (id == tracked.unreadable) return absl::DataLossError("a damaged block");
    const auto it = tracked.items.find(std::string(id));
    if (it == tracked.items.end()) return std::nullopt;
    return it->second;
  };
  const auto find = [&](absl::Span<const KeyView> keys, std::vector<FoundTimes>& times) {
    times.clear();
    for (const KeyView& key : keys) times.push_back(find_one(key.id));
  };
  Outcome outcome;
  const std::string bytes = request.SerializeAsString();
  CheckRequest parsed;
  EXPECT_THAT(parsed.Parse(bytes), IsOk());
  CheckAnswers answers;
  outcome.status =
      JudgeChecks(container, find, {now, now}, parsed.checks(), answers, outcome.impossible);
  if (!outcome.status.ok()) return outcome;
  std::string wire(answers.WireSize(), '\0');
  answers.Write(reinterpret_cast<uint8_t*>(wire.data()));
  EXPECT_TRUE(outcome.response.ParseFromString(wire));
  EXPECT_EQ(outcome.response.visibilities_size(), outcome.response.expire_times_size());
  for (int i = 0; i < outcome.response.visibilities_size(); ++i) {
    outcome.answers.push_back({outcome.response.visibilities(i), outcome.response.expire_times(i)});
  }
  return outcome;
}

Outcome Judge(std::optional<int64_t> default_ttl, const Tracked& tracked,
              const std::vector<v1::VisibilityCheck>& checks,
              absl::Time now = absl::FromUnixSeconds(kNowSeconds)) {
  return JudgeIn(WithDefaultTtl(default_ttl), tracked, checks, now);
}

Answer JudgeOne(std::optional<int64_t> default_ttl, const Tracked& tracked,
                const v1::VisibilityCheck& check,
                absl::Time now = absl::FromUnixSeconds(kNowSeconds)) {
  const Outcome outcome = Judge(default_ttl, tracked, {check}, now);
  EXPECT_THAT(outcome.status, IsOk());
  return outcome.answers.at(0);
}

Tracked Item(int64_t ts, std::optional<int64_t> ttl) { return {{{"a", {ts, ttl}}}, "none"}; }

TEST(VisibilityTest, TheThreeByThreeTableTrackedAndCarried) {
  constexpr int64_t kTs = kNowSeconds - 100;
  const struct {
    std::optional<int64_t> default_ttl;
    std::optional<int64_t> ttl;
    Answer answer;
  } kCases[] = {
      {std::nullopt, std::nullopt, {kVisible, 0}},
      {std::nullopt, -1, {kVisible, 0}},
      {std::nullopt, 50, {kVisible, 0}},
      {-1, std::nullopt, {kVisible, 0}},
      {-1, -1, {kVisible, 0}},
      {-1, 50, {kExpired, kTs + 50}},
      {-1, 150, {kVisible, kTs + 150}},
      {50, std::nullopt, {kExpired, kTs + 50}},
      {150, std::nullopt, {kVisible, kTs + 150}},
      {50, -1, {kVisible, 0}},
      {150, 50, {kExpired, kTs + 50}},
      {50, 150, {kVisible, kTs + 150}},
  };
  for (const auto& c : kCases) {
    const std::string row = testing::PrintToString(c.default_ttl) + testing::PrintToString(c.ttl);
    EXPECT_EQ(JudgeOne(c.default_ttl, Item(kTs, c.ttl), Check("a")), c.answer) << row;
    EXPECT_EQ(JudgeOne(c.default_ttl, {}, Check("a", kTs, c.ttl)), c.answer) << row;
  }
}

TEST(VisibilityTest, InAContainerWithTouchesTheTrackedItemTellsTheLastOne) {
  constexpr int64_t kTs = kNowSeconds - 100;
  constexpr std::optional<int64_t> kNone;
  const ItemTimes touched = {kTs, 50, kNone, kNowSeconds - 20};
  const ItemTimes over = {kTs, 50, kNone, kNowSeconds - 60};
  const struct {
    const char* name;
    std::optional<ItemTimes> tracked;
    v1::VisibilityCheck check;
    Answer answer;
  } kCases[] = {
      {"touched", touched, Check("a"), {kVisible, kNowSeconds + 30}},
      {"touched long ago", over, Check("a"), {kExpired, kNowSeconds - 10}},
      {"same version", touched, Check("a", kTs, 50), {kVisible, kNowSeconds + 30}},
      {"same version, long ago", over, Check("a", kTs, 50), {kExpired, kNowSeconds - 10}},
      {"newer version", touched, Check("a", kTs + 1, 25), {kVisible, kNowSeconds + 5}},
      {"newer version, over", touched, Check("a", kTs + 1, 15), {kExpired, kNowSeconds - 5}},
      {"older version", touched, Check("a", kTs - 1, 1), {kVisible, kNowSeconds + 30}},
      {"not tracked, live", {}, Check("a", kTs, 150), {kVisible, kTs + 150}},
      {"not tracked, expired", {}, Check("a", kTs, 50), {kUntracked, 0}},
      {"not tracked", {}, Check("a"), {kUntracked, 0}},
  };
  for (const auto& c : kCases) {
    Tracked tracked = {{}, "none"};
    if (c.tracked.has_value()) tracked.items["a"] = *c.tracked;
    const Outcome outcome = JudgeIn(WithTouches(60), tracked, {c.check});
    EXPECT_THAT(outcome.status, IsOk());
    EXPECT_THAT(outcome.answers, ElementsAre(c.answer)) << c.name;
  }
}

TEST(VisibilityTest, AnItemWithTouchesThatCannotBeReadDoesNotExpireByWhatACheckCarries) {
  const Tracked damaged = {{}, "a"};
  const v1::VisibilityCheck check = Check("a", kNowSeconds - 100, 50);
  EXPECT_THAT(JudgeIn(WithTouches(60), damaged, {check}).answers,
              ElementsAre(Answer{kUntracked, 0}));
  EXPECT_THAT(JudgeIn(WithDefaultTtl(60), damaged, {check}).answers,
              ElementsAre(Answer{kExpired, kNowSeconds - 50}));
}

// B28: not before the second, and from its first instant on.
TEST(VisibilityTest, ExpiredFromTheFirstInstantOfItsSecond) {
  const Tracked tracked = Item(kNowSeconds, 10);
  const auto at = [&](absl::Duration after) {
    return JudgeOne(-1, tracked, Check("a"), absl::FromUnixSeconds(kNowSeconds) + after).visibility;
  };
  EXPECT_EQ(at(absl::Milliseconds(9999)), kVisible);
  EXPECT_EQ(at(absl::Seconds(10) - absl::Nanoseconds(1)), kVisible);
  EXPECT_EQ(at(absl::Seconds(10)), kExpired);
  EXPECT_EQ(at(absl::Milliseconds(10001)), kExpired);
}

TEST(VisibilityTest, TheLargestTtlIsExactPast2106) {
  EXPECT_EQ(JudgeOne(-1, Item(kNowSeconds, 2147483647), Check("a")),
            (Answer{kVisible, kNowSeconds + 2147483647}));
  constexpr int64_t kFar = 5'000'000'000;  // the year 2128
  EXPECT_EQ(
      JudgeOne(-1, Item(kFar, 2147483647), Check("a"), absl::FromUnixSeconds(kFar + 2147483646)),
      (Answer{kVisible, kFar + 2147483647}));
}

TEST(VisibilityTest, AnUntrackedKeyWithoutStateIsUntrackedUnderEveryPolicy) {
  for (const std::optional<int64_t> default_ttl : {std::optional<int64_t>(), {-1}, {60}}) {
    EXPECT_EQ(JudgeOne(default_ttl, {}, Check("a")), (Answer{kUntracked, 0}));
  }
}

TEST(VisibilityTest, ATtlWithoutTsIsIgnored) {
  EXPECT_EQ(JudgeOne(60, {}, Check("a", std::nullopt, 0)), (Answer{kUntracked, 0}));
  const Outcome outcome = Judge(60, Item(kNowSeconds, 10), {Check("a", std::nullopt, 0)});
  EXPECT_THAT(outcome.answers, ElementsAre(Answer{kVisible, kNowSeconds + 10}));
  EXPECT_EQ(outcome.impossible.count, 0);
}

TEST(VisibilityTest, TheNewerOfCarriedAndTrackedIsJudgedCarriedAtEqualTs) {
  const struct {
    int64_t tracked_ts;
    int64_t tracked_ttl;
    int64_t carried_ts;
    int64_t carried_ttl;
    Answer answer;
  } kCases[] = {
      {kNowSeconds - 50, 10, kNowSeconds - 20, 60, {kVisible, kNowSeconds + 40}},
      {kNowSeconds - 20, 60, kNowSeconds - 50, 10, {kVisible, kNowSeconds + 40}},
      {kNowSeconds - 50, 100, kNowSeconds - 20, 10, {kExpired, kNowSeconds - 10}},
      {kNowSeconds - 20, 10, kNowSeconds - 50, 100, {kExpired, kNowSeconds - 10}},
      {kNowSeconds - 20, 10, kNowSeconds - 20, 60, {kVisible, kNowSeconds + 40}},
      {kNowSeconds - 20, 60, kNowSeconds - 20, 10, {kExpired, kNowSeconds - 10}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(
        JudgeOne(-1, Item(c.tracked_ts, c.tracked_ttl), Check("a", c.carried_ts, c.carried_ttl)),
        c.answer)
        << c.tracked_ts - kNowSeconds << " against " << c.carried_ts - kNowSeconds;
  }
}

TEST(VisibilityTest, ACarriedItemWithoutTtlInheritsThoughTheTrackedOneHadOne) {
  EXPECT_EQ(JudgeOne(30, Item(kNowSeconds - 50, 1000), Check("a", kNowSeconds - 40)),
            (Answer{kExpired, kNowSeconds - 10}));
}

TEST(VisibilityTest, ImpossibleCarriedStateIsVisibleAndCounted) {
  const std::vector<v1::VisibilityCheck> checks = {
      Check("a", 0, 60),
      Check("a", -1, 60),
      Check("a", kNowSeconds * 1000, 60),
      Check("a", kMaxInt64, 60),
      Check("a", kNowSeconds - 1000, 0),
      Check("a", kNowSeconds - 1000, -2),
      Check("a", kNowSeconds - 1000, 2147483648),
      Check("a", kNowSeconds - 1000, kMaxInt64),
      Check("a", std::numeric_limits<int64_t>::min(), 1),
  };
  const Outcome outcome = Judge(60, Item(kNowSeconds - 1000, 1), checks);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_THAT(outcome.answers, testing::Each(Answer{kVisible, 0}));
  EXPECT_EQ(outcome.impossible.count, static_cast<int64_t>(checks.size()));
  EXPECT_EQ(outcome.impossible.first, 0u);
}

TEST(VisibilityTest, UnreadableTrackedStateIsNotNeededWhereStateIsCarried) {
  Tracked tracked = Item(kNowSeconds, 10);
  tracked.unreadable = "b";
  const Outcome carried = Judge(
      -1, tracked, {Check("a"), Check("b", kNowSeconds - 20, 10), Check("b", kNowSeconds, 10)});
  EXPECT_THAT(carried.answers,
              ElementsAre(Answer{kVisible, kNowSeconds + 10}, Answer{kExpired, kNowSeconds - 10},
                          Answer{kVisible, kNowSeconds + 10}));
  EXPECT_THAT(Judge(-1, tracked, {Check("a"), Check("b")}).status,
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(VisibilityTest, AnswersComeInTheOrderOfTheRequestWithOneInstantForAll) {
  const Tracked tracked = {{{"live", {kNowSeconds, 10}}, {"dead", {kNowSeconds - 20, 10}}}, "none"};
  const absl::Time now = absl::FromUnixSeconds(kNowSeconds) + absl::Milliseconds(250);
  const Outcome outcome =
      Judge(-1, tracked, {Check("dead"), Check("gone"), Check("live"), Check("dead")}, now);
  EXPECT_THAT(outcome.answers,
              ElementsAre(Answer{kExpired, kNowSeconds - 10}, Answer{kUntracked, 0},
                          Answer{kVisible, kNowSeconds + 10}, Answer{kExpired, kNowSeconds - 10}));
  EXPECT_EQ(outcome.response.judged_at().seconds(), kNowSeconds);
  EXPECT_EQ(outcome.response.judged_at().nanos(), 250'000'000);
}

}  // namespace
}  // namespace ttl
