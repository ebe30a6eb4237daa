// The pure functions of ttlctl: what people type and read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/input/import_line.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/input/windows_text.h"
#include "client/ttlctl/text/container_status_text.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/count_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/hold_text.h"
#include "client/ttlctl/text/holds/placed_hold_text.h"
#include "client/ttlctl/text/item_text.h"
#include "client/ttlctl/text/preview_text.h"
#include "client/ttlctl/text/progress_text.h"
#include "client/ttlctl/text/reconciliation_text.h"
#include "client/ttlctl/text/status_text.h"
#include "client/ttlctl/text/table.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// Keys

TEST(KeyTextTest, PrintableTextStandsForItself) {
  for (const char* text : {"", "a/b|c", "..", "007", "é", "e\xCC\x81", "日本", "😀", " "}) {
    EXPECT_EQ(KeyToText(text), text);
    EXPECT_EQ(KeyFromText(text).value(), text);
  }
}

TEST(KeyTextTest, EverythingElseIsEscaped) {
  EXPECT_EQ(KeyToText(std::string("a\0b", 3)), R"(a\x00b)");
  EXPECT_EQ(KeyToText("\\"), R"(\\)");
  EXPECT_EQ(KeyToText("\x1b[2J\n"), R"(\x1b[2J\x0a)");
  EXPECT_EQ(KeyToText("\xff"), R"(\xff)");
  EXPECT_EQ(KeyToText("\xC0\xAF"), R"(\xc0\xaf)") << "overlong";
  EXPECT_EQ(KeyToText("\xED\xA0\x80"), R"(\xed\xa0\x80)") << "surrogate";
  EXPECT_EQ(KeyToText("\xE2\x80\xAE"), R"(\xe2\x80\xae)") << "right-to-left override";
  EXPECT_EQ(KeyToText("\xC3"), R"(\xc3)") << "cut short";
}

TEST(KeyTextTest, BrokenEscapesAreRefused) {
  for (const char* text : {R"(\)", R"(\x)", R"(\x1)", R"(\xg0)", R"(\n)", R"(a\X41)"}) {
    EXPECT_EQ(KeyFromText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(KeyTextTest, TextForTheTerminalKeepsItsLinesAndBackslashes) {
  EXPECT_EQ(TerminalText("é \\ \n"), "é \\ \n");
  EXPECT_EQ(TerminalText("\x1b\r\t\xff"), R"(\x1b\x0d\x09\xff)");
}

RC_GTEST_PROP(KeyTextTest, TextReadsBackAsTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(KeyFromText(KeyToText(bytes)).value() == bytes);
}

// Durations

TEST(DurationTextTest, PlainNumbersAreSeconds) {
  EXPECT_EQ(SecondsFromText("0").value(), 0);
  EXPECT_EQ(SecondsFromText("3600").value(), 3600);
  EXPECT_EQ(SecondsFromText("-1").value(), -1);
}

TEST(DurationTextTest, UnitsAddUp) {
  EXPECT_EQ(SecondsFromText("90m").value(), 5400);
  EXPECT_EQ(SecondsFromText("1h30m").value(), 5400);
  EXPECT_EQ(SecondsFromText("30d").value(), 2592000);
  EXPECT_EQ(SecondsFromText("2w").value(), 1209600);
  EXPECT_EQ(SecondsFromText("1w1d1h1m1s").value(), 604800 + 86400 + 3600 + 60 + 1);
}

TEST(DurationTextTest, WhatIsNoDurationIsRefused) {
  for (const char* text : {"", "-", "d", "1y", "1D", "1.5h", "1h 30m", " 1h", "1h30", "30m1h",
                           "1h1h", "-1h", "+1", "1m\n", "1ms", "0x10", "1e3"}) {
    const absl::Status status = SecondsFromText(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string("\"") + text + "\" must be"));
  }
}

TEST(DurationTextTest, WhatDoesNotFitIsOutOfRange) {
  EXPECT_EQ(SecondsFromText("9223372036854775807").value(), 9223372036854775807);
  EXPECT_EQ(SecondsFromText("106751991167300d").value(), 106751991167300 * 86400);
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "106751991167301d",
                           "99999999999999999999s", "106751991167300d15h30m8s"}) {
    EXPECT_EQ(SecondsFromText(text).status().code(), absl::StatusCode::kOutOfRange) << text;
  }
}

RC_GTEST_PROP(DurationTextTest, PartsAreTheirSum, ()) {
  const auto part = [](int64_t max) { return *rc::gen::inRange<int64_t>(0, max); };
  const int64_t days = part(100000), hours = part(1000), minutes = part(1000), seconds = part(1000);
  const std::string text = std::to_string(days) + "d" + std::to_string(hours) + "h" +
                           std::to_string(minutes) + "m" + std::to_string(seconds) + "s";
  RC_ASSERT(SecondsFromText(text).value() == days * 86400 + hours * 3600 + minutes * 60 + seconds);
}

RC_GTEST_PROP(DurationTextTest, WhatIsPrintedIsTaken, ()) {
  const int64_t seconds = *rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
  RC_ASSERT(SecondsFromText(TextFromSeconds(seconds)).value() == seconds);
}

TEST(DurationTextTest, DaysAreTheLargestUnitThatIsPrinted) {
  EXPECT_EQ(TextFromSeconds(0), "0s");
  EXPECT_EQ(TextFromSeconds(5400), "1h30m");
  EXPECT_EQ(TextFromSeconds(2592000), "30d");
  EXPECT_EQ(TextFromSeconds(2147483647), "24855d3h14m7s");
}

// Numbers and times

TEST(FormatTest, SpansShowTheirTwoLargestUnits) {
  EXPECT_EQ(FormatSpan(absl::ZeroDuration()), "0s");
  EXPECT_EQ(FormatSpan(absl::Milliseconds(2550)), "2.5s");
  EXPECT_EQ(FormatSpan(absl::Seconds(59)), "59s");
  EXPECT_EQ(FormatSpan(absl::Seconds(60)), "1m");
  EXPECT_EQ(FormatSpan(absl::Seconds(3600 + 61)), "1h 1m");
  EXPECT_EQ(FormatSpan(absl::Seconds(3 * 86400 + 59)), "3d");
  EXPECT_EQ(FormatSpan(absl::Seconds(2147483647)), "24855d 3h");
  EXPECT_EQ(FormatSpan(absl::Milliseconds(-1500)), "-1.5s");
  EXPECT_EQ(FormatSpan(absl::Milliseconds(-50)), "0s");
}

TEST(FormatTest, CountsHaveThousandsSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
}

TEST(FormatTest, RatesAreShortAndExact) {
  EXPECT_EQ(FormatRate(500), "500");
  EXPECT_EQ(FormatRate(0.1), "0.1");
  EXPECT_EQ(FormatRate(1234567.5), "1234567.5");
}

TEST(FormatTest, MeasuredNumbersHaveThreePlaces) {
  EXPECT_EQ(FormatMeasured(0), "0");
  EXPECT_EQ(FormatMeasured(0.12345), "0.123");
  EXPECT_EQ(FormatMeasured(29.94), "29.9");
  EXPECT_EQ(FormatMeasured(99.96), "100");
  EXPECT_EQ(FormatMeasured(299.43594054136463), "299");
  EXPECT_EQ(FormatMeasured(1234567.5), "1,234,568");
}

TEST(FormatTest, InstantsPast2038And2106AreWhole) {
  EXPECT_EQ(FormatUnixSeconds(2147483648), "2038-01-19T03:14:08Z");
  EXPECT_EQ(FormatUnixSeconds(4294967296), "2106-02-07T06:28:16Z");
}

TEST(FormatTest, FieldsAlignAndContinueUnderTheirBeginning) {
  EXPECT_EQ(FormatFields({{"a", "one\ntwo"}, {"long", "x"}}),
            "a     one\n"
            "      two\n"
            "long  x\n");
}

TEST(TableTest, ColumnsAlignByCharactersNotBytes) {
  Table table({"ID", "N"});
  table.AddRow({"éé", "1"});
  table.AddRow({"abc", "2"});
  EXPECT_EQ(table.Render(),
            "ID   N\n"
            "éé   1\n"
            "abc  2\n");
}

TEST(TableTest, LaterPiecesKeepTheWidthAndHaveNoHead) {
  Table table({"ID", "N"});
  table.AddRow({"long id", "1"});
  table.Render();
  table.AddRow({"a", "2"});
  EXPECT_EQ(table.Render(), "a        2\n");
}

TEST(TableTest, WidthCanBeReservedForWhatComesLater) {
  Table table({"ID", "N"});
  table.Reserve({"long id", ""});
  table.AddRow({"a", "1"});
  EXPECT_EQ(table.Render(),
            "ID       N\n"
            "a        1\n");
}

TEST(TableTest, ARowIsOneLine) {
  Table table({"ID", "N"});
  table.AddRow({"a\nb", "1\n2"});
  EXPECT_EQ(table.Render(),
            "ID   N\n"
            "a b  1 2\n");
}

TEST(TableTest, ALongNameStandsAloneAboveItsRow) {
  Table table({"NAME", "WHEN", "ERROR"});
  table.AddRow({std::string(70, 'n'), "now", "none at all"});
  table.AddRow({"short", "never", "-"});
  EXPECT_EQ(table.Render(), "NAME" + std::string(58, ' ') + "WHEN   ERROR\n" +
                                std::string(70, 'n') + "\n" + std::string(62, ' ') +
                                "now    none at all\n" + "short" + std::string(57, ' ') +
                                "never  -\n");
}

TEST(TableTest, TheLastColumnIsContinuedBelowItself) {
  Table table({"N", "TEXT"});
  const std::string words =
      "twelve words of which a line of this table holds not quite all of them, ";
  table.AddRow({"1", words + "so that it goes on"});
  table.AddRow({"2", std::string(100, 'x') + " y"});
  EXPECT_EQ(table.Render(),
            "N  TEXT\n"
            "1  twelve words of which a line of this table holds not quite all of them, so\n"
            "   that it goes on\n"
            "2  " +
                std::string(77, 'x') + "\n   " + std::string(23, 'x') + " y\n");
}

// Every table of ttlctl with what is long in ordinary operation.

std::vector<v1::ContainerExpiryStatus> LargeStatuses(const std::string& name) {
  v1::ContainerExpiryStatus status;
  status.set_container(name);
  status.mutable_oldest_due_age()->set_seconds(13 * 3600 + 59 * 60);
  status.set_backlog(1234567);
  status.set_backlog_is_lower_bound(true);
  status.mutable_items()->set_live_items(123456789);
  status.mutable_items()->set_expired_items(12345678);
  status.mutable_items()->set_error_bound_items(1);
  status.set_allowed_deletes_per_second(12345);
  status.mutable_deletes()->set_deleted(1234567890);
  status.mutable_deletes()->set_failed(1234567);
  for (int hold = 1; v1::DeleteHold_IsValid(hold); ++hold) {
    status.add_holds(static_cast<v1::DeleteHold>(hold));
  }
  return {status};
}

std::string LargeContainers(const std::string& name) {
  v1::Container container;
  container.set_id(name);
  container.set_default_ttl(2147483647);
  container.set_indexing_mode(v1::INDEXING_MODE_CONSISTENT);
  container.mutable_delete_policy()->set_max_deletes_per_second(12345.5);
  container.mutable_delete_policy()->mutable_delay()->set_seconds(86400 * 30 + 5400);
  container.mutable_index_progress()->set_state(v1::INDEX_STATE_BUILDING);
  container.mutable_index_progress()->set_percent(40);
  container.mutable_index_progress()->set_items_indexed(123456789);
  return ContainersText({container});
}

std::string LargeItems(const std::string& name) {
  v1::ItemView view;
  view.mutable_item()->set_id(name);
  view.mutable_item()->set_partition_key("tenant-7");
  view.mutable_item()->set_ttl(2147483647);
  view.mutable_item()->set_expire_at(253402300799);
  view.set_expire_time(253402300799);
  view.set_remaining_seconds(2147483647);
  Table table = ItemTable();
  AddItemRow(view, table);
  return table.Render();
}

std::string LargeStuckItems(const std::string& name) {
  v1::StuckItem item;
  item.set_id(name);
  item.set_partition_key("tenant-7");
  item.set_attempts(123456);
  item.set_next_try_time(1767225600);
  item.set_last_error(
      "the row is locked by a transaction that has been open for more than an hour, " +
      std::string(200, 'e'));
  Table table = StuckTable();
  AddStuckRow(item, table);
  return table.Render();
}

std::string LargeAnswers(const std::string& name) {
  v1::VisibilityCheck check;
  check.set_id(name);
  VisibilityAnswer answer;
  answer.visibility = v1::VISIBILITY_UNTRACKED;
  answer.expire_time = 253402300799;
  answer.judged_at = absl::FromUnixSeconds(1767225600);
  return AnswersText({check}, {answer});
}

std::string LargeSamples(const std::string& name) {
  v1::Reconciliation reconciliation;
  v1::ReconciliationSample& sample = *reconciliation.add_samples();
  sample.set_container(name.substr(0, 20));
  sample.set_difference(v1::DIFFERENCE_DIFFERING);
  sample.set_reason("its ts is before the ts that is tracked");
  for (v1::Item* item : {sample.mutable_stored(), sample.mutable_tracked()}) {
    item->set_id(name);
    item->set_ts(1767225600);
    item->set_ttl(2147483647);
    item->set_expire_at(253402300799);
  }
  const std::string text = ReconciliationText(reconciliation);
  return text.substr(text.find("\n\n") + 2);
}

std::string LargeHolds(const std::string& name) {
  Table table = PlacedHoldTable();
  v1::Hold hold;
  hold.set_container("orders");
  hold.set_hold_id(name);
  hold.set_reason("the court asked for everything about this customer, " + std::string(200, 'r'));
  hold.mutable_until()->set_seconds(253402300799);
  hold.set_key_count(123456789);
  AddPlacedHoldRow(hold, table);
  hold.set_partition_key(std::string(2048, 'p'));
  AddPlacedHoldRow(hold, table);
  return table.Render();
}

std::string LargeHeldKeys(const std::string& name) {
  Table table = HeldKeyTable();
  v1::HeldKey key;
  key.set_partition_key(name);
  key.set_id(std::string(1023, 'i'));
  AddHeldKeyRow(key, table);
  return table.Render();
}

std::string LargeSubscriptions(const std::string& name) {
  v1::Subscription subscription;
  subscription.set_container("orders");
  subscription.set_name(name);
  subscription.set_acknowledged_sequence(123456789012);
  subscription.set_last_sequence(123456789012);
  subscription.set_streams(100);
  subscription.set_gate(true);
  subscription.mutable_give_up_after()->set_seconds(86400 * 365 + 5400);
  subscription.mutable_oldest_unacknowledged_time()->set_seconds(1767225600);
  subscription.set_has_lost_events(true);
  Table table = SubscriptionTable();
  AddSubscriptionRow(subscription, table);
  return table.Render();
}

std::string LargeTouches(const std::string& name) {
  v1::ItemKey key;
  key.set_partition_key("tenant-7");
  key.set_id(name);
  TouchAnswer answer;
  answer.result = v1::TOUCH_RESULT_EXPIRED;
  answer.expire_time = 253402300799;
  return TouchesText({key}, {answer});
}

TEST(TableTest, AllTablesFitATerminalOf80Columns) {
  for (const std::string name :
       {"a", "salesdb/orders", "customer-invoices-2026", "0190c2a4-7b1e-7c3d-9f00-1234567890ab"}) {
    v1::ListExpiryStatusesResponse limits;
    *limits.add_containers() = LargeStatuses(name).front();
    const std::string tables[] = {ContainerStatusesText(LargeStatuses(name)),
                                  LargeContainers(name),
                                  LargeItems(name),
                                  LargeStuckItems(name),
                                  LargeAnswers(name),
                                  LargeSamples(name),
                                  LargeHolds(name),
                                  LargeHeldKeys(name),
                                  LargeSubscriptions(name),
                                  LargeTouches(name),
                                  LimitsText(limits)};
    for (const std::string& table : tables) {
      EXPECT_THAT(table, HasSubstr(name)) << "nothing is cut off";
      for (const absl::string_view line : absl::StrSplit(table, '\n')) {
        EXPECT_LE(DisplayWidth(line), 80u) << table;
      }
    }
  }
}

// Containers and items

TEST(ContainerTextTest, ThreeStatesOfDefaultTtlReadDifferently) {
  v1::Container container;
  EXPECT_EQ(DefaultTtlText(container), "off");
  container.set_default_ttl(-1);
  EXPECT_THAT(DefaultTtlText(container), HasSubstr("-1"));
  container.set_default_ttl(3600);
  EXPECT_EQ(DefaultTtlText(container), "3600 s (1h)");
}

TEST(ContainerTextTest, RateOfZeroIsNotTheDefault) {
  v1::Container container;
  EXPECT_THAT(ContainerText(container), HasSubstr("server default"));
  container.mutable_delete_policy()->set_max_deletes_per_second(0);
  EXPECT_THAT(ContainerText(container), HasSubstr("0 (no deletes)"));
}

TEST(ContainerTextTest, SettingsForHoldsAreShownIfSet) {
  v1::Container container;
  container.set_id("c");
  EXPECT_THAT(ContainerText(container), Not(HasSubstr("held")));
  container.set_show_held(true);
  container.set_requires_holds(true);
  container.set_has_holds(true);
  EXPECT_THAT(ContainerText(container),
              AllOf(HasSubstr("held items      stay visible when they expire\n"),
                    HasSubstr("requires holds  nothing is deleted while they may be incomplete\n"),
                    HasSubstr("has holds       ttlctl holds list c\n")));
  container.mutable_feed();
  EXPECT_THAT(ContainerText(container),
              HasSubstr("has holds       ttlctl holds list c\n"
                        "                or gates: ttlctl subscriptions list c\n"));
}

TEST(ContainerTextTest, TouchesAreShownIfItemsMayHaveBeenTouched) {
  v1::Container container;
  EXPECT_THAT(ContainerText(container), Not(HasSubstr("touches")));
  container.set_has_touches(true);
  EXPECT_THAT(ContainerText(container),
              HasSubstr("touches      no longer allowed; earlier ones go on counting\n"));
  container.set_allow_touch(true);
  EXPECT_THAT(ContainerText(container), HasSubstr("touches      allowed\n"));
}

TEST(ContainerTextTest, ThroughputAndBrakeAreShownIfSet) {
  v1::Container container;
  EXPECT_THAT(ContainerText(container), Not(AnyOf(HasSubstr("throughput"), HasSubstr("brake"))));
  v1::DeletePolicy& policy = *container.mutable_delete_policy();
  policy.set_request_units_per_second(400);
  policy.set_request_units_per_delete(2.5);
  policy.set_min_deletes_per_second(1);
  policy.mutable_brake()->set_max_newly_due_items(1000);
  policy.mutable_brake()->set_max_newly_due_percent(5);
  policy.mutable_brake()->mutable_release_after()->set_seconds(86400);
  EXPECT_THAT(
      ContainerText(container),
      AllOf(HasSubstr("400 request units/s, deletes 1/s even if requests leave nothing over"),
            HasSubstr("2.5 until the store says it"),
            HasSubstr("more than 1,000 items or 5 % due by one change; releases after 1d")));
}

TEST(ContainerTextTest, WindowsAreShownOneALine) {
  v1::Container container;
  EXPECT_THAT(ContainerText(container), Not(HasSubstr("windows")));
  v1::DeleteWindows& windows = *container.mutable_delete_policy()->mutable_windows();
  const auto parsed = WindowsFromText("sat,sun 00:00-24:00; mon-wed,fri 22:00-06:00 500");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  for (const v1::DeleteWindow& window : *parsed) {
    *windows.add_windows() = window;
  }
  EXPECT_THAT(ContainerText(container),
              HasSubstr("sat,sun 00:00-24:00\n"
                        "             mon-wed,fri 22:00-06:00 500/s\n"
                        "             outside no deletes; time zone UTC\n"));
  windows.set_time_zone("Europe/Berlin");
  windows.set_max_deletes_per_second_outside(0.5);
  EXPECT_THAT(ContainerText(container),
              HasSubstr("outside deletes 0.5/s; time zone Europe/Berlin\n"));
}

TEST(ItemTextTest, ItemWithoutExpiryNeverExpires) {
  v1::ItemView view;
  view.mutable_item()->set_id("a");
  Table table = ItemTable();
  AddItemRow(view, table);
  EXPECT_THAT(table.Render(), HasSubstr("never"));
}

TEST(ItemTextTest, AnEndOfTheItemIsShown) {
  v1::ExplainItemResponse response;
  v1::ItemView& view = *response.mutable_item();
  view.mutable_item()->set_id("a");
  view.mutable_item()->set_ts(1000);
  view.mutable_item()->set_expire_at(1060);
  view.set_ttl_source(v1::TTL_SOURCE_ITEM_EXPIRE_AT);
  view.set_expire_time(1060);
  EXPECT_THAT(ExplanationText("c", response),
              AllOf(HasSubstr("1970-01-01T00:17:40Z (1060)"), HasSubstr("none: expire_at counts")));
  Table table = ItemTable();
  AddItemRow(view, table);
  EXPECT_EQ(table.Render(),
            "ITEM  OWN TTL    EXPIRES               REMAINING\n"
            "a     expire_at  1970-01-01T00:17:40Z  -\n");
}

TEST(ItemTextTest, ExplanationShowsWhatHoldsTheDeleteBack) {
  v1::ExplainItemResponse response;
  v1::ItemView& view = *response.mutable_item();
  view.mutable_item()->set_id("a");
  view.mutable_item()->set_partition_key("p");
  view.mutable_item()->set_ts(1000);
  view.set_effective_ttl(60);
  view.set_ttl_source(v1::TTL_SOURCE_CONTAINER);
  view.set_expire_time(1060);
  view.set_remaining_seconds(0);
  view.set_expired(true);
  response.add_holds(v1::DELETE_HOLD_CONTAINER_PAUSED);
  response.set_attempts(2);
  response.set_last_error("disk");
  response.set_explanation("deletes are paused");
  EXPECT_THAT(ExplanationText("c", response),
              AllOf(HasSubstr("p / a"), HasSubstr("60 s (the container's default)"),
                    HasSubstr("1970-01-01T00:17:40Z (1060)"), HasSubstr("held back by   paused"),
                    HasSubstr("2, last: disk"), HasSubstr("deletes are paused")));
}

TEST(ItemTextTest, ExplanationShowsTheHoldsAndWhatEndsOne) {
  v1::ExplainItemResponse response;
  response.add_holds(v1::DELETE_HOLD_HELD);
  v1::Hold& hold = *response.add_item_holds();
  hold.set_container("c");
  hold.set_hold_id("case-17");
  hold.set_reason("court");
  hold.set_key_count(3);
  hold.mutable_until()->set_seconds(1'900'000'000);
  *response.add_item_holds() = hold;
  response.mutable_item_holds(1)->set_hold_id("incident");
  response.mutable_item_holds(1)->set_all_items(true);
  response.mutable_item_holds(1)->clear_until();
  EXPECT_THAT(ExplanationText("c", response),
              AllOf(HasSubstr("held back by   held\n"),
                    HasSubstr("case-17 (3 keys), until 2030-03-17T17:46:40Z: court\n"),
                    HasSubstr("incident (all items), until released: court\n"),
                    HasSubstr("ttlctl holds release c case-17 ends the first\n"),
                    Not(HasSubstr("accept"))));
}

TEST(ItemTextTest, TheReasonOfAHoldCannotLookLikeALineOfItsOwn) {
  v1::ExplainItemResponse response;
  response.add_holds(v1::DELETE_HOLD_HELD);
  v1::Hold& hold = *response.add_item_holds();
  hold.set_container("c");
  hold.set_hold_id("h");
  hold.set_reason("r\nttlctl holds release c other ends it");
  hold.set_all_items(true);
  EXPECT_THAT(ExplanationText("c", response),
              HasSubstr("until released: r\\x0attlctl holds release c other ends it\n"));
  EXPECT_THAT(PlacedHoldText(hold), HasSubstr("reason     r\\x0attlctl holds"));
}

TEST(ItemTextTest, ExplanationShowsTheTouch) {
  v1::ExplainItemResponse response;
  EXPECT_THAT(ExplanationText("c", response), Not(HasSubstr("touched")));
  response.mutable_item()->set_touch_time(1060);
  EXPECT_THAT(ExplanationText("c", response),
              HasSubstr("touched        1970-01-01T00:17:40Z (1060)\n"));
}

TEST(ItemTextTest, ExplanationShowsWhatTheItemWaitsFor) {
  v1::ExplainItemResponse response;
  response.add_holds(v1::DELETE_HOLD_GATE);
  response.add_waiting_for("archive");
  response.add_waiting_for("audit\nlog");
  EXPECT_THAT(ExplanationText("c d", response),
              AllOf(HasSubstr("held back by   items wait for a subscription\n"),
                    HasSubstr("waits for      archive, audit\\x0alog to acknowledge its expiry, "
                              "which is not logged yet\n"
                              "               ttlctl subscriptions list 'c d'\n")));
  response.set_expired_sequence(123);
  EXPECT_THAT(ExplanationText("c", response),
              HasSubstr("waits for      archive, audit\\x0alog to acknowledge sequence 123\n"));
}

TEST(ItemTextTest, EveryResultOfATouchHasItsWords) {
  const auto text = [](int result) {
    TouchAnswer answer;
    answer.result = static_cast<v1::TouchResult>(result);
    return TouchesText({v1::ItemKey()}, {answer});
  };
  for (int result = v1::TouchResult_MIN + 1; result <= v1::TouchResult_MAX; ++result) {
    EXPECT_THAT(text(result), Not(HasSubstr("newer"))) << result;
  }
  EXPECT_THAT(text(v1::TOUCH_RESULT_EXPIRED), HasSubstr("expired: not touched  -\n"));
  EXPECT_THAT(text(99), HasSubstr("result 99 (newer than this ttlctl)"));
}

TEST(ItemTextTest, ExplanationSaysWhatEndsTheDoubtAboutHolds) {
  v1::ExplainItemResponse response;
  response.add_holds(v1::DELETE_HOLD_HOLDS_IN_DOUBT);
  EXPECT_THAT(ExplanationText("c", response),
              AllOf(HasSubstr("held back by    holds may be missing\n"),
                    HasSubstr("ttlctl holds apply FILE"), HasSubstr("ttlctl holds accept c\n")));
}

TEST(CommandTextTest, IdsInCommandsAreWordsOfAShell) {
  const std::pair<std::string, std::string> kCases[] = {
      {"salesdb/orders", "salesdb/orders"},
      {"a b", "'a b'"},
      {"$(reboot)", "'$(reboot)'"},
      {"it's", "'it'\\''s'"},
      {"a\\b", "'a\\b'"},
      {"=ls", "'=ls'"},
      {"a\nb'c\\", "$'a\\x0ab\\'c\\\\'"},
      {"\u202eabc", "$'\\xe2\\x80\\xaeabc'"},
      {"\xff", "$'\\xff'"},
      {"-x", "-- -x"},
      {"- x", "-- '- x'"},
  };
  for (const auto& [id, words] : kCases) {
    v1::ContainerExpiryStatus status;
    status.set_container(id);
    status.mutable_hold_counts()->set_holds(1);
    status.add_holds(v1::DELETE_HOLD_HOLDS_IN_DOUBT);
    status.set_failing_items(1);
    EXPECT_THAT(ContainerStatusText(status),
                AllOf(HasSubstr(absl::StrCat("ttlctl holds list ", words, " shows them\n")),
                      HasSubstr(absl::StrCat("ttlctl holds accept ", words, "\n")),
                      HasSubstr(absl::StrCat("ttlctl stuck ", words, "\n"))));
    EXPECT_THAT(BrakePulledText(id, v1::BrakeStatus()),
                EndsWith(absl::StrCat("ttlctl containers confirm ", words)));
    v1::Container container;
    container.set_id(id);
    container.set_has_holds(true);
    EXPECT_THAT(ContainerText(container), HasSubstr(absl::StrCat("ttlctl holds list ", words)));
  }
}

TEST(CommandTextTest, AHoldIsNamedAfterItsContainer) {
  const auto command = [](const std::string& container, const std::string& hold_id) {
    v1::ExplainItemResponse response;
    response.add_item_holds()->set_container(container);
    response.mutable_item_holds(0)->set_hold_id(hold_id);
    return ItemHoldsText(response);
  };
  EXPECT_THAT(command("c", "case 17"), HasSubstr("release c 'case 17' ends"));
  EXPECT_THAT(command("c", "-x"), HasSubstr("release -- c -x ends"));
  EXPECT_THAT(command("-c", ""), HasSubstr("release -- -c '' ends"));
}

TEST(HoldTextTest, EveryHoldHasItsWords) {
  for (int hold = 1; v1::DeleteHold_IsValid(hold); ++hold) {
    google::protobuf::RepeatedField<int> holds;
    holds.Add(hold);
    EXPECT_THAT(HoldsText(holds), Not(HasSubstr("newer"))) << hold;
  }
}

TEST(HoldTextTest, UnknownHoldIsShownByNumber) {
  google::protobuf::RepeatedField<int> holds;
  EXPECT_EQ(HoldsText(holds), "nothing");
  holds.Add(v1::DELETE_HOLD_RATE);
  holds.Add(999);
  EXPECT_EQ(HoldsText(holds), "rate limit, reason 999 (newer than this ttlctl)");
}

// Status

v1::ContainerExpiryStatus StatusOf(const std::string& id, int oldest_due_seconds) {
  v1::ContainerExpiryStatus status;
  status.set_container(id);
  if (oldest_due_seconds > 0) status.mutable_oldest_due_age()->set_seconds(oldest_due_seconds);
  return status;
}

TEST(StatusTextTest, OldestDueComesFirstAndNothingDueLast) {
  const std::string text =
      ContainerStatusesText({StatusOf("calm", 0), StatusOf("late", 7200), StatusOf("soon", 5)});
  EXPECT_LT(text.find("late"), text.find("soon"));
  EXPECT_LT(text.find("soon"), text.find("calm"));
  EXPECT_THAT(text, HasSubstr("2h"));
}

TEST(StatusTextTest, CountThatStoppedAtItsLimitIsALowerBound) {
  v1::ContainerExpiryStatus status = StatusOf("c", 60);
  status.set_backlog(10000);
  status.set_backlog_is_lower_bound(true);
  EXPECT_THAT(ContainerStatusText(status), HasSubstr("at least 10,000"));
}

TEST(StatusTextTest, AnIndexThatCannotBeReadIsNotTakenForOneWithNothingDue) {
  v1::ContainerExpiryStatus status = StatusOf("c", 60);
  status.clear_oldest_due_age();
  status.set_backlog_is_lower_bound(true);
  status.set_backlog_problem("Corruption: a block");
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("oldest due    not known\nbacklog       at least "));
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("\nproblem       the expiry index cannot be read: Corruption: a block\n"));
}

TEST(StatusTextTest, SidecarTellsAgesByItsOwnClock) {
  v1::SidecarStatus sidecar;
  sidecar.mutable_clock()->set_state(v1::CLOCK_STATE_SOUND);
  sidecar.mutable_clock()->mutable_now()->set_seconds(100000);
  sidecar.mutable_start_time()->set_seconds(100000 - 3700);
  sidecar.mutable_store()->set_reachable(true);
  sidecar.mutable_store()->set_store_id("s1");
  sidecar.mutable_store()->mutable_last_success_time()->set_seconds(99998);
  sidecar.mutable_store()->mutable_clock_skew()->set_nanos(-300000000);
  sidecar.set_storage_writable(true);
  sidecar.mutable_health()->set_state(v1::HEALTH_STATE_HEALTHY);
  sidecar.mutable_sweep()->mutable_last_step_time()->set_seconds(99999);
  sidecar.mutable_sweep()->set_calls_under_way(2);
  EXPECT_EQ(
      SidecarText(sidecar, "unix:/s"),
      "sidecar  unix:/s, up 1h 1m\n"
      "health   healthy\n"
      "clock    sound, now 1970-01-02T03:46:40Z\n"
      "store    reachable, id s1, last answer 2s ago, clock skew (sidecar minus store) -0.3s\n"
      "storage  writable\n"
      "deletes  no limit over all containers\n"
      "sweep    last step 1s ago, 2 calls to the store in flight\n");
}

TEST(StatusTextTest, TroubleIsInCapitals) {
  v1::SidecarStatus sidecar;
  sidecar.mutable_clock()->set_state(v1::CLOCK_STATE_SUSPECT);
  sidecar.mutable_clock()->set_reason("wall clock jumped");
  sidecar.mutable_store()->set_last_error("refused");
  sidecar.set_storage_problem("disk full");
  sidecar.mutable_pause()->set_reason("restore");
  sidecar.mutable_store()->set_store_id("s2");
  sidecar.mutable_store()->set_unconfirmed("its id changed");
  sidecar.mutable_sweep()->set_stalled(true);
  sidecar.mutable_health()->set_state(v1::HEALTH_STATE_DEGRADED);
  sidecar.mutable_health()->add_reasons("The sweeper stands still.");
  EXPECT_THAT(
      SidecarText(sidecar, "a"),
      AllOf(HasSubstr("SUSPECT"), HasSubstr("wall clock jumped"), HasSubstr("no sound reading"),
            HasSubstr("NOT REACHABLE"), HasSubstr("last error: refused"),
            HasSubstr("DEGRADED\n         The sweeper stands still."),
            HasSubstr("STALLED, no step"), HasSubstr("NO DELETES UNTIL CONFIRMED: its id changed"),
            HasSubstr("ttlctl store confirm s2"), HasSubstr("NOT WRITABLE: disk full"),
            HasSubstr("ALL PAUSED: \"restore\"")));
}

TEST(StatusTextTest, AStoreThatWasNeverCalledIsNoTrouble) {
  v1::SidecarStatus sidecar;
  EXPECT_THAT(SidecarText(sidecar, "a"), HasSubstr("store    no call yet"));
}

TEST(StatusTextTest, SkewThatRoundsToNothingHasNoSign) {
  v1::SidecarStatus sidecar;
  for (const int nanos : {-50'000'000, 50'000'000, 0}) {
    sidecar.mutable_store()->mutable_clock_skew()->set_nanos(nanos);
    EXPECT_THAT(SidecarText(sidecar, "a"), HasSubstr("clock skew (sidecar minus store) 0s\n"))
        << nanos;
  }
  sidecar.mutable_store()->mutable_clock_skew()->set_nanos(200'000'000);
  EXPECT_THAT(SidecarText(sidecar, "a"), HasSubstr("clock skew (sidecar minus store) +0.2s\n"));
}

TEST(StatusTextTest, AContainerInWords) {
  v1::ContainerExpiryStatus status = StatusOf("c", 60);
  status.set_backlog(20);
  v1::ItemCounts& items = *status.mutable_items();
  items.set_live_items(1500);
  items.set_expired_items(20);
  items.set_complete(true);
  for (int i = 0; i < 24; ++i) items.add_expiring_per_hour(i == 0 ? 5 : 10);
  status.add_holds(v1::DELETE_HOLD_BACKOFF);
  status.mutable_held_until()->set_seconds(1000);
  status.mutable_brake()->set_newly_due_items(300);
  status.mutable_brake()->mutable_until()->set_seconds(2000);
  status.set_allowed_deletes_per_second(4);
  v1::BudgetStatus& budget = *status.mutable_budget();
  budget.set_request_units_per_second(400);
  budget.set_used_by_requests(280.4359);
  budget.set_request_units_per_delete(5);
  budget.set_deletes_per_second(24);
  status.set_push_back_deletes_per_second(4);
  status.mutable_deletes()->set_sent(9);
  status.mutable_deletes()->set_throttled(9);
  status.mutable_deletes()->set_out_of_time(7);
  v1::FailureCount& failure = *status.add_failures();
  failure.set_reason("row is locked");
  failure.set_count(12);
  status.add_failures()->set_count(3);
  status.mutable_last_complete_pass_time()->set_seconds(900);
  status.mutable_index_progress()->set_state(v1::INDEX_STATE_READY);
  EXPECT_EQ(
      ContainerStatusText(status),
      "container     c\n"
      "oldest due    1m ago\n"
      "backlog       20 due and not yet deleted\n"
      "items         1,500 live, 20 expired\n"
      "will expire   5 within the hour, 235 within 24 hours\n"
      "held back by  delay after failed calls, or as the store asked\n"
      "until         1970-01-01T00:16:40Z\n"
      "brake         PULLED: a policy change or an adoption made 300 items due; they wait until "
      "1970-01-01T00:33:20Z\n"
      "              if this is intended: ttlctl containers confirm c\n"
      "allowed       4/s\n"
      "budget        400 request units/s, requests use 280\n"
      "              leaves 24/s for deletes, at 5 request units each\n"
      "push-back     the store accepts 4/s now\n"
      "deletes       9 sent, 0 deleted, 2 throttled, 7 out of time\n"
      "failures      12 row is locked\n"
      "              3 for other reasons\n"
      "lateness      -\n"
      "caught up     1970-01-01T00:15:00Z\n"
      "index         ready, 0 early entries moved\n");
}

TEST(StatusTextTest, HoldsAreCountedAndWhatEndsTheirDoubtIsNamed) {
  v1::ContainerExpiryStatus status = StatusOf("c", 0);
  EXPECT_THAT(ContainerStatusText(status), Not(HasSubstr("holds")));
  status.mutable_hold_counts()->set_holds(1);
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("holds         1 hold\n              ttlctl holds list c shows them\n"));
  status.mutable_hold_counts()->set_holds(1234);
  status.mutable_hold_counts()->set_on_all_items(2);
  status.mutable_hold_counts()->set_items_set_aside(5678);
  status.mutable_hold_counts()->set_ending(3);
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("1,234 holds, 2 on all items; 5,678 due items set aside; items of 3 that "
                        "ended are being put back\n"));
  status.add_holds(v1::DELETE_HOLD_HOLDS_IN_DOUBT);
  EXPECT_THAT(ContainerStatusText(status), HasSubstr("ttlctl holds accept c\n"));
}

TEST(StatusTextTest, WindowsSayWhenTheyOpenAndWhetherTheySuffice) {
  v1::ContainerExpiryStatus status = StatusOf("c", 0);
  status.add_holds(v1::DELETE_HOLD_WINDOW);
  v1::WindowStatus& windows = *status.mutable_windows();
  windows.set_max_deletes_per_second(0);
  windows.mutable_next_start()->set_seconds(1000);
  windows.mutable_next_change()->set_seconds(1000);
  windows.set_deletable_items(1234);
  windows.set_due_items(5678);
  EXPECT_THAT(ContainerStatusText(status),
              AllOf(HasSubstr("held back by  outside of windows\n"),
                    HasSubstr("windows       closed, no deletes before 1970-01-01T00:16:40Z\n"
                              "              NOT ENOUGH: 5,678 due within 7 days, 1,234 can be "
                              "deleted\n")));
  windows.set_open(true);
  windows.set_max_deletes_per_second(0.5);
  windows.clear_next_start();
  windows.set_suffices(true);
  windows.clear_deletable_items();
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("windows       open, 0.5/s until 1970-01-01T00:16:40Z\n"
                        "              enough: 5,678 due within 7 days, any number can be "
                        "deleted\n"));
  windows.clear_max_deletes_per_second();
  windows.clear_next_change();
  EXPECT_THAT(ContainerStatusText(status), HasSubstr("windows       open, no limit\n"));
  windows.set_problem("this machine does not have the time zone \"X\"");
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("PROBLEM: this machine does not have the time zone \"X\"; the smallest "
                        "rate applies, 0/s\n"));
}

TEST(StatusTextTest, UsageThatIsNotReportedIsInCapitals) {
  v1::ContainerExpiryStatus status = StatusOf("c", 0);
  status.mutable_budget()->set_request_units_per_second(400);
  EXPECT_THAT(ContainerStatusText(status), HasSubstr("NO REPORT OF USAGE"));
}

// Numbers of items

TEST(CountTextTest, WhatIsNotExactSaysSo) {
  v1::ItemCounts items;
  items.set_live_items(1000);
  items.set_expired_items(5);
  items.set_complete(true);
  EXPECT_EQ(ItemsText(items), "1,000 live, 5 expired");
  items.set_error_bound_items(12);
  EXPECT_EQ(ItemsText(items), "about 1,000 live, about 5 expired (off by 12 at most)");
  items.set_complete(false);
  items.set_tracked_items(7000);
  EXPECT_THAT(ItemsText(items),
              HasSubstr("items are still being counted after the start: 7,000 tracked"));
}

TEST(CountTextTest, LatenessNamesTheBoundsThatHalfAndAlmostAllKeptTo) {
  v1::LatenessHistogram histogram;
  const auto add = [&histogram](int64_t seconds, int64_t count) {
    v1::LatenessBucket& bucket = *histogram.add_buckets();
    if (seconds > 0) bucket.mutable_at_most()->set_seconds(seconds);
    bucket.set_count(count);
  };
  add(1, 0);
  add(2, 0);
  EXPECT_EQ(LatenessText(histogram), "-");
  histogram.clear_buckets();
  add(1, 50);
  add(2, 48);
  add(30, 2);
  add(0, 0);
  histogram.mutable_sum()->set_seconds(250);
  EXPECT_EQ(LatenessText(histogram),
            "100 deletes: half within 1s, 99 % within 30s, 2.5s on average");
  histogram.mutable_buckets(3)->set_count(2);
  EXPECT_THAT(LatenessText(histogram), HasSubstr("99 % later than 30s"));
}

TEST(ProgressTextTest, ShareAndTimeLeftFollowFromWhatIsDone) {
  EXPECT_EQ(ShareText(0, 3000, absl::Seconds(5)), "0 % of about 3,000");
  EXPECT_EQ(ShareText(300, 3000, absl::Milliseconds(900)), "10 % of about 3,000")
      << "too early to say";
  EXPECT_EQ(ShareText(300, 3000, absl::Seconds(10)), "10 % of about 3,000, 1m 30s left");
  EXPECT_EQ(ShareText(2999, 3000, absl::Seconds(10)), "99 % of about 3,000, 0s left");
  EXPECT_EQ(ShareText(3000, 3000, absl::Seconds(10)), "100 % of about 3,000, 0s left");
}

TEST(ProgressTextTest, ATotalThatIsUnknownOrWrongIsNotShown) {
  EXPECT_EQ(ShareText(5, 0, absl::Seconds(10)), "");
  EXPECT_EQ(ShareText(3001, 3000, absl::Seconds(10)), "");
}

TEST(ProgressTextTest, AnItemIsARecordAndItsIndexEntryAnother) {
  v1::ListExpiryStatusesResponse statuses;
  EXPECT_EQ(ExpectedRecords(statuses), 0);
  for (const v1::IndexState state :
       {v1::INDEX_STATE_NONE, v1::INDEX_STATE_BUILDING, v1::INDEX_STATE_READY}) {
    v1::ContainerExpiryStatus& status = *statuses.add_containers();
    status.mutable_items()->set_tracked_items(1000);
    status.mutable_index_progress()->set_state(state);
  }
  EXPECT_EQ(ExpectedRecords(statuses), 5000);
}

TEST(PreviewTextTest, SaysWhatWouldHappenInWords) {
  v1::UpdateContainerResponse response;
  response.mutable_container()->set_id("c");
  response.mutable_container()->set_default_ttl(60);
  v1::PolicyPreview& preview = *response.mutable_preview();
  preview.set_tracked_items(5000);
  preview.set_newly_expired_items(400);
  preview.set_newly_due_items(400);
  preview.set_complete(true);
  for (int i = 0; i < 24; ++i) preview.add_expiring_per_hour(1);
  EXPECT_EQ(PreviewText(response),
            "container    c (nothing was changed)\n"
            "default ttl  60 s (1m)\n"
            "tracked      5,000 items\n"
            "at once      400 would be hidden\n"
            "             0 would be shown again\n"
            "             400 would be due for deletion, after the server's grace\n"
            "then         1 within the hour, 24 within 24 hours would expire\n");
  preview.set_brake_would_pull(true);
  preview.set_error_bound_items(7);
  preview.set_complete(false);
  EXPECT_THAT(PreviewText(response),
              AllOf(HasSubstr("about 400 would be hidden"), HasSubstr("WOULD STOP"),
                    HasSubstr("off by 7 items"), HasSubstr("NOT ALL ITEMS ARE COUNTED YET")));
}

TEST(PreviewTextTest, SaysWhatANewContainerWouldDoToTheStore) {
  v1::Container container;
  container.set_id("c");
  container.set_default_ttl(60);
  v1::PreviewContainerResponse preview;
  preview.set_scanned_items(5000);
  preview.set_expired_items(400);
  preview.set_due_items(300);
  EXPECT_EQ(PreviewText(container, preview),
            "container     c (nothing was created)\n"
            "default ttl   60 s (1m)\n"
            "in the store  5,000 items\n"
            "at once       400 would be hidden\n"
            "              300 would be deleted, after the server's grace\n");
  preview.set_brake_would_pull(true);
  preview.set_invalid_items(7);
  EXPECT_THAT(PreviewText(container, preview),
              AllOf(HasSubstr("WOULD STOP"), HasSubstr("7 could not be tracked")));
}

// Lines of an import

TEST(ImportLineTest, AllFieldsAreRead) {
  const v1::Item item =
      ParseImportLine(R"({"partition_key":"p","id":"a\\b","ts":1000,"ttl":-1,"etag":"e",)"
                      R"("sequence":18446744073709551615,"size_bytes":0})")
          .value();
  EXPECT_EQ(item.partition_key(), "p");
  EXPECT_EQ(item.id(), "a\\b") << "JSON's escapes only";
  EXPECT_EQ(item.ts(), 1000);
  EXPECT_EQ(item.ttl(), -1);
  EXPECT_EQ(item.etag(), "e");
  EXPECT_EQ(item.sequence(), 18446744073709551615u);
}

TEST(ImportLineTest, AbsentStaysAbsent) {
  const v1::Item item = ParseImportLine(R"({"id":"","ts":1})").value();
  EXPECT_FALSE(item.has_ttl());
  EXPECT_FALSE(item.has_sequence());
}

TEST(ImportLineTest, BytesAreReadFromBase64) {
  const v1::Item item =
      ParseImportLine(R"({"id_base64":"AP8=","partition_key_base64":"gA==","ts":1})").value();
  EXPECT_EQ(item.id(), std::string("\0\xff", 2));
  EXPECT_EQ(item.partition_key(), "\x80");
}

TEST(ImportLineTest, LargestTtlIsLegal) {
  EXPECT_EQ(ParseImportLine(R"({"id":"a","ts":1,"ttl":2147483647})")->ttl(), 2147483647);
  EXPECT_EQ(ParseImportLine(R"({"id":"a","ts":1,"expire_at":253402300799})")->expire_at(),
            253402300799);
  EXPECT_FALSE(ParseImportLine(R"({"id":"a","ts":1,"expire_at":null})")->has_expire_at());
}

TEST(ImportLineTest, WhatIsNotExactlyRightIsRefused) {
  struct Case {
    const char* line;
    const char* message;
  };
  const Case cases[] = {
      {R"({"id":"a","ts":1,"ttl":"3600"})", "\"ttl\" is the text \"3600\": it must be -1 or"},
      {R"({"id":"a","ts":1,"ttl":60.0})", "\"ttl\" is 60.0: it must be"},
      {R"({"id":"a","ts":1,"ttl":6e1})", "\"ttl\" is 6e1"},
      {R"({"id":"a","ts":1,"ttl":true})", "\"ttl\" is true"},
      {R"({"id":"a","ts":1,"ttl":{}})", "\"ttl\" is an object"},
      {R"({"id":"a","ts":1,"ttl":[60]})", "\"ttl\" is a list"},
      {R"({"id":"a","ts":1,"ttl":0})", "\"ttl\" is 0"},
      {R"({"id":"a","ts":1,"ttl":-2})", "\"ttl\" is -2"},
      {R"({"id":"a","ts":1,"ttl":2147483648})", "\"ttl\" is 2147483648"},
      {R"({"id":"a","ts":1,"ttl":4294967356})", "\"ttl\" is 4294967356"},
      {R"({"id":"a","ts":1,"ttl":18446744073709551616})", "\"ttl\" is 18446744073709551616"},
      {R"({"id":"a","ts":1,"ttl":1,"ttl":-1})", "\"ttl\" is given twice"},
      {R"({"id":"a","id_base64":"AA==","ts":1})", "\"id\" is given twice"},
      {R"({"id":"a","ts":1,"TTL":1})", "unknown field \"TTL\""},
      {R"({"id":"a","ts":1,"expire_at":0})", "\"expire_at\" is 0"},
      {R"({"id":"a","ts":1,"expire_at":-1})", "\"expire_at\" is -1"},
      {R"({"id":"a","ts":1,"expire_at":253402300800})", "from 1 to 253402300799"},
      {R"({"id":"a","ts":1,"TimeToLive":1})", "unknown field \"TimeToLive\""},
      {R"({"id":"a","ts":0})", "\"ts\" is 0"},
      {R"({"id":"a","ts":9223372036854775808})", "\"ts\" is 9223372036854775808"},
      {R"({"id":"a"})", "\"ts\" is missing"},
      {R"({"ts":1})", "\"id\" is missing"},
      {R"({"id":7,"ts":1})", "\"id\" is 7: it must be a text"},
      {R"({"id":"a","ts":1,"sequence":-1})", "\"sequence\" is -1"},
      {R"({"id":"a","ts":1,"size_bytes":-1})", "\"size_bytes\" is -1"},
      {R"({"id_base64":"?","ts":1})", "must be a base64 text"},
      {R"([{"id":"a","ts":1}])", "is a list, not a JSON object"},
      {R"(7)", "is 7, not a JSON object"},
      {R"({"id":"a","ts":1)", "broken at byte"},
      {R"({"id":"a","ts":1} {"id":"b","ts":1})", "broken at byte"},
      {"{\"id\":\"\xff\",\"ts\":1}", "broken at byte"},
  };
  for (const Case& c : cases) {
    const absl::Status status = ParseImportLine(c.line).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.line;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message)) << c.line;
  }
}

TEST(ImportLineTest, OverlongKeysAreRefused) {
  const std::string line = "{\"ts\":1,\"id\":\"" + std::string(1024, 'x') + "\"}";
  EXPECT_THAT(std::string(ParseImportLine(line).status().message()),
              HasSubstr("\"id\" has 1024 bytes: it may have up to 1023"));
}

}  // namespace
}  // namespace ttl
