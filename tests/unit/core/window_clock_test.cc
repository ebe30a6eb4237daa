#include "service/core/windows/window_clock.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/windows/allowed_time.h"
#include "service/core/windows/time_zone.h"
#include "service/core/windows/window_text.h"
#include "service/core/windows/window_view.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr uint8_t kMon = 1, kTue = 2, kWed = 4, kFri = 16, kSat = 32, kSun = 64;

DeleteWindow Window(const std::string& start, const std::string& end,
                    uint8_t days = DeleteWindow::kEveryDay,
                    std::optional<double> rate = std::nullopt) {
  return {days, *ParseTimeOfDay(start), *ParseTimeOfDay(end), rate};
}

absl::Time Utc(const std::string& text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime("%Y-%m-%d %H:%M", text, &time, &error)) << text << error;
  return time;
}

std::string Text(absl::Time utc) {
  return absl::FormatTime("%m-%d %H:%M", utc, absl::UTCTimeZone());
}

WindowClock ClockOf(const DeleteWindows& windows) {
  const auto zone = FindTimeZone(windows.time_zone);
  EXPECT_TRUE(zone.has_value()) << windows.time_zone;
  return {windows, zone};
}

// The times at which the limit changes from `from` to `to`, in UTC, as "03-29 01:00=0".
std::string Changes(const DeleteWindows& windows, const std::string& from, const std::string& to) {
  const WindowClock clock = ClockOf(windows);
  std::vector<std::string> changes;
  const absl::Time end = Utc(to);
  for (auto time = clock.NextChange(Utc(from)); time.has_value() && *time < end;
       time = clock.NextChange(*time)) {
    const std::optional<double> limit = clock.LimitAt(*time);
    changes.push_back(
        absl::StrCat(Text(*time), "=", limit.has_value() ? absl::StrCat(*limit) : "-"));
  }
  return absl::StrJoin(changes, ", ");
}

struct ChangesCase {
  std::string name;
  std::string zone;
  std::vector<DeleteWindow> windows;
  std::string from, to;  // UTC
  std::string want;      // UTC; "-": no limit
};

class WindowChangesTest : public testing::TestWithParam<ChangesCase> {};

TEST_P(WindowChangesTest, AreAt) {
  const ChangesCase& c = GetParam();
  EXPECT_EQ(Changes({c.windows, c.zone}, c.from, c.to), c.want);
}

// Berlin puts the clock forward on 2026-03-29 at 02:00 (01:00 UTC) and back on 2026-10-25 at 03:00
// (01:00 UTC); New York on 2026-03-08 at 02:00 (07:00 UTC) and on 2026-11-01 at 02:00 (06:00 UTC);
// Lord Howe by half an hour, on 2026-10-04 at 02:00 (15:30 UTC of the day before) and back on
// 2026-04-05 at 02:00 (15:00 UTC of the day before).
INSTANTIATE_TEST_SUITE_P(
    Table, WindowChangesTest,
    testing::Values(
        ChangesCase{"OfAnOrdinaryDay",
                    "Europe/Berlin",
                    {Window("09:00", "17:00")},
                    "2026-07-01 00:00",
                    "2026-07-02 00:00",
                    "07-01 07:00=-, 07-01 15:00=0"},
        ChangesCase{"OverMidnight",
                    "Europe/Berlin",
                    {Window("22:00", "06:00")},
                    "2026-07-01 00:00",
                    "2026-07-02 12:00",
                    "07-01 04:00=0, 07-01 20:00=-, 07-02 04:00=0"},
        ChangesCase{"ToMidnight",
                    "",
                    {Window("20:00", "24:00")},
                    "2026-07-01 00:00",
                    "2026-07-02 12:00",
                    "07-01 20:00=-, 07-02 00:00=0"},
        ChangesCase{"FromMidnight",
                    "",
                    {Window("00:00", "04:00")},
                    "2026-06-30 12:00",
                    "2026-07-01 12:00",
                    "07-01 00:00=-, 07-01 04:00=0"},
        ChangesCase{"ADayLong",
                    "",
                    {Window("08:00", "08:00", kWed)},
                    "2026-06-29 00:00",
                    "2026-07-06 00:00",
                    "07-01 08:00=-, 07-02 08:00=0"},
        ChangesCase{"NoneIfItIsAlwaysOpen",
                    "Europe/Berlin",
                    {Window("00:00", "24:00"), Window("08:00", "09:00")},
                    "2026-03-01 00:00",
                    "2026-11-30 00:00",
                    ""},
        ChangesCase{"OverTheEndOfTheWeek",
                    "",
                    {Window("22:00", "02:00", kSun)},
                    "2026-07-03 00:00",
                    "2026-07-10 00:00",
                    "07-05 22:00=-, 07-06 02:00=0"},
        ChangesCase{"OfTheDayOfTheStart",
                    "",
                    {Window("22:00", "02:00", kFri | kSat)},
                    "2026-07-01 00:00",
                    "2026-07-08 00:00",
                    "07-03 22:00=-, 07-04 02:00=0, 07-04 22:00=-, 07-05 02:00=0"},
        ChangesCase{"OverTheEndOfTheYear",
                    "America/New_York",
                    {Window("23:00", "01:00")},
                    "2026-12-31 12:00",
                    "2027-01-01 12:00",
                    "01-01 04:00=-, 01-01 06:00=0"},
        ChangesCase{"TheLargestOfSeveral",
                    "",
                    {Window("08:00", "20:00", kMon, 5), Window("10:00", "12:00", kMon, 50),
                     Window("11:00", "14:00", kMon, 20), Window("23:00", "24:00", kMon)},
                    "2026-06-29 00:00",
                    "2026-06-30 12:00",
                    "06-29 08:00=5, 06-29 10:00=50, 06-29 12:00=20, 06-29 14:00=5, 06-29 20:00=0, "
                    "06-29 23:00=-, 06-30 00:00=0"},
        ChangesCase{"WindowsThatMeet",
                    "",
                    {Window("22:00", "24:00", kMon), Window("00:00", "04:00", kTue)},
                    "2026-06-29 00:00",
                    "2026-06-30 12:00",
                    "06-29 22:00=-, 06-30 04:00=0"},
        // The clock is put forward.
        ChangesCase{"AStartInTheGapIsItsEnd",
                    "Europe/Berlin",
                    {Window("02:30", "04:00")},
                    "2026-03-28 12:00",
                    "2026-03-30 12:00",
                    "03-29 01:00=-, 03-29 02:00=0, 03-30 00:30=-, 03-30 02:00=0"},
        ChangesCase{"AnEndInTheGapIsItsStart",
                    "Europe/Berlin",
                    {Window("01:00", "02:30")},
                    "2026-03-28 12:00",
                    "2026-03-30 12:00",
                    "03-29 00:00=-, 03-29 01:00=0, 03-29 23:00=-, 03-30 00:30=0"},
        ChangesCase{"AWindowInTheGapIsLeftOut",
                    "Europe/Berlin",
                    {Window("02:10", "02:50", kSun)},
                    "2026-03-22 12:00",
                    "2026-04-06 00:00",
                    "04-05 00:10=-, 04-05 00:50=0"},
        ChangesCase{"ANightIsAnHourShorter",
                    "America/New_York",
                    {Window("22:00", "06:00")},
                    "2026-03-07 12:00",
                    "2026-03-08 16:00",
                    "03-08 03:00=-, 03-08 10:00=0"},
        ChangesCase{"HalfAnHourForward",
                    "Australia/Lord_Howe",
                    {Window("02:15", "03:00")},
                    "2026-10-03 12:00",
                    "2026-10-04 18:00",
                    "10-03 15:30=-, 10-03 16:00=0, 10-04 15:15=-, 10-04 16:00=0"},
        // The clock is put back.
        ChangesCase{"BothPassesOfARepeatedHour",
                    "Europe/Berlin",
                    {Window("02:10", "02:20")},
                    "2026-10-24 12:00",
                    "2026-10-26 00:00",
                    "10-25 00:10=-, 10-25 00:20=0, 10-25 01:10=-, 10-25 01:20=0"},
        ChangesCase{"AStartInARepeatedHour",
                    "Europe/Berlin",
                    {Window("02:30", "04:00")},
                    "2026-10-24 12:00",
                    "2026-10-25 12:00",
                    "10-25 00:30=-, 10-25 01:00=0, 10-25 01:30=-, 10-25 03:00=0"},
        ChangesCase{"AnEndInARepeatedHour",
                    "Europe/Berlin",
                    {Window("01:00", "02:30")},
                    "2026-10-24 12:00",
                    "2026-10-25 12:00",
                    "10-24 23:00=-, 10-25 00:30=0, 10-25 01:00=-, 10-25 01:30=0"},
        ChangesCase{"ANightIsAnHourLonger",
                    "America/New_York",
                    {Window("22:00", "06:00")},
                    "2026-10-31 12:00",
                    "2026-11-01 16:00",
                    "11-01 02:00=-, 11-01 11:00=0"},
        ChangesCase{"HalfAnHourBack",
                    "Australia/Lord_Howe",
                    {Window("01:30", "02:00")},
                    "2026-04-04 00:00",
                    "2026-04-05 00:00",
                    "04-04 14:30=-, 04-04 15:30=0"}),
    [](const auto& test) { return test.param.name; });

TEST(WindowClockTest, TheRateOutsideAppliesWhileNoneIsOpen) {
  const DeleteWindows windows = {{Window("22:00", "06:00", kMon, 500)}, "", 7};
  const WindowClock clock = ClockOf(windows);
  EXPECT_EQ(clock.LimitAt(Utc("2026-06-29 21:59")), 7);
  EXPECT_EQ(clock.LimitAt(Utc("2026-06-29 22:00")), 500);
  EXPECT_FALSE(clock.IsOpen(Utc("2026-06-29 21:59")));
  EXPECT_TRUE(clock.IsOpen(Utc("2026-06-29 22:00")));
  EXPECT_EQ(clock.NextAllowed(Utc("2026-06-29 12:00")), Utc("2026-06-29 12:00"));
}

TEST(WindowClockTest, AWindowMayForbidWhatIsAllowedOutside) {
  const DeleteWindows windows = {{Window("09:00", "17:00", kMon, 0)}, "", 7};
  const WindowClock clock = ClockOf(windows);
  EXPECT_FALSE(clock.AllowsAt(Utc("2026-06-29 09:00")));
  EXPECT_EQ(clock.NextAllowed(Utc("2026-06-29 09:30")), Utc("2026-06-29 17:00"));
}

TEST(WindowClockTest, WindowsThatNeverAllowDeletesHaveNoNextStart) {
  const DeleteWindows windows = {{Window("09:00", "17:00", kMon, 0)}};
  EXPECT_EQ(ClockOf(windows).NextAllowed(Utc("2026-06-29 09:30")), std::nullopt);
}

TEST(WindowClockTest, WithoutItsZoneTheSmallestRateIsInForce) {
  const struct {
    DeleteWindows windows;
    double limit;
  } kCases[] = {
      {{{Window("09:00", "17:00", kMon)}, "Mars/Olympus"}, 0},
      {{{Window("09:00", "17:00", kMon, 0)}, "Mars/Olympus", 7}, 0},
      {{{Window("09:00", "17:00", kMon, 3), Window("09:00", "17:00")}, "Mars/Olympus", 7}, 3},
  };
  for (const auto& c : kCases) {
    const WindowClock clock(c.windows, FindTimeZone(c.windows.time_zone));
    const absl::Time noon = Utc("2026-06-29 12:00");
    EXPECT_EQ(clock.LimitAt(noon), c.limit);
    EXPECT_FALSE(clock.IsOpen(noon));
    EXPECT_EQ(clock.NextChange(noon), std::nullopt);
    EXPECT_EQ(clock.NextAllowed(noon).has_value(), c.limit > 0);
  }
}

// Against a look at every minute.
RC_GTEST_PROP(WindowClockProperty, NoChangeIsMissed, ()) {
  DeleteWindows windows;
  windows.time_zone = *rc::gen::element<std::string>("Europe/Berlin", "America/New_York",
                                                     "Australia/Lord_Howe", "America/Havana", "");
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    windows.windows.push_back({static_cast<uint8_t>(*rc::gen::inRange(1, 128)),
                               *rc::gen::inRange(0, 1440), *rc::gen::inRange(0, 1441),
                               static_cast<double>(*rc::gen::inRange(0, 3))});
  }
  const WindowClock clock = ClockOf(windows);
  // Around the days on which one of the zones changes its clock, and around another.
  const absl::Time from =
      Utc(*rc::gen::element<std::string>("2026-03-08 00:00", "2026-03-29 00:00", "2026-04-04 12:00",
                                         "2026-10-03 12:00", "2026-10-25 00:00", "2026-11-01 00:00",
                                         "2026-12-31 12:00")) +
      absl::Minutes(*rc::gen::inRange(-1440, 1440));
  const absl::Time end = from + absl::Hours(48);
  std::optional<absl::Time> change = clock.NextChange(from);
  for (absl::Time time = from + absl::Minutes(1); time < end; time += absl::Minutes(1)) {
    const bool changes = clock.LimitAt(time) != clock.LimitAt(time - absl::Minutes(1));
    RC_ASSERT(changes == (change == time));
    if (changes) change = clock.NextChange(time);
  }
}

JudgingTime Sound(absl::Time now) {
  return {.now = now, .for_deletes = now, .latest = now, .deletes_allowed = true};
}

TEST(WindowViewTest, WithoutWindowsThereIsNoLimit) {
  const WindowView view = ViewWindows(std::nullopt, Sound(Utc("2026-06-29 12:00")));
  EXPECT_EQ(view.limit, std::nullopt);
  EXPECT_FALSE(view.next_start.has_value());
}

TEST(WindowViewTest, BetweenTwoReadingsOfTheClockTheStricterCounts) {
  const DeleteWindows windows = {{Window("22:00", "06:00", DeleteWindow::kEveryDay, 500)}, ""};
  const absl::Time start = Utc("2026-06-29 22:00");
  const absl::Time end = Utc("2026-06-30 06:00");
  const struct {
    absl::Time earlier, later;
    double limit;
    std::optional<absl::Time> next_start;
  } kCases[] = {
      {start - absl::Seconds(3), start - absl::Seconds(1), 0, start},
      {start - absl::Seconds(1), start + absl::Seconds(1), 0, start},
      {start, start + absl::Seconds(2), 500, std::nullopt},
      {end - absl::Seconds(1), end + absl::Seconds(1), 0, start + absl::Hours(24)},
      // A suspect clock: nothing is deleted, and windows allow it at no reading but both.
      {start - absl::Hours(3), start + absl::Hours(1), 0, start},
      {start + absl::Hours(1), end + absl::Hours(1), 0, start + absl::Hours(24)},
      {start + absl::Hours(1), start + absl::Hours(2), 500, std::nullopt},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(absl::StrCat(Text(c.earlier), " ", Text(c.later)));
    const WindowView view =
        ViewWindows(windows, {.now = c.earlier, .for_deletes = c.earlier, .latest = c.later});
    EXPECT_EQ(view.limit, c.limit);
    EXPECT_EQ(view.next_start, c.next_start);
  }
}

TEST(WindowRatesTest, AreThoseOfTheWindowsUpToTheLimit) {
  const DeleteWindows windows = {
      {Window("22:00", "24:00", kMon, 500), Window("08:00", "09:00", kTue)}, "", 7};
  const absl::Time from = Utc("2026-06-29 21:00");
  const auto rates_with = [&](std::optional<double> limit) {
    std::vector<double> rates;
    for (const RateStep& step :
         WindowRates(ClockOf(windows), limit, from, from + absl::Hours(14))) {
      rates.push_back(step.per_second);
    }
    return rates;
  };
  EXPECT_THAT(rates_with(std::nullopt), ElementsAre(7, 500, 7, kNoLimit, 7));
  EXPECT_THAT(rates_with(100), ElementsAre(7, 100, 7, 100, 7));
  EXPECT_THAT(WindowRates(ClockOf(windows), 1, from, from), IsEmpty());
}

TEST(WindowRatesTest, FarAheadAreTheAverageOfFourWeeks) {
  const DeleteWindows windows = {{Window("00:00", "06:00", DeleteWindow::kEveryDay, 100)}, ""};
  const absl::Time from = Utc("2026-06-29 00:00");
  const std::vector<RateStep> rates =
      WindowRates(ClockOf(windows), std::nullopt, from, from + absl::Hours(24 * 365));
  ASSERT_EQ(rates.size(), 28 * 2 + 1);
  EXPECT_EQ(rates.back().begin, absl::ToUnixSeconds(from + absl::Hours(24 * 28)));
  EXPECT_DOUBLE_EQ(rates.back().per_second, 25);
}

TEST(AllowedTimeTest, CountsOnlyTimeInWhichDeletesWereAllowed) {
  const std::optional<DeleteWindows> windows = {{{Window("22:00", "06:00")}, ""}};
  const absl::Time now = Utc("2026-07-01 23:00");
  const AllowedTime allowed(windows, now - absl::Hours(100), now);
  EXPECT_EQ(allowed.Since(now), absl::ZeroDuration());
  EXPECT_EQ(allowed.Since(Utc("2026-07-01 22:40")), absl::Minutes(20));
  EXPECT_EQ(allowed.Since(Utc("2026-07-01 10:00")), absl::Hours(1));
  EXPECT_EQ(allowed.Since(Utc("2026-07-01 05:00")), absl::Hours(2));
  EXPECT_EQ(allowed.Since(Utc("2026-06-30 10:00")), absl::Hours(9));
  EXPECT_EQ(allowed.Since(now + absl::Hours(1)), absl::ZeroDuration());
}

TEST(AllowedTimeTest, CountsAllTimeWithoutWindowsAndLongAgo) {
  const absl::Time now = Utc("2026-07-01 12:00");
  EXPECT_EQ(AllowedTime(std::nullopt, now - absl::Hours(5), now).Since(now - absl::Hours(5)),
            absl::Hours(5));
  const std::optional<DeleteWindows> never = {{{Window("22:00", "06:00", kMon, 0)}, ""}};
  const AllowedTime allowed(never, now - absl::Hours(24 * 9), now);
  EXPECT_EQ(allowed.Since(now - absl::Hours(24 * 9)), absl::Hours(24));
  EXPECT_EQ(allowed.Since(now - absl::Hours(24 * 7)), absl::ZeroDuration());
}

TEST(TimeZoneTest, OnlyNamesOfTheDatabaseAreZones) {
  for (const char* name :
       {"", "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"}) {
    EXPECT_TRUE(FindTimeZone(name).has_value()) << name;
  }
  for (const char* name :
       {"Mars/Olympus", "Europe", "europe/berlin", "/etc/passwd", "localtime", "../zoneinfo/UTC",
        "Fixed/UTC+05:00:00", "libc:UTC", "+02:00", "Europe/"}) {
    EXPECT_FALSE(FindTimeZone(name).has_value()) << name;
  }
  EXPECT_FALSE(IsTimeZoneName(std::string(65, 'a')));
}

TEST(WindowTextTest, ReadsTimesOfDay) {
  EXPECT_EQ(ParseTimeOfDay("00:00"), 0);
  EXPECT_EQ(ParseTimeOfDay("22:05"), 22 * 60 + 5);
  EXPECT_EQ(ParseTimeOfDay("24:00"), 1440);
  for (const char* text :
       {"", "24:01", "25:00", "12:60", "1:00", "12:0", "12-00", "12:00 ", "-1:00"}) {
    EXPECT_EQ(ParseTimeOfDay(text), std::nullopt) << text;
  }
  for (const int minutes : {0, 61, 1439, 1440}) {
    EXPECT_EQ(ParseTimeOfDay(TimeOfDayText(minutes)), minutes);
  }
}

TEST(WindowTextTest, ReadsDays) {
  EXPECT_EQ(ParseDay("mon"), 0);
  EXPECT_EQ(ParseDay("SUN"), 6);
  EXPECT_EQ(ParseDay("monday"), std::nullopt);
  EXPECT_THAT(DayNames(kMon | kSun), ElementsAre("mon", "sun"));
}

TEST(ValidateWindowsTest, NamesWhatIsWrong) {
  const DeleteWindows good = {{Window("22:00", "06:00")}, "Europe/Berlin"};
  EXPECT_TRUE(ValidateWindows(good).ok());
  const struct {
    const char* part;
    void (*spoil)(DeleteWindows&);
  } kCases[] = {
      {"windows.windows has 0 windows", [](DeleteWindows& w) { w.windows.clear(); }},
      {"windows.windows has 33 windows", [](DeleteWindows& w) { w.windows.resize(33); }},
      {"windows[0].days", [](DeleteWindows& w) { w.windows[0].days = 0; }},
      {"windows[0].start", [](DeleteWindows& w) { w.windows[0].start = 1440; }},
      {"windows[0].end", [](DeleteWindows& w) { w.windows[0].end = 1441; }},
      {"windows[0].max_deletes_per_second is -1",
       [](DeleteWindows& w) { w.windows[0].max_deletes_per_second = -1; }},
      {"max_deletes_per_second_outside is nan",
       [](DeleteWindows& w) { w.max_deletes_per_second_outside = std::nan(""); }},
      {"time_zone is \"/etc/localtime\"", [](DeleteWindows& w) { w.time_zone = "/etc/localtime"; }},
  };
  for (const auto& c : kCases) {
    DeleteWindows windows = good;
    c.spoil(windows);
    const absl::Status status = ValidateWindows(windows);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(c.part));
  }
}

TEST(CheckTimeZoneTest, RefusesAZoneThatIsNotInTheDatabase) {
  EXPECT_TRUE(CheckTimeZone({{Window("22:00", "06:00")}, "Europe/Berlin"}).ok());
  const absl::Status status = CheckTimeZone({{Window("22:00", "06:00")}, "Europe/Atlantis"});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("delete_policy.windows.time_zone is \"Europe/Atlantis\""));
}

}  // namespace
}  // namespace ttl
