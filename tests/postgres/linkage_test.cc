// libpq is for those who have a PostgreSQL.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::HasSubstr;
using testing::Not;

// The shared libraries that a program is loaded with.
std::string LibrariesOf(const std::string& program) {
  const TempDir dir;
  SubprocessOptions options;
  options.argv = {"/usr/bin/ldd", program};
  options.output_path = dir.File("libraries");
  const auto process = Subprocess::Start(options);
  EXPECT_TRUE(process.ok()) << process.status();
  const auto ended = (*process)->Wait(absl::Seconds(30));
  EXPECT_TRUE(ended.ok() && ended->Succeeded()) << program;
  std::ostringstream libraries;
  libraries << std::ifstream(options.output_path).rdbuf();
  return libraries.str();
}

TEST(LinkageTest, SidecarDoesWithoutLibpq) {
  EXPECT_THAT(LibrariesOf(TTL_SIDECAR_BINARY), HasSubstr("libleveldb.so"));
  EXPECT_THAT(LibrariesOf(TTL_SIDECAR_BINARY), Not(HasSubstr("libpq.so")));
  EXPECT_THAT(LibrariesOf(TTL_POSTGRES_BINARY), HasSubstr("libpq.so"));
}

}  // namespace
}  // namespace ttl
