// The pure functions of ttlctl: what people type and read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "client/ttlctl/container_text.h"
#include "client/ttlctl/format.h"
#include "client/ttlctl/hold_text.h"
#include "client/ttlctl/import_line.h"
#include "client/ttlctl/item_text.h"
#include "client/ttlctl/key_text.h"
#include "client/ttlctl/status_text.h"
#include "client/ttlctl/table.h"

namespace ttl {
namespace {

using testing::AllOf;
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

RC_GTEST_PROP(KeyTextTest, TextReadsBackAsTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(KeyFromText(KeyToText(bytes)).value() == bytes);
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

TEST(ItemTextTest, ItemWithoutExpiryNeverExpires) {
  v1::ItemView view;
  view.mutable_item()->set_id("a");
  Table table = ItemTable();
  AddItemRow(view, table);
  EXPECT_THAT(table.Render(), HasSubstr("never"));
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
  EXPECT_THAT(ExplanationText(response),
              AllOf(HasSubstr("p / a"), HasSubstr("60 s (the container's default)"),
                    HasSubstr("1970-01-01T00:17:40Z (1060)"), HasSubstr("held back by   paused"),
                    HasSubstr("2, last: disk"), HasSubstr("deletes are paused")));
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
  EXPECT_EQ(SidecarText(sidecar, "unix:/s"),
            "sidecar  unix:/s, up 1h 1m\n"
            "clock    sound, now 1970-01-02T03:46:40Z\n"
            "store    reachable, id s1, last answer 2s ago, our clock minus its clock -0.3s\n"
            "storage  takes writes\n"
            "deletes  no limit over all containers\n");
}

TEST(StatusTextTest, TroubleIsInCapitals) {
  v1::SidecarStatus sidecar;
  sidecar.mutable_clock()->set_state(v1::CLOCK_STATE_SUSPECT);
  sidecar.mutable_clock()->set_reason("wall clock jumped");
  sidecar.mutable_store()->set_last_error("refused");
  sidecar.set_storage_problem("disk full");
  sidecar.mutable_pause()->set_reason("restore");
  EXPECT_THAT(
      SidecarText(sidecar, "a"),
      AllOf(HasSubstr("SUSPECT"), HasSubstr("wall clock jumped"), HasSubstr("no sound reading"),
            HasSubstr("NOT REACHABLE"), HasSubstr("last error: refused"),
            HasSubstr("REFUSES WRITES: disk full"), HasSubstr("ALL PAUSED: \"restore\"")));
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
}

TEST(ImportLineTest, WhatIsNotExactlyRightIsRefused) {
  struct Case {
    const char* line;
    const char* message;
  };
  const Case cases[] = {
      {R"({"id":"a","ts":1,"ttl":null})", "\"ttl\" is null: it must be -1 or"},
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
