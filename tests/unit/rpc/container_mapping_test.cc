#include "service/rpc/mapping/container_mapping.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"

namespace ttl {
namespace {

ContainerSettings Settings(std::optional<int64_t> default_ttl, int64_t delay_seconds,
                           IndexingMode mode, std::optional<double> rate) {
  ContainerSettings settings;
  settings.policy = {default_ttl, delay_seconds};
  settings.indexing_mode = mode;
  settings.max_deletes_per_second = rate;
  return settings;
}

// Every field away from its default.
ContainerSettings FullSettings() {
  ContainerSettings settings = Settings(60, 5, IndexingMode::kLazy, 10.0);
  settings.request_units_per_second = 400;
  settings.request_units_per_delete = 2.5;
  settings.min_deletes_per_second = 0.5;
  settings.brake.emplace();
  settings.brake->max_newly_due_items = 1000;
  settings.brake->max_newly_due_percent = 5;
  settings.brake->release_after_seconds = 7200;
  settings.windows = DeleteWindows{
      {{DeleteWindow::kEveryDay & ~0x60, 22 * 60, 6 * 60, 500.0}, {0x60, 0, 1440, {}}},
      "Europe/Berlin",
      7};
  settings.show_held = true;
  settings.requires_holds = true;
  settings.feed = {.max_age_seconds = 7200, .max_bytes = 2 << 20, .notice_seconds = 60};
  settings.allow_touch = true;
  return settings;
}

// The same as a text proto, without the etag.
constexpr char kFullContainer[] =
    "id: 'c' default_ttl: 60 indexing_mode: INDEXING_MODE_LAZY "
    "delete_policy { max_deletes_per_second: 10 delay { seconds: 5 } "
    "request_units_per_second: 400 request_units_per_delete: 2.5 min_deletes_per_second: 0.5 "
    "brake { max_newly_due_items: 1000 max_newly_due_percent: 5 release_after { seconds: 7200 } } "
    "windows { windows { days: [DAY_OF_WEEK_MONDAY, DAY_OF_WEEK_TUESDAY, DAY_OF_WEEK_WEDNESDAY, "
    "DAY_OF_WEEK_THURSDAY, DAY_OF_WEEK_FRIDAY] start: '22:00' end: '06:00' "
    "max_deletes_per_second: 500 } windows { days: [DAY_OF_WEEK_SATURDAY, DAY_OF_WEEK_SUNDAY] "
    "start: '00:00' end: '24:00' } time_zone: 'Europe/Berlin' max_deletes_per_second_outside: 7 } "
    "} show_held: true requires_holds: true "
    "feed { max_age { seconds: 7200 } max_bytes: 2097152 notice { seconds: 60 } } "
    "allow_touch: true";

Container MakeContainer(ContainerSettings settings) {
  Container container;
  container.number = 3;
  container.id = "c";
  container.settings = settings;
  container.index_number = 4;
  container.revision = 5;
  container.create_time = absl::FromUnixSeconds(1'800'000'000);
  container.update_time = absl::FromUnixSeconds(1'800'000'100);
  return container;
}

const Container kPresent = MakeContainer(Settings(60, 5, IndexingMode::kLazy, 10.0));

// The settings that a request with `fields` makes of kPresent.
absl::StatusOr<ContainerSettings> Update(const std::string& fields) {
  const auto update = ReadUpdate(Proto<v1::UpdateContainerRequest>(fields));
  if (!update.ok()) return update.status();
  return ApplyUpdate(*update, kPresent);
}

TEST(ReadSettingsTest, EveryFieldIsTaken) {
  EXPECT_EQ(ReadSettings(Proto<v1::Container>(kFullContainer)).value(), FullSettings());
}

TEST(ReadSettingsTest, AbsentFieldsHaveTheirDefaults) {
  EXPECT_EQ(ReadSettings(v1::Container()).value(),
            Settings(std::nullopt, 0, IndexingMode::kConsistent, std::nullopt));
}

TEST(ReadSettingsTest, FieldsSetByTheServerAreIgnored) {
  EXPECT_EQ(ReadSettings(Proto<v1::Container>(
                             "etag: 'x' create_time { seconds: 1 } update_time { seconds: 2 } "
                             "index_progress { percent: 5 } has_holds: true has_touches: true"))
                .value(),
            ContainerSettings());
}

TEST(ReadSettingsTest, ARateOfZeroIsNotAnAbsentOne) {
  EXPECT_EQ(ReadSettings(Proto<v1::Container>("delete_policy { max_deletes_per_second: 0 }"))
                ->max_deletes_per_second,
            0.0);
}

TEST(ReadSettingsTest, ADelayIsWholeSeconds) {
  EXPECT_THAT(ReadSettings(Proto<v1::Container>("delete_policy { delay { nanos: 1 } }")),
              IsInvalid("delete_policy.delay", "whole seconds"));
}

TEST(ReadSettingsTest, ABrakeLetsGoAfterADayUnlessItSaysOtherwise) {
  const auto settings =
      ReadSettings(Proto<v1::Container>("delete_policy { brake { max_newly_due_items: 0 } }"));
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->brake->release_after_seconds, 86400);
  EXPECT_EQ(settings->brake->max_newly_due_items, 0);
  EXPECT_FALSE(settings->brake->max_newly_due_percent.has_value());
}

TEST(ReadSettingsTest, ABrakeLetsGoAfterWholeSeconds) {
  EXPECT_THAT(ReadSettings(Proto<v1::Container>(
                  "delete_policy { brake { release_after { seconds: 61 nanos: 1 } } }")),
              IsInvalid("delete_policy.brake.release_after is 61 s and 1 ns", "60 to 2592000 s"));
}

TEST(ReadSettingsTest, TimesOfAFeedAreWholeSeconds) {
  EXPECT_THAT(ReadSettings(Proto<v1::Container>("feed { max_age { seconds: 61 nanos: 1 } }")),
              IsInvalid("feed.max_age is 61 s and 1 ns", "60 to 31622400 s"));
  EXPECT_THAT(ReadSettings(Proto<v1::Container>("feed { notice { nanos: 1 } }")),
              IsInvalid("feed.notice is 0 s and 1 ns", "1 to 31622400 s"));
}

TEST(ReadSettingsTest, DaysAndTimesOfWindows) {
  const auto read = [](const std::string& window) {
    return ReadSettings(Proto<v1::Container>(
        absl::StrCat("delete_policy { windows { windows { ", window, " } } }")));
  };
  const auto every_day = read("start: '08:00' end: '08:00'");
  ASSERT_THAT(every_day, IsOk());
  EXPECT_EQ(every_day->windows->windows[0].days, DeleteWindow::kEveryDay);
  EXPECT_EQ(every_day->windows->max_deletes_per_second_outside, 0);
  EXPECT_THAT(read("start: '8:00' end: '09:00'"),
              IsInvalid("delete_policy.windows.windows[0].start is \"8:00\"", "such as 22:00"));
  EXPECT_THAT(read("start: '08:00'"), IsInvalid("windows[0].end is \"\"", "00:00 to 24:00"));
  EXPECT_THAT(read("start: '08:00' end: '24:01'"), IsInvalid("windows[0].end is \"24:01\""));
  EXPECT_THAT(read("start: '08:00' end: '09:00' days: 0"), IsInvalid("windows[0].days is 0"));
  EXPECT_THAT(read("start: '08:00' end: '09:00' days: 8"), IsInvalid("windows[0].days is 8"));
}

TEST(ReadSettingsTest, AllDaysOfTheWeekAreWrittenAsNone) {
  Container container = MakeContainer(ContainerSettings());
  container.settings.windows = DeleteWindows{{{DeleteWindow::kEveryDay, 0, 60, {}}}};
  const v1::Container proto = ToProto(container, /*holds_in_doubt=*/false);
  EXPECT_EQ(proto.delete_policy().windows().windows(0).days_size(), 0);
  EXPECT_FALSE(proto.delete_policy().windows().has_max_deletes_per_second_outside());
}

// What ContainerSettings can hold but a container may not; storage runs the same
// check on every change.
TEST(ReadSettingsTest, ValuesOutOfRangeAreRefusedByTheSettingsCheck) {
  const auto validate = [](const std::string& text) {
    return ValidateSettings(ReadSettings(Proto<v1::Container>(text)).value());
  };
  EXPECT_THAT(validate("default_ttl: 0"), IsInvalid("default_ttl is 0"));
  EXPECT_THAT(validate("default_ttl: -2"), IsInvalid("default_ttl is -2"));
  EXPECT_THAT(validate("indexing_mode: 17"), IsInvalid("indexing_mode is 17"));
  EXPECT_THAT(validate("delete_policy { delay { seconds: -1 } }"), IsInvalid("delay is -1"));
  EXPECT_THAT(validate("delete_policy { delay { seconds: 316224001 } }"),
              IsInvalid("delay is 316224001"));
  for (const char* rate : {"nan", "inf", "-inf", "-1", "-0.5"}) {
    EXPECT_THAT(validate(absl::StrCat("delete_policy { max_deletes_per_second: ", rate, " }")),
                IsInvalid("max_deletes_per_second"))
        << rate;
  }
  EXPECT_THAT(validate("delete_policy { request_units_per_second: 0 }"),
              IsInvalid("request_units_per_second is 0"));
  EXPECT_THAT(validate("delete_policy { request_units_per_delete: nan }"),
              IsInvalid("request_units_per_delete is nan"));
  EXPECT_THAT(validate("delete_policy { min_deletes_per_second: -1 }"),
              IsInvalid("min_deletes_per_second is -1"));
  EXPECT_THAT(validate("delete_policy { brake {} }"), IsInvalid("delete_policy.brake"));
  EXPECT_THAT(validate("delete_policy { brake { max_newly_due_items: 1 release_after {} } }"),
              IsInvalid("release_after is 0 s"));
  EXPECT_THAT(validate("feed { max_age { seconds: 59 } }"), IsInvalid("max_age is 59 s"));
  EXPECT_THAT(validate("feed { max_bytes: 0 }"), IsInvalid("max_bytes is 0"));
  EXPECT_THAT(validate("feed { notice {} }"), IsInvalid("notice is 0 s"));
  EXPECT_THAT(validate("delete_policy { windows {} }"), IsInvalid("windows.windows has 0 windows"));
  EXPECT_THAT(validate("delete_policy { windows { windows { start: '24:00' end: '24:00' } } }"),
              IsInvalid("windows.windows[0].start", "00:00 to 23:59"));
  EXPECT_THAT(validate("default_ttl: 1 indexing_mode: INDEXING_MODE_NONE"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(UpdateTest, AMaskIsRequiredAndNamesWhatCanBeChanged) {
  EXPECT_THAT(Update("container { id: 'c' default_ttl: 5 }"), IsInvalid("update_mask is empty"));
  for (const char* path :
       {"id", "etag", "create_time", "index_progress", "has_holds", "has_touches",
        "delete_policy.delay.seconds", "defaultTtl", "delete_policy.", "", " default_ttl",
        "delete_policy.brake.release_after", "*.", "delete"}) {
    EXPECT_THAT(Update(absl::StrCat("update_mask { paths: 'default_ttl' paths: '", path, "' }")),
                IsInvalid(absl::StrCat("update_mask names \"", path, "\""), "indexing_mode"))
        << path;
  }
}

TEST(UpdateTest, OnlyNamedFieldsChange) {
  const std::string container =
      "container { id: 'c' default_ttl: -1 indexing_mode: INDEXING_MODE_CONSISTENT "
      "delete_policy { max_deletes_per_second: 3 delay { seconds: 9 } } }";
  const struct {
    const char* mask;
    ContainerSettings result;
  } kCases[] = {
      {"paths: 'default_ttl'", Settings(-1, 5, IndexingMode::kLazy, 10.0)},
      {"paths: 'indexing_mode'", Settings(60, 5, IndexingMode::kConsistent, 10.0)},
      {"paths: 'delete_policy'", Settings(60, 9, IndexingMode::kLazy, 3.0)},
      {"paths: 'delete_policy.max_deletes_per_second'", Settings(60, 5, IndexingMode::kLazy, 3.0)},
      {"paths: 'delete_policy.delay'", Settings(60, 9, IndexingMode::kLazy, 10.0)},
      {"paths: 'default_ttl' paths: 'delete_policy.delay'",
       Settings(-1, 9, IndexingMode::kLazy, 10.0)},
      {"paths: '*'", Settings(-1, 9, IndexingMode::kConsistent, 3.0)},
  };
  for (const auto& c : kCases) {
    const auto result = Update(absl::StrCat(container, " update_mask { ", c.mask, " }"));
    ASSERT_THAT(result, IsOk()) << c.mask;
    EXPECT_EQ(*result, c.result) << c.mask << ": " << Describe(*result);
  }
}

TEST(UpdateTest, ANamedFieldThatIsAbsentIsRemoved) {
  const struct {
    const char* mask;
    ContainerSettings result;
  } kCases[] = {
      {"default_ttl", Settings(std::nullopt, 5, IndexingMode::kLazy, 10.0)},
      {"indexing_mode", Settings(60, 5, IndexingMode::kConsistent, 10.0)},
      {"delete_policy", Settings(60, 0, IndexingMode::kLazy, std::nullopt)},
      {"delete_policy.delay", Settings(60, 0, IndexingMode::kLazy, 10.0)},
      {"*", ContainerSettings()},
  };
  for (const auto& c : kCases) {
    const auto result =
        Update(absl::StrCat("container { id: 'c' } update_mask { paths: '", c.mask, "' }"));
    ASSERT_THAT(result, IsOk()) << c.mask;
    EXPECT_EQ(*result, c.result) << c.mask << ": " << Describe(*result);
  }
}

// The settings of a bare container of which only `path` is set as in FullSettings().
absl::StatusOr<ContainerSettings> SetOnly(const std::string& path) {
  const auto update = ReadUpdate(Proto<v1::UpdateContainerRequest>(
      absl::StrCat("container { ", kFullContainer, " } update_mask { paths: '", path, "' }")));
  if (!update.ok()) return update.status();
  return ApplyUpdate(*update, MakeContainer(ContainerSettings()));
}

TEST(UpdateTest, EverySettingHasAPath) {
  const ContainerSettings full = FullSettings();
  const struct {
    const char* path;
    void (*change)(const ContainerSettings& full, ContainerSettings& settings);
  } kCases[] = {
      {"delete_policy.request_units_per_second",
       [](const auto& full, auto& to) {
         to.request_units_per_second = full.request_units_per_second;
       }},
      {"delete_policy.request_units_per_delete",
       [](const auto& full, auto& to) {
         to.request_units_per_delete = full.request_units_per_delete;
       }},
      {"delete_policy.min_deletes_per_second",
       [](const auto& full, auto& to) { to.min_deletes_per_second = full.min_deletes_per_second; }},
      {"delete_policy.brake", [](const auto& full, auto& to) { to.brake = full.brake; }},
      {"delete_policy.windows", [](const auto& full, auto& to) { to.windows = full.windows; }},
      {"delete_policy",
       [](const auto& full, auto& to) {
         const auto default_ttl = to.policy.default_ttl;
         const auto mode = to.indexing_mode;
         to = full;
         to.policy.default_ttl = default_ttl;
         to.indexing_mode = mode;
         to.show_held = to.requires_holds = to.allow_touch = false;
         to.feed.reset();
       }},
      {"show_held", [](const auto& full, auto& to) { to.show_held = full.show_held; }},
      {"requires_holds",
       [](const auto& full, auto& to) { to.requires_holds = full.requires_holds; }},
      {"allow_touch", [](const auto& full, auto& to) { to.allow_touch = full.allow_touch; }},
      {"feed", [](const auto& full, auto& to) { to.feed = full.feed; }},
      {"feed.max_age",
       [](const auto& full, auto& to) {
         to.feed = {.max_age_seconds = full.feed->max_age_seconds, .notice_seconds = {}};
       }},
      {"feed.max_bytes",
       [](const auto& full, auto& to) {
         to.feed = {.max_bytes = full.feed->max_bytes, .notice_seconds = {}};
       }},
      {"feed.notice",
       [](const auto& full, auto& to) { to.feed = {.notice_seconds = full.feed->notice_seconds}; }},
      {"*", [](const auto& full, auto& to) { to = full; }},
  };
  for (const auto& c : kCases) {
    ContainerSettings want;
    c.change(full, want);
    const auto result = SetOnly(c.path);
    ASSERT_THAT(result, IsOk()) << c.path;
    EXPECT_EQ(*result, want) << c.path << ": " << Describe(*result);
  }
}

TEST(UpdateTest, ANamedFieldOfTheDeletePolicyThatIsAbsentIsRemoved) {
  for (const char* path :
       {"delete_policy.request_units_per_second", "delete_policy.request_units_per_delete",
        "delete_policy.min_deletes_per_second", "delete_policy.brake", "delete_policy.windows"}) {
    const auto update = ReadUpdate(Proto<v1::UpdateContainerRequest>(
        absl::StrCat("container { id: 'c' } update_mask { paths: '", path, "' }")));
    ASSERT_THAT(update, IsOk()) << path;
    const auto removed = ApplyUpdate(*update, MakeContainer(FullSettings()));
    ASSERT_THAT(removed, IsOk()) << path;
    EXPECT_NE(*removed, FullSettings()) << path;
    // Set again, all is as it was.
    const auto again = ReadUpdate(Proto<v1::UpdateContainerRequest>(
        absl::StrCat("container { ", kFullContainer, " } update_mask { paths: '", path, "' }")));
    EXPECT_EQ(ApplyUpdate(*again, MakeContainer(*removed)).value(), FullSettings()) << path;
  }
}

TEST(UpdateTest, AnAbsentFieldOfTheFeedHasItsDefaultAndSwitchesNoFeedOn) {
  const struct {
    const char* path;
    std::optional<FeedSettings> result;
  } kCases[] = {
      {"feed", std::nullopt},
      {"feed.max_age", FeedSettings{.max_bytes = 2 << 20, .notice_seconds = 60}},
      {"feed.max_bytes", FeedSettings{.max_age_seconds = 7200, .notice_seconds = 60}},
      {"feed.notice",
       FeedSettings{.max_age_seconds = 7200, .max_bytes = 2 << 20, .notice_seconds = {}}},
  };
  for (const auto& c : kCases) {
    const auto update = ReadUpdate(Proto<v1::UpdateContainerRequest>(
        absl::StrCat("container { id: 'c' } update_mask { paths: '", c.path, "' }")));
    ASSERT_THAT(update, IsOk()) << c.path;
    EXPECT_EQ(ApplyUpdate(*update, MakeContainer(FullSettings()))->feed, c.result) << c.path;
    EXPECT_EQ(ApplyUpdate(*update, MakeContainer({}))->feed, std::nullopt) << c.path;
  }
}

TEST(UpdateTest, FieldsThatAreNotNamedMayHoldAnything) {
  const auto result = Update(
      "container { id: 'c' default_ttl: 0 delete_policy { delay { nanos: 5 } } } "
      "update_mask { paths: 'indexing_mode' }");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->policy, kPresent.settings.policy);
}

TEST(UpdateTest, AnotherEtagAborts) {
  const std::string update = "update_mask { paths: 'default_ttl' } container { etag: '";
  EXPECT_THAT(Update(absl::StrCat(update, "' }")), IsOk());
  EXPECT_THAT(Update(absl::StrCat(update, ContainerEtag(kPresent), "' }")), IsOk());
  EXPECT_THAT(Update(absl::StrCat(update, "other' }")),
              StatusIs(absl::StatusCode::kAborted, testing::HasSubstr("container.etag")));
}

TEST(ContainerToProtoTest, SettingsComeBack) {
  for (const auto& settings :
       {ContainerSettings(), FullSettings(), Settings(-1, 0, IndexingMode::kConsistent, 0.0),
        Settings(2147483647, 1, IndexingMode::kLazy, 0.1),
        Settings(std::nullopt, 0, IndexingMode::kNone, std::nullopt)}) {
    EXPECT_EQ(ReadSettings(ToProto(MakeContainer(settings), /*holds_in_doubt=*/false)).value(),
              settings);
  }
}

TEST(ContainerToProtoTest, ServerFieldsAreSet) {
  const v1::Container proto = ToProto(kPresent, /*holds_in_doubt=*/false);
  EXPECT_EQ(proto.id(), "c");
  EXPECT_EQ(proto.etag(), ContainerEtag(kPresent));
  EXPECT_EQ(proto.create_time().seconds(), 1'800'000'000);
  EXPECT_EQ(proto.update_time().seconds(), 1'800'000'100);
}

TEST(ContainerToProtoTest, HoldsThatStandOrMayStandAreTold) {
  for (const bool stand : {false, true}) {
    for (const bool in_doubt : {false, true}) {
      Container container = kPresent;
      container.has_holds = stand;
      EXPECT_EQ(ToProto(container, in_doubt).has_holds(), stand || in_doubt)
          << stand << " " << in_doubt;
    }
  }
}

TEST(ContainerToProtoTest, ThatItemsMayHaveBeenTouchedIsTold) {
  Container container = kPresent;
  EXPECT_FALSE(ToProto(container, false).has_touches());
  container.has_touches = true;
  EXPECT_TRUE(ToProto(container, false).has_touches());
  EXPECT_FALSE(ToProto(container, false).allow_touch());
}

TEST(ContainerToProtoTest, AGateIsToldLikeAHold) {
  Container container = kPresent;
  container.feed.has_gates = true;
  EXPECT_TRUE(ToProto(container, /*holds_in_doubt=*/false).has_holds());
}

TEST(IndexProgressTest, Table) {
  Container container = kPresent;
  EXPECT_EQ(IndexProgressOf(container).state(), v1::INDEX_STATE_READY);
  EXPECT_EQ(IndexProgressOf(container).percent(), 100);
  container.index_build.emplace();
  container.index_build->items_indexed = 12;
  container.index_build->percent = 34;
  EXPECT_EQ(IndexProgressOf(container).state(), v1::INDEX_STATE_BUILDING);
  EXPECT_EQ(IndexProgressOf(container).items_indexed(), 12);
  EXPECT_EQ(IndexProgressOf(container).percent(), 34);
  container.index_build.reset();
  container.index_number = 0;
  EXPECT_EQ(IndexProgressOf(container).state(), v1::INDEX_STATE_NONE);
  EXPECT_EQ(IndexProgressOf(container).percent(), 0);
}

TEST(DescribeTest, SaysEverySettingAndWhichAreAbsent) {
  EXPECT_EQ(Describe(FullSettings()),
            "{default_ttl=60 indexing_mode=INDEXING_MODE_LAZY max_deletes_per_second=10 "
            "delay_seconds=5 request_units_per_second=400 request_units_per_delete=2.5 "
            "min_deletes_per_second=0.5 brake={max_newly_due_items=1000 max_newly_due_percent=5 "
            "release_after_seconds=7200} windows={mon,tue,wed,thu,fri 22:00-06:00 500; "
            "sat,sun 00:00-24:00 time_zone=Europe/Berlin max_deletes_per_second_outside=7} "
            "show_held=true requires_holds=true "
            "feed={max_age_seconds=7200 max_bytes=2097152 notice_seconds=60} allow_touch=true}");
  EXPECT_EQ(Describe(ContainerSettings()),
            "{default_ttl=absent indexing_mode=INDEXING_MODE_CONSISTENT "
            "max_deletes_per_second=absent delay_seconds=0 request_units_per_second=absent "
            "request_units_per_delete=absent min_deletes_per_second=0 brake=absent "
            "windows=absent show_held=false requires_holds=false feed=absent allow_touch=false}");
}

}  // namespace
}  // namespace ttl
