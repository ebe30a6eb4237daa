// What the programs bring along against mistakes in memory, as readelf sees it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class HardeningTest : public testing::TestWithParam<const char*> {
 protected:
  // What readelf says of the program.
  static std::string Read(const std::string& what) {
    const TempDir dir;
    SubprocessOptions options;
    options.argv = {"/usr/bin/readelf", "--wide", what, GetParam()};
    options.output_path = dir.File("elf");
    const auto process = Subprocess::Start(options);
    if (!process.ok()) return process.status().ToString();
    const auto ended = (*process)->Wait(absl::Seconds(60));
    EXPECT_TRUE(ended.ok() && ended->Succeeded()) << GetParam();
    std::ostringstream text;
    text << std::ifstream(options.output_path).rdbuf();
    return text.str();
  }
};

TEST_P(HardeningTest, AddressesAreRandomAndTheTableOfFunctionsIsReadOnly) {
  EXPECT_THAT(Read("--file-header"), ContainsRegex("Type: +DYN"));
  const std::string segments = Read("--program-headers");
  EXPECT_THAT(segments, HasSubstr("GNU_RELRO"));
  EXPECT_THAT(segments, ContainsRegex("GNU_STACK .* RW  "));
  EXPECT_THAT(Read("--dynamic"), ContainsRegex("FLAGS_1\\).*NOW"));
}

TEST_P(HardeningTest, StackAndCopiesAreChecked) {
  const std::string symbols = Read("--dyn-syms");
  EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail@"));
  EXPECT_THAT(symbols, ContainsRegex("__[a-z]+_chk@"));
}

std::string NameOf(const testing::TestParamInfo<const char*>& info) {
  const std::string path = info.param;
  return absl::StrReplaceAll(path.substr(path.rfind('/') + 1), {{"-", "_"}});
}

INSTANTIATE_TEST_SUITE_P(Programs, HardeningTest,
                         testing::Values(TTL_SIDECAR_BINARY, TTLCTL_BINARY, TTL_POSTGRES_BINARY,
                                         DOCUMENT_STORE_BINARY),
                         NameOf);

}  // namespace
}  // namespace ttl
