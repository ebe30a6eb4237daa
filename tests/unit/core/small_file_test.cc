#include "service/base/small_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void ExpectRefused(const absl::StatusOr<std::string>& read, const std::string& path,
                   const std::string& why) {
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()), AllOf(HasSubstr(path), HasSubstr(why)));
}

class SmallFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("file");
};

TEST_F(SmallFileTest, FileIsReadAsItIs) {
  for (const std::string& text :
       {std::string(), std::string("a\nb\0c", 5), std::string(size_t{1} << 20, 'x')}) {
    const auto read = ReadSmallFile(Write(text));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == text) << text.size();
  }
}

TEST_F(SmallFileTest, FileThatIsTooLongIsRefused) {
  ExpectRefused(ReadSmallFile(Write(std::string((size_t{1} << 20) + 1, 'x'))), path_,
                "more than 1048576 bytes");
  ExpectRefused(ReadSmallFile("/dev/zero"), "/dev/zero", "more than 1048576 bytes");
  ExpectRefused(ReadSmallFile(Write("four"), {.max_bytes = 3}), path_, "more than 3 bytes");
}

TEST_F(SmallFileTest, WhatIsNoFileIsRefused) {
  ExpectRefused(ReadSmallFile(dir_.File("none")), dir_.File("none"), "No such file");
  ExpectRefused(ReadSmallFile(dir_.path()), dir_.path(), "Is a directory");
}

TEST_F(SmallFileTest, PipeIsReadToItsEnd) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  // Opens it whenever it likes: the reader waits for it.
  std::thread writer([this] { std::ofstream(path_) << "from a pipe"; });
  const auto read = ReadSmallFile(path_, {.timeout = absl::Seconds(60)});
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, "from a pipe");
}

TEST_F(SmallFileTest, PipeThatNobodyWritesIsRefusedInTime) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(ReadSmallFile(path_, {.timeout = absl::Milliseconds(50)}), path_, "within 50ms");
}

TEST_F(SmallFileTest, PipeThatNeverEndsIsRefusedInTime) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int both = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(write(both, "begin", 5), 5);
  ExpectRefused(ReadSmallFile(path_, {.timeout = absl::Milliseconds(50)}), path_, "within 50ms");
  close(both);
}

}  // namespace
}  // namespace ttl
