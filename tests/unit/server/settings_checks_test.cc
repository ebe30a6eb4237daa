// How a start validates its settings. tests/field_reports.md explains the numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/server/config/config.h"
#include "service/server/config/containers_file.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<CommandLine> ParseArguments(const std::string& argument) {
  const char* const argv[] = {"ttl-sidecar", argument.c_str()};
  return ParseCommandLine(2, argv);
}

// Field report B07.
TEST(SettingsChecksTest, IllegalDefaultsInTheFileAreRefusedAtTheStart) {
  for (const std::string value : {"0", "-2", "2147483648"}) {
    const auto entries = ParseContainers(
        "c.yaml", absl::StrCat("containers:\n  - id: salesdb/orders\n    default_ttl: ", value));
    EXPECT_TRUE(absl::IsInvalidArgument(entries.status())) << value;
    EXPECT_THAT(std::string(entries.status().message()),
                AllOf(HasSubstr("salesdb/orders"), HasSubstr("default_ttl"),
                      HasSubstr(absl::StrCat("\"", value, "\""))));
  }
}

// The unit is part of the option's name; any other is refused, and none is guessed.
// Field report B17.
TEST(SettingsChecksTest, DurationsHaveTheirUnitInTheNameOfTheOption) {
  const auto line = ParseArguments("--delete-deadline-seconds=5");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.delete_deadline, absl::Seconds(5));
  for (const std::string flag : {"--delete-deadline", "--policy-grace", "--max-store-clock-skew"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseArguments(absl::StrCat(flag, "=500")).status()))
        << flag << " without a unit";
    for (const std::string value : {"500ms", "500000000ns", "0.5", "5s", "5 seconds", "1m"}) {
      EXPECT_THAT(
          std::string(ParseArguments(absl::StrCat(flag, "-seconds=", value)).status().message()),
          AllOf(HasSubstr(flag), HasSubstr(value), HasSubstr("seconds, without a unit")));
    }
  }
}

}  // namespace
}  // namespace ttl
