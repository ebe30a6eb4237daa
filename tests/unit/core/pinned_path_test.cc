#include "service/base/pinned_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

class PinnedPathTest : public testing::Test {
 protected:
  const TempDir dir_;
  const std::string path_ = dir_.File("path");
};

TEST_F(PinnedPathTest, LeadsToTheSameWhateverIsWrittenThere) {
  std::ofstream(path_) << "some";
  const auto pinned = PinnedPath::Take(path_);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  std::ofstream(path_) << "other";
  EXPECT_EQ(pinned->Check(), absl::OkStatus());
}

TEST_F(PinnedPathTest, WhatIsMovedAwayIsMissedUntilItIsBack) {
  std::filesystem::create_directory(path_);
  const auto pinned = PinnedPath::Take(path_);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  std::filesystem::rename(path_, dir_.File("away"));
  const absl::Status missed = pinned->Check();
  EXPECT_EQ(missed.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(missed.message()), HasSubstr(path_ + "\" is not there"));
  std::filesystem::rename(dir_.File("away"), path_);
  EXPECT_EQ(pinned->Check(), absl::OkStatus());
}

// A file system gives the number of a removed file to the next one.
TEST_F(PinnedPathTest, AnotherOfTheSameNameIsTold) {
  for (int i = 0; i < 20; ++i) {
    std::ofstream(path_) << "some";
    const auto pinned = PinnedPath::Take(path_);
    ASSERT_TRUE(pinned.ok()) << pinned.status();
    std::filesystem::remove(path_);
    std::ofstream(path_) << "some";
    EXPECT_THAT(std::string(pinned->Check().message()), HasSubstr("is another one"));
  }
}

TEST_F(PinnedPathTest, WhatIsNotThereCannotBePinned) {
  EXPECT_EQ(PinnedPath::Take(path_).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ttl
