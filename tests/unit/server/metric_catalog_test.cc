#include "service/server/metrics/metric_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

using prometheus::MetricType;

TEST(MetricCatalogTest, NamesAreThoseThatPrometheusWants) {
  std::set<absl::string_view> names;
  for (const MetricInfo* info : AllMetrics()) {
    const absl::string_view name = info->name;
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_TRUE(absl::StartsWith(name, "ttl_sidecar_") || absl::StartsWith(name, "process_"))
        << name;
    EXPECT_EQ(absl::EndsWith(name, "_total"), info->type == MetricType::Counter) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), absl::string_view::npos)
        << name;
    for (const absl::string_view unit : {"_ms", "millis", "minutes", "_mb", "_mib", "percent"}) {
      EXPECT_FALSE(absl::StrContains(name, unit)) << name << " is not in a base unit";
    }
  }
}

TEST(MetricCatalogTest, EachSaysInAFewSentencesHowToReadIt) {
  for (const MetricInfo* info : AllMetrics()) {
    const absl::string_view help = info->help;
    EXPECT_TRUE(absl::EndsWith(help, ".")) << info->name;
    EXPECT_LE(help.size(), 300u) << info->name;
    // It stands in a table.
    EXPECT_EQ(help.find_first_of("|\n"), absl::string_view::npos) << info->name;
  }
}

TEST(MetricCatalogTest, TheDocumentHasThemAll) {
  std::ifstream file(METRICS_DOCUMENT);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(absl::EndsWith(text.str(), absl::StrCat("\n\n", DescribeMetrics())))
      << METRICS_DOCUMENT << " must end with:\n"
      << DescribeMetrics();
}

}  // namespace
}  // namespace ttl
