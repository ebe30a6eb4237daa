#include "service/storage/engine/log_env.h"

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/storage/engine/log_tail.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Where the zeros at the end of a log begin.
size_t ContentsEnd(const std::string& log) { return Contents(log).find_last_not_of('\0') + 1; }

void Zero(const std::string& path, size_t begin, size_t end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(begin));
  file << std::string(end - begin, '\0');
}

class LogEnvTest : public testing::Test {
 protected:
  std::unique_ptr<leveldb::WritableFile> NewFile(const std::string& name) {
    leveldb::WritableFile* file = nullptr;
    const leveldb::Status status = env_.NewWritableFile(dir_.File(name), &file);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return std::unique_ptr<leveldb::WritableFile>(file);
  }

  std::unique_ptr<leveldb::DB> OpenDatabase(const std::string& name) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.paranoid_checks = true;
    options.env = &env_;
    leveldb::DB* database = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, dir_.File(name), &database);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return std::unique_ptr<leveldb::DB>(database);
  }

  // The newest log of a database.
  std::string LogOf(const std::string& name) {
    std::string log;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.File(name))) {
      if (entry.path().extension() == ".log") log = std::max(log, entry.path().string());
    }
    return log;
  }

  TempDir dir_;
  LogEnv env_;
};

TEST_F(LogEnvTest, ASyncedLogHoldsItsContentsAndThenZeros) {
  const auto file = NewFile("000001.log");
  std::string written;
  for (int i = 0; i < 3000; ++i) {
    const std::string piece(100 + i % 50, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->Append(piece).ok());
    written += piece;
    if (i % 500 == 0) {
      ASSERT_TRUE(file->Sync().ok());
    }
  }
  ASSERT_TRUE(file->Sync().ok());
  const std::string contents = Contents(dir_.File("000001.log"));
  ASSERT_GT(contents.size(), written.size());
  EXPECT_EQ(contents.substr(0, written.size()), written);
  EXPECT_EQ(contents.find_first_not_of('\0', written.size()), std::string::npos);
}

TEST_F(LogEnvTest, AClosedLogIsCutToItsContentsAndAFewZeros) {
  const auto file = NewFile("000001.log");
  ASSERT_TRUE(file->Append("some").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append(" more").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Contents(dir_.File("000001.log")), "some more" + std::string(kLogEndZeros, '\0'));
}

// Before anything is written to it too.
TEST_F(LogEnvTest, ALogAlwaysEndsInZeros) {
  const auto file = NewFile("000001.log");
  const auto zeros = [&] {
    const std::string contents = Contents(dir_.File("000001.log"));
    return contents.size() - (contents.find_last_not_of('\0') + 1);
  };
  EXPECT_GE(zeros(), kLogEndZeros);
  for (const size_t bytes : {1, 262'000, 137, 10, 2'000'000, 262'144}) {
    ASSERT_TRUE(file->Append(std::string(bytes, 'x')).ok());
    ASSERT_TRUE(file->Sync().ok());
    EXPECT_GE(zeros(), kLogEndZeros) << bytes;
  }
}

TEST_F(LogEnvTest, TheSyncOfALogThatWasRemovedFails) {
  const auto file = NewFile("000001.log");
  ASSERT_TRUE(file->Append("some").ok());
  ASSERT_TRUE(file->Sync().ok());
  std::filesystem::remove(dir_.File("000001.log"));
  ASSERT_TRUE(file->Append("more").ok());
  EXPECT_TRUE(file->Sync().IsIOError());
}

TEST_F(LogEnvTest, OtherFilesAreLeftAsTheyAre) {
  const auto file = NewFile("000001.ldb");
  ASSERT_TRUE(file->Append("table").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(Contents(dir_.File("000001.ldb")), "table");
}

TEST_F(LogEnvTest, AMissingDirectoryIsNamed) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = env_.NewWritableFile(dir_.File("none/000001.log"), &file);
  EXPECT_TRUE(status.IsNotFound()) << status.ToString();
  EXPECT_NE(status.ToString().find("none/000001.log"), std::string::npos);
  EXPECT_EQ(file, nullptr);
}

// What a killed process leaves behind is what lies there while it runs.
TEST_F(LogEnvTest, ADatabaseLeftBehindWithZerosAtTheEndOfItsLogOpensWhole) {
  const auto running = OpenDatabase("running");
  leveldb::WriteOptions synced;
  synced.sync = true;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(running->Put(synced, absl::StrCat("key", i), std::string(1000 * i, 'v')).ok());
    const std::string copy = absl::StrCat("copy", i);
    std::filesystem::copy(dir_.File("running"), dir_.File(copy));
    const auto left_behind = OpenDatabase(copy);
    for (int j = 0; j <= i; ++j) {
      std::string value;
      ASSERT_TRUE(left_behind->Get({}, absl::StrCat("key", j), &value).ok()) << i << " " << j;
      EXPECT_EQ(value.size(), 1000u * j);
    }
  }
}

// Cuts a copy's log as a kill or a power cut in the middle of its last write does: some
// of that write is there, and zeros are where the rest was to go.
TEST_F(LogEnvTest, ADatabaseLeftBehindInTheMiddleOfAWriteOpensWithAllThatWasSynced) {
  const auto running = OpenDatabase("running");
  leveldb::WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(running->Put(synced, "first", std::string(5000, 'v')).ok());
  const std::string log = LogOf("running");
  const size_t begin = ContentsEnd(log);
  ASSERT_TRUE(running->Put(synced, "second", std::string(200'000, 'w')).ok());
  const size_t end = ContentsEnd(log);
  const size_t page = 4096;
  for (size_t kept = (begin / page + 1) * page; kept < end; kept += page) {
    const std::string copy = absl::StrCat("copy", kept);
    std::filesystem::copy(dir_.File("running"), dir_.File(copy));
    Zero(LogOf(copy), kept, end);
    const auto left_behind = OpenDatabase(copy);
    ASSERT_NE(left_behind, nullptr) << kept;
    std::string value;
    EXPECT_TRUE(left_behind->Get({}, "first", &value).ok()) << kept;
    EXPECT_TRUE(left_behind->Get({}, "second", &value).IsNotFound()) << kept;
  }
}

// A power cut may leave out any pages of what was not synced.
TEST_F(LogEnvTest, AWriteOfWhichAnyPageIsMissingIsLeftOutAsAWhole) {
  const auto running = OpenDatabase("running");
  leveldb::WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(running->Put(synced, "first", std::string(5000, 'v')).ok());
  const size_t begin = ContentsEnd(LogOf("running"));
  ASSERT_TRUE(running->Put(synced, "second", std::string(200'000, 'w')).ok());
  const size_t end = ContentsEnd(LogOf("running"));
  const size_t page = 4096;
  for (size_t missing = begin; missing < end; missing = (missing / page + 1) * page) {
    const std::string copy = absl::StrCat("copy", missing);
    std::filesystem::copy(dir_.File("running"), dir_.File(copy));
    Zero(LogOf(copy), missing, std::min(end, (missing / page + 1) * page));
    const auto left_behind = OpenDatabase(copy);
    ASSERT_NE(left_behind, nullptr) << missing;
    std::string value;
    EXPECT_TRUE(left_behind->Get({}, "first", &value).ok()) << missing;
    EXPECT_TRUE(left_behind->Get({}, "second", &value).IsNotFound()) << missing;
  }
}

// What was synced and is damaged since is not taken for a write that was cut off.
TEST_F(LogEnvTest, DamageInALogIsNoticed) {
  const auto running = OpenDatabase("running");
  leveldb::WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(running->Put(synced, "first", std::string(9000, 'v')).ok());
  ASSERT_TRUE(running->Put(synced, "second", std::string(50'000, 'w')).ok());
  ASSERT_TRUE(running->Put(synced, "third", std::string(9000, 'x')).ok());
  const size_t end = ContentsEnd(LogOf("running"));
  const struct {
    const char* what;
    size_t begin;
    size_t end;
  } damages[] = {
      {"a page of the first write", 4096, 8192},
      {"a byte of the second", 30'000, 30'001},
      {"a page of the second", 40'960, 45'056},
      {"a byte of the last", end - 5000, end - 4999},
  };
  for (const auto& damage : damages) {
    std::filesystem::remove_all(dir_.File("copy"));
    std::filesystem::copy(dir_.File("running"), dir_.File("copy"));
    Zero(LogOf("copy"), damage.begin, damage.end);
    leveldb::Options options;
    options.paranoid_checks = true;
    options.env = &env_;
    leveldb::DB* database = nullptr;
    EXPECT_TRUE(leveldb::DB::Open(options, dir_.File("copy"), &database).IsCorruption())
        << damage.what;
    delete database;
  }
}

// Zeros written late must not fall on what was appended without any before it.
TEST_F(LogEnvTest, WhereNoSpaceWasLeftForZerosNothingAppendedLaterIsLost) {
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {300 << 10, before.rlim_max};
  const auto file = NewFile("000001.log");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string first(280 << 10, '1');
  const bool first_fits = file->Append(first).ok() && file->Sync().ok();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(first_fits);
  const std::string second(600 << 10, '2');
  ASSERT_TRUE(file->Append(second).ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Contents(dir_.File("000001.log")), first + second + std::string(kLogEndZeros, '\0'));
}

TEST_F(LogEnvTest, AWriteThatDoesNotFitIsAnError) {
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {100 << 10, before.rlim_max};
  const auto file = NewFile("000001.log");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  ASSERT_TRUE(file->Append(std::string(200 << 10, 'x')).ok());
  const leveldb::Status status = file->Sync();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
}

}  // namespace
}  // namespace ttl
