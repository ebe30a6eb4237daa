#include "service/server/config/containers_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"

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

TEST(ContainersFileTest, UnreadableFileIsNamed) {
  const TempDir dir;
  const std::string directory_of_files = dir.path();
  for (const std::string& path : {dir.File("missing.yaml"), directory_of_files}) {
    EXPECT_THAT(std::string(ReadContainersFile(path).status().message()),
                AllOf(HasSubstr("--containers"), HasSubstr(path)));
  }
}

TEST(ContainersFileTest, FileIsRead) {
  const TempDir dir;
  const std::string path = dir.File("containers.yaml");
  std::ofstream(path) << "containers:\n  - id: a\n";
  const auto entries = ReadContainersFile(path);
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(entries->size(), 1u);
}

TEST(ContainersFileTest, ExampleIsRead) {
  const auto entries = ReadContainersFile(EXAMPLE_DIR "/containers.example.yaml");
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(entries->size(), 3u);
}

TEST(ContainersFileTest, NormalFormLooksThroughSpelling) {
  EXPECT_EQ(NormalForm(ParseOne("")),
            NormalForm(ParseOne("    default_ttl: off\n"
                                "    indexing_mode: consistent\n"
                                "    delete_policy: {delay_seconds: 0, "
                                "min_deletes_per_second: 0, brake: null}\n"
                                "    show_held: false\n    holds: null\n    feed: null\n"
                                "    allow_touch: false\n")));
  EXPECT_EQ(NormalForm(ParseOne("    feed: {}\n")),
            NormalForm(ParseOne("    feed: {max_age_seconds: 86400, max_bytes: 1073741824}\n")));
  EXPECT_EQ(NormalForm(ParseOne("    delete_policy: {max_deletes_per_second: 10}\n")),
            NormalForm(ParseOne("    delete_policy: {max_deletes_per_second: 1e1}\n")));
}

// A database written before a setting existed must not see its entries as changed.
TEST(ContainersFileTest, NormalFormOfWhatEarlierVersionsKnewStaysAsItWas) {
  EXPECT_EQ(NormalForm(ParseOne("    default_ttl: 60\n    indexing_mode: LAZY\n    delete_policy: "
                                "{max_deletes_per_second: 0.5, delay_seconds: 7}\n")),
            "default_ttl=60 indexing_mode=LAZY max_deletes_per_second=0.5 delay_seconds=7");
}

TEST(ContainersFileTest, NormalFormTellsSettingsApart) {
  const char* const kDifferent[] = {
      "",
      "    default_ttl: -1\n",
      "    default_ttl: 60\n",
      "    indexing_mode: LAZY\n",
      "    indexing_mode: NONE\n",
      "    delete_policy: {max_deletes_per_second: 0}\n",
      "    delete_policy: {max_deletes_per_second: 0.1}\n",
      "    delete_policy: {delay_seconds: 60}\n",
      "    delete_policy: {request_units_per_second: 60}\n",
      "    delete_policy: {request_units_per_delete: 60}\n",
      "    delete_policy: {min_deletes_per_second: 60}\n",
      "    delete_policy: {brake: {max_newly_due_items: 60}}\n",
      "    delete_policy: {brake: {max_newly_due_percent: 60}}\n",
      "    delete_policy: {brake: {max_newly_due_percent: 60, release_after_seconds: 60}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '02:00'}]}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '03:00'}]}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '02:00', days: [mon]}]}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '02:00', "
      "max_deletes_per_second: 0}]}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '02:00'}], "
      "time_zone: Europe/Berlin}}\n",
      "    delete_policy: {windows: {windows: [{start: '01:00', end: '02:00'}], "
      "max_deletes_per_second_outside: 1}}\n",
      "    show_held: true\n",
      "    holds: true\n",
      "    feed: {}\n",
      "    feed: {max_age_seconds: 60}\n",
      "    feed: {max_bytes: 1048576}\n",
      "    feed: {notice_seconds: 60}\n",
      "    allow_touch: true\n",
  };
  std::set<std::string> forms;
  for (const char* lines : kDifferent) {
    EXPECT_TRUE(forms.insert(NormalForm(ParseOne(lines))).second) << lines;
  }
}

}  // namespace
}  // namespace ttl
