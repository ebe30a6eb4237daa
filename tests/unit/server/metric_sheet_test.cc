#include "service/server/metrics/metric_sheet.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "tests/testing/scrape.h"

namespace ttl {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kPlain = {"plain", MetricType::Gauge, "", "A number."};
constexpr MetricInfo kCount = {"things_total", MetricType::Counter, "kind,colour", "Things."};
constexpr MetricInfo kTimes = {"times_seconds", MetricType::Histogram, "kind", "Times."};

Scrape Read(MetricSheet& sheet) {
  return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
}

TEST(MetricSheetTest, ValuesComeOutUnderTheirLabels) {
  MetricSheet sheet;
  sheet.Set(kPlain, 1.5);
  sheet.Set(kCount, int64_t{3}, {"a", "red"});
  sheet.Set(kCount, int64_t{4}, {"a\"b\\c\nd", "blue"});
  const Scrape scrape = Read(sheet);
  EXPECT_EQ(scrape.Value("plain"), 1.5);
  EXPECT_EQ(scrape.Value(R"(things_total{kind="a",colour="red"})"), 3);
  EXPECT_EQ(scrape.Value(R"(things_total{kind="a\"b\\c\nd",colour="blue"})"), 4);
  EXPECT_EQ(scrape.Metrics(), (std::set<std::string>{"plain", "things_total"}));
}

TEST(MetricSheetTest, NanosecondsBecomeSecondsAndCountsAddUp) {
  OwnedDurationDistribution durations;
  durations.Add(60'000);
  durations.Add(700'000'000);
  durations.Add(60'000'000'000);
  MetricSheet sheet;
  sheet.SetDurations(kTimes, durations.Get(), {"a"});
  const Scrape scrape = Read(sheet);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="5e-05"})"), 0);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="0.0001"})"), 1);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="0.5"})"), 1);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="1"})"), 2);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="10"})"), 2);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="+Inf"})"), 3);
  EXPECT_EQ(scrape.Value(R"(times_seconds_count{kind="a"})"), 3);
  EXPECT_NEAR(scrape.Value(R"(times_seconds_sum{kind="a"})"), 60.70006, 1e-6);
}

TEST(MetricSheetTest, LatenessKeepsItsOwnBounds) {
  LatenessHistogram lateness;
  lateness.Add(absl::Seconds(20));
  lateness.Add(absl::Hours(50));
  MetricSheet sheet;
  sheet.SetLateness(kTimes, lateness, {"a"});
  const Scrape scrape = Read(sheet);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="10"})"), 0);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="30"})"), 1);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="86400"})"), 1);
  EXPECT_EQ(scrape.Value(R"(times_seconds_bucket{kind="a",le="+Inf"})"), 2);
  EXPECT_EQ(scrape.Value(R"(times_seconds_sum{kind="a"})"), 180020);
}

}  // namespace
}  // namespace ttl
