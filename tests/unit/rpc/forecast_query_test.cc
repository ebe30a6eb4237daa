#include "service/rpc/mapping/forecast_query.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

absl::StatusOr<ForecastQuery> Read(const std::string& text) {
  return ReadForecastQuery(Proto<v1::GetForecastRequest>(text), kNow + absl::Milliseconds(999));
}

TEST(ForecastQueryTest, DefaultsToADayOfHours) {
  const auto query = Read("container: 'c'");
  ASSERT_THAT(query, IsOk());
  EXPECT_EQ(query->container, "c");
  EXPECT_EQ(query->default_ttl, std::nullopt);
  ASSERT_THAT(query->times, SizeIs(25));
  EXPECT_EQ(query->times[0], kNowSeconds);
  EXPECT_EQ(query->times[1], kNowSeconds + 3600);
  EXPECT_EQ(query->times[24], kNowSeconds + 86400);
}

TEST(ForecastQueryTest, TheLastStepMayBeShorter) {
  const auto query =
      Read("all_containers: true until { seconds: 1800000025 } step { seconds: 10 }");
  ASSERT_THAT(query, IsOk());
  EXPECT_EQ(query->container, std::nullopt);
  EXPECT_THAT(query->times,
              ElementsAre(kNowSeconds, kNowSeconds + 10, kNowSeconds + 20, kNowSeconds + 25));
}

TEST(ForecastQueryTest, AShortForecastHasStepsOfASecond) {
  const auto query = Read("container: 'c' until { seconds: 1800000003 nanos: 5 }");
  ASSERT_THAT(query, IsOk());
  EXPECT_THAT(query->times,
              ElementsAre(kNowSeconds, kNowSeconds + 1, kNowSeconds + 2, kNowSeconds + 3));
}

TEST(ForecastQueryTest, ReachesToTheEndOfTheYear9999) {
  EXPECT_THAT(Read("container: 'c' until { seconds: 253402300799 }"), IsOk());
  EXPECT_THAT(Read("container: 'c' until { seconds: 253402300800 }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("year 9999")));
}

TEST(ForecastQueryTest, AnEndThatHasPassedIsRefused) {
  EXPECT_THAT(Read("container: 'c' until { seconds: 1800000000 nanos: 999999999 }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("until is 2027-01-15T08:00:00Z"), HasSubstr("later than"))));
  EXPECT_THAT(Read("container: 'c' until {}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("until is 1970-01-01")));
}

TEST(ForecastQueryTest, StepsAreWholeSecondsAndAtMostAThousand) {
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("step is "));
  EXPECT_THAT(Read("container: 'c' step {}"), refused);
  EXPECT_THAT(Read("container: 'c' step { seconds: -5 }"), refused);
  EXPECT_THAT(Read("container: 'c' step { seconds: 100 nanos: 1 }"), refused);
  EXPECT_THAT(Read("container: 'c' step { seconds: 86 }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("step is 1m26s"), HasSubstr("at least 87"))));
  const auto most = Read("container: 'c' step { seconds: 87 }");
  ASSERT_THAT(most, IsOk());
  EXPECT_LE(most->times.size(), kMaxForecastSteps + 1);
}

TEST(ForecastQueryTest, AStepBeyondTheEndIsCutThere) {
  for (const std::string seconds : {"25", "26", "315576000000", "9223372036854775807"}) {
    const auto query = Read(absl::StrCat(
        "container: 'c' until { seconds: 1800000025 } step { seconds: ", seconds, " }"));
    ASSERT_THAT(query, IsOk()) << seconds;
    EXPECT_THAT(query->times, ElementsAre(kNowSeconds, kNowSeconds + 25)) << seconds;
  }
}

TEST(ForecastQueryTest, StepsOutsideOfADurationAreRefused) {
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("step is "));
  for (const std::string step :
       {"seconds: -9223372036854775808", "seconds: -9223372036854775808 nanos: -1",
        "seconds: 9223372036854775807 nanos: 2147483647", "seconds: 100 nanos: -2147483648",
        "seconds: 100 nanos: -1", "nanos: 2147483647"}) {
    EXPECT_THAT(Read(absl::StrCat("container: 'c' step { ", step, " }")), refused) << step;
  }
}

TEST(ForecastQueryTest, ATargetIsRequired) {
  EXPECT_THAT(Read(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("target")));
  EXPECT_THAT(Read("all_containers: false"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("all_containers is false")));
}

TEST(ForecastQueryTest, ADefaultTtlIsLegalAndOfOneContainer) {
  EXPECT_EQ(Read("container: 'c' default_ttl: -1")->default_ttl, -1);
  EXPECT_THAT(Read("container: 'c' default_ttl: 0"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("default_ttl is 0")));
  EXPECT_THAT(Read("all_containers: true default_ttl: 60"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("default_ttl is 60"), HasSubstr("one container"))));
}

}  // namespace
}  // namespace ttl
