#include "tests/bench/growth/growth_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ttl::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const GrowthPoint kPoint = {1'000'000, 250000.4, 41.4, 99.6, 60000, 0.128, 130, 88.5};

TEST(ItemsTest, AreReadWithAndWithoutAUnit) {
  EXPECT_EQ(ParseItems("250").value_or(0), 250u);
  EXPECT_EQ(ParseItems("100K").value_or(0), 100'000u);
  EXPECT_EQ(ParseItems("3M").value_or(0), 3'000'000u);
}

TEST(ItemsTest, ThatAreNoneAreRefusedByName) {
  for (const char* text : {"", "M", "0", "0K", "-1", "1.5M", "10m", "99999999999999999M"}) {
    const absl::Status status = ParseItems(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("\"" + std::string(text) + "\""));
  }
}

TEST(ItemsTest, AreWrittenAsTheyAreRead) {
  for (const char* text : {"7", "1K", "1500K", "10M", "1000001"}) {
    EXPECT_EQ(ItemsText(ParseItems(text).value_or(0)), text);
  }
}

TEST(SizesTest, GrowTenfoldUpToTheLargest) {
  EXPECT_THAT(SizesUpTo(10'000'000), ElementsAre(100'000, 1'000'000, 10'000'000));
  EXPECT_THAT(SizesUpTo(2'000'000), ElementsAre(200'000, 2'000'000));
  EXPECT_THAT(SizesUpTo(999'999), ElementsAre(999'999));
  EXPECT_THAT(SizesUpTo(500), ElementsAre(500));
}

TEST(GrowthReportTest, TheTableHasALineForEachPoint) {
  EXPECT_THAT(GrowthTable({kPoint}),
              HasSubstr("\n| 1M | 250000 | 41 | 100 | 60000 | 0.13 | 130 | 88 |\n"));
}

TEST(GrowthReportTest, TheJsonHasEveryMember) {
  const nlohmann::json json = nlohmann::json::parse(GrowthJson({kPoint, kPoint}));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["items"], 1'000'000);
  EXPECT_EQ(json[0]["loaded_per_second"], 250000.4);
  EXPECT_EQ(json[0]["check_p50_us"], 41.4);
  EXPECT_EQ(json[0]["check_p99_us"], 99.6);
  EXPECT_EQ(json[0]["swept_per_second"], 60000);
  EXPECT_EQ(json[0]["start_seconds"], 0.128);
  EXPECT_EQ(json[0]["memory_mib"], 130);
  EXPECT_EQ(json[0]["disk_mib"], 88.5);
}

}  // namespace
}  // namespace ttl::bench
