#include "client/ttlctl/text/forecast_bars.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Steps of an hour, the first of which begins at 1970-01-01T00:00:00Z.
v1::GetForecastResponse ForecastOf(const std::vector<int64_t>& items) {
  v1::GetForecastResponse forecast;
  for (const int64_t count : items) {
    v1::ForecastStep& step = *forecast.add_steps();
    step.mutable_end_time()->set_seconds(3600 * forecast.steps_size());
    step.set_items(count);
  }
  forecast.set_complete(true);
  forecast.set_backlog_end(v1::BACKLOG_END_NO_BACKLOG);
  return forecast;
}

TEST(ForecastBarsTest, ABarForEachStep) {
  EXPECT_EQ(ForecastBars(ForecastOf({1200, 600, 0, 1})),
            "until 1970-01-01T01:00:00Z  1,200  #############################################\n"
            "until 1970-01-01T02:00:00Z    600  #######################\n"
            "until 1970-01-01T03:00:00Z      0\n"
            "until 1970-01-01T04:00:00Z      1  #\n"
            "\n"
            "expiring      1,801 items\n"
            "backlog       0 items\n"
            "allowed       no limit\n"
            "backlog ends  no backlog\n");
}

TEST(ForecastBarsTest, WhatCannotBeDeletedInItsStepIsMarked) {
  v1::GetForecastResponse forecast = ForecastOf({7200, 3600, 3601});
  forecast.set_allowed_deletes_per_second(1);
  const std::vector<std::string> lines = absl::StrSplit(ForecastBars(forecast), '\n');
  EXPECT_TRUE(absl::EndsWith(lines[0], "  " + std::string(23, '#') + std::string(22, '!')))
      << lines[0];
  EXPECT_THAT(lines[1], Not(HasSubstr("!")));
  EXPECT_TRUE(absl::EndsWith(lines[2], "#!")) << lines[2];
  EXPECT_THAT(ForecastBars(forecast), HasSubstr("1/s; !: exceeds what can be deleted in the step"));
}

TEST(ForecastBarsTest, AtAZeroRateNothingIsDeleted) {
  v1::GetForecastResponse forecast = ForecastOf({1});
  forecast.set_allowed_deletes_per_second(0);
  EXPECT_THAT(ForecastBars(forecast), HasSubstr(" 1  !"));
}

TEST(ForecastBarsTest, LinesAreAsciiOfAtMost80Columns) {
  v1::GetForecastResponse forecast = ForecastOf({1, INT64_MAX, 0, 1'000'000'000});
  for (v1::ForecastStep& step : *forecast.mutable_steps()) step.set_error_bound_items(3);
  forecast.set_allowed_deletes_per_second(1e300);
  forecast.mutable_steps(1)->set_items(int64_t{1} << 60);
  for (const absl::string_view line : absl::StrSplit(ForecastBars(forecast), '\n')) {
    EXPECT_LE(line.size(), 80U) << line;
    for (const char byte : line) EXPECT_TRUE(absl::ascii_isprint(byte)) << line;
  }
}

TEST(ForecastBarsTest, SaysWhatIsNotExact) {
  v1::GetForecastResponse forecast = ForecastOf({10});
  forecast.mutable_steps(0)->set_error_bound_items(4);
  forecast.mutable_steps(0)->set_bytes(1500);
  forecast.set_backlog_items(7);
  forecast.set_backlog_error_bound_items(2);
  forecast.set_complete(false);
  const std::string text = ForecastBars(forecast);
  EXPECT_THAT(text, HasSubstr("  ~10  #"));
  EXPECT_THAT(text, HasSubstr("expiring      about 10 items, 1,500 bytes\n"));
  EXPECT_THAT(text, HasSubstr("items are still being counted after the start"));
  EXPECT_THAT(text, HasSubstr("backlog       about 7 items\n"));
}

TEST(ForecastBarsTest, SaysWhenTheBacklogEnds) {
  v1::GetForecastResponse forecast = ForecastOf({10});
  const auto end = [&forecast](v1::BacklogEnd kind) {
    forecast.set_backlog_end(kind);
    const std::string text = ForecastBars(forecast);
    return text.substr(text.find("backlog ends"));
  };
  forecast.mutable_backlog_end_time()->set_seconds(90);
  EXPECT_EQ(end(v1::BACKLOG_END_AT_TIME), "backlog ends  about 1970-01-01T00:01:30Z, in 1m 30s\n");
  EXPECT_THAT(end(v1::BACKLOG_END_AFTER_FORECAST), HasSubstr("after the end of the forecast"));
  EXPECT_THAT(end(v1::BACKLOG_END_HELD), HasSubstr("held"));
  EXPECT_THAT(end(v1::BACKLOG_END_UNLIMITED), HasSubstr("no limit"));
  EXPECT_THAT(end(v1::BACKLOG_END_UNSPECIFIED), HasSubstr("not known"));
}

}  // namespace
}  // namespace ttl
