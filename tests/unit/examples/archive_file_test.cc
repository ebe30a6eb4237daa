#include "client/examples/document_store/archive_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/testing/temp_dir.h"

namespace documentstore {
namespace {

class ArchiveFileTest : public testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string Read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const ttl::TempDir folder_;
  const std::string path_ = folder_.File("archive.jsonl");
};

TEST_F(ArchiveFileTest, LinesComeBehindThoseThatAreThere) {
  for (const char* line : {"a\n", "b\nc\n"}) {
    const auto file = ArchiveFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE((*file)->Append(line).ok());
  }
  EXPECT_EQ(Read(), "a\nb\nc\n");
}

TEST_F(ArchiveFileTest, OnlyALineWithoutItsEndIsRemoved) {
  const std::string block(1 << 16, 'x');
  const std::string lines = "a\n" + block + "\n";
  struct Case {
    std::string before;
    std::string after;
  };
  const Case cases[] = {
      {"", ""},
      {"\n", "\n"},
      {"a\n", "a\n"},
      {"a", ""},
      {"a\nb", "a\n"},
      {block, ""},
      {block + "x", ""},
      {lines, lines},
      {lines + "b", lines},
      {lines + block, lines},
      {lines + block + block, lines},
  };
  for (const Case& c : cases) {
    Write(c.before);
    ASSERT_TRUE(ArchiveFile::Open(path_).ok());
    EXPECT_EQ(Read() == c.after, true) << c.before.size() << " bytes became " << Read().size();
  }
}

TEST_F(ArchiveFileTest, AFullDiskIsAnError) {
  const auto file = ArchiveFile::Open("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Append("a\n").code(), absl::StatusCode::kUnavailable);
}

TEST_F(ArchiveFileTest, AFileThatCannotBeOpenedIsAnError) {
  const auto file = ArchiveFile::Open(folder_.File("missing/file"));
  EXPECT_EQ(file.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace documentstore
