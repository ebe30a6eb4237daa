#include "service/yaml/container_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<std::vector<ContainerEntry>> Parse(const std::string& text) {
  return ParseContainers("c.yaml", text);
}

// The one entry of a file with `lines` besides the id.
ContainerEntry ParseOne(const std::string& lines) {
  const auto entries = Parse(absl::StrCat("containers:\n  - id: c\n", lines));
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() && entries->size() == 1 ? entries->front() : ContainerEntry();
}

TEST(ContainerEntriesTest, ReadsAllKeys) {
  const auto entries = Parse(R"(
containers:
  - id: salesdb/orders
    default_ttl: 3600
    indexing_mode: LAZY
    delete_policy:
      max_deletes_per_second: 0.5
      delay_seconds: 60
      request_units_per_second: 400
      request_units_per_delete: 2.5
      min_deletes_per_second: 0.25
      brake:
        max_newly_due_items: 1000
        max_newly_due_percent: 5
        release_after_seconds: 7200
      windows:
        windows:
          - days: [sun, Mon]
            start: "22:00"
            end: 06:00
            max_deletes_per_second: 500
          - {start: 00:00, end: 24:00}
        time_zone: Europe/Berlin
        max_deletes_per_second_outside: 0.5
    show_held: true
    holds: true
    feed:
      max_age_seconds: 7200
      max_bytes: 2097152
      notice_seconds: 60
    allow_touch: true
  - default_ttl: -1
    id: "sessions"
)");
  ASSERT_TRUE(entries.ok()) << entries.status();
  ContainerEntry orders = {.id = "salesdb/orders", .settings = {}};
  orders.settings.policy = {.default_ttl = 3600, .delay_seconds = 60};
  orders.settings.indexing_mode = IndexingMode::kLazy;
  orders.settings.max_deletes_per_second = 0.5;
  orders.settings.request_units_per_second = 400;
  orders.settings.request_units_per_delete = 2.5;
  orders.settings.min_deletes_per_second = 0.25;
  orders.settings.brake = PolicyBrake{
      .max_newly_due_items = 1000, .max_newly_due_percent = 5, .release_after_seconds = 7200};
  orders.settings.windows = DeleteWindows{
      {{0x41, 22 * 60, 6 * 60, 500.0}, {0x7f, 0, 1440, std::nullopt}}, "Europe/Berlin", 0.5};
  orders.settings.show_held = true;
  orders.settings.requires_holds = true;
  orders.settings.feed = {.max_age_seconds = 7200, .max_bytes = 2 << 20, .notice_seconds = 60};
  orders.settings.allow_touch = true;
  ContainerEntry sessions = {.id = "sessions", .settings = {}};
  sessions.settings.policy.default_ttl = -1;
  EXPECT_THAT(*entries, testing::ElementsAre(orders, sessions));
}

TEST(ContainerEntriesTest, BrakeLetsGoAfterADayUnlessItSaysOtherwise) {
  const std::string brake = "    delete_policy: {brake: {max_newly_due_items: 0";
  EXPECT_EQ(ParseOne(brake + "}}\n").settings.brake->release_after_seconds, 86400);
  EXPECT_EQ(
      ParseOne(brake + ", release_after_seconds: 60}}\n").settings.brake->release_after_seconds,
      60);
  EXPECT_EQ(ParseOne("    delete_policy: {brake: null}\n").settings.brake, std::nullopt);
}

TEST(ContainerEntriesTest, AFeedHasDefaultsAndIsOffUnlessItIsThere) {
  EXPECT_EQ(ParseOne("").settings.feed, std::nullopt);
  EXPECT_EQ(ParseOne("    feed: null\n").settings.feed, std::nullopt);
  EXPECT_EQ(ParseOne("    feed: {}\n").settings.feed, FeedSettings());
  EXPECT_EQ(
      ParseOne("    feed: {max_age_seconds: null, max_bytes: ~, notice_seconds:}\n").settings.feed,
      FeedSettings());
  EXPECT_EQ(ParseOne("    feed: {notice_seconds: 1}\n").settings.feed->notice_seconds, 1);
}

TEST(ContainerEntriesTest, FileWithoutContainersIsEmpty) {
  for (const char* text : {"", "# nothing yet\n", "---\n", "containers:\n", "containers: []\n"}) {
    const auto entries = Parse(text);
    ASSERT_TRUE(entries.ok()) << text << entries.status();
    EXPECT_THAT(*entries, testing::IsEmpty()) << text;
  }
}

TEST(ContainerEntriesTest, ThreeStatesOfDefaultTtl) {
  const struct {
    const char* lines;
    std::optional<int64_t> expected;
  } kCases[] = {
      {"", std::nullopt},
      {"    default_ttl:\n", std::nullopt},
      {"    default_ttl: null\n", std::nullopt},
      {"    default_ttl: ~\n", std::nullopt},
      {"    default_ttl: off\n", std::nullopt},
      {"    default_ttl: -1\n", -1},
      {"    default_ttl: 1\n", 1},
      {"    default_ttl: 2147483647\n", 2147483647},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ParseOne(c.lines).settings.policy.default_ttl, c.expected) << c.lines;
  }
}

TEST(ContainerEntriesTest, RateOfZeroIsNotTheDefaultRate) {
  const std::string rate = "    delete_policy: {max_deletes_per_second: ";
  EXPECT_EQ(ParseOne(rate + "0}\n").settings.max_deletes_per_second, 0.0);
  EXPECT_EQ(ParseOne(rate + "1e3}\n").settings.max_deletes_per_second, 1000.0);
  EXPECT_EQ(ParseOne(rate + "null}\n").settings.max_deletes_per_second, std::nullopt);
  EXPECT_EQ(ParseOne("    delete_policy:\n").settings.max_deletes_per_second, std::nullopt);
}

TEST(ContainerEntriesTest, BadValueNamesFileLineContainerKeyAndValue) {
  const struct {
    const char* line;
    const char* key;
    const char* value;
  } kCases[] = {
      {"default_ttl: 0", "default_ttl", "\"0\""},
      {"default_ttl: -2", "default_ttl", "\"-2\""},
      {"default_ttl: 2147483648", "default_ttl", "\"2147483648\""},
      {"default_ttl: 99999999999999999999", "default_ttl", "\"99999999999999999999\""},
      {"default_ttl: 60s", "default_ttl", "\"60s\""},
      {"default_ttl: 60.0", "default_ttl", "\"60.0\""},
      {"default_ttl: 6e1", "default_ttl", "\"6e1\""},
      {"default_ttl: 0x3c", "default_ttl", "\"0x3c\""},
      {"default_ttl: 060", "default_ttl", "\"060\""},
      {"default_ttl: +60", "default_ttl", "\"+60\""},
      {"default_ttl: '60'", "default_ttl", "\"60\""},
      {"default_ttl: \"60\"", "default_ttl", "\"60\""},
      {"default_ttl: \"\"", "default_ttl", "\"\""},
      {"default_ttl: true", "default_ttl", "\"true\""},
      {"default_ttl: .nan", "default_ttl", "\".nan\""},
      {"default_ttl: [60]", "default_ttl", "a list"},
      {"default_ttl: {seconds: 60}", "default_ttl", "a mapping"},
      {"indexing_mode: SOMETIMES", "indexing_mode", "\"SOMETIMES\""},
      {"indexing_mode: null", "indexing_mode", "nothing"},
      {"indexing_mode: 1", "indexing_mode", "\"1\""},
      {"show_held: yes", "show_held", "\"yes\""},
      {"show_held: 'true'", "show_held", "\"true\""},
      {"holds: 1", "holds", "\"1\""},
      {"holds: [true]", "holds", "a list"},
      {"allow_touch: on", "allow_touch", "\"on\""},
      {"feed: true", "feed", "\"true\""},
      {"feed: {max_age_seconds: 59}", "feed.max_age_seconds", "\"59\""},
      {"feed: {max_age_seconds: 31622401}", "feed.max_age_seconds", "\"31622401\""},
      {"feed: {max_age_seconds: 1d}", "feed.max_age_seconds", "\"1d\""},
      {"feed: {max_bytes: 1048575}", "feed.max_bytes", "\"1048575\""},
      {"feed: {max_bytes: 1099511627777}", "feed.max_bytes", "\"1099511627777\""},
      {"feed: {max_bytes: 1e9}", "feed.max_bytes", "\"1e9\""},
      {"feed: {notice_seconds: 0}", "feed.notice_seconds", "\"0\""},
      {"feed: {notice_seconds: 31622401}", "feed.notice_seconds", "\"31622401\""},
      {"delete_policy: 50", "delete_policy", "\"50\""},
      {"delete_policy: []", "delete_policy", "a list"},
      {"delete_policy: {max_deletes_per_second: -1}", "delete_policy.max_deletes_per_second",
       "\"-1\""},
      {"delete_policy: {max_deletes_per_second: .inf}", "delete_policy.max_deletes_per_second",
       "\".inf\""},
      {"delete_policy: {max_deletes_per_second: nan}", "delete_policy.max_deletes_per_second",
       "\"nan\""},
      {"delete_policy: {max_deletes_per_second: 5/s}", "delete_policy.max_deletes_per_second",
       "\"5/s\""},
      {"delete_policy: {max_deletes_per_second: '5'}", "delete_policy.max_deletes_per_second",
       "\"5\""},
      {"delete_policy: {delay_seconds: -1}", "delete_policy.delay_seconds", "\"-1\""},
      {"delete_policy: {delay_seconds: 1m}", "delete_policy.delay_seconds", "\"1m\""},
      {"delete_policy: {delay_seconds: 0.5}", "delete_policy.delay_seconds", "\"0.5\""},
      {"delete_policy: {delay_seconds: 316224001}", "delete_policy.delay_seconds", "\"316224001\""},
      {"delete_policy: {request_units_per_second: 0}", "delete_policy.request_units_per_second",
       "\"0\""},
      {"delete_policy: {request_units_per_second: .inf}", "delete_policy.request_units_per_second",
       "\".inf\""},
      {"delete_policy: {request_units_per_delete: -1}", "delete_policy.request_units_per_delete",
       "\"-1\""},
      {"delete_policy: {request_units_per_delete: '5'}", "delete_policy.request_units_per_delete",
       "\"5\""},
      {"delete_policy: {min_deletes_per_second: -0.1}", "delete_policy.min_deletes_per_second",
       "\"-0.1\""},
      {"delete_policy: {brake: 5}", "delete_policy.brake", "\"5\""},
      {"delete_policy: {brake: {max_newly_due_items: -1}}",
       "delete_policy.brake.max_newly_due_items", "\"-1\""},
      {"delete_policy: {brake: {max_newly_due_items: 1.5}}",
       "delete_policy.brake.max_newly_due_items", "\"1.5\""},
      {"delete_policy: {brake: {max_newly_due_percent: 101}}",
       "delete_policy.brake.max_newly_due_percent", "\"101\""},
      {"delete_policy: {brake: {max_newly_due_percent: 5%}}",
       "delete_policy.brake.max_newly_due_percent", "\"5%\""},
      {"delete_policy: {brake: {release_after_seconds: 59}}",
       "delete_policy.brake.release_after_seconds", "\"59\""},
      {"delete_policy: {brake: {release_after: 60}}", "delete_policy.brake",
       "unknown key \"release_after\""},
      {"delete_policy: {windows: []}", "delete_policy.windows", "a list"},
      {"delete_policy: {windows: {windows: 5}}", "delete_policy.windows.windows", "\"5\""},
      {"delete_policy: {windows: {windows: [{start: 1:00, end: '02:00'}]}}",
       "delete_policy.windows.windows[0].start", "\"1:00\""},
      {"delete_policy: {windows: {windows: [{start: '01:00'}]}}",
       "delete_policy.windows.windows[0]", "the key end is missing"},
      {"delete_policy: {windows: {windows: [{start: '01:00', end: '02:00', days: mon}]}}",
       "delete_policy.windows.windows[0].days", "\"mon\""},
      {"delete_policy: {windows: {windows: [{start: '01:00', end: '02:00', days: [Monday]}]}}",
       "delete_policy.windows.windows[0].days", "\"Monday\""},
      {"delete_policy: {windows: {windows: [{start: '01:00', end: '02:00', rate: 5}]}}",
       "delete_policy.windows.windows[0]", "unknown key \"rate\""},
      {"delete_policy: {windows: {zone: UTC}}", "delete_policy.windows", "unknown key \"zone\""},
      {"delete_policy: {windows: {max_deletes_per_second_outside: -1}}",
       "delete_policy.windows.max_deletes_per_second_outside", "\"-1\""},
      {"delete_policy: {delay: 5}", "delete_policy", "unknown key \"delay\""},
      {"ttl: 60", "", "unknown key \"ttl\""},
      {"Default_TTL: 60", "", "unknown key \"Default_TTL\""},
      {"<<: {default_ttl: 60}", "", "unknown key \"<<\""},
  };
  for (const auto& c : kCases) {
    const absl::Status status =
        Parse(absl::StrCat("containers:\n  - id: good\n  - id: bad\n    ", c.line, "\n")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.line;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("c.yaml:4: container \"bad\": "),
                                                     HasSubstr(c.key), HasSubstr(c.value)))
        << c.line;
  }
}

TEST(ContainerEntriesTest, BadShapeIsNamed) {
  const struct {
    const char* text;
    const char* expected;
  } kCases[] = {
      {"- id: a\n", "c.yaml:1: a list is not allowed; give a mapping with the keys containers"},
      {"60\n", "c.yaml:1: \"60\" is not allowed"},
      {"container: []\n", "c.yaml:1: unknown key \"container\""},
      {"containers: {a: {}}\n", "c.yaml:1: containers: a mapping is not allowed; give a list"},
      {"containers: []\ncontainers: []\n", "c.yaml:2: key \"containers\" is given twice"},
      {"containers:\n  - a\n", "c.yaml:2: containers: \"a\" is not allowed"},
      {"containers:\n  - default_ttl: 1\n", "c.yaml:2: containers: the key id is missing"},
      {"containers:\n  - id: [a]\n", "c.yaml:2: containers.id: a list is not allowed"},
      {"containers:\n  - id: ''\n", "c.yaml:2: containers.id: "},
      {"containers:\n  - id: a\n    id: b\n",
       "c.yaml:3: container \"a\": key \"id\" is given twice"},
      {"containers:\n  - id: a\n  - id: a\n", "c.yaml:3: container \"a\": is given twice"},
      {"containers:\n  - id: a\n    default_ttl: 1\n    default_ttl: -1\n",
       "c.yaml:4: container \"a\": key \"default_ttl\" is given twice"},
      {"containers: []\n---\ncontainers: []\n", "c.yaml:2: a second document"},
      {",", "c.yaml:1: a second document"},
      {"containers: [\n", "not YAML"},
      {"containers:\n  - id: a\n\tdefault_ttl: 1\n", "c.yaml:3: not YAML"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = Parse(c.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected)) << c.text;
  }
}

TEST(ContainerEntriesTest, TtlWithoutAnIndexIsRefused) {
  const absl::Status status =
      Parse("containers:\n  - {id: a, indexing_mode: NONE, default_ttl: 1}\n").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("c.yaml:2: container \"a\""));
  EXPECT_TRUE(Parse("containers:\n  - {id: a, indexing_mode: NONE}\n").ok());
}

TEST(ContainerEntriesTest, SettingsThatDoNotGoTogetherAreRefused) {
  const struct {
    const char* policy;
    const char* expected;
  } kCases[] = {
      {"{brake: {}}", "delete_policy.brake has no limit"},
      {"{brake: {release_after_seconds: 60}}", "delete_policy.brake has no limit"},
      {"{windows: {time_zone: UTC}}", "delete_policy.windows.windows has 0 windows"},
      {"{windows: {windows: [{start: '24:00', end: '02:00'}]}}", "windows[0].start"},
      {"{windows: {windows: [{start: '01:00', end: '02:00'}], time_zone: /etc/localtime}}",
       "windows.time_zone is \"/etc/localtime\""},
      {"{request_units_per_second: 10, min_deletes_per_second: 11}",
       "min_deletes_per_second is 11"},
  };
  for (const auto& c : kCases) {
    const absl::Status status =
        Parse(absl::StrCat("containers:\n  - {id: a, delete_policy: ", c.policy, "}\n")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.policy;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("c.yaml:2: container \"a\""), HasSubstr(c.expected)))
        << c.policy;
  }
}

}  // namespace
}  // namespace ttl
