// What the command lines of all programs have in common: --version, --help, and how they refuse a
// word that they do not know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

struct Program {
  std::string name;
  std::string binary;
};

const Program kPrograms[] = {{"ttl-sidecar", TTL_SIDECAR_BINARY},
                             {"ttlctl", TTLCTL_BINARY},
                             {"ttl-postgres", TTL_POSTGRES_BINARY},
                             {"document-store", DOCUMENT_STORE_BINARY}};

struct Result {
  int code;
  std::string output;  // standard output and standard error
};

Result RunProgram(const Program& program, const std::string& argument) {
  const TempDir dir;
  SubprocessOptions options;
  options.argv = {program.binary, argument};
  options.output_path = dir.File("output");
  const auto process = Subprocess::Start(options);
  EXPECT_TRUE(process.ok()) << process.status();
  if (!process.ok()) return {-1, ""};
  const auto ended = (*process)->Wait(absl::Seconds(60));
  EXPECT_TRUE(ended.ok()) << ended.status();
  std::ifstream file(options.output_path);
  return {ended.ok() ? ended->code.value_or(-1) : -1, {std::istreambuf_iterator<char>(file), {}}};
}

TEST(CommandLinesTest, VersionIsTheNameAndTheVersion) {
  for (const Program& program : kPrograms) {
    const Result result = RunProgram(program, "--version");
    EXPECT_EQ(result.code, 0) << program.name;
    EXPECT_THAT(result.output, MatchesRegex(absl::StrCat(program.name, " [0-9.]+\n")));
  }
}

TEST(CommandLinesTest, HelpSaysWhatTheProgramDoesAndHowToCallIt) {
  for (const Program& program : kPrograms) {
    const Result result = RunProgram(program, "--help");
    EXPECT_EQ(result.code, 0) << program.name;
    EXPECT_THAT(result.output, testing::ContainsRegex(absl::StrCat("\nUsage: ", program.name)));
  }
}

TEST(CommandLinesTest, UnknownWordIsNamedAndIsAnErrorOfUsage) {
  for (const Program& program : kPrograms) {
    for (const std::string word : {"nonsense", "--nonsense"}) {
      const Result result = RunProgram(program, word);
      EXPECT_EQ(result.code, 2) << program.name;
      EXPECT_THAT(result.output,
                  StartsWith(absl::StrCat(program.name, ": \"", word, "\" is not ")));
      EXPECT_THAT(result.output,
                  testing::EndsWith(absl::StrCat(" (see ", program.name, " --help)\n")));
    }
  }
}

}  // namespace
}  // namespace ttl
