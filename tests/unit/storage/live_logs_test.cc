// What a kill leaves behind is what lies there while the database is open: a copy of that
// opens. A copy whose write-ahead log is missing, empty or cut does not.

#include "service/storage/engine/live_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/storage/engine/database.h"
#include "service/storage/engine/log_tail.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class LiveLogsTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }

  StorageOptions OptionsFor(const std::string& name) const {
    StorageOptions options;
    options.directory = dir_.File(name);
    return options;
  }

  void Open() {
    running_.reset();
    auto opened = Database::Open(OptionsFor("running"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    running_ = *std::move(opened);
  }

  void Put(const std::string& key, size_t bytes) {
    const absl::Status written = running_->Write({{key, std::string(bytes, 'v')}});
    ASSERT_TRUE(written.ok()) << written;
  }

  // The files as a kill would leave them now.
  // What a kill would leave now. A compaction that goes on meanwhile makes and removes files, and
  // then the copy is none of any one instant.
  fs::path Killed() const {
    const fs::path running = dir_.File("running");
    const fs::path copy = dir_.File("copy");
    EXPECT_TRUE(WaitUntil([&] {
      const auto before = FilesOf(running);
      fs::remove_all(copy);
      std::error_code error;
      fs::copy(running, copy, error);
      return !error && FilesOf(running) == before && FilesOf(copy) == before;
    }));
    return copy;
  }

  // Names and sizes.
  static std::map<std::string, uintmax_t> FilesOf(const fs::path& directory) {
    std::map<std::string, uintmax_t> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      files[entry.path().filename()] = entry.file_size(error);
    }
    return files;
  }

  absl::Status OpenStatus(const fs::path& copy) const {
    return Database::Open(OptionsFor(copy.filename())).status();
  }

  static std::vector<fs::path> LogsOf(const fs::path& directory) {
    std::vector<fs::path> logs;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.path().extension() == ".log") logs.push_back(entry.path());
    }
    return logs;
  }
  static fs::path LogOf(const fs::path& directory) {
    const std::vector<fs::path> logs = LogsOf(directory);
    EXPECT_EQ(logs.size(), 1u);
    return logs.at(0);
  }

  static size_t ContentsEnd(const fs::path& log) {
    std::ifstream file(log, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return bytes.find_last_not_of('\0') + 1;
  }

  const TempDir dir_;
  std::unique_ptr<Database> running_;
};

TEST_F(LiveLogsTest, WhatAKillLeavesOpensAtAnyTime) {
  ASSERT_EQ(OpenStatus(Killed()), absl::OkStatus());
  // Several logs' worth, some in writes larger than the zeros ahead of them.
  for (int i = 0; i < 40; ++i) {
    Put(absl::StrCat("key", i), size_t{50'000} * (i % 30));
    const fs::path copy = Killed();
    ASSERT_EQ(OpenStatus(copy), absl::OkStatus()) << i;
    const auto database = Database::Open(OptionsFor("copy"));
    ASSERT_TRUE(database.ok());
    for (int j = 0; j <= i; ++j) {
      EXPECT_TRUE((*database)->Get(absl::StrCat("key", j))->has_value()) << i << " " << j;
    }
  }
}

TEST_F(LiveLogsTest, ALogThatIsMissingAfterAKillIsNoticed) {
  Put("key", 100);
  const fs::path copy = Killed();
  const std::string log = LogOf(copy);
  fs::remove(log);
  for (int tries = 0; tries < 2; ++tries) {
    const absl::Status status = OpenStatus(copy);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(log + " is missing"));
  }
}

TEST_F(LiveLogsTest, ALogThatIsMissingAfterACleanEndIsNoticed) {
  Put("key", 100);
  running_.reset();
  const fs::path copy = Killed();
  fs::remove(copy / "closed-files");
  fs::remove(LogOf(copy));
  EXPECT_EQ(OpenStatus(copy).code(), absl::StatusCode::kDataLoss);
}

TEST_F(LiveLogsTest, ALogThatIsEmptyOrCutAfterAKillIsNoticed) {
  std::vector<size_t> ends = {0};
  for (const size_t bytes : {100, 0, 40'000, 3, 90'000, 200}) {
    Put("key", bytes);
    ends.push_back(ContentsEnd(LogOf(Killed())));
  }
  std::vector<size_t> cuts;
  for (const size_t end : ends) {
    for (size_t more = 0; more < kLogEndZeros; ++more) cuts.push_back(end + more);
  }
  for (size_t cut = 0; cut < ends.back(); cut += 499) cuts.push_back(cut);
  for (size_t block = 32768; block < ends.back(); block += 32768) {
    for (int near = -8; near <= 8; ++near) cuts.push_back(block + near);
  }
  for (const size_t cut : cuts) {
    const fs::path copy = Killed();
    fs::resize_file(LogOf(copy), cut);
    EXPECT_EQ(OpenStatus(copy).code(), absl::StatusCode::kDataLoss) << cut;
  }
  const fs::path copy = Killed();
  fs::resize_file(LogOf(copy), ends.back() + kLogEndZeros);
  EXPECT_EQ(OpenStatus(copy), absl::OkStatus()) << "only zeros are cut off";
}

// Until its next opening a log of an earlier version has no zeros to end in.
TEST_F(LiveLogsTest, DataOfAVersionThatKeptNoListOpens) {
  Put("key", 100);
  const fs::path copy = Killed();
  fs::remove(copy / "live-logs");
  fs::resize_file(LogOf(copy), ContentsEnd(LogOf(copy)));
  EXPECT_EQ(OpenStatus(copy), absl::OkStatus());
  EXPECT_TRUE(fs::exists(copy / "live-logs")) << "from now on there is one";
  fs::remove(LogOf(copy));
  fs::remove(copy / "closed-files");
  EXPECT_EQ(OpenStatus(copy).code(), absl::StatusCode::kDataLoss);
}

// A program that keeps no list removes the logs that it names.
TEST_F(LiveLogsTest, AListThatAnEarlierVersionHasLeftBehindIsNotBelieved) {
  Put("key", 100);
  const fs::path copy = Killed();
  leveldb::DB* opened = nullptr;
  ASSERT_TRUE(leveldb::DB::Open(leveldb::Options(), copy, &opened).ok());
  delete opened;
  EXPECT_EQ(OpenStatus(copy), absl::OkStatus());
}

TEST_F(LiveLogsTest, AListThatIsDamagedIsNoticed) {
  const fs::path copy = Killed();
  std::ofstream(copy / "live-logs") << "4\nx\n";
  EXPECT_EQ(OpenStatus(copy).code(), absl::StatusCode::kDataLoss);
}

// What only the log had can be read from memory while the database stays open.
TEST_F(LiveLogsTest, ALogThatIsRemovedUnderTheProcessKeepsItFromReopening) {
  Put("kept", 100);
  fs::remove(LogOf(dir_.File("running")));
  EXPECT_EQ(running_->Write({{"lost", "v"}}).code(), absl::StatusCode::kUnavailable);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(running_->Reopen([] { return absl::OkStatus(); }).code(),
              absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(running_->WriteHealth().message()), HasSubstr("is missing"));
    EXPECT_TRUE(running_->Get("kept")->has_value());
  }
}

TEST_F(LiveLogsTest, AnotherProcessIsToldThatTheDatabaseIsOpenWhateverItsLogsAre) {
  fs::remove(LogOf(dir_.File("running")));
  EXPECT_EQ(Database::Open(OptionsFor("running")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ttl
