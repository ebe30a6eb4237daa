#include "service/rpc/mapping/request_validation.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

v1::TrackItemsRequest OneItem(const std::string& fields) {
  return Proto<v1::TrackItemsRequest>(
      absl::StrCat("container: 'c' items { ts: 1800000000 ", fields, " }"));
}

v1::TrackItemsRequest WithTs(int64_t ts) {
  v1::TrackItemsRequest request;
  request.add_items()->set_ts(ts);
  return request;
}

v1::TrackItemsRequest WithTtl(int64_t ttl) {
  v1::TrackItemsRequest request = WithTs(kNowSeconds);
  request.mutable_items(0)->set_ttl(ttl);
  return request;
}

TEST(ReadReportsTest, EveryFieldIsTaken) {
  const auto reports = ReadReports(
      OneItem("partition_key: 'p' id: 'i' ttl: 60 etag: 'e' sequence: 7 size_bytes: 1024"), kNow);
  ASSERT_THAT(reports, IsOk());
  ASSERT_THAT(*reports, SizeIs(1));
  const ItemReport& report = reports->front();
  EXPECT_EQ(report.key, (ItemKey{"p", "i"}));
  EXPECT_EQ(report.version, (ItemVersion{{kNowSeconds, 60}, "e", 7, 1024}));
}

TEST(ReadReportsTest, AbsentIsAStateOfItsOwn) {
  const auto reports = ReadReports(OneItem(""), kNow);
  ASSERT_THAT(reports, IsOk());
  EXPECT_EQ(reports->front().version.times.ttl, std::nullopt);
  EXPECT_EQ(reports->front().version.sequence, std::nullopt);
}

TEST(ReadReportsTest, SequenceZeroIsASequence) {
  const auto reports = ReadReports(OneItem("sequence: 0"), kNow);
  ASSERT_THAT(reports, IsOk());
  EXPECT_EQ(reports->front().version.sequence, 0);
}

TEST(ReadReportsTest, LegalTtls) {
  for (const int64_t ttl : {int64_t{-1}, int64_t{1}, int64_t{2147483647}}) {
    EXPECT_THAT(ReadReports(WithTtl(ttl), kNow), IsOk()) << ttl;
  }
}

// B07 and the values just outside, which a narrower type would wrap into range.
TEST(ReadReportsTest, IllegalTtlsAreRefusedNamingFieldValueAndRange) {
  for (const int64_t ttl :
       {int64_t{0}, int64_t{-2}, int64_t{-5}, int64_t{2147483648}, int64_t{4294967295},
        int64_t{4294967296 + 60}, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(ReadReports(WithTtl(ttl), kNow),
                IsInvalid("items[0].ttl", absl::StrCat(ttl), "2147483647"))
        << ttl;
  }
}

// B15: an epoch second is a legal ttl of 56 years, an epoch millisecond is none.
TEST(ReadReportsTest, EpochMillisecondsAsTtlAreRefusedEpochSecondsAreNot) {
  EXPECT_THAT(ReadReports(WithTtl(1767225600), kNow), IsOk());
  EXPECT_THAT(ReadReports(WithTtl(1767225600000), kNow), IsInvalid("items[0].ttl"));
}

// B03: a day in milliseconds means what it says, 1000 days; it is never rescaled.
TEST(ReadReportsTest, NoUnitIsGuessed) {
  const auto reports = ReadReports(WithTtl(86400000), kNow);
  ASSERT_THAT(reports, IsOk());
  EXPECT_EQ(reports->front().version.times.ttl, 86400000);
  EXPECT_THAT(ReadReports(WithTtl(86400000000000), kNow),
              IsInvalid("items[0].ttl", "86400000000000"));
}

TEST(ReadReportsTest, TsIsRequiredAndAtMostADayAhead) {
  for (const int64_t ts : {int64_t{1}, kNowSeconds, kNowSeconds + 86400}) {
    EXPECT_THAT(ReadReports(WithTs(ts), kNow), IsOk()) << ts;
  }
  for (const int64_t ts : {int64_t{0}, int64_t{-1}, kNowSeconds + 86401, kNowSeconds * 1000,
                           std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(ReadReports(WithTs(ts), kNow), IsInvalid("items[0].ts", absl::StrCat(ts))) << ts;
  }
}

TEST(ReadReportsTest, TheMessageNamesThePositionOfTheBadEntry) {
  v1::TrackItemsRequest request;
  for (int i = 0; i < 5; ++i) request.add_items()->set_ts(kNowSeconds);
  request.mutable_items(3)->set_ttl(0);
  EXPECT_THAT(ReadReports(request, kNow), IsInvalid("items[3].ttl is 0"));
}

TEST(ReadReportsTest, KeysAndEtagsHaveTheirLengths) {
  v1::TrackItemsRequest request = WithTs(kNowSeconds);
  v1::Item& item = *request.mutable_items(0);
  item.set_partition_key(std::string(2048, 'p'));
  item.set_id(std::string(1023, '\0'));
  item.set_etag(std::string(128, '\xff'));
  EXPECT_THAT(ReadReports(request, kNow), IsOk());

  v1::TrackItemsRequest long_partition_key = request;
  long_partition_key.mutable_items(0)->mutable_partition_key()->push_back('p');
  EXPECT_THAT(ReadReports(long_partition_key, kNow),
              IsInvalid("items[0].partition_key", "2049 bytes", "at most 2048 bytes"));
  v1::TrackItemsRequest long_id = request;
  long_id.mutable_items(0)->mutable_id()->push_back('i');
  EXPECT_THAT(ReadReports(long_id, kNow),
              IsInvalid("items[0].id", "1024 bytes", "at most 1023 bytes"));
  v1::TrackItemsRequest long_etag = request;
  long_etag.mutable_items(0)->mutable_etag()->push_back('e');
  EXPECT_THAT(ReadReports(long_etag, kNow),
              IsInvalid("items[0].etag", "129 bytes", "at most 128 bytes"));
}

TEST(ReadReportsTest, MessagesShowLongValuesEscapedAndCut) {
  v1::TrackItemsRequest request = WithTs(kNowSeconds);
  request.mutable_items(0)->set_id(std::string(1100, '\n'));
  const absl::Status status = ReadReports(request, kNow).status();
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  EXPECT_LT(status.message().size(), 500);
}

TEST(ReadReportsTest, NegativeSizeIsRefused) {
  EXPECT_THAT(ReadReports(OneItem("size_bytes: -1"), kNow), IsInvalid("items[0].size_bytes is -1"));
}

TEST(ReadReportsTest, OneToAThousandItems) {
  v1::TrackItemsRequest request;
  EXPECT_THAT(ReadReports(request, kNow), IsInvalid("items has 0 entries", "1 to 1000"));
  for (int i = 0; i < 1000; ++i) request.add_items()->set_ts(kNowSeconds);
  EXPECT_THAT(ReadReports(request, kNow), IsOk());
  request.add_items()->set_ts(kNowSeconds);
  EXPECT_THAT(ReadReports(request, kNow), IsInvalid("items has 1001 entries", "1 to 1000"));
}

TEST(ReadRemovalsTest, EveryFieldIsTaken) {
  const auto removals = ReadRemovals(
      Proto<v1::UntrackItemsRequest>("items { partition_key: 'p' id: 'i' ts: 5 sequence: 9 }"),
      kNow);
  ASSERT_THAT(removals, IsOk());
  ASSERT_THAT(*removals, SizeIs(1));
  EXPECT_EQ(removals->front().key, (ItemKey{"p", "i"}));
  EXPECT_EQ(removals->front().ts, 5);
  EXPECT_EQ(removals->front().sequence, 9);
}

TEST(ReadRemovalsTest, WithASequenceNoTsIsNeeded) {
  const auto removals =
      ReadRemovals(Proto<v1::UntrackItemsRequest>("items { id: 'i' sequence: 9 }"), kNow);
  ASSERT_THAT(removals, IsOk());
  EXPECT_EQ(removals->front().ts, ItemRemoval::kNewerThanAnyTs);
  EXPECT_THAT(ReadRemovals(Proto<v1::UntrackItemsRequest>("items { ts: -1 sequence: 9 }"), kNow),
              IsInvalid("items[0].ts is -1"));
}

TEST(ReadRemovalsTest, LimitsAreThoseOfReports) {
  EXPECT_THAT(ReadRemovals(v1::UntrackItemsRequest(), kNow), IsInvalid("items has 0 entries"));
  EXPECT_THAT(ReadRemovals(Proto<v1::UntrackItemsRequest>("items { ts: 5 } items { }"), kNow),
              IsInvalid("items[1].ts is 0"));
  v1::UntrackItemsRequest long_id = Proto<v1::UntrackItemsRequest>("items { ts: 5 }");
  long_id.mutable_items(0)->set_id(std::string(1024, 'i'));
  EXPECT_THAT(ReadRemovals(long_id, kNow), IsInvalid("items[0].id"));
}

absl::Status ValidateChecks(const v1::CheckVisibilityRequest& request) {
  const std::string bytes = request.SerializeAsString();
  CheckRequest parsed;
  EXPECT_THAT(parsed.Parse(bytes), IsOk());
  return ValidateChecks(parsed);
}

TEST(ValidateChecksTest, OneToTenThousandChecks) {
  v1::CheckVisibilityRequest request;
  EXPECT_THAT(ValidateChecks(request), IsInvalid("checks has 0 entries", "1 to 10000"));
  for (int i = 0; i < 10000; ++i) request.add_checks();
  EXPECT_THAT(ValidateChecks(request), IsOk());
  request.add_checks();
  EXPECT_THAT(ValidateChecks(request), IsInvalid("checks has 10001 entries"));
}

TEST(ValidateChecksTest, KeysAreCheckedCarriedStateIsNot) {
  v1::CheckVisibilityRequest request =
      Proto<v1::CheckVisibilityRequest>("checks { ts: -5 ttl: 0 } checks { id: 'i' }");
  EXPECT_THAT(ValidateChecks(request), IsOk());
  request.mutable_checks(1)->set_partition_key(std::string(2049, 'p'));
  EXPECT_THAT(ValidateChecks(request), IsInvalid("checks[1].partition_key", "2049 bytes"));
}

TEST(ReadItemKeyTest, NamesTheFieldOfTheRequestItself) {
  EXPECT_THAT(ReadItemKey("", ""), IsOk());
  EXPECT_THAT(ReadItemKey("", std::string(1024, 'i')), IsInvalid("id is ", "1024 bytes"));
}

TEST(ReadPauseTargetTest, ATargetIsRequired) {
  EXPECT_THAT(ReadPauseTarget(v1::PauseDeletesRequest()), IsInvalid("target is absent"));
  EXPECT_THAT(ReadPauseTarget(v1::ResumeDeletesRequest()), IsInvalid("target is absent"));
  EXPECT_THAT(ReadPauseTarget(Proto<v1::ResumeDeletesRequest>("all_containers: false")),
              IsInvalid("all_containers is false"));
  const auto all = ReadPauseTarget(Proto<v1::PauseDeletesRequest>("all_containers: true"));
  ASSERT_THAT(all, IsOk());
  EXPECT_TRUE(all->all);
  const auto one = ReadPauseTarget(Proto<v1::PauseDeletesRequest>("container: 'c'"));
  ASSERT_THAT(one, IsOk());
  EXPECT_FALSE(one->all);
  EXPECT_EQ(one->container, "c");
}

TEST(ValidatePauseReasonTest, OneToAThousandAnd24Bytes) {
  EXPECT_THAT(ValidatePauseReason(""), IsInvalid("reason", "1 to 1024 bytes"));
  EXPECT_THAT(ValidatePauseReason(std::string(1024, 'r')), IsOk());
  EXPECT_THAT(ValidatePauseReason(std::string(1025, 'r')), IsInvalid("reason", "1025 bytes"));
}

TEST(ReadUsageTest, APeriodIsASecondUnlessItSaysOtherwise) {
  const auto usage = ReadUsage(Proto<v1::ReportUsageRequest>("request_units: 2.5"));
  ASSERT_THAT(usage, IsOk());
  EXPECT_EQ(usage->request_units, 2.5);
  EXPECT_EQ(usage->period, absl::Seconds(1));
  EXPECT_EQ(ReadUsage(Proto<v1::ReportUsageRequest>("period { seconds: 60 }"))->period,
            absl::Minutes(1));
  EXPECT_EQ(ReadUsage(Proto<v1::ReportUsageRequest>("period { nanos: 1 }"))->period,
            absl::Nanoseconds(1));
}

TEST(ReadUsageTest, Limits) {
  const struct {
    const char* text;
    const char* says;
  } kCases[] = {
      {"request_units: -0.5", "request_units is -0.5"},
      {"request_units: inf", "request_units is inf"},
      {"request_units: nan", "request_units is nan"},
      {"period {}", "period is 0: must be more than 0 and at most 1 minute"},
      {"period { seconds: -1 }", "period is -1s"},
      {"period { nanos: -1 }", "period is -1ns"},
      {"period { seconds: 60 nanos: 1 }", "period is 1m0.000000001s"},
      {"period { seconds: 9223372036854775807 }", "period is "},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ReadUsage(Proto<v1::ReportUsageRequest>(c.text)), IsInvalid(c.says)) << c.text;
  }
  v1::ReportUsageRequest request;
  request.set_reporter(std::string(128, 'r'));
  EXPECT_THAT(ReadUsage(request), IsOk());
  request.set_reporter(std::string(129, 'r'));
  EXPECT_THAT(ReadUsage(request), IsInvalid("reporter", "129 bytes"));
}

}  // namespace
}  // namespace ttl
